"""Read what a page says it is about: the schema.org types that it declares, and its Open Graph type.

Notation:   A declared type is its name with the number of things of that type that the page is about; a
            page about several things of one type is a list of them.
Readings:   What a thing only has (its offer, its rating) is not what the page is about: that is a thing of
            the first level, of `@graph`, of `mainEntity`, or an element that is no property of another. A
            thing around the page's first h1 is alone what it is about. The elements of an ItemList count
            where nothing else is declared; an Open Graph type, likewise.
Departures: Types that stand on pages of any kind (BreadcrumbList, WebSite) are left out; those that often
            stand beside what a page is about (Organization, Person) come last.
Cost:       Linear in the elements and in the declarations, of which MAX_THINGS count.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any, NamedTuple, cast

from lxml import etree
from lxml.html import HtmlElement

MAX_JSON = 300_000  # characters of one declaration
MAX_THINGS = 300
MAX_TYPES = 6  # of one page

_TYPED = etree.XPath("//*[@itemtype or @typeof]")
_NAME = re.compile(r"[A-Z][A-Za-z]{2,39}")
_JSON_TYPE = re.compile(r"\s*application/ld\+json\s*(?:;|$)", re.IGNORECASE)
_LISTS = frozenset({"ItemList", "OfferCatalog", "ProductCollection"})
LIST_TYPES = _LISTS | {"CollectionPage"}
_EMPTY = frozenset(
    re.split(
        r"\s+",
        """AdvertiserContentArticle Blog BreadcrumbList CreativeWork EntryPoint ItemPage ListItem ReadAction
        SearchAction SiteNavigationElement SpeakableSpecification Thing WPAdBlock WPFooter WPHeader
        WPSideBar WebContent WebPage WebPageElement WebSite""",
    )
)
_BESIDE = frozenset(
    re.split(
        r"\s+",
        """AboutPage AggregateOffer AggregateRating AudioObject Brand Comment ContactPoint Corporation FAQPage
        GeoCoordinates ImageObject LocalBusiness MediaObject Offer OnlineStore Organization Person Place
        PostalAddress ProfilePage Rating Review VideoObject""",
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
    """Return the types of what a page is about, the most telling first; none where it declares none."""
    found = _Things()
    for script in tree.iter("script"):
        if (
            script.text
            and len(script.text) <= MAX_JSON
            and _JSON_TYPE.match(script.get("type") or "")
        ):
            found.read_json(script.text)
    found.read_elements(tree)
    counts = found.n_by_type or found.n_listed or _graph_types(tree)
    lists = Counter(dict.fromkeys(found.lists, 1))
    types = [DeclaredType(name, n) for name, n in (counts | lists).items()]
    return tuple(sorted(types, key=_trust)[:MAX_TYPES])


def is_beside(name: str) -> bool:
    """Say whether a type often stands beside what a page is about."""
    return name in _BESIDE


def _trust(declared: DeclaredType) -> tuple[bool, bool]:
    return declared.name in LIST_TYPES, declared.name in _BESIDE


class _Things:
    """What is declared on a page, as it is met."""

    def __init__(self) -> None:
        self.n_by_type: Counter[str] = Counter()
        self.n_listed: Counter[str] = Counter()  # in an ItemList
        self.lists: list[str] = []
        self.n_left = MAX_THINGS

    def read_json(self, text: str) -> None:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):  # pages with broken declarations are many
            return
        waiting = [(value, self.n_by_type)]
        while waiting and self.n_left > 0:
            self.n_left -= 1
            thing, counts = waiting.pop()
            if isinstance(thing, list):
                waiting.extend((one, counts) for one in reversed(thing[:MAX_THINGS]))
            elif isinstance(thing, dict):
                names = _names(thing.get("@type"))
                self.add(names, counts)
                elements = thing.get("itemListElement") if _LISTS.intersection(names) else None
                inner = thing.get("item") if "ListItem" in names else None
                waiting += [(elements, self.n_listed), (inner, self.n_listed)]
                waiting += [(thing.get(key), counts) for key in ("mainEntity", "@graph")]

    def read_elements(self, tree: HtmlElement) -> None:
        around = _around_heading(tree)
        for name in around:
            self.n_by_type[name] = 1
        for element in cast("list[HtmlElement]", _TYPED(tree))[: self.n_left]:
            prop = element.get("itemprop") or element.get("property") or ""
            names = [name for name in _element_types(element) if name not in around]
            if "itemListElement" in prop:
                self.add(names, self.n_listed)
            elif not prop or "mainEntity" in prop:
                self.add(names, self.n_by_type)

    def add(self, names: list[str], counts: Counter[str]) -> None:
        for name in names:
            if name in LIST_TYPES:
                self.lists.append(name)
            elif name not in _EMPTY:
                counts[name] += 1


def _names(value: Any) -> list[str]:
    """Return the types' names without what stands before them in their addresses."""
    written = value if isinstance(value, list) else [value]
    pieces = [re.split(r"[/#:]", one)[-1] for one in written[:3] if isinstance(one, str)]
    return [piece for piece in pieces if _NAME.fullmatch(piece)]


def _element_types(element: HtmlElement) -> list[str]:
    typed = [
        one for one in (element.get("typeof") or "").split() if ":" not in one or "schema" in one
    ]
    return _names([*(element.get("itemtype") or "").split(), *typed])


def _around_heading(tree: HtmlElement) -> list[str]:
    """Return the types of the closest thing around the first h1 that says what the page is about."""
    heading = next(tree.iter("h1"), None)
    for element in heading.iterancestors() if heading is not None else ():
        names = [name for name in _element_types(element) if name not in _EMPTY]
        if names:
            return names
    return []


def _graph_types(tree: HtmlElement) -> Counter[str]:
    for meta in tree.iter("meta"):
        if (meta.get("property") or meta.get("name")) == "og:type":
            last = re.split(r"[.:]", (meta.get("content") or "").strip().lower()[:40])
            known = next((word for word in reversed(last) if word in _GRAPH_TYPES), "")
            return Counter({known.capitalize(): 1} if known else {})
    return Counter()
