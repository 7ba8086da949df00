"""Find the link of each record that leads to the page about it.

Readings:   Of the links of the records, those in one column are compared: the link to the details is in
            nearly every record, another one in each, of addresses of one pattern on the list's own site, and
            stands in a heading or at the record's longest words. Where a link within the page, a mail address
            or a script is all there is, a record has no details.
Cost:       Linear in the links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from clustering.algorithms.tables.cells import LINK, RecordCell, shown
from clustering.algorithms.tables.fields import Column
from clustering.dom.addresses import BadAddress, join_url
from clustering.dom.visible import HEADINGS

FEWEST = 0.6  # of the records that must have the link
_NUMBER = re.compile(r"\d+")
_ELSEWHERE = re.compile(
    r"log-?in|sign-?(?:in|up)|cart|basket|wishlist|compare|share|tel:|mailto:|javascript:|print|report",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DetailLinks:
    """The column of the links to the details, and each record's address; blank where it has none."""

    column: str
    urls: tuple[str, ...]


def find_detail_links(columns: Sequence[Column], base_url: str) -> DetailLinks | None:
    """Return where the records' own pages are, None where they have none."""
    links = [column for column in columns if column.kind == LINK]
    resolved = [[_first_url(found, base_url) for found in column.cells] for column in links]
    scores = [_score(column, urls, base_url) for column, urls in zip(links, resolved, strict=True)]
    best = max(range(len(links)), key=scores.__getitem__, default=None)
    if best is None or scores[best] <= 0:
        return None
    return DetailLinks(links[best].name, tuple(resolved[best]))


def _first_url(cells: Sequence[RecordCell], base_url: str) -> str:
    """Return the absolute address of a record's first link, blank where it leads to no page."""
    for cell in cells:
        if cell.value.startswith("#") or _ELSEWHERE.match(cell.value):
            continue
        try:
            return join_url(base_url, cell.value)
        except BadAddress:
            continue
    return ""


def _score(column: Column, urls: Sequence[str], base_url: str) -> float:
    """Return how much a column looks like the links to the details; not above 0 if it does not."""
    known = [url for url in urls if url]
    if len(known) < FEWEST * len(urls) or len(set(known)) < FEWEST * len(known):
        return 0.0
    site = urlsplit(base_url).netloc
    own = sum(urlsplit(url).netloc == site for url in known) / len(known)
    patterns = {_pattern(url) for url in known}
    others = sum(_ELSEWHERE.search(urlsplit(url).path) is not None for url in known) / len(known)
    cells = [cell for found in column.cells for cell in found[:1]]
    heading = sum(_is_headed(cell) for cell in cells) / len(cells)
    words = sum(len(shown(cell.element)) for cell in cells) / len(cells)
    full = len(known) / len(urls) + len(set(known)) / len(known)
    return (
        full
        + own
        + heading
        + min(words, 60) / 60
        + 1 / len(patterns)
        - 2 * others
        - column.is_multi
    )


def _is_headed(cell: RecordCell) -> bool:
    return cell.element.tag in HEADINGS or any(
        one.tag in HEADINGS for one in cell.element.iterancestors()
    )


def _pattern(url: str) -> str:
    """Return an address without what differs from record to record: its last step and its numbers."""
    parts = urlsplit(url)
    return _NUMBER.sub("0", parts.path.rpartition("/")[0])
