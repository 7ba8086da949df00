"""Read the pages of a web archive (WARC)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import BinaryIO

from fastwarc.warc import ArchiveIterator, WarcRecord, WarcRecordType

from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.fetching.decompressing import decompress
from clustering.fetching.refusals import FetchRefused
from clustering.services.pages.source_pages import (
    BROWSER,
    FIRST_YEAR,
    LAST_YEAR,
    LOOKS_LIKE_HTML,
    MAX_BODY,
    MAX_FILE,
    FoundAddress,
    FoundFile,
    Item,
    NotTaken,
    PageRefused,
    Skipped,
    SourcePage,
    checked_size,
    file_kind,
)
from vertex.core.texts import storable

MAX_HEADERS = 64 * 1024
STATUS_OK = 200
OVERHEAD = 1024 * 1024  # headers and chunk marks around a body of the largest size
HTML_TYPES = {"text/html", "application/xhtml+xml"}
STATUS_LINE = re.compile(r"HTTP/\d(?:\.\d)? +(\d{3})\b")
END_OF_HEADERS = re.compile(rb"\r?\n\r?\n")
CHUNK_SIZE = re.compile(rb"\s*([0-9A-Fa-f]{1,8})[^\r\n]{0,1000}\r?\n")
RECORDS = WarcRecordType.response | WarcRecordType.revisit | WarcRecordType.metadata
MAX_METADATA = 64 * 1024  # links follow after what is read of it
MAX_HOPS = 100_000
MAX_WAITED_FOR = 60  # characters, as of a snapshot
# What may have become of an address without a page, in metadata that this product wrote.
FATES = {"due", "redirected", "skipped", "refused", "failed"}


@dataclass(frozen=True, slots=True)
class ArchiveFacts:
    """What the metadata of an archive say of an address."""

    url: str
    depth: int | None = None
    given_url: str = ""
    state: str = ""
    status: int | None = None
    reason: str = ""
    visited_at: datetime | None = None
    is_rendered: bool = False
    waited_for: str = ""


def read_warc(stream: BinaryIO, label: str) -> Iterator[Item]:
    """Yield the HTML pages among the archive's responses; a damaged rest is the last item."""
    records = ArchiveIterator(
        stream,
        record_types=RECORDS,
        parse_http=False,
        max_header_len=MAX_HEADERS,
        quirks_mode=True,
        fsspec_args=False,
    )
    offset = 0
    last: Item | None = None  # its metadata may follow
    try:
        for record in records:
            offset = record.stream_pos
            if record.record_type != WarcRecordType.metadata:
                if last is not None:
                    yield last
                last = _item_of(record, f"{label}:{offset}")
                continue
            facts = _facts_of(record)
            if last is not None and _url_of(last) == facts.url:
                last = _with_facts(last, facts)
            elif facts.state in FATES:
                if last is not None:
                    yield last
                last = _without_page(facts)
    except OSError as error:
        if last is not None:
            yield last
        reason = f"the archive is damaged or cut short after this place: {str(error).lower()}"
        last = NotTaken(f"{label}:{offset}", "damaged", reason)
    if last is not None:
        yield last


def _facts_of(record: WarcRecord) -> ArchiveFacts:
    text = record.reader.read(MAX_METADATA).decode("utf-8", "replace")
    fields: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), storable(value.strip()))
    status = fields.get("vertex-status", "")
    return ArchiveFacts(
        url=_target_of(record),
        depth=min(len(fields["hopsfromseed"]), MAX_HOPS) if "hopsfromseed" in fields else None,
        given_url=fields.get("vertex-given-url", ""),
        state=fields.get("vertex-state", ""),
        status=int(status) if re.fullmatch("[1-5][0-9][0-9]", status) else None,
        reason=fields.get("vertex-reason", "")[:300],
        visited_at=_sensible(record.record_date),
        is_rendered=fields.get("vertex-fetched-by") == BROWSER,
        waited_for=fields.get("vertex-waited-for", "")[:MAX_WAITED_FOR],
    )


def _target_of(record: WarcRecord) -> str:
    # Old versions of wget write brackets.
    return (record.headers.get("WARC-Target-URI") or "").strip("<>")


def _url_of(item: Item) -> str:
    if isinstance(item, Skipped):
        return item.address.url if item.address else ""
    return item.url


def _with_facts(item: Item, facts: ArchiveFacts) -> Item:
    """Return a page, or an address without one, with its depth and what else is told of it."""
    if isinstance(item, SourcePage):
        url = facts.given_url if _is_same(facts.given_url, item.url) else item.url
        return replace(
            item,
            url=url,
            depth=facts.depth,
            is_rendered=facts.is_rendered,
            waited_for=facts.waited_for,
        )
    if isinstance(item, Skipped) and item.address is not None:
        return replace(item, address=replace(item.address, depth=facts.depth))
    return item


def _is_same(given_url: str, url: str) -> bool:
    try:
        return normalise_url(given_url) == normalise_url(url)
    except BadAddress:
        return False


def _without_page(facts: ArchiveFacts) -> Skipped:
    visited_at = None if facts.state == "due" else facts.visited_at
    address = FoundAddress(
        facts.url, facts.state, facts.status, facts.reason, facts.depth, visited_at
    )
    return Skipped("without_page", address=address)


