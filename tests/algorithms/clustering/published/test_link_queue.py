"""Which links are followed next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from clustering.algorithms.published.link_queue import (
    Collection,
    LinkQueue,
    Strategy,
    n_worth,
    shape_of,
    spread,
    worth_more,
)
from clustering.algorithms.published.page_classes import ClassCandidate, PageClass, PageLinks


def page(url: str, collections: Mapping[str, Sequence[str]]) -> PageLinks:
    return PageLinks(url, collections)


def with_schema(url: str, paths: str) -> PageLinks:
    return page(url, {path: [f"u{path}"] for path in paths})


def class_of(number: int, *pages: PageLinks) -> PageClass:
    C = PageClass(number)
    C.add(pages)
    return C


def candidate(*pages: PageLinks) -> ClassCandidate:
    return ClassCandidate(list(pages), frozenset().union(*(p.schema for p in pages)))


def popped(queue: LinkQueue) -> list[str]:
    paths: list[str] = []
    while lc := queue.pop():
        paths.append(lc.path)
    return paths


class TestPaper:
    @pytest.mark.parametrize(
        ("strategy", "expected"), [("densest_first", "lmt"), ("sparsest_first", "tml")]
    )
    def test_the_strategies_order_collections_by_their_share_of_the_links(
        self, strategy: Strategy, expected: str
    ) -> None:
        owner = class_of(
            1, page("a", {"m": list("12"), "l": list("345678"), "t": ["9"]}), page("b", {})
        )
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


HOME = "https://a.example/"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p/tent-1", "p/rope-2"),
        ("p/tent-1/reviews", "p/rope-2/reviews"),
        ("2024/10/02/a-story", "2023/01/30/b-story"),
        ("list.asp?id=1&page=2", "list.asp?id=70&page=1"),
        ("tent-1", "rope-2"),
    ],
)
def test_addresses_of_one_kind_look_alike(one: str, other: str) -> None:
    assert shape_of(HOME + one) == shape_of(HOME + other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("p/tent-1", "brand/tent-1"),
        ("p/tent-1", "p/tent-1/reviews"),
        ("listing.asp?id=1", "stay.asp?id=1"),
        ("jobs", "imprint"),
        ("p/tent", "p/tent.pdf"),
    ],
)
def test_addresses_of_different_kinds_do_not(one: str, other: str) -> None:
    assert shape_of(HOME + one) != shape_of(HOME + other)


def test_a_large_collection_of_which_little_was_seen_is_worth_more() -> None:
    urls = [f"{HOME}p/item-{n}" for n in range(100)]
    known = {url: {"list"} for url in urls}
    (links,) = worth_more(known, set(urls[:2]), Counter(), 2)

    assert n_worth(100) - 2 == len(links)
    assert not set(urls[:2]) & set(links)


def test_a_collection_that_was_seen_enough_is_worth_no_more() -> None:
    urls = [f"{HOME}p/item-{n}" for n in range(100)]

    assert [] == worth_more({url: {"list"} for url in urls}, set(urls[:10]), Counter(), 2)


def test_a_path_gives_no_more_than_it_is_worth_however_its_links_look() -> None:
    known = {f"{HOME}{chr(97 + n)}/x": {"menu"} for n in range(20)}
    n_extra_by_path = Counter[str]()
    links = [url for urls in worth_more(known, set(), n_extra_by_path, 2) for url in urls]

    assert 2 == n_worth(20) == len(links) == n_extra_by_path["menu"]
    assert [] == worth_more(known, set(links), n_extra_by_path, 2)
