"""A cluster that holds several types falls into them; one whose pages are alike stays whole."""

from __future__ import annotations

import random

import pytest

from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.automatic.profile_model import assign
from clustering.algorithms.automatic.resplit import MAX_PAGES, split_pages
from clustering.algorithms.grouping import Grouping, RawPage, TooManyPages

BOOK = "<h1>Book {n}</h1><p class=price>{n} EUR</p><ul><li>{n}a<li>{n}b</ul>"
RECIPE = "<h2>Recipe {n}</h2><ol><li>{n}<li>{n}1</ol><table><tr><td>{n}<td>{n}2</table>"
NOTE = "<h3>Note {n}</h3><blockquote>{n}<i>{n}3</i></blockquote>"


def seen(html: str, n: int) -> PageFeatures:
    return observe(RawPage("", html.format(n=n).encode()))


def split(*templates: tuple[str, int], seed: int = 0) -> tuple[list[str], Grouping]:
    """Return the kind of each page and the parts of all of them."""
    pages = [(html, number) for html, n in templates for number in range(n)]
    random.Random(seed).shuffle(pages)
    urls = [f"http://a.b/{html[4:7]}{number * 7919 % 1000:03}" for html, number in pages]
    return [html for html, _ in pages], split_pages(urls, [seen(*page) for page in pages])


def kinds_of_parts(kinds: list[str], grouping: Grouping) -> list[set[str]]:
    return [{kinds[member] for member in group.members} for group in grouping.groups]


@pytest.mark.parametrize("n", [3, 40])
def test_two_types_are_two_parts_the_larger_first(n: int) -> None:
    kinds, result = split((BOOK, 40), (RECIPE, n))

    assert [{BOOK}, {RECIPE}] == sorted(kinds_of_parts(kinds, result), key=sorted)
    assert [40, n] == [len(group.members) for group in result.groups]
    assert "Split" in result.why


def test_three_types_that_have_little_in_common_are_three_parts() -> None:
    kinds, result = split((BOOK, 30), (RECIPE, 20), (NOTE, 10))

    assert [{BOOK}, {RECIPE}, {NOTE}] == kinds_of_parts(kinds, result)


def test_pages_that_are_alike_stay_whole() -> None:
    kinds, result = split((BOOK, 30))

    assert 1 == len(result.groups)
    assert len(kinds) == len(result.groups[0].members)
    assert result.why == "Its pages differ by less than 10%."


@pytest.mark.parametrize("n", [0, 1, 3])
def test_so_few_pages_that_no_two_parts_can_be_made_stay_whole(n: int) -> None:
    _, result = split((BOOK, n // 2), (RECIPE, n - n // 2))

    assert len(result.groups) <= 1
    assert f"{n} pages are too few" in result.why


def test_empty_pages_stay_whole() -> None:
    assert 1 == len(split_pages(["http://a.b/"] * 9, [seen("", 0)] * 9).groups)


def test_the_order_of_the_pages_does_not_matter() -> None:
    (kinds, first), (others, other) = (split((BOOK, 25), (RECIPE, 9), seed=seed) for seed in (1, 2))

    assert kinds != others
    assert kinds_of_parts(kinds, first) == kinds_of_parts(others, other)
    assert first.model == other.model


def test_its_model_tells_the_part_of_a_later_page() -> None:
    _, result = split((BOOK, 25), (RECIPE, 9))
    names = [group.name for group in result.groups]
    later = [assign(result.model, seen(html, 777), "http://a.b/x777") for html in (BOOK, RECIPE)]

    assert names == later


def test_more_pages_than_it_can_compare_are_refused() -> None:
    with pytest.raises(TooManyPages, match="5,001"):
        split_pages(["http://a.b/"] * (MAX_PAGES + 1), [seen(BOOK, 1)] * (MAX_PAGES + 1))
