"""Pages of one group that look different."""

from __future__ import annotations

import numpy as np

from clustering.algorithms.automatic.feature_table import FeatureTable, tabulate
from clustering.algorithms.automatic.layouts import describe_layouts, find_layouts
from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.url_patterns import address_patterns

PLAIN = "<h1>{n}</h1><b>Price:</b><i>{n}</i><p>{n}</p>"
SET = PLAIN + "<section><h3>Parts</h3><ol><li>{n}</ol><em>{n}</em></section>"
OLD = "<table><tr><th>Price:<td class=old>{n}<tr><th>Name:<td class=name>{n}</table>"
URLS = [f"http://a.b/p/{n}" for n in range(60)]
PATTERNS = address_patterns(URLS)
ONE_LOOK, EVERYWHERE = np.zeros(60, np.intp), np.arange(60)


def site(*html: str) -> tuple[FeatureTable, list[PageFeatures]]:
    pages = [observe(RawPage(url, text.encode())) for url, text in zip(URLS, html, strict=True)]
    return tabulate(pages), pages


def test_pages_that_are_alike_are_one_layout() -> None:
    table, pages = site(*(PLAIN.format(n=n) for n in range(60)))

    layouts = find_layouts(table, PATTERNS, ONE_LOOK, EVERYWHERE)

    assert [60] == [len(layout) for layout in layouts]
    assert [] == describe_layouts(table, layouts, range(60), pages)


def test_a_section_that_some_pages_have_is_a_layout_with_its_labels() -> None:
    table, pages = site(*((SET if n < 9 else PLAIN).format(n=n) for n in range(60)))

    layouts = find_layouts(table, PATTERNS, ONE_LOOK, EVERYWHERE)
    plain, sets = describe_layouts(table, layouts, range(100, 160), pages)

    assert list(range(100, 109)) == list(sets.members)
    assert sets.has[0] == "“Parts”"
    assert ([], ["“Parts”"], []) == (plain.has, plain.lacks[:1], sets.lacks)


def test_a_layout_is_told_from_each_of_the_others() -> None:
    looks = {"plain": PLAIN, "set": SET, "both": SET + "<aside><h4>Video</h4></aside>"}
    table, pages = site(*(html.format(n=n) for html in looks.values() for n in range(20)))
    layouts = [np.arange(first, first + 20) for first in (0, 20, 40)]

    plain, sets, both = describe_layouts(table, layouts, range(60), pages)

    assert plain.lacks[0] == "“Parts”"
    assert ("“Parts”", "“Video”") == (sets.has[0], sets.lacks[0])
    assert {"“Parts”", "“Video”"} <= set(both.has)
    assert (plain.has, both.lacks) == ([], [])


def test_an_element_is_named_once() -> None:
    banner = "<p class='banner big wide'>Sale</p>"
    table, pages = site(*(banner * (n < 20) + PLAIN.format(n=n) for n in range(60)))
    layouts = [np.arange(20, 60), np.arange(20)]

    _, on_sale = describe_layouts(table, layouts, range(60), pages)

    assert on_sale.has == ["“Sale”"]


def test_looks_that_contrast_are_layouts() -> None:
    table, _ = site(*((OLD if n < 20 else PLAIN).format(n=n) for n in range(60)))
    look = np.repeat([1, 0], [20, 40])

    assert [40, 20] == [len(part) for part in find_layouts(table, PATTERNS, look, EVERYWHERE)]


def test_looks_without_contrasts_are_one_layout() -> None:
    table, _ = site(*(PLAIN.format(n=n) for n in range(60)))
    look = np.arange(60) % 2

    assert [60] == [len(part) for part in find_layouts(table, PATTERNS, look, EVERYWHERE)]


def test_a_few_exceptions_are_of_the_nearest_layout() -> None:
    table, _ = site(*((OLD if n < 2 else PLAIN).format(n=n) for n in range(60)))
    look = np.repeat([1, 0], [2, 58])

    assert [60] == [len(part) for part in find_layouts(table, PATTERNS, look, EVERYWHERE)]
