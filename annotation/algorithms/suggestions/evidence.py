"""Gather the evidence that spots of a page are values of an attribute, one small function a source.

Readings:   Weights are what suggestions of each kind were worth on development pages, rounded. Of several
            displays of one value those count more that stand beside a name of the attribute, in the page's
            main part, and that the template does not repeat.
Cost:       That of finding a value, for each declaration and known value; one look at each text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.anchors.node_paths import PageNode
from annotation.algorithms.suggestions.blocks import (
    find_address_part,
    find_crumb,
    find_lead,
    find_linked,
    find_stock,
)
from annotation.algorithms.suggestions.declared import Declared
from annotation.algorithms.suggestions.labels import find_beside, is_mostly
from annotation.algorithms.suggestions.names import implied_type, meaning_of, names_it
from annotation.algorithms.suggestions.page_index import PageIndex, Spot
from annotation.algorithms.suggestions.value_types import find_typed, has_pattern

KNOWN: Final = "known value"
PATTERN: Final = "pattern"
KEY_PATH: Final = "key path"
LABELS: Final = "labels"
WEIGHTS: Final = {"json-ld": 0.85, "microdata": 0.85, "meta": 0.6}
HIDDEN: Final = 0.5  # what a declaration that is not displayed is worth beside one that is
PER_PROPERTY: Final = 0.1  # less for each better name of the property
LONGEST_SHOWN: Final = 70  # characters of a value in a reason
LONG_TEXT: Final = 200  # characters of a paragraph that makes a body
LONG_TYPES: Final = frozenset({"html"})
TEXTS: Final = frozenset({"description", "articlebody", "body", "content", "summary", "text"})


class WantedAttribute(NamedTuple):
    """An attribute that values are looked for."""

    name: str
    type: str = "text"
    is_multi: bool = False


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


def gather(
    page: PageIndex,
    declared: Sequence[Declared],
    wanted: WantedAttribute,
    known: Sequence[KnownValue],
) -> list[Evidence]:
    """Return all evidence for an attribute; one whose name says of which type it is needs no type."""
    wanted = WantedAttribute(wanted.name, implied_type(wanted.name, wanted.type), wanted.is_multi)
    found = [*_declared(page, declared, wanted), *_known(page, wanted, known)]
    for finder in FINDERS:
        found += finder(page, wanted)
    return [one for one in found if one.spots and one.weight > 0]


def _declared(
    page: PageIndex, declared: Sequence[Declared], wanted: WantedAttribute
) -> Iterator[Evidence]:
    """Yield what the page declares under the best names of the attribute, source by source."""
    names = [_plain(name) for name in meaning_of(wanted.name).properties]
    for source, weight in WEIGHTS.items():
        for rank, name in enumerate(names):
            said = [one for one in declared if one.source == source and _plain(one.path) == name]
            if not said:
                continue
            trust = weight * max(one.weight for one in said) * max(0.4, 1 - PER_PROPERTY * rank)
            said = [one for one in said if one.weight == max(other.weight for other in said)]
            yield from _shown(
                page, wanted, [(one.value, one.node) for one in said], source, trust, name
            )
            break


def _plain(name: str) -> str:
    """Return the name of a property as names are compared: `prep_time` is `prepTime`."""
    return name.lower().replace("_", "").replace("-", "")


def _shown(
    page: PageIndex,
    wanted: WantedAttribute,
    values: Sequence[tuple[str, PageNode]],
    source: str,
    weight: float,
    name: str,
) -> Iterator[Evidence]:
    """Yield where declared values are displayed; the declaration itself where they are not."""
    why = f"{source} says {name} {_short(values[0][0])}"
    if wanted.is_multi:
        spots = _spots_of_list(page, wanted, values)
        whole = len(spots) == len({value for value, _ in values})
        yield Evidence(tuple(spots), source, weight if whole else weight * HIDDEN, why)
        return
    for value, node in values[:3]:
        own = _own_spot(page, node) if source == "microdata" else None
        if own is not None:
            yield Evidence((own,), source, weight, why)
            continue
        places = page.find(wanted.type, value)
        for spot, share in _ranked(page, wanted, places):
            yield Evidence((spot,), source, weight * share, why)
        if not places and source != "json-ld" and node.name:
            yield Evidence(
                (Spot(node, value),), source, weight * HIDDEN, f"{why}, which is not displayed"
            )


def _own_spot(page: PageIndex, node: PageNode) -> Spot | None:
    """Return a microdata element's own text as a spot."""
    if node.name:
        return (
            Spot(node, node.element.get(node.name) or "") if node.name in {"src", "href"} else None
        )
    found = page.spot_of(node.element)
    return found if found.text else None


