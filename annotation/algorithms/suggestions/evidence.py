"""Gather the evidence that spots of a page are values of an attribute, one function a source.

Readings:   Weights are what suggestions of each kind were worth on development pages, rounded. Of
            several displays of one value those count more that stand beside a name of the
            attribute, in the page's main part, and that the template does not repeat. Values are
            also found by the shape of the block around them. An address is what stands beside such
            a label, or a run of texts that ends in a ZIP code: its first line is the street, what
            stands before region and code the town. Crumbs are links with the same sign between
            them; the last one is the category. A link's address names what its text is: the text of
            /tag/oak is a tag. The lead is the first long text after the heading.
Cost:       That of finding a value, for each declaration and known value; one look at each
            text and link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from lxml.etree import _Element

from annotation.algorithms.anchors.node_paths import PageNode
from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.declared import JSON_LD, META, MICRODATA, Declared
from annotation.algorithms.suggestions.labels import find_beside, is_mostly
from annotation.algorithms.suggestions.names import (
    implied_type,
    meaning_of,
    names_it,
    words_of,
)
from annotation.algorithms.suggestions.spots import Spot, SpotIndex
from clustering.values.recognising import find_typed, has_pattern

KNOWN: Final = "known value"
PATTERN: Final = "pattern"
KEY_PATH: Final = "key path"
HEADING: Final = "heading"
LABELS: Final = "labels"
WEIGHT_BY_SOURCE: Final = {JSON_LD: 0.85, MICRODATA: 0.85, META: 0.6}
HIDDEN_SHARE: Final = 0.5  # what a declaration that is not displayed is worth beside one that is
LOSS_PER_PROPERTY: Final = 0.1  # for each better name of the property
MIN_PROPERTY_SHARE: Final = 0.4
MIN_WEIGHT_OF_PART: Final = 0.6  # of a known value that may be a part of a text
MAX_REASON_CHARS: Final = 70  # of a value in a reason
MAX_SPOTS_OFFERED: Final = 3  # by one source, for a single value
MAX_SPOTS_RANKED: Final = 4
# What spots of one value are worth: the best if it is the only best, else the first, and
# the others.
CLEAR_SHARE, FIRST_SHARE, OTHER_SHARE = 1.0, 0.9, 0.55
MAX_LINKS: Final = 30
MAX_BLOCK_CHARS: Final = 60  # of a street, the text of a link, a state of stock
MIN_LEAD_CHARS: Final = 60
MIN_BODY_CHARS: Final = 50  # of a paragraph that makes a body
MAX_ADDRESS_LINES: Final = 4
MAX_LINES_BESIDE: Final = 6  # of an address that has a label
MAX_KEY_CHARS: Final = 300  # of what stands on a key path
KEY_PATH_WEIGHT_OF_TITLE, KEY_PATH_WEIGHT = 0.5, 0.15
LONG_TYPES: Final = frozenset({"html"})
LONG_NAMES: Final = frozenset({"description", "articlebody", "body", "content", "summary", "text"})
STREET, TOWN, REGION, CODE = "streetaddress", "addresslocality", "addressregion", "postalcode"

_SEPARATOR = re.compile("[»\u203a>/→|·\\\\:-]{1,2}")
_SIGNS_OF_MENUS = frozenset("|-·/")  # and of footers
_STOCK = re.compile(
    r"(?:currently )?(?:in|out of) stock\b.{0,30}|sold out"
    r"|(?:usually )?(?:available|ships|dispatched) (?:now|in|within|from)\b.{0,30}"
    r"|pre-?order\b.{0,20}|back-?order(?:ed)?|discontinued"
    r"|(?:sofort |nicht )?lieferbar|(?:nicht )?auf lager|ausverkauft"
    r"|en stock|agotado|(?:temporarily |currently )?unavailable|only \d+ left.{0,20}",
    re.IGNORECASE,
)
_TOWN_AND_CODE = re.compile(
    r"(?P<town>[^\d,;|]{2,40}?),?\s+(?:(?P<region>[A-Z]{2})\.?,?\s+)?"
    r"(?P<code>\d{5}(?:-\d{4})?|[A-Z]\d[A-Z]\s?\d[A-Z]\d)$"
)
_CODE_AND_TOWN = re.compile(r"^(?:[A-Z]{1,2}-)?(?P<code>\d{4,5})\s+(?P<town>[^\d,;|]{2,40})$")
_REGION_AND_CODE = re.compile(
    r"^[\s,]*+(?:(?P<region>[A-Z]{2})\b\.?)?[\s,]*+(?P<code>\d{5}(?:-\d{4})?)?$"
)
_STREET = re.compile(r"^\d{1,5}[A-Za-z]?\s+[^\W\d_]|[^\W\d_]{3}\.?\s++\d{1,4}[a-z]?$")


class KnownValue(NamedTuple):
    """A value that is known from elsewhere."""

    text: str
    why: str
    weight: float = 0.5


class Evidence(NamedTuple):
    """Spots that are an attribute's values, by one source."""

    spots: tuple[Spot, ...]
    source: str
    weight: float
    why: str


