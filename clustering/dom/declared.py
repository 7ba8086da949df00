"""Read what a page declares about its things: JSON-LD, and the elements that say what they are.

Notation:   A thing is an object of JSON-LD, or an element with `itemtype` or `typeof`.
Readings:   What a page is about is a thing of the first level, of `@graph` or of `mainEntity`; what
            a list holds is a thing, too, but a listed one. The thing around the first h1 is the
            main one.
Cost:       Linear in the declarations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any, Final, NamedTuple

from lxml.etree import _Element

MAX_JSON_CHARS: Final = 300_000  # of one declaration
MAX_NAMES: Final = 3  # of one thing

_LISTS: Final = frozenset({"ItemList", "OfferCatalog", "ProductCollection"})
LIST_TYPES: Final = _LISTS | {"CollectionPage"}
_SECONDARY_TYPES: Final = frozenset(
    re.split(
        r"\s+",
        """AboutPage AggregateOffer AggregateRating AudioObject Brand Comment ContactPoint
        Corporation FAQPage GeoCoordinates ImageObject LocalBusiness MediaObject Offer OnlineStore
        Organization Person Place PostalAddress ProfilePage Rating Review VideoObject""",
    )
)
_JSON_TYPE = re.compile(r"\s*application/ld\+json\s*(?:;|$)", re.IGNORECASE)
# A text, which stays, or what is no JSON; what is not closed goes to the end, so that each is
# read once.
_NO_JSON = re.compile(
    r"""("(?:[^"\\]|\\.)*+(?:"|\\?\Z))|/\*(?:.*?\*/|.*+)|//[^\n]*+|<!--|-->|<!\[CDATA\[|\]\]>"""
    r"""|,(?=\s*+[}\]])|;(?=\s*+\Z)""",
    re.DOTALL,
)
_TYPE_NAME = re.compile(r"[A-Z][A-Za-z]{2,39}")


class DeclaredNode(NamedTuple):
    """A value of JSON-LD where a thing may stand."""

    value: Any  # an object is a thing; a list holds some, all else is none
    names: list[str]  # of its types
    is_listed: bool  # an element of a list, not what the page is about
    depth: int

    @property
    def thing(self) -> Mapping[str, Any] | None:
        return self.value if isinstance(self.value, dict) else None


def is_secondary(name: str) -> bool:
    """Return whether things of a type often stand beside what a page is about."""
    return name in _SECONDARY_TYPES


def local_name(address: str) -> str:
    """Return the name of a type or property without its vocabulary.

    >>> local_name("https://schema.org/Product"), local_name("schema:name")
    ('Product', 'name')
    """
    return re.split(r"[/#:]", address)[-1]


def type_names(value: object) -> list[str]:
    """Return the names of one type or several, without those that no vocabulary would have."""
    addresses = value if isinstance(value, list) else [value]
    names = [local_name(address) for address in addresses[:MAX_NAMES] if isinstance(address, str)]
    return [name for name in names if _TYPE_NAME.fullmatch(name)]


def read_json_ld(tree: _Element) -> Iterator[tuple[_Element, Any]]:
    """Yield the scripts that declare something, with their values, without broken and huge ones."""
    for script in tree.iter("script"):
        text = script.text
        if not text or len(text) > MAX_JSON_CHARS or not _JSON_TYPE.match(script.get("type") or ""):
            continue
        try:
            value = _read_json(text)
        except (ValueError, RecursionError):  # pages with broken declarations are many
            continue
        yield script, value


def _read_json(text: str) -> Any:
    """Read what a page declares, also with what JSON does not allow and pages often have.

    That is: line breaks in texts, comments, commas behind the last item, a semicolon at the end,
    quotes written as `&quot;`. Raises ValueError, RecursionError.
    """
    try:
        return json.loads(text, strict=False)
    except ValueError:
        plain = text if '"' in text else unescape(text)
        without_comments = _NO_JSON.sub(_without_noise, plain)
        # Once more: a comma may have stood before a comment.
        return json.loads(_NO_JSON.sub(_without_noise, without_comments), strict=False)


def _without_noise(match: re.Match[str]) -> str:
    """Return a text of JSON as it is, and nothing for what stands between and is no JSON."""
    return match[1] or ""


def walk_json_ld(value: Any, max_items: int) -> Iterator[DeclaredNode]:
    """Yield all values where things may stand, outer ones first; of a list, its first items."""
    waiting = [(value, False, 0)]
    while waiting:
        value, is_listed, depth = waiting.pop()
        names = type_names(value.get("@type")) if isinstance(value, dict) else []
        yield DeclaredNode(value, names, is_listed, depth)
        if isinstance(value, list):
            waiting += [(item, is_listed, depth + 1) for item in reversed(value[:max_items])]
        elif isinstance(value, dict):
            elements = value.get("itemListElement") if _LISTS.intersection(names) else None
            item = value.get("item") if "ListItem" in names else None
            waiting += [(elements, True, depth + 1), (item, True, depth + 1)]
            waiting += [(value.get(key), is_listed, depth + 1) for key in ("mainEntity", "@graph")]


def things_around_heading(tree: _Element) -> list[_Element]:
    """Return the elements around the first h1 that say what they are, the closest first."""
    heading = next(tree.iter("h1"), None)
    if heading is None:
        return []
    return [
        element
        for element in heading.iterancestors()
        if element.get("itemtype") or element.get("typeof")
    ]
