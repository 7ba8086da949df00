"""Read a manifest: JSON lines that name a URL and a file each."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any, BinaryIO

from clustering.services.pages.source_pages import (
    FIRST_YEAR,
    LAST_YEAR,
    Files,
    Item,
    NotTaken,
    PageRefused,
    SourcePage,
)
from vertex.core.services.files.files import BadLine, parse_object, read_lines

MAX_CONTENT_TYPE = 200
MAX_XPATH = 2_000


def read_manifest(stream: BinaryIO, label: str, files: Files) -> Iterator[Item]:
    """Yield the page of each line, or why it cannot be taken; `label` names the manifest in messages."""
    for number, line in read_lines(stream):
        place = f"{label}:{number}"
        entry = line if isinstance(line, BadLine) else parse_object(line)
        if isinstance(entry, BadLine):
            yield NotTaken(place, "bad_line", entry.reason)
            continue
        try:
            yield _page_of(entry, place, files)
        except PageRefused as refused:
            url = entry.get("url")
            yield NotTaken(place, refused.code, str(refused), url if isinstance(url, str) else "")


def _page_of(entry: dict[str, Any], place: str, files: Files) -> SourcePage:
    url = _text(entry, "url")
    name = _text(entry, "file")
    status = _status(entry.get("status"))
    content_type = _content_type(entry.get("content_type"))
    fetched_at = _time(entry.get("fetched_at"))
    return SourcePage(
        place=place,
        url=url,
        body=files.read(name),
        status=status,
        content_type=content_type,
        fetched_at=fetched_at,
        inbound_xpath=_xpath(entry.get("inbound_xpath")),
    )


def _text(entry: dict[str, Any], key: str) -> str:
    value = entry.get(key)
    if not isinstance(value, str) or not value.strip():
        problem = "is missing" if value is None else "must be a text that is not empty"
        raise PageRefused("bad_line", f'"{key}" {problem}')
    return value


def _status(value: object) -> int:
    if value is None:
        return 200
    if isinstance(value, bool) or not isinstance(value, int) or not 100 <= value <= 599:
        raise PageRefused(
            "bad_line", f'"status" is {_short(value)}, but must be a number from 100 to 599'
        )
    return value


def _content_type(value: object) -> str:
    if value is None:
        return ""
    if (
        not isinstance(value, str)
        or len(value) > MAX_CONTENT_TYPE
        or not (value.isprintable() or not value)
    ):
        raise PageRefused(
            "bad_line", f'"content_type" is {_short(value)}, but must be like "text/html"'
        )
    return value.strip()


def _time(value: object) -> datetime | None:
    """Return the time; without a zone it is UTC."""
    if value is None or value == "":
        return None
    try:
        if not isinstance(value, str):
            raise TypeError  # noqa: TRY301 (one message for all that is not a time)
        moment = datetime.fromisoformat(value.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            raise ValueError  # noqa: TRY301 (one message for all that is not a time)
    except (TypeError, ValueError):
        example = date(2025, 3, 31).isoformat()
        raise PageRefused(
            "bad_line",
            f'"fetched_at" is {_short(value)}, but must be a time like "{example}T12:00:00Z"',
        ) from None
    return moment.astimezone(UTC)


def _xpath(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_XPATH:
        raise PageRefused(
            "bad_line",
            f'"inbound_xpath" is {_short(value)}, but must be like "/html/body/ul/li[2]/a"',
        )
    return value.strip()


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}…"
