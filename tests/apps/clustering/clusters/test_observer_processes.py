"""Pages that are observed by several processes."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from clustering.algorithms.clusterers import clusterer_with
from clustering.models import Snapshot
from clustering.services.children import limits
from clustering.services.children.limits import LimitedChild, end_idle_children
from clustering.services.clusters import observer_processes
from clustering.services.clusters.observer_processes import (
    HeavyPage,
    _observe_missing,
    count_missing,
    observe_stored,
)
from clustering.services.pages.stored_pages import stored_pages
from tests.apps.clustering.children import burdens
from tests.apps.clustering.demo_sites import shop, store
from vertex.core.models import Site

pytestmark = pytest.mark.django_db


def test_processes_observe_what_one_does() -> None:
    pages = stored_pages(shop(n=70))
    alone = [pair for batch in observe_stored(pages, "auto", 1) for pair in batch]
    together = [pair for batch in observe_stored(pages, "auto", 2) for pair in batch]

    assert pages == [page for page, _ in together]
    assert [(page.pk, seen.vector, seen.labels) for page, seen in alone] == [
        (page.pk, seen.vector, seen.labels) for page, seen in together
    ]


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("algorithm", ["auto", "path_shingles"])
def test_a_page_that_ends_two_children_is_marked_and_as_good_as_empty(
    n: int, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = shop(n=6)
    store(site, [("heavy", b"<p>heavy", "text/html")])
    end_idle_children()
    monkeypatch.setattr(limits, "LimitedChild", lambda: LimitedChild(cpu_seconds=1))
    monkeypatch.setattr(observer_processes, "observe_bodies", burdens.observe_unless_heavy)
    vectors = vector_by_path(site, algorithm, n)

    assert 13 == len(vectors)
    assert ["heavy"] == [path for path, vector in vectors.items() if vector is None]
    (snapshot,) = Snapshot.objects.exclude(problem="")
    assert ("too_heavy", True) == (snapshot.problem, snapshot.page.url.endswith("/heavy"))
    monkeypatch.setattr(observer_processes, "observe_bodies", burdens.observe_what_is_light)
    assert vectors == vector_by_path(site, algorithm, n), "it was read again"
    end_idle_children()


class TakenAwayAtOnce(list[HeavyPage]):
    """Pages that another thread marks, and takes away, as soon as they are added."""

    def append(self, page: HeavyPage) -> None:
        """Add nothing that stays."""

    def extend(self, pages: Iterable[HeavyPage]) -> None:
        """Add nothing that stays."""


def test_nothing_is_stored_of_a_heavy_page_that_was_marked_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    site = shop(n=2)
    store(site, [("heavy", b"<p>heavy", "text/html")])
    pages = stored_pages(site)
    end_idle_children()
    monkeypatch.setattr(limits, "LimitedChild", lambda: LimitedChild(cpu_seconds=1))
    monkeypatch.setattr(observer_processes, "observe_bodies", burdens.observe_unless_heavy)

    _observe_missing(clusterer_with("shingles", {}), pages, TakenAwayAtOnce())

    assert 1 == count_missing(pages)
    end_idle_children()


def vector_by_path(site: Site, algorithm: str, n: int) -> dict[str, int | None]:
    batches = observe_stored(stored_pages(site), algorithm, n)
    return {
        page.url.rpartition("/")[2] if page.url.endswith("heavy") else page.url: seen.vector
        for batch in batches
        for page, seen in batch
    }