class DeclaredValue(NamedTuple):
    """A value that a page declares under a name of the attribute, and the node that holds it."""

    text: str
    node: PageNode


class RankedSpot(NamedTuple):
    """One of several spots that show one value, and the share of its weight that it is worth."""

    spot: Spot
    share: float


def gather(
    page: SpotIndex,
    declared: Sequence[Declared],
    attribute: AttributeType,
    known: Sequence[KnownValue],
) -> list[Evidence]:
    """Return all evidence for an attribute; one whose name says its type needs no type."""
    attribute = replace(attribute, type=implied_type(attribute.name, attribute.type))
    evidence = [*_find_declared(page, declared, attribute), *_find_known(page, attribute, known)]
    for finder in FINDERS:
        evidence += finder(page, attribute)
    return [piece for piece in evidence if piece.spots and piece.weight > 0]


# What the page declares


def _find_declared(
    page: SpotIndex, declared: Sequence[Declared], attribute: AttributeType
) -> Iterator[Evidence]:
    """Yield what the page declares under the best names of the attribute, source by source."""
    names = [_plain(name) for name in meaning_of(attribute.name).properties]
    for source, source_weight in WEIGHT_BY_SOURCE.items():
        of_source = [declaration for declaration in declared if declaration.source == source]
        for rank, name in enumerate(names):
            declarations = [
                declaration for declaration in of_source if _plain(declaration.path) == name
            ]
            if not declarations:
                continue
            best = max(declaration.weight for declaration in declarations)
            values = [
                DeclaredValue(declaration.value, declaration.node)
                for declaration in declarations
                if declaration.weight == best
            ]
            name_share = max(MIN_PROPERTY_SHARE, 1 - LOSS_PER_PROPERTY * rank)
            weight = source_weight * best * name_share
            if attribute.is_multi:
                yield _declared_list(page, attribute, values, source, weight, name)
            else:
                yield from _declared_value(page, attribute, values, source, weight, name)
            break


def _plain(name: str) -> str:
    """Return the name of a property as names are compared: `prep_time` is `prepTime`."""
    return name.lower().replace("_", "").replace("-", "")


def _declared_list(
    page: SpotIndex,
    attribute: AttributeType,
    values: Sequence[DeclaredValue],
    source: str,
    weight: float,
    name: str,
) -> Evidence:
    """Return where all values of a list are displayed."""
    spots = _spots_of_list(page, attribute, values)
    if len(spots) != len({value.text for value in values}):
        weight *= HIDDEN_SHARE
    return Evidence(tuple(spots), source, weight, f"{source} says {name} {_short(values[0].text)}")


def _declared_value(
    page: SpotIndex,
    attribute: AttributeType,
    values: Sequence[DeclaredValue],
    source: str,
    weight: float,
    name: str,
) -> Iterator[Evidence]:
    """Yield where a declared value is displayed; the declaration itself where it is not."""
    why = f"{source} says {name} {_short(values[0].text)}"
    for value in values[:MAX_SPOTS_OFFERED]:
        own_spot = _own_spot(page, value.node) if source == MICRODATA else None
        if own_spot is not None:
            yield Evidence((own_spot,), source, weight, why)
            continue
        spots = page.find(attribute.type, value.text)
        for spot, share in _ranked(page, attribute, spots):
            yield Evidence((spot,), source, weight * share, why)
        if not spots and source != JSON_LD and value.node.name:
            declaration = Spot(value.node, value.text)
            hidden = f"{why}, which is not displayed"
            yield Evidence((declaration,), source, weight * HIDDEN_SHARE, hidden)


