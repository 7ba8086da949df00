"""Content that a site's templates repeat."""

from __future__ import annotations

import random

from clustering.algorithms.published.attributed_paths import PathPage, observe_tree
from clustering.algorithms.published.template_removal import (
    min_pages_of_template,
    own_terms,
    repeated_pagelets,
)
from clustering.dom.page import parse_page

MENU = "<ul><li><a href=/a>Ropes</a><li><a href=/b>Boots</a><li><a href=/c>Tents</a></ul>"


def observed(html: str, url: str) -> PathPage:
    return observe_tree(parse_page(html.encode()).tree, url)


def site(n: int) -> list[PathPage]:
    return [
        observed(f"{MENU}<h1>Rope number {n}</h1>", f"http://a.example/p/{n}") for n in range(n)
    ]


class TestPaper:
    def test_a_menu_on_all_pages_is_a_template_and_titles_are_not(self) -> None:
        pages = site(5)

        assert [False] * 3 + [True] * 3 == own_terms(pages[0], repeated_pagelets(pages)).tolist()

    def test_tabs_that_lead_to_a_page_s_own_pages_are_kept(self) -> None:
        tabs = (
            "<ul><li><a href=?t=1>A</a><li><a href=?t=2>B</a><li><a href=?t=3>C</a></ul><p>text</p>"
        )
        pages = [observed(tabs, f"http://a.example/p/{n}") for n in range(9)]
        same = [observed(tabs, "http://a.example/p/1") for _ in range(9)]

        # Positive control: at one address they lead to the same places, but equal pages count once.
        assert [True] * 3 + [False] == own_terms(pages[0], repeated_pagelets(pages)).tolist()
        assert own_terms(same[0], repeated_pagelets(same)).all()

    def test_content_on_two_pages_is_no_template(self) -> None:
        pages = site(2)

        assert own_terms(pages[0], repeated_pagelets(pages)).all()


def test_the_min_pages_of_template_grow_with_the_site() -> None:
    assert [3, 3, 4, 200] == [min_pages_of_template(n) for n in (0, 300, 301, 20_000)]


def test_the_order_of_pages_does_not_matter() -> None:
    pages = site(6)
    shuffled = random.Random(3).sample(pages, len(pages))

    assert repeated_pagelets(pages) == repeated_pagelets(shuffled)


def test_no_pages_have_no_templates() -> None:
    assert frozenset() == repeated_pagelets([])
