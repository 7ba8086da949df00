"""Read a page's breadcrumb: the names of the pages above it.

Readings:   A breadcrumb is a BreadcrumbList of JSON-LD, else the first element whose type, class,
            id or label says so. Its last name is the page's own where it is no link.
Cost:       One look for the element, and linear in it.
"""

from __future__ import annotations

from typing import Any, cast

from lxml import etree
from lxml.html import HtmlElement

from clustering.dom.declared import read_json_ld, walk_json_ld

MAX_CRUMBS, MAX_CRUMB_CHARS = 6, 40
MAX_LINKS = 10
MAX_THINGS = 300

_LOWER = "'ABCDEFGHIJKLMNOPQRSTUVWXYZ', 'abcdefghijklmnopqrstuvwxyz'"
_BREADCRUMB = etree.XPath(
    "("
    + "|".join(
        f"//*[contains(translate(@{name}, {_LOWER}), 'crumb')][.//a]"
        for name in ("itemtype", "class", "id", "aria-label")
    )
    + ")[1]"
)


def read_breadcrumb(tree: HtmlElement) -> tuple[str, ...]:
    """Return the names of the pages above a page, the top first; empty without a breadcrumb."""
    crumbs = _declared_crumbs(tree) or _linked_crumbs(tree)
    names = (" ".join(crumb[: MAX_CRUMB_CHARS * 3].split()) for crumb in crumbs[:MAX_CRUMBS])
    return tuple(name for name in names if name and len(name) <= MAX_CRUMB_CHARS)


def _declared_crumbs(tree: HtmlElement) -> list[str]:
    """Return the names in the first BreadcrumbList of JSON-LD but the last, the page's own."""
    for _, value in read_json_ld(tree):
        for node in walk_json_ld(value, MAX_THINGS):
            if node.thing is not None and "BreadcrumbList" in node.names:
                elements = node.thing.get("itemListElement")
                if isinstance(elements, list):
                    return [_name_of(element) for element in elements[:-1]]
    return []


def _name_of(element: Any) -> str:
    """Return the name of an element of a BreadcrumbList, blank where it has none."""
    if not isinstance(element, dict):
        return ""
    item = element.get("item")
    name = element.get("name") or (item.get("name") if isinstance(item, dict) else "")
    return name if isinstance(name, str) else ""


def _linked_crumbs(tree: HtmlElement) -> list[str]:
    """Return the texts of the links in the first element that says to be a breadcrumb."""
    elements = cast("list[HtmlElement]", _BREADCRUMB(tree))
    if not elements:
        return []
    links = list(elements[0].iter("a"))
    if len(links) > MAX_LINKS:
        return []  # a menu, too, stands in that element
    return ["".join(map(str, link.itertext(with_tail=False))) for link in links]
