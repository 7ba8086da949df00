"""Which links are followed next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from clustering.algorithms.link_queue import Collection, LinkQueue, Strategy, spread
from clustering.algorithms.page_classes import Candidate, PageClass, PageLinks


def page(url: str, collections: Mapping[str, Sequence[str]]) -> PageLinks:
    return PageLinks(url, collections)


def with_schema(url: str, paths: str) -> PageLinks:
    return page(url, {path: [f"u{path}"] for path in paths})


def class_of(number: int, *pages: PageLinks) -> PageClass:
    C = PageClass(number)
    C.add(pages)
    return C


def candidate(*pages: PageLinks) -> Candidate:
    return Candidate(list(pages), frozenset().union(*(p.schema for p in pages)))


def popped(queue: LinkQueue) -> list[str]:
    paths: list[str] = []
    while lc := queue.pop():
        paths.append(lc.path)
    return paths


class TestPaper:
    @pytest.mark.parametrize(("strategy", "expected"), [("densest_first", "lmt"), ("sparsest_first", "tml")])
    def test_the_strategies_order_collections_by_their_share_of_the_links(
        self, strategy: Strategy, expected: str
    ) -> None:
        owner = class_of(1, page("a", {"m": list("12"), "l": list("345678"), "t": ["9"]}), page("b", {}))
        queue = LinkQueue(strategy)
        for path in owner.urls_by_path:
            queue.push(Collection(owner, path))

        assert list(expected) == popped(queue)

    def test_collections_of_singleton_classes_come_first(self) -> None:
        large = class_of(1, page("a", {"x": list("123456")}), page("b", {"x": []}))
        single = class_of(2, page("c", {"y": ["1"], "z": list("23456")}))
        queue = LinkQueue("densest_first")
        for lc in (Collection(large, "x"), Collection(single, "y"), Collection(single, "z")):
            queue.push(lc)

        assert list("zyx") == popped(queue)

    def test_a_class_that_is_no_longer_single_loses_its_place(self) -> None:
        grown, single = class_of(1, page("a", {"x": ["1"]})), class_of(2, page("c", {"y": ["1"]}))
        queue = LinkQueue("densest_first")
        queue.push(Collection(grown, "x"))
        queue.push(Collection(single, "y"))
        grown.add([page("b", {})])

        assert list("yx") == popped(queue)


def test_spread_takes_the_first_and_the_last() -> None:
    assert ["0", "9"] == spread("0123456789", 2)
    assert ["0"] == spread("0123456789", 1)
    assert ["0", "1"] == spread("01", 5)
