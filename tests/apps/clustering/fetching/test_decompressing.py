"""Compressed bodies come out whole or not at all, and never larger than allowed."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from clustering.fetching.decompressing import BodyTooLarge, EncodingRefused, decompress, encodings
from tests.apps.clustering.fake_host import Answer, FakeHost

ROOT = Path(__file__).resolve().parents[4]
MIB = 1024 * 1024


def raw_deflate(body: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(body) + squeeze.flush()


def zstd(body: bytes) -> bytes:
    return zstandard.ZstdCompressor().compress(body)


ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "DEFLATE": raw_deflate,
    "br": lambda body: bytes(brotli.compress(body, quality=5)),
    "zstd": zstd,
}


def cut(body: bytes, size: int) -> Iterator[bytes]:
    return (body[start : start + size] for start in range(0, len(body), size))


@given(st.binary(max_size=5000), st.sampled_from(sorted(ENCODERS)), st.integers(1, 3000))
def test_what_was_encoded_comes_back(body: bytes, name: str, size: int) -> None:
    assert decompress(cut(ENCODERS[name](body), size), name, MIB) == body


@given(
    st.binary(max_size=2000),
    st.sampled_from(sorted(ENCODERS)),
    st.sampled_from(sorted(ENCODERS)),
    st.integers(1, 500),
)
def test_two_encodings_over_one_another_come_back(
    body: bytes, first: str, second: str, size: int
) -> None:
    packed = ENCODERS[second](ENCODERS[first](body))

    assert decompress(cut(packed, size), f"{first}, {second}", MIB) == body


@pytest.mark.parametrize("name", ENCODERS)
def test_large_bodies_come_back(name: str) -> None:
    body = b"".join(b"line %d of a page\n" % number for number in range(200_000))

    assert decompress(cut(ENCODERS[name](body), 65536), name, 10 * MIB) == body


@pytest.mark.parametrize("name", ENCODERS)
def test_a_body_that_fits_to_the_byte_is_taken_and_one_more_is_not(name: str) -> None:
    assert len(decompress([ENCODERS[name](b"x" * MIB)], name, MIB)) == MIB
    with pytest.raises(BodyTooLarge):
        decompress([ENCODERS[name](b"x" * (MIB + 1))], name, MIB)


@pytest.mark.parametrize("name", ENCODERS)
def test_half_a_body_is_refused(name: str) -> None:
    packed = ENCODERS[name](b"a page of some length that is cut in the middle " * 20)

    with pytest.raises(EncodingRefused, match="too early"):
        decompress([packed[: len(packed) // 2]], name, MIB)


@pytest.mark.parametrize("name", ENCODERS)
@given(garbage=st.binary(min_size=8, max_size=300))
def test_garbage_ends_in_a_refusal_or_in_bytes(name: str, garbage: bytes) -> None:
    try:
        body = decompress([garbage], name, MIB)
    except EncodingRefused:
        return
    assert len(body) <= MIB


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd", "identity", "", "gzip, br"])
def test_no_body_is_no_body_whatever_the_header_says(name: str) -> None:
    assert decompress([], name, MIB) == b""
    assert decompress([b"", b""], name, MIB) == b""


def test_members_and_frames_one_after_the_other_are_one_body() -> None:
    assert decompress([gzip.compress(b"one ") + gzip.compress(b"two")], "gzip", MIB) == b"one two"
    assert decompress([zstd(b"one ") + zstd(b"two")], "zstd", MIB) == b"one two"


def test_what_follows_a_compressed_body_is_ignored() -> None:
    assert decompress([gzip.compress(b"page") + b"\0\0\0\0"], "gzip", MIB) == b"page"
    assert decompress([zlib.compress(b"page") + b"rest"], "deflate", MIB) == b"page"


@pytest.mark.parametrize(
    "name", ["compress", "lzma", "gzip, compress", "br;q=1", "gzip,gzip,gzip", "\x00"]
)
def test_unknown_and_deeply_nested_encodings_are_refused_before_the_body(name: str) -> None:
    with pytest.raises(EncodingRefused):
        encodings(name)


def test_identity_counts_for_nothing() -> None:
    assert encodings("identity, gzip, identity") == ["gzip"]


def test_the_start_of_a_longer_body_is_returned_where_that_is_enough() -> None:
    assert decompress([b"abc", b"def"], "", 4, is_cut=True) == b"abcd"
    assert decompress([gzip.compress(b"x" * MIB)], "gzip", 500_000, is_cut=True) == b"x" * 500_000


def test_a_zstd_frame_that_asks_for_a_huge_window_is_refused() -> None:
    params = zstandard.ZstdCompressionParameters(window_log=27)
    squeeze = zstandard.ZstdCompressor(compression_params=params).compressobj()

    with pytest.raises(EncodingRefused, match="too much memory"):
        decompress([squeeze.compress(b"page") + squeeze.flush()], "zstd", MIB)


# A child makes the bomb, forgets what that took, and measures what decoding it takes.
BOMB = """
import gzip, io, resource, sys, zlib
import brotli, zstandard
from clustering.fetching.decompressing import BodyTooLarge, decompress

