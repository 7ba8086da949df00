"""Undo the compression of a body within a bound: at no time does more exist than was allowed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Final

import brotli
import zstandard

from clustering.fetching.refusals import FetchRefused

ACCEPTED: Final = "gzip, deflate, br, zstd"
MAX_ENCODINGS: Final = 2  # one over another
PIECE_BYTES: Final = 64 * 1024
# Bytes in: what follows a member of gzip is copied for each member, and a member may have 20 bytes.
GZIP_SLICE: Final = 4096
# Bytes in: at most 4 MiB come out, since four bytes can stand for a block of 128 KiB.
ZSTD_SLICE: Final = 128
ZSTD_WINDOW: Final = 8 * 1024 * 1024  # what RFC 9659 lets servers ask for
GZIP, ZLIB, RAW_DEFLATE = 31, 15, -15  # zlib's names for the three wrappings


class EncodingRefused(FetchRefused):
    """The body is compressed in a way that is unknown, nested too deep or broken."""

    code = "encoding"


class BodyTooLarge(FetchRefused):
    """The body is larger than a page may be."""

    code = "too_large"

    def __init__(self, max_bytes: int) -> None:
        super().__init__(f"the body is larger than {max_bytes / 2**20:.3g} MiB")


def decompress(
    chunks: Iterable[bytes], content_encoding: str, max_bytes: int, *, is_cut: bool = False
) -> bytes:
    """Return the decoded body; raise BodyTooLarge as soon as it or a layer of it is too large.

    With `is_cut` the start of a longer body is returned instead.

    >>> decompress([zlib.compress(b"page")], "deflate", 10)
    b'page'
    """
    layers: Iterator[bytes] = (chunk for chunk in chunks if chunk)
    first = next(layers, b"")
    if not first:  # servers name an encoding for an answer without a body, too
        return b""
    layers = chain([first], layers)
    for name in reversed(encodings(content_encoding)):
        layers = DECODERS[name](_bounded(layers, max_bytes))
    body = bytearray()
    for piece in layers:
        body += piece
        if len(body) > max_bytes:
            if is_cut:
                return bytes(body[:max_bytes])
            raise BodyTooLarge(max_bytes)
    return bytes(body)


def encodings(content_encoding: str) -> list[str]:
    """Return the names of the encodings in the order applied, or raise EncodingRefused."""
    names = [name.strip().lower().removeprefix("x-") for name in content_encoding.split(",")]
    names = [name for name in names if name not in {"", "identity"}]
    for name in names:
        if name not in DECODERS:
            raise EncodingRefused(f"Content-Encoding {name[:40]!r} is not one of {ACCEPTED}")
    if len(names) > MAX_ENCODINGS:
        raise EncodingRefused(
            f"{len(names)} encodings over one another, {MAX_ENCODINGS} are allowed"
        )
    return names


def _slices(chunks: Iterable[bytes], n_bytes: int) -> Iterator[bytes]:
    for chunk in chunks:
        for start in range(0, len(chunk), n_bytes):
            yield chunk[start : start + n_bytes]


def _bounded(pieces: Iterable[bytes], max_bytes: int) -> Iterator[bytes]:
    n_bytes = 0
    for piece in pieces:
        n_bytes += len(piece)
        if n_bytes > max_bytes:
            raise BodyTooLarge(max_bytes)
        yield piece


def _gunzip(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Undo gzip, member after member; what follows the last one is ignored, as browsers do."""
    stream = zlib.decompressobj(GZIP)
    for piece in _slices(chunks, GZIP_SLICE):
        data = piece
        while data:
            if stream.eof:
                if not data.startswith(b"\x1f"):
                    return
                stream = zlib.decompressobj(GZIP)
            yield from _pieces(stream, data)
            data = stream.unused_data
    _check_complete(is_complete=stream.eof)


def _inflate(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Undo deflate, with the standard's wrapping or without it, as some servers send it."""
    stream = None
    head = b""
    for data in _slices(chunks, PIECE_BYTES):
        head += data
        if stream is None and len(head) > 1:
            is_wrapped = (
                head[0] & 0x0F == zlib.DEFLATED and int.from_bytes(head[:2], "big") % 31 == 0
            )
            stream = zlib.decompressobj(ZLIB if is_wrapped else RAW_DEFLATE)
        if stream is not None:
            yield from _pieces(stream, head)
            head = b""
            if stream.eof:
                return
    _check_complete(is_complete=False)


def _pieces(stream: zlib._Decompress, chunk: bytes) -> Iterator[bytes]:
    data = chunk
    piece = b""
    try:
        # A full piece may have left more behind.
        while not stream.eof and (data or len(piece) == PIECE_BYTES):
            piece = stream.decompress(data, PIECE_BYTES)
            data = stream.unconsumed_tail
            yield piece
    except zlib.error as error:
        raise EncodingRefused(f"the compressed body is broken: {error}") from None


def _unbrotli(chunks: Iterable[bytes]) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    try:
        for chunk in _slices(chunks, PIECE_BYTES):
            if stream.is_finished():
                return
            piece = stream.process(chunk, output_buffer_limit=PIECE_BYTES)
            while piece:  # an empty one: all that came in has come out
                yield piece
                if stream.is_finished():
                    break
                piece = stream.process(b"", output_buffer_limit=PIECE_BYTES)
    except brotli.error as error:
        raise EncodingRefused(f"the compressed body is broken: {error}") from None
    _check_complete(is_complete=stream.is_finished())


def _unzstd(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Undo zstd, frame after frame, a few bytes at a time: the library knows no bound."""
    context = zstandard.ZstdDecompressor(max_window_size=ZSTD_WINDOW)
    frame = context.decompressobj()
    try:
        for piece in _slices(chunks, ZSTD_SLICE):
            data = piece
            while data:
                if frame.eof:
                    frame = context.decompressobj()
                yield frame.decompress(data)
                data = frame.unused_data
    except zstandard.ZstdError as error:
        raise EncodingRefused(f"the compressed body is broken: {error}") from None
    _check_complete(is_complete=frame.eof)


def _check_complete(*, is_complete: bool) -> None:
    if not is_complete:
        raise EncodingRefused("the compressed body ends too early")


DECODERS: Final[dict[str, Callable[[Iterable[bytes]], Iterator[bytes]]]] = {
    "gzip": _gunzip,
    "deflate": _inflate,
    "br": _unbrotli,
    "zstd": _unzstd,
}
