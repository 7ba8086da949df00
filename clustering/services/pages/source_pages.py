"""What a page source holds: pages, lines that cannot be taken, and things that are no pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeAlias

from vertex.core.texts import storable

LOOKS_LIKE_HTML = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-zA-Z]")
MAX_BODY = 10 * 1024 * 1024
MAX_FILE = 5 * 1024 * 1024
FILE_TYPES = {"text/css": "sheet", "image/": "image", "font/": "font", "application/font": "font"}
FILE_ENDINGS = {
    **dict.fromkeys(("png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "bmp"), "image"),
    **dict.fromkeys(("woff2", "woff", "ttf", "otf"), "font"),
    "css": "sheet",
}
BROWSER = "browser"  # that ran a page's scripts, where an archive says by what it was fetched
FIRST_YEAR, LAST_YEAR = 1990, 2200  # of the fetch of a page: other times are mistakes


class PageRefused(Exception):
    """A page of a source cannot be taken; `code` is the word to group such pages by."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(reason)
        self.code = code


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page as a source holds it."""

    place: str  # where it stands: the source's name, and line, entry or offset
    url: str
    body: bytes
    status: int = 200
    content_type: str = ""
    fetched_at: datetime | None = None
    inbound_xpath: str = ""  # of the first link to the page; blank where the source does not tell
    depth: int | None = None  # links from where a crawl began; None where the source does not tell
    etag: str = ""
    last_modified: str = ""
    is_rendered: bool = False  # a browser fetched it
    waited_for: str = ""  # by that browser


@dataclass(frozen=True, slots=True)
class NotTaken:
    """A line or entry that should be a page and is none that can be taken."""

    place: str
    code: str
    reason: str
    url: str = ""  # blank where the line does not tell


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A style sheet, image or font of an archive, which its pages are drawn with."""

    url: str
    body: bytes
    kind: str  # as of an asset
    content_type: str = ""
    fetched_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class FoundAddress:
    """An address of an archive that has no page there, with what became of it."""

    url: str
    state: str  # as of a page
    status: int | None = None
    reason: str = ""
    depth: int | None = None
    visited_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that a source may well hold and that is no page."""

    kind: str
    file: FoundFile | None = None
    address: FoundAddress | None = None


Item: TypeAlias = SourcePage | NotTaken | Skipped


class Files(Protocol):
    """Named files that belong together: a folder or a zip."""

    label: str

    def names(self) -> Iterator[str]:
        """Yield the relative paths of all files, always in the same order."""

    def read(self, name: str) -> bytes:
        """Return a file's bytes. Raises PageRefused."""


def file_kind(content_type: str, url: str) -> str:
    """Return which kind of asset a file is by type or ending; blank if no page is drawn with it."""
    named = content_type.partition(";")[0].strip().lower()
    ending = url.partition("?")[0].rpartition(".")[2].lower()
    by_type = next((kind for start, kind in FILE_TYPES.items() if named.startswith(start)), "")
    return by_type or FILE_ENDINGS.get(ending, "")


def checked_size(n_bytes: int) -> None:
    """Raise PageRefused for a page that is larger than any page may be."""
    if n_bytes > MAX_BODY:
        raise PageRefused("too_large", f"larger than {MAX_BODY // 2**20} MiB")


def checked_name(name: str) -> str:
    """Return the relative path, or raise PageRefused where it leads out of its source."""
    if not name or "\0" in name or "\\" in name:
        raise PageRefused("bad_name", f"{storable(name)!r} is not a usable file name")
    if name.startswith("/") or ".." in name.split("/") or name[1:2] == ":":
        raise PageRefused(
            "bad_name", f"{storable(name)!r} leads out of the source; use a path below it"
        )
    return name