def _item_of(record: WarcRecord, place: str) -> Item:
    if record.record_type == WarcRecordType.revisit:
        return Skipped("revisit")
    url = _target_of(record)
    try:
        return _page_of(record, place, url)
    except PageRefused as refused:
        return NotTaken(place, refused.code, str(refused), url)


def _page_of(record: WarcRecord, place: str, url: str) -> Item:
    block = record.reader.read(MAX_BODY + OVERHEAD)
    if len(block) < min(record.content_length, MAX_BODY + OVERHEAD):
        raise PageRefused("damaged", "the archive ends in the middle of this page")
    status, headers, payload = _http_parts(block)
    if not status:
        return Skipped("not_http")
    is_page = record.headers.get("WARC-Identified-Payload-Type") in HTML_TYPES
    if 300 <= status < 400 and not is_page:
        return _redirect_of(record, url, status, headers)
    if not is_page and not _is_html(headers.get("content-type", ""), payload):
        return Skipped("not_html", _file_of(record, url, status, headers, payload))
    _check_complete(record)
    return SourcePage(
        place=place,
        url=url,
        body=decoded_body(payload, headers),
        status=status,
        content_type=headers.get("content-type", "")[:200],
        fetched_at=_sensible(record.record_date),
        etag=headers.get("etag", ""),
        last_modified=headers.get("last-modified", ""),
    )


def _redirect_of(record: WarcRecord, url: str, status: int, headers: Mapping[str, str]) -> Skipped:
    """Return where an address leads; nothing where the header names no address."""
    written = headers.get("location", "")
    if not written:
        return Skipped("redirect")
    try:
        location = normalise_url(join_url(url, written))
    except BadAddress:
        return Skipped("redirect")
    address = FoundAddress(
        url,
        state="redirected",
        status=status,
        reason=f"redirects to {location}",
        visited_at=_sensible(record.record_date),
    )
    return Skipped("redirect", address=address)


def _file_of(
    record: WarcRecord, url: str, status: int, headers: dict[str, str], payload: bytes
) -> FoundFile | None:
    """Return an archived file that pages are drawn with; None for other kinds or a part of one."""
    content_type = headers.get("content-type", "")
    kind = file_kind(content_type, url)
    is_whole = record.content_length <= MAX_FILE and not record.headers.get("WARC-Truncated")
    if not kind or status != STATUS_OK or not is_whole:
        return None
    try:
        body = decoded_body(payload, headers)
    except PageRefused:
        return None
    return FoundFile(url, body, kind, content_type[:100], _sensible(record.record_date))


def _sensible(moment: datetime | None) -> datetime | None:
    """Return the time; None for one at which no page can have been fetched."""
    if moment is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    return moment


def _http_parts(block: bytes) -> tuple[int, dict[str, str], bytes]:
    """Split a response into status, headers and payload; status 0 where it is no HTTP."""
    head, _, payload = _split_head(block)
    lines = head.decode("latin-1").splitlines()
    status = STATUS_LINE.match(lines[0]) if lines else None
    pairs = (line.partition(":") for line in lines[1:])
    headers = {
        name.strip().lower(): storable(value.strip()) for name, colon, value in pairs if colon
    }
    return int(status[1]) if status else 0, headers, payload


def _split_head(block: bytes) -> tuple[bytes, bytes, bytes]:
    end = END_OF_HEADERS.search(block, 0, MAX_HEADERS)
    if end is None:
        return block[:MAX_HEADERS], b"", b""
    return block[: end.start()], end[0], block[end.end() :]


def _is_html(content_type: str, payload: bytes) -> bool:
    named = content_type.partition(";")[0].strip().lower()
    return named in HTML_TYPES or (not named and LOOKS_LIKE_HTML.match(payload) is not None)


def _check_complete(record: WarcRecord) -> None:
    """Refuse a page of which the archive holds a part only: no rule must be learnt from it."""
    cut = record.headers.get("WARC-Truncated")
    if cut:
        raise PageRefused(
            "cut_short", f"the crawler that wrote the archive cut this page short ({cut})"
        )
    if record.content_length > MAX_BODY + OVERHEAD:
        checked_size(record.content_length)


def decoded_body(payload: bytes, headers: Mapping[str, str]) -> bytes:
    """Undo chunks and compression as far as the payload has them: many archives store it bare.

    Raises PageRefused.
    """
    if "chunked" in headers.get("transfer-encoding", "").lower():
        payload = _dechunked(payload)
    encoding = headers.get("content-encoding", "")
    if encoding and not LOOKS_LIKE_HTML.match(payload):
        try:
            payload = decompress([payload], encoding, MAX_BODY)
        except FetchRefused as refused:
            raise PageRefused(refused.code, str(refused)) from None
    checked_size(len(payload))
    return payload


def _dechunked(payload: bytes) -> bytes:
    parts: list[bytes] = []
    offset = 0
    while size := CHUNK_SIZE.match(payload, offset):
        n_bytes = int(size[1], 16)
        if not n_bytes:
            return b"".join(parts)
        parts.append(payload[size.end() : size.end() + n_bytes])
        offset = size.end() + n_bytes
    if LOOKS_LIKE_HTML.match(payload):
        return payload
    raise PageRefused("damaged", "its chunks are damaged")
