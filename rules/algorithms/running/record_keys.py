"""Give each record of a list a key that stays when other records come and go.

Readings:   The key is made of the record's own constant values; where it has none, of the link to its
            details; where it has neither, of its index. What the key of a record is made of is not decided
            by the others, so that a new record leaves the keys of all others as they are. Records with the
            same constant values are told apart by their links, else by their order among themselves.
            The links to the details are those of one column: addresses of one pattern, another one in each
            record, in as many records as possible.
Cost:       Linear in the records and their links.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urljoin, urlsplit

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.running.records import ExtractedRecord

SEPARATOR = " | "
_NUMBER = re.compile(r"\d+")
_LEADS_NOWHERE = re.compile(r"\s*(?:#|$|javascript:|mailto:|tel:|data:)", re.IGNORECASE)
_NO_DETAILS = re.compile(
    r"log-?in|sign-?(?:in|up)|cart|basket|wishlist|compare|share|print|report", re.IGNORECASE
)


def with_keys(
    records: Sequence[ExtractedRecord],
    attributes: Sequence[AttributeType],
    links: Sequence[Sequence[str]] = (),
    url: str = "",
) -> list[ExtractedRecord]:
    """Return the records of a list with their keys; `links` are those that each record has."""
    constant = [one.name for one in attributes if one.is_constant and not one.is_multi]
    details = detail_links(links, url) if links else [""] * len(records)
    told = [_told(record, constant) for record in records]
    n_told = Counter(told)
    n_linked = Counter(zip(told, details, strict=True))
    keys = []
    for record, text, link in zip(records, told, details, strict=True):
        is_linked = bool(link) and n_linked[text, link] == 1
        parts = [text] if n_told[text] == 1 or not is_linked else [text, link]
        keys.append(
            SEPARATOR.join(filter(None, parts))
            if text
            else link
            if is_linked
            else str(record.index)
        )
    return [replace(record, key=key) for record, key in zip(records, _apart(keys), strict=True)]


def _told(record: ExtractedRecord, names: Sequence[str]) -> str:
    """Return the constant values of a record, blank where it has none."""
    values = [str(record.values.get(name, "")) for name in names]
    return SEPARATOR.join(values) if any(values) else ""


def _apart(keys: Sequence[str]) -> list[str]:
    """Put numbers on keys that come again.

    >>> _apart(["A", "B", "A"])
    ['A', 'B', 'A #2']
    """
    seen: Counter[str] = Counter()
    apart = []
    for key in keys:
        seen[key] += 1
        apart.append(key if seen[key] == 1 else f"{key} #{seen[key]}")
    return apart


def detail_links(links: Sequence[Sequence[str]], url: str = "") -> list[str]:
    """Return the address that leads to the details of each record, blank where it has none.

    >>> detail_links([["/by/ann", "/story/1"], ["/by/ann", "/story/2#top"], ["/story/3"]])
    ['/story/1', '/story/2', '/story/3']
    """
    addresses = [[path for link in some if (path := _path(link, url))] for some in links]
    n_by_path = Counter(path for some in addresses for path in dict.fromkeys(some))
    columns: dict[str, dict[int, str]] = {}
    places: dict[str, int] = {}
    for number, some in enumerate(addresses):
        for place, path in enumerate(some):
            if n_by_path[path] > 1 or _NO_DETAILS.search(path):
                continue
            column = columns.setdefault(_pattern(path), {})
            if number not in column:
                column[number] = path
                places[_pattern(path)] = places.get(_pattern(path), 0) + place
    if not columns:
        return [""] * len(links)
    best = min(columns, key=lambda one: (-len(columns[one]), places[one], one))
    return [columns[best].get(number, "") for number in range(len(links))]


def _path(link: str, url: str) -> str:
    """Return the path and the query of an address, blank where it leads to no other page."""
    if _LEADS_NOWHERE.match(link):
        return ""
    try:
        parts = urlsplit(urljoin(url, link.strip()))
    except ValueError:
        return ""
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _pattern(path: str) -> str:
    """Return an address without what differs from record to record: its last step and its numbers."""
    before, mark, query = path.partition("?")
    names = "&".join(part.partition("=")[0] for part in query.split("&")) if mark else ""
    return _NUMBER.sub("0", f"{before}?{names}" if mark else before.rpartition("/")[0])
