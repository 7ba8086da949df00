"""Find the records of a list again on the new version of its page, by the values that they had.

Readings:   A record is found in the region of the page that shows the largest share of its values, where that
            is enough of them and no other record has it. Of several lists on a page that one is meant in
            which the most is found.
Cost:       Records times regions times values, each of them a search in a short text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.known_values import ADDRESSES, form_of, plain

Values = Mapping[str, Any]

ENOUGH: Final = 0.5  # share of the constant values of a record that a region shows
MOST_RECORDS: Final = 150  # of a page that are looked for
CONSTANT, CHANGING = 3.0, 1.0  # what a value counts


class MatchedList(NamedTuple):
    """The records of a list on a new page, and which of the known ones each is."""

    records: Sequence[Sequence[_Element]]
    known: Mapping[int, int]  # number of a record on the new page -> of the known one
    score: float


class _Region(NamedTuple):
    text: str
    links: frozenset[Any]


def match_list(
    lists: Iterable[Sequence[Sequence[_Element]]],
    known: Sequence[Values],
    kinds: Sequence[AttributeType],
) -> MatchedList | None:
    """Return the list of a page in which the most of the known records are found, None where none is."""
    matched = [_match(records, known[:MOST_RECORDS], kinds) for records in lists]
    best = max(matched, key=lambda one: one.score, default=None)
    return best if best is not None and best.known else None


def _match(
    records: Sequence[Sequence[_Element]], known: Sequence[Values], kinds: Sequence[AttributeType]
) -> MatchedList:
    regions = [_read(record) for record in records]
    pairs = [
        (share, number, place)
        for number, values in enumerate(known)
        for place, region in enumerate(regions)
        if (share := _share(values, region, kinds)) >= ENOUGH
    ]
    found: dict[int, int] = {}
    taken: set[int] = set()
    total = 0.0
    for share, number, place in sorted(
        pairs, key=lambda one: (-one[0], abs(one[1] - one[2]), one[1])
    ):
        if number not in taken and place not in found:
            found[place] = number
            taken.add(number)
            total += share
    return MatchedList(records, found, total)


def _read(record: Sequence[_Element]) -> _Region:
    text = "".join(
        "".join(map(str, element.itertext())) + (element.tail or "") for element in record
    )
    nodes = [node for element in record for node in element.iter() if isinstance(node.tag, str)]
    links = [str(node.get(name)) for node in nodes for name in ("href", "src") if node.get(name)]
    return _Region(plain(text), frozenset(form_of("url", link) for link in links))


def _share(values: Values, region: _Region, kinds: Sequence[AttributeType]) -> float:
    """Return which share of the values of a record a region shows; constant ones count more."""
    known = shown = 0.0
    for kind in kinds:
        value = values.get(kind.name)
        for text in [] if value is None else [value] if isinstance(value, str) else value:
            weight = CONSTANT if kind.is_constant else CHANGING
            known += weight
            if kind.type in ADDRESSES:
                shown += weight * (form_of(kind.type, text) in region.links)
            else:
                shown += weight * (plain(text) in region.text)
    return shown / known if known else 0.0
