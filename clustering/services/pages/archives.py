"""Read page sources: a manifest, a web archive, a zip or a folder of HTML."""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast
from urllib.parse import quote

from clustering.services.pages.manifests import read_manifest
from clustering.services.pages.source_pages import (
    LOOKS_LIKE_HTML,
    MAX_BODY,
    MAX_FILE,
    Files,
    FoundFile,
    Item,
    NotTaken,
    PageRefused,
    Skipped,
    SourcePage,
    checked_name,
    checked_size,
    file_kind,
)
from vertex.core.services.files.files import (
    BROKEN,
    UnreadableFile,
    decompressed,
    read_lines,
    regular_file,
    why,
)
from vertex.core.texts import storable

try:
    from clustering.services.pages.warcs import read_warc
except ImportError:  # the package of rules reads web archives with more packages only
    read_warc = None  # type: ignore[assignment]

HTML_ENDINGS = {".html", ".htm", ".xhtml", ".shtml", ".php", ".asp", ".aspx", ".jsp", ".cfm"}
MANIFEST_NAMES = ("manifest.jsonl", "manifest.jsonl.gz", "manifest.jsonl.zst")
MANIFEST_NAME = re.compile(r"\.(jsonl|ndjson|json)(\.gz|\.zst)?$", re.IGNORECASE)
OBJECT_LINE = re.compile(rb"^(\xef\xbb\xbf)?[ \t\r\f\v]*+\{", re.MULTILINE)
HIDDEN = re.compile(r"(^|/)(\.(?![./\\])|__MACOSX/)")
UNRESERVED = "/-._~!$&'()*+,;=:@"  # what a URL's path may hold as it is
EMPTY = "is empty, or damaged from its beginning on"
FIRST_BYTES = 64 * 1024
NO_ARCHIVES = "reading web archives needs more: pip install 'vertex-rules[archives]'"

GZIP_START, ZSTD_START = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
ZIP_START, ZIP_END, ENTRY_START = b"PK\x03\x04", b"PK\x05\x06", b"PK\x01\x02"
ZIP64_END, ZIP64_LOCATOR = b"PK\x06\x06", b"PK\x06\x07"
ENCRYPTED = 0x1
MAX_ENTRIES = 200_000
MAX_DIRECTORY = 64 * 1024 * 1024
MAX_UNPACKED = 32 * 1024**3
SUSPECT_UNPACKED, MAX_RATIO = 1024**3, 100
BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
    OSError,
)


@dataclass(frozen=True, slots=True)
class PageSource:
    """A page source that is open."""

    items: Iterator[Item]
    n_items: int | None  # None where only reading it to the end would tell
    state: str  # another one as soon as the source has changed


@contextmanager
def open_source(path: Path, base_url: str, folder: Path | None = None) -> Iterator[PageSource]:
    """Open whatever kind of source stands there; the kind is told by its content.

    `base_url` is where the files of a folder or zip without a manifest stand; it ends in a slash.
    `folder` is where a manifest's files are, if not beside it. Raises UnreadableFile.
    """
    with ExitStack() as opened:
        if path.is_dir():
            yield _files_source(FolderFiles(path), base_url, opened)
            return
        raw = opened.enter_context(regular_file(path))
        first, state = _first_bytes(path), state_of(raw)
        if first.startswith((ZIP_START, ZIP_END)):
            yield _files_source(ZipFiles(raw, path.name), base_url, opened)
        elif first.startswith(b"WARC/"):
            if read_warc is None:
                raise UnreadableFile(f"{path}: {NO_ARCHIVES}")
            yield PageSource(read_warc(raw, path.name), None, state)
        elif _may_be_manifest(path.name, first):
            lines = decompressed(raw, _compression(raw))
            n_lines = _count_lines(lines)
            items = read_manifest(lines, path.name, FolderFiles(folder or path.parent))
            yield PageSource(items, n_lines, state)
        else:
            problem = EMPTY
            if first:
                problem = "is neither a manifest, nor a WARC, a zip or a folder of HTML"
            raise UnreadableFile(f"{storable(path.name)} {problem}")


def read_pages(path: Path, base_url: str) -> Iterator[Item]:
    """Yield what the source holds, in its order. Raises UnreadableFile at the first item."""
    with open_source(path, base_url) as source:
        yield from source.items


