"""Read what a page declares about its thing: JSON-LD, microdata, RDFa, meta tags.

Notation:   A declaration is the path of a property from the thing ("offers.price"), its value as
            text, and the node that holds it.
Readings:   Of several things in JSON-LD those come first that pages are about; organisations, sites
            and lists of crumbs come last. The thing around the first h1 is what a page with
            microdata is about. A list of texts joined by commas under `keywords` is several values.
Cost:       Linear in the declarations, of which MAX_DECLARATIONS count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.anchors.node_paths import PageNode
from clustering.dom.declared import (
    LIST_TYPES,
    is_secondary,
    local_name,
    read_json_ld,
    things_around_heading,
    walk_json_ld,
)
from clustering.values.displayed import displayed

MAX_DECLARATIONS: Final = 1_500  # of one page
MAX_THINGS_OF_LIST: Final = 100
MAX_DEPTH: Final = 6
MAX_VALUE_CHARS: Final = 4_000
_ENUMERATION = re.compile(r"https?://schema\.org/([A-Z][A-Za-z]+)$")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_EMPTY: Final = frozenset(
    {"WebSite", "WebPage", "BreadcrumbList", "ListItem", "SearchAction", "ItemPage"}
)
_ADDRESS_OF: Final = {
    **dict.fromkeys(("a", "area", "link"), "href"),
    **dict.fromkeys(("img", "audio", "embed", "iframe", "source", "track", "video"), "src"),
    **dict.fromkeys(("meta",), "content"),
    **dict.fromkeys(("data", "meter"), "value"),
    "object": "data",
    "time": "datetime",
}
JSON_LD: Final = "json-ld"
MICRODATA: Final = "microdata"
META: Final = "meta"


class Declared(NamedTuple):
    """One value that a page declares."""

    path: str  # "offers.price"; of the thing that the page is about
    value: str
    source: str
    node: PageNode
    weight: float  # how sure it is that it speaks of what the page is about, up to 1


def read_declared(tree: _Element) -> list[Declared]:
    """Return all that a page declares, in the order in which it stands there."""
    declarations: list[Declared] = []
    for reader in (_json_values, _element_values, _meta_values):
        for declaration in reader(tree):
            value = displayed(declaration.value[:MAX_VALUE_CHARS])
            if value:
                declarations.append(
                    Declared(
                        declaration.path,
                        value,
                        declaration.source,
                        declaration.node,
                        declaration.weight,
                    )
                )
            if len(declarations) >= MAX_DECLARATIONS:
                return declarations
    return declarations


def _json_values(tree: _Element) -> Iterator[Declared]:
    for script, value in read_json_ld(tree):
        node = PageNode(script)
        for declared in walk_json_ld(value, MAX_THINGS_OF_LIST):
            thing = declared.thing
            if thing is None or declared.is_listed or declared.depth > MAX_DEPTH:
                continue
            weight = _weight(thing.get("@type"))
            for path, text in _flatten(thing, "", 0):
                yield Declared(path, text, JSON_LD, node, weight)


def _weight(declared_type: object) -> float:
    """Return how sure it is that a page is about a thing of this type."""
    types = declared_type if isinstance(declared_type, list) else [declared_type]
    name = local_name(str(types[0])) if types else ""
    if name in _EMPTY or name in LIST_TYPES:
        return 0.3
    return 0.6 if is_secondary(name) and name not in {"LocalBusiness", "VideoObject"} else 1.0


def _flatten(value: Any, path: str, depth: int) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and depth < MAX_DEPTH:
        for key, inner in value.items():
            if str(key) not in {"@graph", "mainEntity", "@context", "@type", "@id"}:
                yield from _flatten(inner, f"{path}.{key}" if path else str(key), depth + 1)
    elif isinstance(value, list) and depth < MAX_DEPTH:
        for inner in value[:200]:
            yield from _flatten(inner, path, depth + 1)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        for text in _texts(path, str(value)):
            yield path, text


def _texts(path: str, text: str) -> list[str]:
    if enumeration := _ENUMERATION.match(text):
        return [_CAMEL.sub(" ", enumeration[1])]
    return (
        [part for part in text.split(",") if part.strip()] if path.endswith("keywords") else [text]
    )


def _element_values(tree: _Element) -> Iterator[Declared]:
    """Yield microdata and RDFa: the property's path goes over the properties around the element."""
    main_things = set(things_around_heading(tree))
    for element in tree.iter("*"):
        names = (
            element.get("itemprop")
            or (element.get("property") if element.tag != "meta" else "")
            or ""
        )
        if not names or element.get("itemscope") is not None or element.get("typeof") is not None:
            continue
        above, thing = _path_above(element)
        weight = 1.0 if thing is None or thing in main_things or not main_things else 0.6
        for name in names.split()[:3]:
            path = ".".join([*above, local_name(name)])
            for text in _texts(path, _value_of(element)):
                yield Declared(path, text, MICRODATA, _node_of(element), weight)


def _path_above(element: _Element) -> tuple[list[str], _Element | None]:
    steps: list[str] = []
    thing = None
    for ancestor in element.iterancestors():
        if ancestor.get("itemscope") is not None or ancestor.get("typeof") is not None:
            thing = ancestor
            names = (ancestor.get("itemprop") or ancestor.get("property") or "").split()
            if not names or names[0] in {"mainEntity", "itemListElement"}:
                break
            steps.insert(0, local_name(names[0]))
    return steps[-MAX_DEPTH:], thing


def _value_of(element: _Element) -> str:
    if element.get("content") is not None:
        return element.get("content") or ""
    name = _ADDRESS_OF.get(str(element.tag), "")
    if name in {"href", "datetime"} and element.text and element.text.strip():
        return "".join(map(str, element.itertext()))
    if name and element.get(name):
        return element.get(name) or ""
    return "".join(map(str, element.itertext()))


def _node_of(element: _Element) -> PageNode:
    if element.get("content") is not None:
        return PageNode(element, name="content")
    name = _ADDRESS_OF.get(str(element.tag), "")
    shows = any(text.strip() for text in map(str, element.itertext()))
    return (
        PageNode(element, name=name)
        if name and element.get(name) and not shows
        else PageNode(element)
    )


def _meta_values(tree: _Element) -> Iterator[Declared]:
    for meta in tree.iter("meta"):
        name = (meta.get("property") or meta.get("name") or "").strip()
        content = meta.get("content") or ""
        if name and content and not meta.get("itemprop"):
            for text in _texts(name.lower(), content):
                yield Declared(name.lower(), text, META, PageNode(meta, name="content"), 1.0)
    for link in tree.iter("link"):
        if link.get("rel") == "image_src" and link.get("href"):
            yield Declared(
                "og:image", link.get("href") or "", META, PageNode(link, name="href"), 1.0
            )
