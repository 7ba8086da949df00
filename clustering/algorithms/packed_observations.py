"""Pack what was observed of a page into few bytes, and read it back without parsing the page again.

Notation:   A packed page is the length of its header, the header as JSON, and then the values of
            the arrays and the texts one after the other. The header names each with its type and
            size.
Readings:   What `auto` observes is packed: other algorithms that read no more than a page's
            signature, or nothing at all, take theirs from it (`observation_for`).
Departures: VERSION ends what was packed by an earlier release. It is raised whenever `observe` of
            `page_features`, `shingle_vector` or `all_paths` gives something else for the same
            page; what fields there are is part of the version by itself.
Cost:       Linear in the bytes, a hundredth of parsing the page.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import orjson
import xxhash

from clustering.algorithms.automatic.page_features import PageFeatures, observe
from clustering.algorithms.grouping import Clusterer, RawPage
from clustering.algorithms.observation import ObservedPage, labels_of, observe_page

VERSION = 2
PACKED_ALGORITHM = "auto"

_HEADER = struct.Struct("<I")
_NAMES = [field.name for field in fields(PageFeatures)]
_TEXT = "text"


class BadPacking(ValueError):
    """Bytes are no packed page, or one of another version."""


def packing_version() -> str:
    """Return the version of packed pages, in 8 hexadecimal digits."""
    return xxhash.xxh32_hexdigest(f"{VERSION} {' '.join(_NAMES)}".encode())


def is_packable(clusterer: Clusterer) -> bool:
    """Return whether all that an algorithm observes of a page can be taken from a packed one."""
    return clusterer.observe in (None, observe) or clusterer.names_are_signatures


def observation_for(clusterer: Clusterer, page: ObservedPage) -> ObservedPage:
    """Return what an algorithm of packable pages would have observed of one."""
    if clusterer.observe is None:
        return replace(page, observation=None)
    if clusterer.observe is observe:
        return page
    return replace(page, observation=page.vector)


def observe_packed(pages: Sequence[RawPage]) -> list[bytes]:
    """Observe pages and pack what was observed, one after the other."""
    return [pack_page(observe_page(PACKED_ALGORITHM, page)) for page in pages]


def pack_page(page: ObservedPage) -> bytes:
    """Pack a page that was observed by `auto`."""
    parts: list[bytes] = []
    entries: list[tuple[str, str, int]] = []  # name, type, number of values or bytes

    def add(name: str, value: Any) -> None:
        if isinstance(value, str):
            packed = value.encode("utf-8", "surrogatepass")
            entries.append((name, _TEXT, len(packed)))
        else:
            packed = value.tobytes()
            entries.append((name, value.dtype.str, len(value)))
        parts.append(packed)

    add("paths", page.paths)
    for name in _NAMES:
        add(name, getattr(page.observation, name))
    header = orjson.dumps({"version": packing_version(), "vector": page.vector, "parts": entries})
    return b"".join([_HEADER.pack(len(header)), header, *parts])


def unpack_page(packed: bytes) -> ObservedPage:
    """Return the page that was packed; its arrays are read only. Raises BadPacking."""
    try:
        (n_header,) = _HEADER.unpack_from(packed)
        start = _HEADER.size + n_header
        header = orjson.loads(packed[_HEADER.size : start])
        if header["version"] != packing_version():
            raise BadPacking(f"packed by version {header['version']}, not {packing_version()}")
        values = _read_parts(packed, start, header["parts"])
        vector, paths = header["vector"], values.pop("paths")
        features = PageFeatures(**values)
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise BadPacking(str(error)) from error
    return ObservedPage(
        features,
        vector,
        paths,
        title=features.title,
        heading=features.heading,
        labels=labels_of(features),
    )


def _read_parts(
    packed: bytes, start: int, entries: Sequence[tuple[str, str, int]]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, kind, n in entries:
        if kind == _TEXT:
            values[name] = packed[start : start + n].decode("utf-8", "surrogatepass")
            start += n
        else:
            values[name] = np.frombuffer(packed, kind, n, start)
            start += values[name].nbytes
    if start != len(packed):
        raise BadPacking(f"{len(packed):,} bytes where {start:,} were packed")
    return values