class FolderFiles:
    """The files below a folder; nothing outside of it is read, by whatever name."""

    def __init__(self, folder: Path) -> None:
        self.label = storable(folder.name)
        self._folder = folder
        self._real = os.path.realpath(folder)

    def names(self) -> Iterator[str]:
        """Yield all files in order of name; a folder that cannot be listed stands for itself."""
        waiting = [""]
        while waiting:
            below = waiting.pop()
            if below and not below.endswith("/"):
                yield below
                continue
            try:
                with os.scandir(self._folder / below) as listed:
                    entries = sorted(listed, key=lambda entry: entry.name, reverse=True)
            except OSError:
                yield below
                continue
            waiting += [
                below + entry.name + "/" * entry.is_dir(follow_symlinks=False) for entry in entries
            ]

    def read(self, name: str) -> bytes:
        """Return a file's bytes. Raises PageRefused."""
        path = Path(os.path.realpath(self._folder / checked_name(name)))
        if not path.is_relative_to(self._real):
            reason = f"{storable(name)!r} is a link that leads out of the source"
            raise PageRefused("bad_name", reason)
        try:
            with regular_file(path) as stream:
                checked_size(os.fstat(stream.fileno()).st_size)
                return stream.read(MAX_BODY + 1)
        except UnreadableFile as error:
            raise PageRefused("missing_file", f"file {storable(name)!r}: {error.reason}") from None

    def open_manifest(self) -> tuple[str, BinaryIO, str] | None:
        """Return the name, bytes and state of the manifest at the top."""
        for name in MANIFEST_NAMES:
            if (self._folder / name).is_file():
                raw = regular_file(self._folder / name)
                return name, raw, state_of(raw)
        return None

    def state(self, names: list[str]) -> str:
        """Return a word that changes with any of these files."""
        digest = hashlib.sha256()
        for name in names:
            status = os.lstat(os.path.join(self._folder, name))  # noqa: PTH118 - ten times as fast as a Path
            state = f"{name}\0{status.st_size}-{status.st_mtime_ns}\n"
            digest.update(state.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()[:32]


class ZipFiles:
    """The entries of a zip, none of them trusted."""

    def __init__(self, raw: BinaryIO, label: str) -> None:
        self.label = storable(label)
        self._manifest_folder = ""  # that its names are relative to; ends in a slash
        self._state = state_of(raw)
        check_directory(raw, self.label, max_entries=MAX_ENTRIES, max_directory=MAX_DIRECTORY)
        try:
            self._zip = zipfile.ZipFile(raw)
        except BROKEN_ZIP as error:
            raise UnreadableFile(f"{self.label}: not a usable zip: {why(error)}") from None
        self._entries: dict[str, zipfile.ZipInfo] = {}
        self._repeated_names: set[str] = set()
        for entry in self._zip.infolist():
            if entry.orig_filename in self._entries:
                self._repeated_names.add(entry.orig_filename)
            self._entries[entry.orig_filename] = entry
        _check_unpacked(self._zip.infolist(), os.fstat(raw.fileno()).st_size, self.label)

    def names(self) -> Iterator[str]:
        """Yield all entries in the zip's own order, without its folders."""
        for name, entry in self._entries.items():
            if not entry.is_dir():
                yield name

    def read(self, name: str) -> bytes:
        """Return an entry's bytes. Raises PageRefused."""
        entry = self._checked_entry(self._manifest_folder + checked_name(name))
        try:
            with self._zip.open(entry) as stream:
                return stream.read(MAX_BODY + 1)
        except BROKEN_ZIP as error:
            raise PageRefused("damaged", f"entry {storable(name)!r}: {why(error)}") from None

    def open_manifest(self) -> tuple[str, BinaryIO, str] | None:
        """Return the manifest's name, bytes and state; it is at the top or in the only folder."""
        folders = [""]
        top_folders = {name.partition("/")[0] + "/" for name in self._entries}
        if len(top_folders) == 1:
            folders += top_folders
        for folder in folders:
            for name in MANIFEST_NAMES:
                if folder + name in self._entries:
                    self._manifest_folder = folder
                    raw = self._zip.open(self._checked_entry(folder + name, is_page=False))
                    return folder + name, cast("BinaryIO", raw), self._state
        return None

    def state(self, names: list[str]) -> str:  # noqa: ARG002 - the signature is the library's
        """Return a word that changes with the zip."""
        return self._state

    def _checked_entry(self, name: str, *, is_page: bool = True) -> zipfile.ZipInfo:
        entry = self._entries.get(name)
        if entry is None:
            raise PageRefused("missing_file", f"the zip has no entry {storable(name)!r}")
        if name in self._repeated_names:
            raise PageRefused("doubled_name", f"the zip has several entries {storable(name)!r}")
        if entry.flag_bits & ENCRYPTED:
            raise PageRefused("encrypted", f"entry {storable(name)!r} is encrypted")
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in {0, stat.S_IFREG}:
            raise PageRefused("not_a_file", f"entry {storable(name)!r} is no regular file")
        if is_page:
            checked_size(entry.file_size)
        return entry


def _files_source(files: FolderFiles | ZipFiles, base_url: str, opened: ExitStack) -> PageSource:
    """Return the pages that a manifest of the files names, else all files that look like HTML."""
    try:
        manifest = files.open_manifest()
    except (PageRefused, OSError, *BROKEN_ZIP) as error:
        raise UnreadableFile(f"{files.label}: its manifest cannot be read: {why(error)}") from None
    if manifest is None:
        names = [name for name in files.names() if not HIDDEN.search(name)]
        return PageSource(_read_html(files, names, base_url), len(names), files.state(names))
    name, raw, state = manifest
    lines = decompressed(opened.enter_context(raw), _compression(raw))
    n_lines = _count_lines(lines)
    return PageSource(read_manifest(lines, f"{files.label}/{name}", files), n_lines, state)


def _read_html(files: Files, names: list[str], base_url: str) -> Iterator[Item]:
    for name in names:
        ending = PurePosixPath(name).suffix.lower()
        url = base_url + quote(name.encode("utf-8", "surrogateescape"), safe=UNRESERVED)
        if ending and ending not in HTML_ENDINGS:
            yield Skipped("not_html", _file_of(files, name, url))
            continue
        place = f"{files.label}/{storable(name)}"
        try:
            body = files.read(name)
        except PageRefused as refused:
            yield NotTaken(place, refused.code, str(refused), url)
            continue
        yield (
            SourcePage(place, url, body)
            if ending or LOOKS_LIKE_HTML.match(body)
            else Skipped("not_html")
        )


def _file_of(files: Files, name: str, url: str) -> FoundFile | None:
    """Return a file that the pages beside it may be drawn with; None where it is none."""
    kind = file_kind("", name)
    try:
        body = files.read(name) if kind else b""
    except PageRefused:
        return None
    return FoundFile(url, body, kind) if 0 < len(body) <= MAX_FILE else None


def state_of(stream: BinaryIO) -> str:
    """Return a word that changes with the file."""
    status = os.fstat(stream.fileno())
    return f"{status.st_size}-{status.st_mtime_ns}"


def _count_lines(stream: BinaryIO) -> int:
    """Count the lines of a manifest and go back to its beginning."""
    n_lines = sum(1 for _ in read_lines(stream))
    stream.seek(0)
    return n_lines


def _first_bytes(source: Path) -> bytes:
    """Return the beginning of a file, uncompressed; of a damaged one what can be read."""
    first = b""
    with regular_file(source) as raw, suppress(*BROKEN):
        stream = cast("io.BufferedReader", decompressed(raw, _compression(raw)))
        while len(first) < FIRST_BYTES and (piece := stream.read1(FIRST_BYTES)):
            first += piece
    return first


def _compression(raw: BinaryIO) -> str:
    """Return the ending that the stream's first bytes deserve, whatever the file is called."""
    try:
        magic = raw.read(4)
    except BROKEN_ZIP:  # an entry damaged from its beginning on: reading its lines tells of it
        magic = b""
    raw.seek(0)
    if magic.startswith(GZIP_START):
        return ".gz"
    return ".zst" if magic == ZSTD_START else ""


def _may_be_manifest(name: str, first: bytes) -> bool:
    """Return whether JSON lines are to be expected, be they good or bad ones."""
    return bool(first) and (
        MANIFEST_NAME.search(name) is not None or OBJECT_LINE.search(first) is not None
    )


def check_directory(raw: BinaryIO, label: str, *, max_entries: int, max_directory: int) -> None:
    """Refuse a zip whose list of entries alone would fill the memory, before that is read.

    Raises UnreadableFile.
    """
    start = raw.seek(max(0, raw.seek(0, os.SEEK_END) - 65_557))
    tail = raw.read()
    end = tail.rfind(ZIP_END)
    if end < 0 or len(tail) < end + 22:
        raise UnreadableFile(f"{label}: not a usable zip: its end is missing")
    n_entries, n_bytes = struct.unpack_from("<HL", tail, end + 10)
    place = start + end  # behind the list
    raw.seek(max(0, place - 76))  # where zipfile looks, whatever the locator says
    large = raw.read(76)
    if large.startswith(ZIP64_END) and large[56:60] == ZIP64_LOCATOR:
        n_entries, n_bytes = struct.unpack_from("<QQ", large, 32)
        place -= 76
    if n_bytes <= max_directory:  # the number may be a lie: zipfile goes by the bytes
        raw.seek(max(0, place - n_bytes))
        n_entries = max(n_entries, raw.read(n_bytes).count(ENTRY_START))
    raw.seek(0)
    if n_entries > max_entries or n_bytes > max_directory:
        raise UnreadableFile(f"{label}: more than {max_entries:,} entries; split it")


def _check_unpacked(entries: list[zipfile.ZipInfo], n_packed: int, label: str) -> None:
    """Refuse a zip that claims to hold more than a site's pages could."""
    n_bytes = sum(entry.file_size for entry in entries)
    if n_bytes > MAX_UNPACKED or (n_bytes > SUSPECT_UNPACKED and n_bytes > MAX_RATIO * n_packed):
        raise UnreadableFile(
            f"{label}: {n_packed:,} bytes would unpack to {n_bytes:,}; refused as a bomb"
        )