def _spots_of_list(
    page: PageIndex, wanted: WantedAttribute, values: Sequence[tuple[str, PageNode]]
) -> list[Spot]:
    """Return a spot for each of several values, near each other where there is a choice."""
    found: list[Spot] = []
    seen = set()
    for value, _ in values:
        places = [spot for spot in page.find(wanted.type, value) if spot.key not in seen]
        if places:
            kinds = {page.kind_of(one) for one in found}
            alike = [spot for spot in places if page.kind_of(spot) in kinds]
            best = (alike or [spot for spot, _ in _ranked(page, wanted, places)] or places)[0]
            seen.add(best.key)
            found.append(best)
    return found


def _ranked(
    page: PageIndex, wanted: WantedAttribute, places: Sequence[Spot]
) -> list[tuple[Spot, float]]:
    """Return the places of one value with the share that each is worth, the best first."""
    scored = sorted(
        ((_fitness(page, wanted, spot), -n) for n, spot in enumerate(places)), reverse=True
    )
    if not scored:
        return []
    best = scored[0][0]
    n_best = sum(score == best for score, _ in scored)
    return [
        (places[-n], 1.0 if score == best and n_best == 1 else 0.9 if order == 0 else 0.55)
        for order, (score, n) in enumerate(scored[:4])
    ]


def _fitness(page: PageIndex, wanted: WantedAttribute, spot: Spot) -> float:
    meaning = meaning_of(wanted.name)
    score = 3.0 * max(
        (names_it(meaning.labels, words) for words in page.names_of(spot)), default=0.0
    )
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


def _known(
    page: PageIndex, wanted: WantedAttribute, known: Sequence[KnownValue]
) -> Iterator[Evidence]:
    if wanted.is_multi:
        spots: list[Spot] = []
        for one in known:
            spots += [spot for spot in page.find("text", one.text)[:3] if spot.start is None]
        if spots:
            unique = list({spot.key: spot for spot in spots}.values())
            yield Evidence(
                tuple(unique), KNOWN, max(one.weight for one in known) * 0.7, known[0].why
            )
        return
    for one in known:
        places = [
            spot
            for spot in page.find(wanted.type, one.text)
            if spot.start is None or one.weight > 0.6
        ]
        for spot, share in _ranked(page, wanted, places):
            yield Evidence((spot,), KNOWN, one.weight * share, f"{_short(one.text)} {one.why}")


