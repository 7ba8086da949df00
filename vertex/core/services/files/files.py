"""Read the files that people hand in: `-`, .gz and .zst are transparent, lines are bounded."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import stat
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from vertex.core.texts import storable

try:
    import zstandard
except ImportError:  # the package of rules runs without it
    zstandard = None  # type: ignore[assignment]

STANDARD = "-"  # standard input or output
MAX_LINE = 4 * 1024 * 1024
MAX_ZSTD_WINDOW = 128 * 1024 * 1024
# A frame of run-length blocks turns each 4 bytes into 128 KiB: 8 MiB a step at worst.
ZSTD_STEP = 256
# What damaged compression raises, that of an entry of a zip included.
BROKEN = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
    *([zstandard.ZstdError] if zstandard is not None else []),
)
BOM = b"\xef\xbb\xbf"


class UnreadableFile(Exception):
    """A file is missing, is no file, or may not be read."""

    def __init__(self, text: str, reason: str = "") -> None:
        super().__init__(text)
        self.reason = reason or text  # without the file's name


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be taken, and why."""

    reason: str


@contextmanager
def open_input(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file for reading bytes, uncompressed; `-` is standard input. Raises UnreadableFile."""
    if str(path) == STANDARD:
        yield sys.stdin.buffer
        return
    try:
        raw = Path(path).open("rb")  # noqa: SIM115 (closed below, so that an error of the caller's is not taken for ours)
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{path}: {why(error)}") from None
    with raw:
        yield decompressed(raw, str(path))


def read_whole(path: str | Path, max_bytes: int) -> bytes:
    """Return all bytes of a small file. Raises UnreadableFile."""
    with open_input(path) as stream:
        try:
            text = stream.read(max_bytes + 1)
        except (OSError, *BROKEN) as error:
            raise UnreadableFile(f"{path}: {why(error)}", why(error)) from None
    if len(text) > max_bytes:
        raise UnreadableFile(f"{path}: larger than {max_bytes / 2**20:g} MiB")
    return text


def decompressed(raw: BinaryIO, name: str) -> BinaryIO:
    """Return the stream itself, or its decompressed form where the name ends in .gz or .zst.

    Raises UnreadableFile where what reads .zst is not installed.
    """
    if name.endswith(".gz"):
        return cast("BinaryIO", gzip.GzipFile(fileobj=raw))
    if name.endswith(".zst") and zstandard is None:
        raise UnreadableFile(f"{name}: .zst needs more: pip install 'vertex-rules[archives]'")
    if name.endswith(".zst"):
        return cast("BinaryIO", io.BufferedReader(_ZstdReader(raw), 256 * 1024))
    return raw


def read_json_lines(path: str | Path) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    """Yield each line's number with its JSON object, or with the reason why it is none.

    Blank lines are left out. Raises UnreadableFile before the first line only.
    """
    with open_input(path) as stream:
        for number, line in read_lines(stream):
            yield number, line if isinstance(line, BadLine) else parse_object(line)


def read_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | BadLine]]:
    """Yield the numbers and bytes of all lines that are not blank; a line too long is a bad one."""
    number = 0
    try:
        while line := stream.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                _skip_rest(stream, line)
                yield number, BadLine(f"longer than {MAX_LINE:,} bytes")
                continue
            text = line.removeprefix(BOM).strip() if number == 1 else line.strip()
            if text:
                yield number, text
    except BROKEN as error:
        yield number + 1, BadLine(f"the file is damaged or cut short from here on: {error}")


def parse_object(line: bytes) -> dict[str, Any] | BadLine:
    """Return the JSON object on a line."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return BadLine(f"not JSON: {error}")
    return value if isinstance(value, dict) else BadLine("not a JSON object")


def why(error: Exception) -> str:
    """Return the message of an error, without its number and the path."""
    reason = error.strerror if isinstance(error, OSError) else None
    return (reason or str(error)).lower()


def _skip_rest(stream: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(MAX_LINE)


class _ZstdReader(io.RawIOBase):
    """Decompress frame after frame; unlike zstandard's own reader it notices a cut-off end."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._decompressor = zstandard.ZstdDecompressor(max_window_size=MAX_ZSTD_WINDOW)
        self._begin()

    def _begin(self) -> None:
        self._frame: zstandard.ZstdDecompressionObj | None = None
        self._waiting = b""  # compressed bytes not yet used
        self._ready = memoryview(b"")
        self._n_read = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._n_read

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go back to the beginning; nothing else is needed."""
        if (offset, whence) != (0, os.SEEK_SET):
            raise io.UnsupportedOperation("a compressed file can only be read from its beginning")
        self._raw.seek(0)
        self._begin()
        return 0

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if not self._decompress_step():
                return 0
        n = min(len(buffer), len(self._ready))
        buffer[:n] = self._ready[:n]
        self._ready = self._ready[n:]
        self._n_read += n
        return n

    def _decompress_step(self) -> bool:
        """Make some bytes ready; return False at the end of the file."""
        step = self._waiting or self._raw.read(ZSTD_STEP)
        self._waiting = b""
        if not step:
            if self._frame is not None:
                raise EOFError("Compressed file ended before the end-of-stream marker was reached")
            return False
        if self._frame is None:
            self._frame = self._decompressor.decompressobj()
        self._ready = memoryview(self._frame.decompress(step))
        if self._frame.eof:
            self._waiting, self._frame = self._frame.unused_data, None
        return True


def check_exists(path: Path) -> None:
    """Raise UnreadableFile where there is no such file, or where no row can hold its name."""
    if storable(str(path.absolute())) != str(path.absolute()):
        raise UnreadableFile(f"{storable(str(path))}: its name is not UTF-8; rename it")
    try:
        path.stat()
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{path}: {why(error)}", why(error)) from None


def regular_file(path: Path) -> BinaryIO:
    """Open a regular file for reading, without blocking. Raises UnreadableFile for all others."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        raise UnreadableFile(f"{path}: {why(error)}", why(error)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile(f"{path}: not a regular file", "not a regular file")
    return os.fdopen(descriptor, "rb")
