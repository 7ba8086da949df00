"""A search log made from the words of links."""

from __future__ import annotations

import random

from clustering.algorithms.grouping import Click, SiteLink
from clustering.algorithms.published.derived_log import MAX_TARGETS, derive_clicks


def link(source: str, target: str, text: str) -> SiteLink:
    return SiteLink(source, "/html/body/a", target, text)


def test_each_page_that_links_with_a_text_is_a_click() -> None:
    links = [
        link("/", "/p", "Half Rope"),
        link("/", "/p", "half  rope"),
        link("/q", "/p", "Half rope!"),
    ]

    assert [Click("half rope", "/p", 2)] == derive_clicks(links)


def test_a_page_s_links_to_itself_do_not_count() -> None:
    assert [] == derive_clicks([link("/p", "/p", "Half Rope")])


def test_a_text_without_a_term_does_not_count() -> None:
    assert [] == derive_clicks([link("/", "/p", " » ")])


def test_a_text_that_leads_to_many_pages_names_none() -> None:
    def named(n: int) -> list[Click]:
        return derive_clicks([link("/", f"/p{number}", "Details") for number in range(n)])

    assert (MAX_TARGETS, 0) == (len(named(MAX_TARGETS)), len(named(MAX_TARGETS + 1)))


def test_the_order_of_links_does_not_matter() -> None:
    links = [link(f"/{n % 3}", f"/p{n % 4}", f"word{n % 5}") for n in range(40)]

    assert derive_clicks(links) == derive_clicks(random.Random(1).sample(links, 40))


def test_no_links_make_no_log() -> None:
    assert [] == derive_clicks([])