def _labelled(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    is_split = any(
        find_address_part(page, wanted.name)
    )  # what stands beside "Address" is more than a part
    if wanted.type == "image" or is_split:
        return
    for beside in find_beside(page, wanted.name, wanted.type, is_multi=wanted.is_multi):
        yield Evidence(beside.spots, LABELS, beside.weight, f"it stands beside “{beside.label}”")


def _classed(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    """Yield the spots whose class, id or the like is a name of the attribute."""
    labels = meaning_of(wanted.name).labels
    found: list[tuple[float, Spot, str]] = []
    if wanted.type == "image":
        return
    for number, spot in enumerate(page.spots):
        named = max(
            ((names_it(labels, words), " ".join(words)) for words in page.names_of(spot)),
            default=(0, ""),
        )
        if (
            not named[0]
            or not is_mostly(wanted.type, spot.text)
            or page.label_of(spot.text) in labels
        ):
            continue
        is_same = page.is_template_by_index[number] or page.is_outer(spot)
        found.append((named[0] * (0.3 if is_same else 0.6), spot, named[1]))
    if not found:
        return
    best = max(weight for weight, _, _ in found)
    kept = [(spot, name) for weight, spot, name in found if weight == best]
    why = f"its class or id says “{kept[0][1]}”"
    if wanted.is_multi:
        kinds = page.kind_of(kept[0][0])
        yield Evidence(
            tuple(s for s, _ in kept if page.kind_of(s) == kinds), LABELS, best * 0.9, why
        )
        return
    for order, (spot, _) in enumerate(kept[:3]):
        trust = best if len(kept) == 1 else best * (0.8 if order == 0 else 0.5)
        yield Evidence((_typed_part(page, wanted, spot),), LABELS, trust, why)


def _typed_part(page: PageIndex, wanted: WantedAttribute, spot: Spot) -> Spot:
    places = (
        find_typed(wanted.type, spot.text)
        if wanted.type in {"price", "date", "phone", "number"}
        else []
    )
    return page.part(spot, *places[0]) if len(places) == 1 else spot


def _in_blocks(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    """Yield what the shape of a block says."""
    if wanted.type in {"image", "html", "url"}:
        return
    multi = wanted.is_multi
    for found in (
        *find_address_part(page, wanted.name),
        *find_crumb(page, wanted.name, is_multi=multi),
        *find_linked(page, wanted.name, is_multi=multi),
        *find_lead(page, wanted.name),
        *find_stock(page, wanted.name),
    ):
        yield Evidence(found.spots, PATTERN, found.weight, found.why)


def _heading(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    if meaning_of(wanted.name).is_title and page.heading is not None and wanted.type == "text":
        others = " and differs on other samples" if page.others else ""
        yield Evidence((page.heading,), KEY_PATH, 0.8, f"it is the page's heading{others}")


def _typed(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    """Yield the values of a telling type in the main part of the page, the first after the heading."""
    if not has_pattern(wanted.type) or wanted.type in {"number", "zip", "url"}:
        return
    start = _place_of_heading(page)
    found: list[Spot] = []
    for number in [*range(start, len(page.spots)), *range(start)]:
        spot = page.spots[number]
        if page.is_template_by_index[number] or page.is_outer(spot):
            continue
        places = find_typed(wanted.type, spot.text)
        if len(places) == 1 and places[0][1] - places[0][0] > len(spot.text) / 3:
            found.append(page.part(spot, *places[0]))
    for order, spot in enumerate(found[:3]):
        weight = 0.5 if len(found) == 1 else 0.4 if order == 0 else 0.15
        yield Evidence((spot,), PATTERN, weight, f"it looks like a {wanted.type}")


def _place_of_heading(page: PageIndex) -> int:
    heading = page.heading
    if heading is None:
        return 0
    return page.index_by_spot.get((heading.node.element, heading.node.number), 0)


def _images(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    """Yield the images of the page's main part: those beside its heading, or whose text says it."""
    if wanted.type != "image":
        return
    title = page.heading.text.lower() if page.heading else ""
    found: list[tuple[float, Spot]] = []
    for order, element in enumerate(page.tree.iter("img")):
        source = element.get("src") or ""
        spot = Spot(PageNode(element, name="src"), source)
        if not source or source.startswith("data:") or page.is_outer(spot):
            continue
        score = 0.3 - 0.01 * order
        alt = (element.get("alt") or "").lower()
        score += 0.3 * bool(alt and title and (alt in title or title in alt))
        score += 0.15 * any(one.tag == "figure" for one in element.iterancestors())
        score += 0.1 * (_size(element) >= 150) - 0.2 * (0 < _size(element) < 60)
        found.append((score, spot))
    found.sort(key=lambda one: -one[0])
    if wanted.is_multi:
        found = found[:1]
    for order, (score, spot) in enumerate(found[:3]):
        yield Evidence(
            (spot,),
            PATTERN,
            score if order == 0 else score / 2,
            "it is the largest image beside the heading",
        )


def _size(element: _Element) -> int:
    written = [element.get(name, "").removesuffix("px") for name in ("width", "height")]
    return min((int(one) for one in written if one.isdecimal() and len(one) < 6), default=0)


def _bodies(page: PageIndex, wanted: WantedAttribute) -> Iterator[Evidence]:
    """Yield the element with most running text for attributes that are long texts."""
    if "".join(wanted.name.lower().split("_")) not in TEXTS and wanted.type not in LONG_TYPES:
        return
    lengths: dict[_Element, int] = {}
    paragraphs: dict[_Element, list[Spot]] = {}
    for element in page.tree.iter("p"):
        parent = element.getparent()
        spot = page.spot_of(element)
        if parent is not None and len(spot.text) > LONG_TEXT / 4 and not page.is_outer(spot):
            lengths[parent] = lengths.get(parent, 0) + len(spot.text)
            paragraphs.setdefault(parent, []).append(spot)
    if not lengths:
        return
    parent = max(lengths, key=lambda one: lengths[one])
    its = paragraphs[parent]
    if wanted.type in LONG_TYPES and len(its) > 1:
        yield Evidence((page.spot_of(parent),), PATTERN, 0.45, "it is the page's longest text")
    elif len(its) == 1 or wanted.type not in LONG_TYPES:
        yield Evidence((its[0],), PATTERN, 0.3, "it is the page's first long paragraph")


def _short(text: str) -> str:
    return f"“{text}”" if len(text) <= LONGEST_SHOWN else f"“{text[:LONGEST_SHOWN]}…”"


FINDERS: Final[tuple[Callable[[PageIndex, WantedAttribute], Iterator[Evidence]], ...]] = (
    _labelled,
    _classed,
    _in_blocks,
    _heading,
    _typed,
    _images,
    _bodies,
)
