"""What a limited child observes of pages."""

from __future__ import annotations

import subprocess
import sys

from django.conf import settings

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.plain_messages import read_plain
from clustering.algorithms.published.shingles import shingle_vector
from clustering.services.clusters.observer_child import observe_bodies

ROPE = RawPage("https://shop.example/p/1", b"<html><body><h1>Rope</h1><p>Price</p></body></html>")
EMPTY = RawPage("https://shop.example/p/2", b"")


def test_pages_are_observed_in_their_order() -> None:
    pages = [(len(page.body), page.url, page.content_type) for page in (ROPE, EMPTY)]
    answer = observe_bodies(ROPE.body + EMPTY.body, pages, "shingles", {"shingle_length": 3})
    first, second = read_plain(answer)

    assert shingle_vector(ROPE.body, length=3) == first.observation
    assert second.vector is None


def test_it_starts_without_django() -> None:
    program = (
        "import sys; sys.modules['django'] = None; import "
        "clustering.services.clusters.observer_child"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=settings.BASE_DIR, capture_output=True, check=False
    )

    assert (0, b"") == (done.returncode, done.stderr)
