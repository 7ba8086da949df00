"""Give each record of a list a key that stays when others come and go, and its details' address.

Readings:   The key is made of the record's own constant values; where it has none, of the link to
            its details; where it has neither, of its index. What the key of a record is made of is
            not decided by the others, so that a new record leaves the keys of all others as they
            are. Records with the same constant values are told apart by their links, else by their
            order among themselves. The links to the details are those of one column: addresses of
            one pattern, another one in each record, in as many records as possible. Where fewer
            than MIN_SHARE of the records have one, the column may tell records apart, but nobody is
            told that it leads to their details.
Cost:       Linear in the records and their links.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urljoin, urlsplit

from annotation.algorithms.attribute_types import AttributeType
from clustering.dom.addresses import BadAddress, join_url, normalise_url
from rules.algorithms.running.records import ExtractedRecord

SEPARATOR = " | "
MIN_SHARE = 0.6  # of the records of a list have a link to their details, where they have any
_NUMBER = re.compile(r"\d+")
_LEADS_NOWHERE = re.compile(r"\s*(?:#|$|javascript:|mailto:|tel:|data:)", re.IGNORECASE)
# As a whole step of an address, or a name or a value of its query: titles have such words, too.
_NO_DETAILS = re.compile(
    r"[/?&=](?:log-?in|sign-?(?:in|up)|(?:add[-_]?to[-_]?)?(?:cart|basket|wishlist|compare)|share|print|report)"
    r"(?:[/?&=.]|$)",
    re.IGNORECASE,
)


def with_keys(
    records: Sequence[ExtractedRecord],
    attributes: Sequence[AttributeType],
    details: Sequence[str],
    url: str = "",
) -> list[ExtractedRecord]:
    """Return a list's records with indices and keys; `details` are the links to their details.

    A key is made of the constant values, and of the link to the details as well where several
    records have the same values. A record without values has the link or, where that is not its
    own, its index.
    """
    names = [
        attribute.name
        for attribute in attributes
        if attribute.is_constant and not attribute.is_multi
    ]
    texts = [_constant_values(record, names) for record in records]
    links = [_path(link, url) for link in details]
    n_by_text = Counter(texts)
    n_by_both = Counter(zip(texts, links, strict=True))
    keys = []
    for index, (text, link) in enumerate(zip(texts, links, strict=True)):
        has_own_link = bool(link) and n_by_both[text, link] == 1
        if not text:
            keys.append(link if has_own_link else str(index))
        elif has_own_link and n_by_text[text] > 1:
            keys.append(f"{text}{SEPARATOR}{link}")
        else:
            keys.append(text)
    return [
        replace(record, index=index, key=key)
        for index, (record, key) in enumerate(zip(records, _numbered(keys), strict=True))
    ]


def with_details(
    records: Sequence[ExtractedRecord],
    details: Sequence[str],
    base_url: str,
    encoding: str = "utf-8",
) -> list[ExtractedRecord]:
    """Return a list's records with the addresses of their details, where most of them have one.

    `details` are the links to the details as they are written, meant from `base_url` on, with their
    queries in `encoding`.
    """
    if sum(map(bool, details)) < MIN_SHARE * len(details):
        return list(records)
    return [
        replace(record, details_url=_address(link, base_url, encoding))
        for record, link in zip(records, details, strict=True)
    ]


def _address(link: str, base_url: str, encoding: str) -> str:
    """Return the normalised address that a link means, blank where it is none."""
    if not link:
        return ""
    try:
        return normalise_url(join_url(base_url, link), encoding)
    except BadAddress:
        return ""


def _constant_values(record: ExtractedRecord, names: Sequence[str]) -> str:
    """Return the constant values of a record, blank where it has none."""
    values = [str(record.values.get(name, "")) for name in names]
    return SEPARATOR.join(values) if any(values) else ""


def _numbered(keys: Sequence[str]) -> list[str]:
    """Return the keys, with numbers on those that come again.

    >>> _numbered(["A", "B", "A"])
    ['A', 'B', 'A #2']
    """
    n_by_key: Counter[str] = Counter()
    numbered = []
    for key in keys:
        n_by_key[key] += 1
        numbered.append(key if n_by_key[key] == 1 else f"{key} #{n_by_key[key]}")
    return numbered


@dataclass(slots=True)
class _LinkColumn:
    """Links of one pattern, at most one of each record."""

    link_by_record: dict[int, str] = field(default_factory=dict)  # as they are written
    sum_of_positions: int = 0  # among the links of their records


def detail_links(links: Sequence[Sequence[str]], url: str = "") -> list[str]:
    """Return the link to each record's details, as it is written, blank where it has none.

    Their addresses are of one pattern: of that which most records have, then of that which stands
    first in them. An address in several records leads to the details of none.

    >>> detail_links([["/by/ann", "/story/1"], ["/by/ann", "/story/2#top"], ["/story/3"]])
    ['/story/1', '/story/2#top', '/story/3']
    """
    paths_by_record = []  # each with the link as it is written
    for links_of_record in links:
        paths = [(_path(link, url), link) for link in links_of_record]
        paths_by_record.append([(path, link) for path, link in paths if path])
    n_records_by_path = Counter(
        path for paths in paths_by_record for path in {path for path, _ in paths}
    )

    columns: defaultdict[str, _LinkColumn] = defaultdict(_LinkColumn)  # by pattern
    for number, paths in enumerate(paths_by_record):
        for position, (path, link) in enumerate(paths):
            if n_records_by_path[path] > 1 or _NO_DETAILS.search(path):
                continue
            column = columns[_pattern(path)]
            if number not in column.link_by_record:
                column.link_by_record[number] = link
                column.sum_of_positions += position
    if not columns:
        return [""] * len(links)

    def rank(pattern: str) -> tuple[int, int, str]:
        column = columns[pattern]
        return -len(column.link_by_record), column.sum_of_positions, pattern

    best = columns[min(columns, key=rank)]
    return [best.link_by_record.get(number, "") for number in range(len(links))]


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
    """Return an address without what differs between records: its last step and its numbers."""
    before, mark, query = path.partition("?")
    if not mark:
        return _NUMBER.sub("0", before.rpartition("/")[0])
    names = "&".join(part.partition("=")[0] for part in query.split("&"))
    return _NUMBER.sub("0", f"{before}?{names}")
