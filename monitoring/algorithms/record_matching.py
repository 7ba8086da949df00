"""Find the records of a list again on the new version of its page, by the values that they had.

Readings:   A record is found in the region of the page that shows the largest share of its values,
            where that is enough of them and no other record has it. Of several lists on a page that
            one is meant in which the most is found.
Cost:       Records times regions times values, each of them a search in a short text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.known_values import ADDRESSES, form_of, plain

Values = Mapping[str, Any]

MIN_SHARE_SHOWN: Final = 0.5  # of the values of a record, weighted
MAX_RECORDS: Final = 150  # of a page
CONSTANT_WEIGHT, CHANGING_WEIGHT = 3.0, 1.0


class MatchedList(NamedTuple):
    """The records of a list on a new page, and which of the known ones each is."""

    records: Sequence[Sequence[_Element]]
    known: Mapping[int, int]  # number of a record on the new page -> of the known one
    score: float


class _Pair(NamedTuple):
    share: float  # of the values of the known record that the region shows
    record: int  # number of the known record
    region: int  # index of the region


class _Region(NamedTuple):
    text: str
    links: frozenset[Any]


def match_list(
    lists: Iterable[Sequence[Sequence[_Element]]],
    known: Sequence[Values],
    attributes: Sequence[AttributeType],
) -> MatchedList | None:
    """Return the list of a page that shows the most known records, or None where none shows any."""
    matched = [_match(records, known[:MAX_RECORDS], attributes) for records in lists]
    best = max(matched, key=lambda candidate: candidate.score, default=None)
    return best if best is not None and best.known else None


def _match(
    records: Sequence[Sequence[_Element]],
    known: Sequence[Values],
    attributes: Sequence[AttributeType],
) -> MatchedList:
    """Match known records with a list's regions: best pairs first, each record and region once."""
    regions = [_read(record) for record in records]
    pairs = []
    for number, values in enumerate(known):
        for index, region in enumerate(regions):
            share = _share(values, region, attributes)
            if share >= MIN_SHARE_SHOWN:
                pairs.append(_Pair(share, number, index))
    pairs.sort(key=lambda pair: (-pair.share, abs(pair.record - pair.region), pair.record))
    record_by_region: dict[int, int] = {}
    matched: set[int] = set()
    score = 0.0
    for pair in pairs:
        if pair.record not in matched and pair.region not in record_by_region:
            record_by_region[pair.region] = pair.record
            matched.add(pair.record)
            score += pair.share
    return MatchedList(records, record_by_region, score)


def _read(record: Sequence[_Element]) -> _Region:
    text = "".join(
        "".join(map(str, element.itertext())) + (element.tail or "") for element in record
    )
    nodes = [node for element in record for node in element.iter() if isinstance(node.tag, str)]
    links = set()
    for node in nodes:
        for name in ("href", "src"):
            link = node.get(name)
            if link:
                links.add(form_of("url", str(link)))
    return _Region(plain(text), frozenset(links))


def _share(values: Values, region: _Region, attributes: Sequence[AttributeType]) -> float:
    """Return which share of the values of a record a region shows; constant ones count more."""
    known = shown = 0.0
    for attribute in attributes:
        value = values.get(attribute.name)
        if value is None:
            continue
        weight = CONSTANT_WEIGHT if attribute.is_constant else CHANGING_WEIGHT
        for text in [value] if isinstance(value, str) else value:
            known += weight
            if attribute.type in ADDRESSES:
                is_shown = form_of(attribute.type, text) in region.links
            else:
                is_shown = plain(text) in region.text
            shown += weight * is_shown
    return shown / known if known else 0.0
