"""What tells the pages that fail from the others."""

from __future__ import annotations

import random

from lxml import html

from monitoring.algorithms.layout_division import find_division, layout_told, marks_of

PAGES = [f"u{number}" for number in range(20)]
FAILING = frozenset(PAGES[:7])


def marks(*, with_layout: bool) -> dict[str, list[str]]:
    chance = random.Random(7)
    line = {}
    for page in PAGES:
        rows = "".join(
            f"<p class=c{n}x>{'ab'[n % 2]}</p>" for n in range(40) if chance.random() < 0.5
        )
        body = (
            f"<div class=tabs><h2>Facts</h2>{rows}</div>"
            if page in FAILING
            else f"<div>{rows}</div>"
        )
        line[page] = marks_of(
            html.document_fromstring(body if with_layout else f"<div>{rows}</div>")
        )
    return line


def test_a_mark_of_the_layout_that_fails_is_found_and_named() -> None:
    division = find_division(marks(with_layout=True), FAILING)

    assert division is not None
    assert "pages with “Facts”" == division.name


def test_pages_that_fail_by_chance_have_no_mark_in_common() -> None:
    assert find_division(marks(with_layout=False), FAILING) is None


def test_two_pages_are_too_few_to_tell() -> None:
    assert find_division(marks(with_layout=True), frozenset(PAGES[:2])) is None


def test_a_layout_that_people_know_is_told_by_its_name() -> None:
    layouts = {page: "layout-1" if page in FAILING else "layout-2" for page in PAGES}

    assert "layout-1" == layout_told(layouts, FAILING)
    assert "" == layout_told(layouts, frozenset(PAGES[4:12]))
    assert "" == layout_told({}, FAILING)
