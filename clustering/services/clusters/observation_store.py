"""Keep what was observed of pages in files, so that no page is parsed again for a clustering.

A file is named by the page's bytes, its content type and the version of the packing. It can always
be made again from the page: no backup has it, nothing is synced to the disk, and a damaged file is
as good as none. It is written beside and renamed, so that a name stands for a whole file.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import xxhash
import zstandard
from django.conf import settings

from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.packed_observations import BadPacking, packing_version, unpack_page
from vertex.core.storage import DiskFull, page_store, refuse_full_disk

LEVEL = 3
MAX_BYTES = 16 * 1024 * 1024  # of a packed page: a damaged file cannot ask for more memory
SUFFIX = ".obs"
UNFINISHED_RETENTION = timedelta(days=1)  # of files that a killed process left half-written
_here = threading.local()  # compressors must not be shared between threads


class ObservationStore:
    """Packed pages by the name of their bytes and their content type."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = packing_version()

    def has(self, body: str, content_type: str) -> bool:
        """Return whether there is a file for a page, without reading it."""
        return os.path.exists(self._path(body, content_type))  # noqa: PTH110 - a third of pathlib's time

    def read(self, body: str, content_type: str) -> ObservedPage | None:
        """Return what was observed of a page; None if nothing is stored or the file is damaged."""
        try:
            with open(self._path(body, content_type), "rb", buffering=0) as file:  # noqa: PTH123 - as in `has`
                return unpack_page(_decompress(file.read()))
        except (OSError, zstandard.ZstdError, BadPacking):
            return None

    def write(self, body: str, content_type: str, packed: bytes) -> None:
        """Store a packed page; where the disk is full, nothing is stored."""
        path = self._path(body, content_type)
        temporary = f"{path}.{secrets.token_hex(4)}.tmp"
        try:
            refuse_full_disk(self.folder)
            _write_file(temporary, _compress(packed))
            os.replace(temporary, path)  # noqa: PTH105 - as in `has`
        except (DiskFull, OSError):  # the page is read again next time
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108 - as in `has`

    def paths(self) -> Iterator[Path]:
        """Yield all files, those of other versions and unfinished ones among them."""
        yield from self.folder.glob("??/*")

    def _path(self, body: str, content_type: str) -> str:
        kind = xxhash.xxh32_hexdigest(content_type.encode("utf-8", "surrogatepass"))
        return f"{self.folder}/{body[:2]}/{body}.{self.version}-{kind}{SUFFIX}"


def observation_store() -> ObservationStore:
    """Return the store of this installation."""
    return ObservationStore(settings.OBSERVATION_DIR)


def sweep_observations(*, now: datetime) -> int:
    """Delete what belongs to no stored body or to another version; return how many files."""
    store, bodies = observation_store(), page_store()
    n_swept = 0
    for path in store.paths():
        if path.suffix != SUFFIX:
            is_useless = _is_left_behind(path, now)
        else:
            body, _, variant = path.stem.partition(".")
            is_useless = not variant.startswith(f"{store.version}-") or not bodies.has(body)
        if is_useless:
            path.unlink(missing_ok=True)
            n_swept += 1
    return n_swept


def _is_left_behind(path: Path, now: datetime) -> bool:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime < (now - UNFINISHED_RETENTION).timestamp()
    return False


def _write_file(path: str, content: bytes) -> None:
    try:
        file = open(path, "xb", buffering=0)  # noqa: PTH123, SIM115 - as in `has`; closed below
    except FileNotFoundError:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        file = open(path, "xb", buffering=0)  # noqa: PTH123, SIM115 - as above
    with file:
        file.write(content)


def _compress(packed: bytes) -> bytes:
    if not hasattr(_here, "compressor"):
        _here.compressor = zstandard.ZstdCompressor(level=LEVEL, write_checksum=True)
    compressed: bytes = _here.compressor.compress(packed)
    return compressed


def _decompress(compressed: bytes) -> bytes:
    """Return a packed page. Raises ZstdError for what is damaged or larger than any page."""
    if zstandard.frame_content_size(compressed) > MAX_BYTES:
        raise zstandard.ZstdError("too large for a packed page")
    if not hasattr(_here, "decompressor"):
        _here.decompressor = zstandard.ZstdDecompressor()
    packed: bytes = _here.decompressor.decompress(compressed, max_output_size=MAX_BYTES)
    return packed
