"""Pages that are observed by several processes."""

from __future__ import annotations

import sys

import pytest

from clustering.services.clusters import observer_processes
from clustering.services.clusters.observer_processes import ObserverEnded, observe_stored
from clustering.services.pages.stored_pages import stored_pages
from tests.apps.clustering.demo_sites import shop

pytestmark = pytest.mark.django_db


def test_processes_observe_what_one_does() -> None:
    pages = stored_pages(shop(n=70))
    alone = [pair for batch in observe_stored(pages, "auto", 1) for pair in batch]
    together = [pair for batch in observe_stored(pages, "auto", 2) for pair in batch]

    assert pages == [page for page, _ in together]
    assert [(page.pk, seen.vector, seen.labels) for page, seen in alone] == [
        (page.pk, seen.vector, seen.labels) for page, seen in together
    ]


def test_a_process_that_ends_in_the_middle_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        observer_processes, "COMMAND", [sys.executable, "-c", "raise SystemExit(9)"]
    )

    with pytest.raises(ObserverEnded, match="memory"):
        list(observe_stored(stored_pages(shop(n=2)), "auto", 2))
