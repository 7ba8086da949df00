"""Read a manifest: JSON lines that name a URL and a file each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from clustering.services.pages.page_entries import (
    read_content_type,
    read_status,
    read_text,
    read_time,
    read_xpath,
)
from clustering.services.pages.source_pages import (
    Files,
    Item,
    NotTaken,
    PageRefused,
    SourcePage,
)
from vertex.core.services.files.files import BadLine, parse_object, read_lines


def read_manifest(stream: BinaryIO, label: str, files: Files) -> Iterator[Item]:
    """Yield the page of each line, or why it is not taken; `label` is the manifest in messages."""
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
    url = read_text(entry, "url")
    name = read_text(entry, "file")
    status = read_status(entry.get("status"))
    content_type = read_content_type(entry.get("content_type"))
    fetched_at = read_time(entry.get("fetched_at"))
    return SourcePage(
        place=place,
        url=url,
        body=files.read(name),
        status=status,
        content_type=content_type,
        fetched_at=fetched_at,
        inbound_xpath=read_xpath(entry.get("inbound_xpath")),
    )
