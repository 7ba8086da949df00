"""Breadcrumbs of pages."""

from __future__ import annotations

import json

import pytest
from lxml.html import document_fromstring

from clustering.algorithms.titles.breadcrumbs import MAX_CRUMBS, MAX_LINKS, read_breadcrumb

LINKS = "<a href=/>Home</a> › <a href=/tea>Tea  pots</a> › Blue pot"


def crumbs_of(body: str) -> tuple[str, ...]:
    return read_breadcrumb(document_fromstring(f"<body>{body}<h1>x</h1></body>"))


def declared(value: object) -> str:
    return f'<script type="application/ld+json">{json.dumps(value)}</script>'


@pytest.mark.parametrize(
    "attribute",
    [
        "class='nav Breadcrumbs'",
        "id=breadcrumb",
        "aria-label=Breadcrumb",
        "itemtype=https://schema.org/BreadcrumbList",
    ],
)
def test_the_links_of_a_breadcrumb_are_the_pages_above(attribute: str) -> None:
    assert ("Home", "Tea pots") == crumbs_of(f"<div {attribute}>{LINKS}</div>")


def test_links_elsewhere_are_none() -> None:
    assert () == crumbs_of(f"<div class=menu>{LINKS}</div>")


def test_a_whole_menu_is_no_breadcrumb() -> None:
    menu = "".join(f"<a href=/{n}>Part {n}</a>" for n in range(MAX_LINKS + 1))

    assert () == crumbs_of(f"<div class=breadcrumb>{menu}</div>")


def test_a_declared_breadcrumb_comes_first_without_its_last_name() -> None:
    names = [
        {"@type": "ListItem", "name": "Shop"},
        {"@type": "ListItem", "item": {"name": "Pots"}},
        {"@type": "ListItem", "name": "Blue pot"},
    ]
    value = {"@type": "BreadcrumbList", "itemListElement": names}

    assert ("Shop", "Pots") == crumbs_of(declared(value) + f"<div class=crumbs>{LINKS}</div>")


@pytest.mark.parametrize("elements", [None, "x", [], [None, 1, "x"], [{"name": 1}, {}]])
def test_a_broken_declaration_is_none(elements: object) -> None:
    value = {"@type": "BreadcrumbList", "itemListElement": elements}

    assert () == crumbs_of(declared(value))


def test_long_breadcrumbs_are_cut_and_long_names_left_out() -> None:
    links = "".join(f"<a href=/{n}>Part {n}</a>" for n in range(MAX_LINKS))

    assert MAX_CRUMBS == len(crumbs_of(f"<div class=crumbs>{links}</div>"))
    assert () == crumbs_of(f"<div class=crumbs><a href=/>{'long ' * 20}</a></div>")
