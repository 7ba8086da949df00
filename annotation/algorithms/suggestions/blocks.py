"""Find values by the shape of the block around them: postal addresses, crumbs, links, leads, states of stock.

Readings:   An address is what stands beside such a label, or a run of texts that ends in a ZIP code: its
            first line is the street, what stands before region and code the town. Crumbs are links with the
            same sign between them; the last one is the category. A link's address names what its text is:
            the text of /tag/oak is a tag. The lead is the first long text after the heading.
Cost:       One look at each text and each link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from lxml.etree import _Element

from annotation.algorithms.suggestions.labels import find_beside
from annotation.algorithms.suggestions.names import meaning_of, names_it, words_of
from annotation.algorithms.suggestions.page_index import PageIndex, Spot

SHORTEST_LEAD: Final = 60  # characters
MOST_LINKS: Final = 30
STREET, TOWN, REGION, CODE = "streetaddress", "addresslocality", "addressregion", "postalcode"
_SEPARATOR = re.compile("[»\u203a>/→|·\\\\:-]{1,2}")
_STOCK = re.compile(
    r"(?:currently )?(?:in|out of) stock\b.{0,30}|sold out"
    r"|(?:usually )?(?:available|ships|dispatched) (?:now|in|within|from)\b.{0,30}"
    r"|pre-?order\b.{0,20}|back-?order(?:ed)?|discontinued"
    r"|(?:sofort |nicht )?lieferbar|(?:nicht )?auf lager|ausverkauft"
    r"|en stock|agotado|(?:temporarily |currently )?unavailable|only \d+ left.{0,20}",
    re.IGNORECASE,
)
_TOWN_AND_CODE = re.compile(
    r"(?P<town>[^\d,;|]{2,40}?),?\s+(?:(?P<region>[A-Z]{2})\.?,?\s+)?(?P<code>\d{5}(?:-\d{4})?|[A-Z]\d[A-Z]\s?\d[A-Z]\d)$"
)
_CODE_AND_TOWN = re.compile(r"^(?:[A-Z]{1,2}-)?(?P<code>\d{4,5})\s+(?P<town>[^\d,;|]{2,40})$")
_REGION_AND_CODE = re.compile(
    r"^[\s,]*(?:(?P<region>[A-Z]{2})\b\.?)?[\s,]*(?P<code>\d{5}(?:-\d{4})?)?$"
)
_STREET = re.compile(r"^\d{1,5}[A-Za-z]?\s+[^\W\d_]|[^\W\d_]{3,}\.?\s+\d{1,4}[a-z]?$")


class BlockMatch(NamedTuple):
    """Values of a block, and why."""

    spots: tuple[Spot, ...]
    weight: float
    why: str


def find_address_part(page: PageIndex, attribute: str) -> Iterator[BlockMatch]:
    """Yield the part of a postal address that an attribute is."""
    part = next((part for part in (STREET, TOWN, REGION, CODE) if _means(attribute, part)), "")
    if not part:
        return
    for run, weight in _address_runs(page):
        parts = _parts_of(page, run)
        if part in parts and parts[part].text.strip():
            yield BlockMatch((parts[part],), weight, "it is that part of the address")
            return


def _means(attribute: str, part: str) -> bool:
    return meaning_of(attribute).key == meaning_of(part).key


def _address_runs(page: PageIndex) -> Iterator[tuple[list[Spot], float]]:
    """Yield the text nodes of addresses: beside a label first, then those that end in a code."""
    for beside in find_beside(page, "address", "text", is_multi=True):
        if any(any(map(str.isdigit, spot.text)) for spot in beside.spots[:4]):
            yield list(beside.spots[:6]), 0.75
    for number, spot in enumerate(page.spots):
        if (
            not page.is_template_by_index[number]
            and _STREET.search(spot.text[:60])
            and len(spot.text) <= 60
        ):
            run = page.spots[number : number + 4]
            if any(CODE in _parts_of(page, run[:n]) for n in range(1, len(run) + 1)):
                yield run, 0.55


def _parts_of(page: PageIndex, run: list[Spot]) -> dict[str, Spot]:
    """Return the parts of an address by their names."""
    found: dict[str, Spot] = {}
    if not run:
        return found
    whole = run[0].text
    if len(run) == 1 and "," in whole:
        street, _, rest = whole.partition(",")
        offset = len(street) + 1 + len(rest) - len(rest.lstrip())
        found[STREET] = page.part(run[0], 0, len(street))
        _take_town(page, run[0], offset, found)
        return found
    found[STREET] = run[0]
    for number, spot in enumerate(run[1:], 1):
        if CODE in found:
            break
        _take_town(page, spot, 0, found)
        if (
            CODE not in found
            and TOWN not in found
            and not any(map(str.isdigit, spot.text))
            and number <= 2
        ):
            found[TOWN] = page.part(spot, 0, len(spot.text.rstrip(" ,")))
    return found


def _take_town(page: PageIndex, spot: Spot, offset: int, found: dict[str, Spot]) -> None:
    text = spot.text[offset:]
    matched = (
        _TOWN_AND_CODE.match(text) or _CODE_AND_TOWN.match(text) or _REGION_AND_CODE.match(text)
    )
    groups = matched.groupdict() if matched else {}
    for group, name in (("town", TOWN), ("region", REGION), ("code", CODE)):
        if matched is not None and groups.get(group) and name not in found:
            found[name] = page.part(
                spot, offset + matched.start(group), offset + matched.end(group)
            )


def find_crumb(page: PageIndex, attribute: str, *, is_multi: bool) -> Iterator[BlockMatch]:
    """Yield the crumbs: all of them for an attribute that means them, the last one for a category."""
    is_crumbs = _means(attribute, "breadcrumbs")
    if not is_crumbs and not _means(attribute, "category"):
        return
    crumbs = _crumbs(page)
    if len(crumbs) > 1:
        spots = tuple(crumbs) if is_crumbs and is_multi else (crumbs[-1],)
        yield BlockMatch(
            spots,
            0.6,
            "it is where the page's crumbs end" if not is_crumbs else "they are the page's crumbs",
        )
    heading = page.heading
    if not is_crumbs and heading is not None:
        number = page.index_by_spot.get((heading.node.element, heading.node.number), 0)
        above = page.spots[number - 1] if number else None
        if (
            above is not None
            and above.node.element.tag == "a"
            and not page.is_outer(above)
            and _is_alone(above)
        ):
            yield BlockMatch((above,), 0.5, "it is the link above the heading")


def _crumbs(page: PageIndex) -> list[Spot]:
    """Return the links of the first run with the same sign, or another mark of crumbs, between them."""
    run: list[Spot] = []
    sign = ""
    for spot in page.spots:
        if spot.node.element.tag == "a" or spot.node.element.getparent() is None:
            run.append(spot)
        elif run and _SEPARATOR.fullmatch(spot.text) and sign in {"", spot.text}:
            sign = spot.text
        elif sign and len(run) > 1 and sign not in {"|", "-", "·", "/"}:
            return run
        else:
            run, sign = [], ""
    return run if sign and len(run) > 1 else []


def _is_alone(spot: Spot) -> bool:
    parent = spot.node.element.getparent()
    return parent is not None and len(parent) == 1 and parent.tag not in {"li", "td", "nav"}


def find_linked(page: PageIndex, attribute: str, *, is_multi: bool) -> Iterator[BlockMatch]:
    """Yield the texts of links whose addresses name the attribute."""
    labels = meaning_of(attribute).labels
    found: list[tuple[float, Spot, str]] = []
    for number, spot in enumerate(page.spots):
        link = _link_of(spot.node.element)
        if (
            link is None
            or page.is_template_by_index[number]
            or page.is_outer(spot)
            or len(spot.text) > 60
        ):
            continue
        name = _name_in_address(link.get("href") or "", labels)
        if name:
            found.append((0.5 if not is_multi else 0.45, spot, name))
    if not found:
        return
    why = f"its link's address says “{found[0][2]}”"
    if is_multi:
        parent = _grandparent(found[0][1].node.element)
        alike = [s for _, s, _ in found if _grandparent(s.node.element) is parent]
        yield BlockMatch(
            tuple(alike[:MOST_LINKS]), found[0][0] + 0.1 * (len(alike) == len(found)), why
        )
        return
    for order, (weight, spot, _) in enumerate(found[:3]):
        yield BlockMatch(
            (spot,),
            weight if len(found) == 1 else weight * 0.8 if order == 0 else weight * 0.4,
            why,
        )


def _link_of(element: _Element) -> _Element | None:
    around = [element, element.getparent()]
    return next((one for one in around if one is not None and one.tag == "a"), None)


def _name_in_address(href: str, labels: frozenset[str]) -> str:
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    segments = [
        *parts.path.split("/")[:-1],
        *(pair.partition("=")[0] for pair in parts.query.split("&")),
    ]
    for segment in reversed(segments[-6:]):
        words = words_of(unquote(segment)[:40])
        if words and names_it(labels, words) == 1.0:
            return " ".join(words)
    return ""


def _grandparent(element: _Element) -> _Element | None:
    link = _link_of(element)
    parent = link.getparent() if link is not None else None
    return (
        parent.getparent() if parent is not None and parent.tag in {"li", "span", "td"} else parent
    )


def find_lead(page: PageIndex, attribute: str) -> Iterator[BlockMatch]:
    """Yield the first long text after the heading for what describes the thing."""
    if not _means(attribute, "description") or page.heading is None:
        return
    start = page.index_by_spot.get((page.heading.node.element, page.heading.node.number), 0)
    for number in range(start + 1, len(page.spots)):
        spot = page.spots[number]
        if (
            len(spot.text) >= SHORTEST_LEAD
            and not page.is_outer(spot)
            and not page.is_template_by_index[number]
        ):
            parent = spot.node.element
            whole = page.spot_of(parent) if parent.tag == "p" else spot
            yield BlockMatch((whole,), 0.4, "it is the first long text after the heading")
            return


def find_stock(page: PageIndex, attribute: str) -> Iterator[BlockMatch]:
    """Yield the texts that say whether a thing is in stock."""
    if not _means(attribute, "availability"):
        return
    spots = [
        spot for spot in page.spots if len(spot.text) <= 60 and _STOCK.fullmatch(spot.text.strip())
    ]
    for order, spot in enumerate(spots[:3]):
        weight = 0.6 if len(spots) == 1 else 0.5 if order == 0 else 0.2
        yield BlockMatch((spot,), weight, "it says what is in stock")