MIB = 1024 * 1024
zeros = bytes(16 * MIB)

def pack(name, pieces):
    squeeze = {
        "gzip": lambda: zlib.compressobj(9, wbits=31),
        "deflate": lambda: zlib.compressobj(9),
        "zstd": lambda: zstandard.ZstdCompressor(level=1).compressobj(),
    }.get(name)
    if squeeze is None:
        made = brotli.Compressor(quality=5)
        return b"".join([made.process(piece) for piece in pieces] + [made.finish()])
    made = squeeze()
    return b"".join([made.compress(piece) for piece in pieces] + [made.flush()])

def peak():
    for line in open("/proc/self/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1])

first, second = sys.argv[1], sys.argv[2]
bomb = pack(first, [zeros] * 16)
if second:
    bomb = pack(second, [bomb])
decompress([pack(first, [b"warm up"])], first, MIB)
open("/proc/self/clear_refs", "w").write("5")  # the peak is counted from here
before = peak()
try:
    decompress((bomb[at:at + 65536] for at in range(0, len(bomb), 65536)), ", ".join(filter(None, (first, second))), 10 * MIB)
except BodyTooLarge:
    print((peak() - before) // 1024)
"""


NAMES = ["gzip", "deflate", "br", "zstd"]
ALL_BOMBS = [(first, second) for first in NAMES for second in ["", *NAMES]]
SOME_BOMBS = [(name, "") for name in NAMES] + [
    ("gzip", "gzip"),
    ("deflate", "br"),
    ("br", "zstd"),
    ("zstd", "br"),
]


@pytest.mark.parametrize(
    ("first", "second"), ALL_BOMBS if os.environ.get("VERTEX_FULL") else SOME_BOMBS
)
def test_a_bomb_of_256_mib_takes_less_than_64_mib_of_memory(first: str, second: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BOMB, first, second],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.stderr == ""
    assert int(done.stdout) < 64


def test_the_same_measure_sees_what_an_unbounded_decoder_takes() -> None:
    unbounded = BOMB.replace(
        "    decompress((bomb[at:",
        "    zlib.decompress(bomb); raise BodyTooLarge(1); decompress((bomb[at:",
    )
    done = subprocess.run(
        [sys.executable, "-c", unbounded, "deflate", ""],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert int(done.stdout) > 200


# Asks for all addresses at once, and tells what became of them and the most memory that it had.
ASKING = """
import asyncio, sys
from clustering.fetching.client import Client
from clustering.fetching.guard import Guard, networks

async def ask_all(urls):
    client = Client("Vertex/test", Guard(networks(["127.0.0.0/8"])))
    return await asyncio.gather(*map(client.fetch, urls), return_exceptions=True)

print(*{type(answer).__name__ for answer in asyncio.run(ask_all(sys.argv[1:]))})
for line in open("/proc/self/status"):
    if line.startswith("VmHWM"):
        print(int(line.split()[1]) // 1024)
"""
N_AT_ONCE = 50


def test_fifty_bombs_at_once_take_less_than_150_mib() -> None:
    zeros = bytes(32 * MIB)
    routes = {}
    for number, (first, second) in enumerate(SOME_BOMBS):
        packed = ENCODERS[first](zeros)
        encoding = first
        if second:
            packed, encoding = ENCODERS[second](packed), f"{first}, {second}"
        routes[f"/{number}"] = Answer(packed, headers={"Content-Encoding": encoding})
    with FakeHost(routes) as host:
        urls = [f"{host.url}/{number % len(routes)}" for number in range(N_AT_ONCE)]
        done = subprocess.run(
            [sys.executable, "-c", ASKING, *urls],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )

    assert done.stderr == ""
    names, memory = done.stdout.split("\n", 1)
    assert names == "BodyTooLarge"
    assert int(memory) < 150


@pytest.mark.parametrize(
    ("name", "compress"), [("gzip", gzip.compress), ("zstd", zstandard.compress)]
)
def test_four_million_bytes_of_empty_members_are_read_in_linear_time(
    name: str, compress: Callable[[bytes], bytes]
) -> None:
    member = compress(b"")
    body = member * (4_000_000 // len(member))
    began = time.process_time()

    assert b"" == decompress([body], name, 10**7)
    assert time.process_time() - began < 4