def _own_spot(page: SpotIndex, node: PageNode) -> Spot | None:
    """Return a microdata element's own text as a spot."""
    if not node.name:
        spot = page.spot_of(node.element)
        return spot if spot.text else None
    if node.name in {"src", "href"}:
        return Spot(node, node.element.get(node.name) or "")
    return None


def _spots_of_list(
    page: SpotIndex, attribute: AttributeType, values: Sequence[DeclaredValue]
) -> list[Spot]:
    """Return a spot for each of several values, of the same kind where there is a choice."""
    spots_of_values: list[Spot] = []
    keys = set()
    for value in values:
        spots = [spot for spot in page.find(attribute.type, value.text) if spot.key not in keys]
        if not spots:
            continue
        kinds = {page.kind_of(spot) for spot in spots_of_values}
        of_same_kind = [spot for spot in spots if page.kind_of(spot) in kinds]
        best = of_same_kind[0] if of_same_kind else _ranked(page, attribute, spots)[0].spot
        keys.add(best.key)
        spots_of_values.append(best)
    return spots_of_values


def _ranked(page: SpotIndex, attribute: AttributeType, spots: Sequence[Spot]) -> list[RankedSpot]:
    """Return the best spots of one value with the share that each is worth, the best first."""
    if not spots:
        return []
    scores = [_fitness(page, attribute, spot) for spot in spots]
    is_clear = scores.count(max(scores)) == 1
    order = sorted(range(len(spots)), key=lambda index: -scores[index])
    first, *others = [spots[index] for index in order[:MAX_SPOTS_RANKED]]
    return [
        RankedSpot(first, CLEAR_SHARE if is_clear else FIRST_SHARE),
        *(RankedSpot(spot, OTHER_SHARE) for spot in others),
    ]


def _fitness(page: SpotIndex, attribute: AttributeType, spot: Spot) -> float:
    """Return how well a spot suits an attribute, by its names, its label and where it stands."""
    meaning = meaning_of(attribute.name)
    likeness = [names_it(meaning.labels, words) for words in page.names_of(spot)]
    score = 3.0 * max(likeness, default=0.0)
    number = page.index_by_spot.get((spot.node.element, spot.node.number))
    if number is not None:
        before = page.spots[number - 1].text if number else ""
        score += 3.0 * (page.label_of(before) in meaning.labels)
        score -= 2.0 * page.is_template_by_index[number]
    score -= 1.5 * page.is_outer(spot)
    score += 0.5 * (spot.start is None)
    if meaning.is_title and page.heading is not None:
        score += 4.0 * (spot.key == page.heading.key)
    score -= 0.5 * (spot.node.element.tag in {"option", "title"})
    return score


# What is known from elsewhere


def _find_known(
    page: SpotIndex, attribute: AttributeType, known: Sequence[KnownValue]
) -> Iterator[Evidence]:
    """Yield where values that are known from elsewhere are displayed."""
    if attribute.is_multi:
        spot_by_key: dict[object, Spot] = {}
        for value in known:
            spots = page.find("text", value.text)[:MAX_SPOTS_OFFERED]
            spot_by_key |= {spot.key: spot for spot in spots if spot.start is None}
        if spot_by_key:
            weight = max(value.weight for value in known) * 0.7
            yield Evidence(tuple(spot_by_key.values()), KNOWN, weight, known[0].why)
        return
    for value in known:
        spots = page.find(attribute.type, value.text)
        if value.weight <= MIN_WEIGHT_OF_PART:
            spots = [spot for spot in spots if spot.start is None]
        for spot, share in _ranked(page, attribute, spots):
            why = f"{_short(value.text)} {value.why}"
            yield Evidence((spot,), KNOWN, value.weight * share, why)


# What labels and classes say


