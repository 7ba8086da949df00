"""The process that observes pages for its parent."""

from __future__ import annotations

import io
import subprocess
import sys

from django.conf import settings

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.plain_messages import read_plain, write_plain
from clustering.algorithms.published.shingles import shingle_vector
from clustering.services.clusters.observer_child import answer_batches, receive, send

ROPE = RawPage("https://shop.example/p/1", b"<html><body><h1>Rope</h1><p>Price</p></body></html>")
EMPTY = RawPage("https://shop.example/p/2", b"")


def test_batches_are_answered_until_there_are_no_more() -> None:
    requests, answers = io.BytesIO(), io.BytesIO()
    for batch in ([ROPE], [EMPTY, ROPE]):
        pages = [RawPage(page.url, page.body) for page in batch]
        send(requests, write_plain(("shingles", {"shingle_length": 3}, pages)))
    requests.seek(0)

    answer_batches(requests, answers)

    answers.seek(0)
    first, second = read_plain(receive(answers)), read_plain(receive(answers))
    assert [1, 2] == [len(first), len(second)]
    assert shingle_vector(ROPE.body, length=3) == first[0].observation
    assert b"" == answers.read()


def test_a_parent_that_is_gone_in_the_middle_of_a_batch_ends_the_program() -> None:
    batch = io.BytesIO()
    send(batch, write_plain(("shingles", {}, [RawPage(ROPE.url, ROPE.body)])))
    answers = io.BytesIO()

    answer_batches(io.BytesIO(batch.getvalue()[: len(batch.getvalue()) // 2]), answers)

    assert b"" == answers.getvalue()


def test_it_starts_without_django() -> None:
    program = "import sys; sys.modules['django'] = None; import clustering.services.clusters.observer_child"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=settings.BASE_DIR, capture_output=True, check=False
    )

    assert (0, b"") == (done.returncode, done.stderr)
