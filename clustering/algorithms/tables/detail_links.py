"""Find the link of each record that leads to the page about it.

Readings:   Of the links of the records, those in one column are compared: the link to the details
            is in nearly every record, another one in each, of addresses of one pattern on the
            list's own site, and stands in a heading or at the record's longest words. Where a link
            within the page, a mail address or a script is all there is, a record has no details.
Cost:       Linear in the links.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from clustering.algorithms.tables.cells import LINK, RecordCell, shown_text
from clustering.algorithms.tables.fields import Column
from clustering.dom.addresses import BadAddress, join_url
from clustering.dom.visible import HEADINGS

MIN_SHARE = 0.6  # of the records must have the link, and of the links must be different
MAX_TEXT_CHARS = 60  # of a link that count
_NUMBER = re.compile(r"\d+")
_ELSEWHERE = re.compile(
    r"log-?in|sign-?(?:in|up)|cart|basket|wishlist|compare|share|tel:|mailto:|javascript:|print|report",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class DetailLinks:
    """The column of the links to the details, and the records' addresses; some may be blank."""

    column: str
    urls: tuple[str, ...]


def find_detail_links(columns: Sequence[Column], base_url: str) -> DetailLinks | None:
    """Return where the records' own pages are, None where they have none."""
    best = None
    best_score = 0.0
    for column in columns:
        if column.kind != LINK:
            continue
        urls = tuple([_first_url(cells, base_url) for cells in column.cells])
        score = _score(column, urls, base_url)
        if score > best_score:
            best, best_score = DetailLinks(column.name, urls), score
    return best


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
    if len(known) < MIN_SHARE * len(urls) or len(set(known)) < MIN_SHARE * len(known):
        return 0.0
    site = urlsplit(base_url).netloc
    n_on_site = sum(urlsplit(url).netloc == site for url in known)
    n_elsewhere = sum(_ELSEWHERE.search(urlsplit(url).path) is not None for url in known)
    n_patterns = len({_pattern(url) for url in known})
    first_cells = [cells[0] for cells in column.cells if cells]
    n_in_heading = sum(_is_in_heading(cell) for cell in first_cells)
    n_characters = sum(len(shown_text(cell.element)) for cell in first_cells)
    return (
        len(known) / len(urls)
        + len(set(known)) / len(known)
        + n_on_site / len(known)
        + n_in_heading / len(first_cells)
        + min(n_characters / len(first_cells), MAX_TEXT_CHARS) / MAX_TEXT_CHARS
        + 1 / n_patterns
        - 2 * (n_elsewhere / len(known))
        - column.is_multi
    )


def _is_in_heading(cell: RecordCell) -> bool:
    elements = (cell.element, *cell.element.iterancestors())
    return any(element.tag in HEADINGS for element in elements)


def _pattern(url: str) -> str:
    """Return the path of an address without what differs from record to record."""
    parts = urlsplit(url)
    folder = parts.path.rpartition("/")[0]
    return _NUMBER.sub("0", folder)
