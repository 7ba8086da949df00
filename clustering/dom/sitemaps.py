"""Read sitemaps: the addresses that a site lists of itself, and where further lists stand."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html import unescape
from itertools import islice
from typing import Final

MAX_ENTRIES: Final = 50_000  # of one file, as the protocol says
MAX_ENTRY_BYTES: Final = 20_000
SLICE: Final = 1024 * 1024  # bytes that are searched before other threads have a turn
LONGEST_TAG: Final = 250  # bytes, more than an entry's can have

_ENTRY = re.compile(rb"<(?:\w{1,20}:)?(url|sitemap)\b[^<>]{0,200}>")
_LOC = re.compile(
    rb"<(?:\w{1,20}:)?loc\b[^<>]{0,200}>\s*([^<]{1,9000}|<!\[CDATA\[[^\]]{1,9000}\]\]>)"
)
_LASTMOD = re.compile(rb"<(?:\w{1,20}:)?lastmod\b[^<>]{0,200}>\s*([^<]{1,100})")
_CDATA = re.compile(r"<!\[CDATA\[(.*)\]\]>", re.DOTALL)
_SITEMAP_LINE = re.compile(r"^[ \t]*sitemap[ \t]*:[ \t]*(\S+)", re.IGNORECASE | re.MULTILINE)
_DATE: Final = "0000-00-00"


@dataclass(frozen=True, slots=True)
class SitemapEntry:
    """An address that a sitemap lists."""

    url: str  # as it is written
    is_sitemap: bool = False
    last_modified: datetime | None = None


def read_sitemap(body: bytes) -> Iterator[SitemapEntry]:
    """Yield the entries of a sitemap or of an index of sitemaps, of broken ones what can be read.

    A body without a tag is a list with an address a line, which the protocol allows as well.

    >>> [entry.url for entry in read_sitemap(b"<urlset><url><loc>http://a.example/?b=1&amp;c=2</loc>")]
    ['http://a.example/?b=1&c=2']
    """
    if b"<" not in body[:1000]:
        for line in islice(io.BytesIO(body), MAX_ENTRIES):
            address = line[:MAX_ENTRY_BYTES].decode("utf-8", "replace").strip()
            if address:
                yield SitemapEntry(address)
        return
    entries = [(match.start(), match[1]) for match in islice(_entries_in(body), MAX_ENTRIES)]
    ends = [start for start, _ in entries[1:]] + [len(body)]
    for (start, kind), end in zip(entries, ends, strict=False):
        part = body[start : min(end, start + MAX_ENTRY_BYTES)]
        located = _LOC.search(part)
        if located is None:
            continue
        changed = _LASTMOD.search(part)
        yield SitemapEntry(
            _text_of(located[1]),
            is_sitemap=kind == b"sitemap",
            last_modified=read_time(_text_of(changed[1])) if changed else None,
        )


def sitemaps_of_robots(robots_text: str) -> list[str]:
    r"""Return where a robots.txt says that sitemaps stand.

    >>> sitemaps_of_robots("User-agent: *\nSitemap: https://a.example/map.xml")
    ['https://a.example/map.xml']
    """
    return list(dict.fromkeys(_SITEMAP_LINE.findall(robots_text)))


def read_time(written: str) -> datetime | None:
    """Return the end of the time that is written: of a day its last moment. None where it is none.

    >>> read_time("2024-05-06")
    datetime.datetime(2024, 5, 7, 0, 0, tzinfo=datetime.timezone.utc)
    """
    try:
        time = datetime.fromisoformat(written.strip())
        if len(written.strip()) == len(_DATE):
            time += timedelta(days=1)
    except (ValueError, OverflowError):
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _entries_in(body: bytes) -> Iterator[re.Match[bytes]]:
    """Yield where the entries of a sitemap begin."""
    for start in range(0, len(body), SLICE):
        for match in _ENTRY.finditer(body, start, start + SLICE + LONGEST_TAG):
            if match.start() < start + SLICE:
                yield match


def _text_of(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace").strip()
    marked = _CDATA.fullmatch(text)
    return marked[1].strip() if marked else unescape(text).strip()