def find_labelled(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield what stands beside a label of the attribute.

    Not for a part of an address: what stands beside "Address" is more than that.
    """
    if attribute.type == "image" or _address_part(page, attribute) is not None:
        return
    for beside in find_beside(page, attribute):
        yield Evidence(beside.spots, LABELS, beside.weight, f"it stands beside “{beside.label}”")


def find_classed(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the spots whose class, id or the like is a name of the attribute."""
    if attribute.type == "image":
        return
    labels = meaning_of(attribute.name).labels
    weighted_spots: list[tuple[float, Spot, str]] = []  # weight, spot and the name that is one
    for number, spot in enumerate(page.spots):
        likeness, name = 0.0, ""
        for words in page.names_of(spot):
            likeness, name = max((likeness, name), (names_it(labels, words), " ".join(words)))
        if not likeness or not is_mostly(attribute.type, spot.text):
            continue
        if page.label_of(spot.text) in labels:
            continue
        is_repeated = page.is_template_by_index[number] or page.is_outer(spot)
        weighted_spots.append((likeness * (0.3 if is_repeated else 0.6), spot, name))
    if not weighted_spots:
        return
    best = max(weight for weight, _, _ in weighted_spots)
    spots = [spot for weight, spot, _ in weighted_spots if weight == best]
    name = next(name for weight, _, name in weighted_spots if weight == best)
    why = f"its class or id says “{name}”"
    if attribute.is_multi:
        kind = page.kind_of(spots[0])
        of_same_kind = tuple(spot for spot in spots if page.kind_of(spot) == kind)
        yield Evidence(of_same_kind, LABELS, best * 0.9, why)
        return
    for rank, spot in enumerate(spots[:MAX_SPOTS_OFFERED]):
        share = _share_of_rank(rank, len(spots), alone=1.0, first=0.8, later=0.5)
        yield Evidence((_typed_part(page, attribute, spot),), LABELS, best * share, why)


def _share_of_rank(rank: int, n: int, *, alone: float, first: float, later: float) -> float:
    """Return what a spot is worth as the only one, as the first of several, or as a later one."""
    if n == 1:
        return alone
    return first if rank == 0 else later


def _typed_part(page: SpotIndex, attribute: AttributeType, spot: Spot) -> Spot:
    """Return the part of a spot that the type's pattern selects, where that is one part."""
    if attribute.type not in {"price", "date", "phone", "number"}:
        return spot
    stretches = find_typed(attribute.type, spot.text)
    return page.part(spot, *stretches[0]) if len(stretches) == 1 else spot


# What the shape of a block says


def find_address_part(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the part of a postal address that an attribute is."""
    evidence = None if _is_never_in_a_block(attribute) else _address_part(page, attribute)
    if evidence is not None:
        yield evidence


def _is_never_in_a_block(attribute: AttributeType) -> bool:
    """Return whether values of the type are no short text: images, HTML, addresses."""
    return attribute.type in {"image", "html", "url"}


def _address_part(page: SpotIndex, attribute: AttributeType) -> Evidence | None:
    name = next((part for part in (STREET, TOWN, REGION, CODE) if _means(attribute, part)), "")
    if not name:
        return None
    for lines, weight in _addresses(page):
        part = _parts_of_address(page, lines).get(name)
        if part is not None and part.text.strip():
            return Evidence((part,), PATTERN, weight, "it is that part of the address")
    return None


def _means(attribute: AttributeType, name: str) -> bool:
    return meaning_of(attribute.name).key == meaning_of(name).key


def _addresses(page: SpotIndex) -> Iterator[tuple[list[Spot], float]]:
    """Yield the lines of addresses with how sure each is.

    First come those beside a label, then those from a street to a code. What stands beside a label
    and has no digit is none.
    """
    for beside in find_beside(page, AttributeType("address", is_multi=True)):
        if any(_has_digit(spot.text) for spot in beside.spots[:MAX_ADDRESS_LINES]):
            yield list(beside.spots[:MAX_LINES_BESIDE]), 0.75
    for number, spot in enumerate(page.spots):
        if page.is_template_by_index[number] or len(spot.text) > MAX_BLOCK_CHARS:
            continue
        if not _STREET.search(spot.text):
            continue
        lines = page.spots[number : number + MAX_ADDRESS_LINES]
        if any(CODE in _parts_of_address(page, lines[:n]) for n in range(1, len(lines) + 1)):
            yield lines, 0.55


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _parts_of_address(page: SpotIndex, lines: list[Spot]) -> dict[str, Spot]:
    """Return the parts of an address by their names."""
    parts: dict[str, Spot] = {}
    if not lines:
        return parts
    street = lines[0]
    if len(lines) == 1 and "," in street.text:
        before, _, after = street.text.partition(",")
        offset = len(before) + 1 + len(after) - len(after.lstrip())
        parts[STREET] = page.part(street, 0, len(before))
        _add_town(page, street, offset, parts)
        return parts
    parts[STREET] = street
    for number, line in enumerate(lines[1:], 1):
        if CODE in parts:
            break
        _add_town(page, line, 0, parts)
        is_named = CODE in parts or TOWN in parts
        if number <= 2 and not is_named and not _has_digit(line.text):
            parts[TOWN] = page.part(line, 0, len(line.text.rstrip(" ,")))
    return parts


def _add_town(page: SpotIndex, line: Spot, offset: int, parts: dict[str, Spot]) -> None:
    """Add the town, region and code that a line names behind an offset; known parts stay."""
    text = line.text[offset:]
    match = _TOWN_AND_CODE.match(text) or _CODE_AND_TOWN.match(text) or _REGION_AND_CODE.match(text)
    if match is None:
        return
    for group, name in (("town", TOWN), ("region", REGION), ("code", CODE)):
        if match.groupdict().get(group) and name not in parts:
            parts[name] = page.part(line, offset + match.start(group), offset + match.end(group))


def find_crumb(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the crumbs, of them the last one for a single value or a category.

    For a category also the link above the heading.
    """
    if _is_never_in_a_block(attribute):
        return
    crumbs = _crumbs(page)
    if _means(attribute, "breadcrumbs"):
        if len(crumbs) > 1:
            spots = tuple(crumbs) if attribute.is_multi else (crumbs[-1],)
            yield Evidence(spots, PATTERN, 0.6, "they are the page's crumbs")
        return
    if not _means(attribute, "category"):
        return
    if len(crumbs) > 1:
        yield Evidence((crumbs[-1],), PATTERN, 0.6, "it is where the page's crumbs end")
    number = page.index_of_heading
    above = page.spots[number - 1] if number else None
    if above is None or above.node.element.tag != "a":
        return
    if not page.is_outer(above) and _is_alone(above):
        yield Evidence((above,), PATTERN, 0.5, "it is the link above the heading")


def _crumbs(page: SpotIndex) -> list[Spot]:
    """Return the links of the first run with one sign between any two that is no sign of menus."""
    run: list[Spot] = []
    sign = ""
    is_after_sign = False
    for spot in page.spots:
        if run and _SEPARATOR.fullmatch(spot.text) and sign in {"", spot.text}:
            sign, is_after_sign = spot.text, True
            continue
        is_link = spot.node.element.tag == "a"
        if not (is_link and is_after_sign):  # the run is over; a link may begin another
            if _are_crumbs(run, sign):
                return run
            run, sign = [], ""
        if is_link:
            run.append(spot)
        is_after_sign = False
    return run if _are_crumbs(run, sign) else []


def _are_crumbs(run: list[Spot], sign: str) -> bool:
    return len(run) > 1 and sign not in {"", *_SIGNS_OF_MENUS}


def _is_alone(spot: Spot) -> bool:
    parent = spot.node.element.getparent()
    return parent is not None and len(parent) == 1 and parent.tag not in {"li", "td", "nav"}


def find_linked(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the texts of links whose addresses name the attribute."""
    if _is_never_in_a_block(attribute):
        return
    labels = meaning_of(attribute.name).labels
    spots = []
    first_name = ""
    for number, spot in enumerate(page.spots):
        link = _link_of(spot.node.element)
        if link is None or page.is_template_by_index[number] or page.is_outer(spot):
            continue
        if len(spot.text) > MAX_BLOCK_CHARS:
            continue
        name = _name_in_address(link.get("href") or "", labels)
        if name:
            first_name = first_name or name
            spots.append(spot)
    if not spots:
        return
    why = f"its link's address says “{first_name}”"
    if attribute.is_multi:
        parent = _parent_of_link(spots[0])
        beside = [spot for spot in spots if _parent_of_link(spot) is parent]
        weight = 0.45 + 0.1 * (len(beside) == len(spots))
        yield Evidence(tuple(beside[:MAX_LINKS]), PATTERN, weight, why)
        return
    for rank, spot in enumerate(spots[:MAX_SPOTS_OFFERED]):
        share = _share_of_rank(rank, len(spots), alone=1.0, first=0.8, later=0.4)
        yield Evidence((spot,), PATTERN, 0.5 * share, why)


def _link_of(element: _Element) -> _Element | None:
    """Return the link that an element is or stands in directly."""
    if element.tag == "a":
        return element
    parent = element.getparent()
    return parent if parent is not None and parent.tag == "a" else None


def _name_in_address(href: str, labels: frozenset[str]) -> str:
    """Return the part of an address that is one of the labels; blank where none is."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return ""
    segments = parts.path.split("/")[:-1]
    segments += [pair.partition("=")[0] for pair in parts.query.split("&")]
    for segment in reversed(segments[-6:]):
        words = words_of(unquote(segment)[:40])
        if words and names_it(labels, words) == 1.0:
            return " ".join(words)
    return ""


def _parent_of_link(spot: Spot) -> _Element | None:
    """Return the element around a spot's link, or around its cell or item where it has one."""
    link = _link_of(spot.node.element)
    parent = link.getparent() if link is not None else None
    if parent is not None and parent.tag in {"li", "span", "td"}:
        return parent.getparent()
    return parent


def find_lead(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the first long text after the heading for what describes the thing."""
    if (
        _is_never_in_a_block(attribute)
        or not _means(attribute, "description")
        or page.heading is None
    ):
        return
    for number in range(page.index_of_heading + 1, len(page.spots)):
        spot = page.spots[number]
        if len(spot.text) < MIN_LEAD_CHARS or page.is_outer(spot):
            continue
        if page.is_template_by_index[number]:
            continue
        element = spot.node.element
        lead = page.spot_of(element) if element.tag == "p" else spot
        yield Evidence((lead,), PATTERN, 0.4, "it is the first long text after the heading")
        return


def find_stock(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the texts that say whether a thing is in stock."""
    if _is_never_in_a_block(attribute) or not _means(attribute, "availability"):
        return
    short = [spot for spot in page.spots if len(spot.text) <= MAX_BLOCK_CHARS]
    spots = [spot for spot in short if _STOCK.fullmatch(spot.text.strip())]
    for rank, spot in enumerate(spots[:MAX_SPOTS_OFFERED]):
        weight = _share_of_rank(rank, len(spots), alone=0.6, first=0.5, later=0.2)
        yield Evidence((spot,), PATTERN, weight, "it says what is in stock")


# What a value of the type looks like


def find_heading(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the page's heading for an attribute that titles the thing, such as name or headline."""
    if page.heading is None or attribute.type != "text":
        return
    if meaning_of(attribute.name).is_title:
        difference = " and differs on other samples" if page.other_prints else ""
        yield Evidence((page.heading,), HEADING, 0.8, f"it is the page's heading{difference}")


def find_on_key_paths(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield what stands on the key paths of the site's clustering.

    What searchers asked for matches what stands there. It is most likely the title of the thing; of
    other attributes a key path only says that something worth extracting stands there.
    """
    if attribute.type in {"image", "url"}:
        return
    is_title = meaning_of(attribute.name).is_title and attribute.type == "text"
    rank = 0
    for elements in page.key_path_elements:
        spots = [page.spot_of(element) for element in elements]
        spots = [spot for spot in spots if _may_be_key(page, attribute, spot)]
        if not spots:
            continue
        weight = KEY_PATH_WEIGHT_OF_TITLE if is_title and rank == 0 else KEY_PATH_WEIGHT
        why = f"it stands on key path {rank + 1} of the cluster, which searchers' words match"
        offered = tuple(spots) if attribute.is_multi else (spots[0],)
        yield Evidence(offered, KEY_PATH, weight, why)
        rank += 1
        if rank == MAX_SPOTS_OFFERED:
            return


def _may_be_key(page: SpotIndex, attribute: AttributeType, spot: Spot) -> bool:
    """Return whether a spot on a key path is short, of the type, and no text of the template."""
    if not spot.text or len(spot.text) > MAX_KEY_CHARS or page.is_template(spot):
        return False
    return is_mostly(attribute.type, spot.text)


def find_typed_texts(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the values of a telling type in the page's main part, those after the heading first."""
    if not has_pattern(attribute.type) or attribute.type in {"number", "zip", "url"}:
        return
    start = page.index_of_heading
    spots: list[Spot] = []
    for number in [*range(start, len(page.spots)), *range(start)]:
        spot = page.spots[number]
        if page.is_template_by_index[number] or page.is_outer(spot):
            continue
        stretches = find_typed(attribute.type, spot.text)
        if len(stretches) != 1:
            continue
        first, after = stretches[0]
        if after - first > len(spot.text) / 3:
            spots.append(page.part(spot, first, after))
    for rank, spot in enumerate(spots[:MAX_SPOTS_OFFERED]):
        weight = _share_of_rank(rank, len(spots), alone=0.5, first=0.4, later=0.15)
        yield Evidence((spot,), PATTERN, weight, f"it looks like a {attribute.type}")


def find_images(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the images of the page's main part: those beside its heading, or whose text says it."""
    if attribute.type != "image":
        return
    title = page.heading.text.lower() if page.heading else ""
    scored: list[tuple[float, Spot]] = []
    for order, element in enumerate(page.tree.iter("img")):
        source = element.get("src") or ""
        spot = Spot(PageNode(element, name="src"), source)
        if not source or source.startswith("data:") or page.is_outer(spot):
            continue
        alt = (element.get("alt") or "").lower()
        size = _written_size(element)
        score = 0.3 - 0.01 * order
        score += 0.3 * bool(alt and title and (alt in title or title in alt))
        score += 0.15 * any(ancestor.tag == "figure" for ancestor in element.iterancestors())
        score += 0.1 * (size >= 150) - 0.2 * (0 < size < 60)
        scored.append((score, spot))
    scored.sort(key=lambda pair: -pair[0])
    n_offered = 1 if attribute.is_multi else MAX_SPOTS_OFFERED
    for rank, (score, spot) in enumerate(scored[:n_offered]):
        weight = score if rank == 0 else score / 2
        yield Evidence((spot,), PATTERN, weight, "it is the largest image beside the heading")


def _written_size(element: _Element) -> int:
    """Return the smaller of an image's written width and height; 0 where none is written."""
    written = [element.get(name, "").removesuffix("px") for name in ("width", "height")]
    return min((int(size) for size in written if size.isdecimal() and len(size) < 6), default=0)


def find_bodies(page: SpotIndex, attribute: AttributeType) -> Iterator[Evidence]:
    """Yield the element with most running text for attributes that are long texts."""
    is_html = attribute.type in LONG_TYPES
    if not is_html and attribute.name.lower().replace("_", "") not in LONG_NAMES:
        return
    paragraphs: dict[_Element, list[Spot]] = {}
    for element in page.tree.iter("p"):
        parent = element.getparent()
        spot = page.spot_of(element)
        if parent is not None and len(spot.text) > MIN_BODY_CHARS and not page.is_outer(spot):
            paragraphs.setdefault(parent, []).append(spot)
    if not paragraphs:
        return
    longest = max(paragraphs, key=lambda parent: sum(len(s.text) for s in paragraphs[parent]))
    spots = paragraphs[longest]
    if is_html and len(spots) > 1:
        body = page.spot_of(longest)
        yield Evidence((body,), PATTERN, 0.45, "it is the page's longest text")
    else:
        yield Evidence((spots[0],), PATTERN, 0.3, "it is the page's first long paragraph")


def _short(text: str) -> str:
    return f"“{text}”" if len(text) <= MAX_REASON_CHARS else f"“{text[:MAX_REASON_CHARS]}…”"


FINDERS: Final[tuple[Callable[[SpotIndex, AttributeType], Iterator[Evidence]], ...]] = (
    find_labelled,
    find_classed,
    find_address_part,
    find_crumb,
    find_linked,
    find_lead,
    find_stock,
    find_heading,
    find_on_key_paths,
    find_typed_texts,
    find_images,
    find_bodies,
)
