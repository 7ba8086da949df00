"""Read what a page says it is about: its schema.org types, and its Open Graph type.

Notation:   A declared type is its name with the number of things of that type that the page is
            about; a page about several things of one type is a list of them.
Readings:   What a thing only has (its offer, its rating) is not what the page is about: that is a
            thing of the first level, of `@graph`, of `mainEntity`, or an element that is no
            property of another. A thing around the page's first h1 is alone what it is about. The
            elements of an ItemList count where nothing else is declared; an Open Graph type,
            likewise.
Departures: Types that stand on pages of any kind (BreadcrumbList, WebSite) are left out; those that
            often stand beside what a page is about (Organization, Person) come last.
Cost:       Linear in the elements and in the declarations, of which MAX_THINGS count.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

from clustering.dom.declared import (
    LIST_TYPES,
    is_secondary,
    read_json_ld,
    things_around_heading,
    type_names,
    walk_json_ld,
)

MAX_THINGS = 300
MAX_TYPES = 6  # of one page

_TYPED = etree.XPath("//*[@itemtype or @typeof]")
_TYPES_OF_ANY_PAGE = frozenset(
    re.split(
        r"\s+",
        """AdvertiserContentArticle Blog BreadcrumbList CreativeWork EntryPoint ItemPage ListItem
        ReadAction SearchAction SiteNavigationElement SpeakableSpecification Thing WPAdBlock
        WPFooter WPHeader WPSideBar WebContent WebPage WebPageElement WebSite""",
    )
)
_GRAPH_TYPES = frozenset(
    {"article", "book", "product", "profile", "place", "movie", "song", "album", "episode", "event"}
)


class DeclaredType(NamedTuple):
    """A type that a page declares."""

    name: str
    n: int  # things of this type


def declared_types(tree: HtmlElement) -> tuple[DeclaredType, ...]:
    """Return the types of what a page is about, the most telling first.

    Where nothing stands outside a list, those of the listed things; else the Open Graph type. A
    declared list is one more type, once.
    """
    things = _Things()
    things.read_scripts(tree)
    things.read_elements(tree)
    n_by_type = things.n_by_type or things.n_listed or _graph_type(tree)
    n_by_list = Counter(dict.fromkeys(things.lists, 1))
    types = [DeclaredType(name, n) for name, n in (n_by_type | n_by_list).items()]
    return tuple(sorted(types, key=_distrust)[:MAX_TYPES])


def _distrust(declared: DeclaredType) -> tuple[bool, bool]:
    return declared.name in LIST_TYPES, is_secondary(declared.name)


class _Things:
    """What is declared on a page, as it is met."""

    def __init__(self) -> None:
        self.n_by_type: Counter[str] = Counter()
        self.n_listed: Counter[str] = Counter()  # in an ItemList
        self.lists: list[str] = []
        self.n_left = MAX_THINGS

    def read_scripts(self, tree: HtmlElement) -> None:
        for _, value in read_json_ld(tree):
            for node in islice(walk_json_ld(value, MAX_THINGS), self.n_left):
                self.n_left -= 1
                self.add(node.names, self.n_listed if node.is_listed else self.n_by_type)

    def read_elements(self, tree: HtmlElement) -> None:
        main_names = _names_around_heading(tree)
        for name in main_names:
            self.n_by_type[name] = 1
        for element in cast("list[HtmlElement]", _TYPED(tree))[: self.n_left]:
            names = [name for name in _element_types(element) if name not in main_names]
            property_name = element.get("itemprop") or element.get("property") or ""
            if "itemListElement" in property_name:
                self.add(names, self.n_listed)
            elif not property_name or "mainEntity" in property_name:
                self.add(names, self.n_by_type)

    def add(self, names: list[str], counts: Counter[str]) -> None:
        for name in names:
            if name in LIST_TYPES:
                self.lists.append(name)
            elif name not in _TYPES_OF_ANY_PAGE:
                counts[name] += 1


def _element_types(element: HtmlElement) -> list[str]:
    schema_types = [
        name
        for name in (element.get("typeof") or "").split()
        if ":" not in name or "schema" in name
    ]
    return type_names([*(element.get("itemtype") or "").split(), *schema_types])


def _names_around_heading(tree: HtmlElement) -> list[str]:
    """Return the types of the closest thing around the first h1 that names what the page is."""
    for element in things_around_heading(tree):
        names = [name for name in _element_types(element) if name not in _TYPES_OF_ANY_PAGE]
        if names:
            return names
    return []


def _graph_type(tree: HtmlElement) -> Counter[str]:
    """Return the Open Graph type of a page as a schema.org type, if there is such."""
    for meta in tree.iter("meta"):
        if (meta.get("property") or meta.get("name")) != "og:type":
            continue
        words = re.split(r"[.:]", (meta.get("content") or "").strip().lower()[:40])
        for word in reversed(words):
            if word in _GRAPH_TYPES:
                return Counter([word.capitalize()])
        return Counter()
    return Counter()
