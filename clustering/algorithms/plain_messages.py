"""Write what was observed of pages as bytes that are only values, for another process to read.

Notation:   A message is JSON. What JSON has no form for is an array that begins with its
            kind: bytes, tuples, sets, arrays of numbers by type and shape, and the records
            named in RECORDS.
Readings:   The process that observes reads strangers' pages. What comes back from it is values
            of known kinds, whatever a page made of that process: nothing in a message is
            called or imported.
Cost:       Linear in the values.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Final

import numpy as np
import orjson

from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.published.attributed_paths import PathPage
from clustering.algorithms.published.pq_grams import GramProfile

RECORDS: Final[Mapping[str, type[Any]]] = {
    kind.__name__: kind for kind in (GramProfile, ObservedPage, PageFeatures, PathPage, RawPage)
}
NUMBERS: Final = frozenset("biuf")  # kinds of numpy's types that hold numbers and nothing else


class BadMessage(ValueError):
    """Bytes are no message."""


def write_plain(value: object) -> bytes:
    """Return a value as a message."""
    return orjson.dumps(_packed(value))


def read_plain(message: bytes) -> Any:
    """Return the value of a message. Raises BadMessage.

    >>> read_plain(write_plain({"a": (1, b"x")}))
    {'a': (1, b'x')}
    """
    try:
        return _unpacked(orjson.loads(message))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise BadMessage(f"{type(error).__name__}: {error}") from None


def _packed(value: Any) -> Any:
    match value:
        case None | bool() | int() | float():
            return value
        case str():
            try:
                value.encode()
            except UnicodeEncodeError:  # half of a pair, which JSON in UTF-8 cannot hold
                return ["text", b64encode(value.encode("utf-8", "surrogatepass")).decode()]
            return value
        case bytes():
            return ["bytes", b64encode(value).decode()]
        case list() | tuple() | set() | frozenset():
            return [type(value).__name__, *map(_packed, value)]
        case dict():
            return ["dict", *([_packed(key), _packed(entry)] for key, entry in value.items())]
        case np.ndarray():
            data = b64encode(np.ascontiguousarray(value).tobytes()).decode()
            return ["array", value.dtype.str, list(value.shape), data]
        case np.generic():
            return _packed(value.item())
    name = type(value).__name__
    if not is_dataclass(value) or RECORDS.get(name) is not type(value):
        raise TypeError(f"{name} is no plain value")
    return [name, *(_packed(getattr(value, field.name)) for field in fields(value))]


def _unpacked(written: Any) -> Any:
    if not isinstance(written, list):
        return written
    kind, *parts = written
    if kind in READERS:
        return READERS[kind](parts)
    record = RECORDS[kind]
    return record(*map(_unpacked, parts))


def _array(parts: Sequence[Any]) -> Any:
    name, shape, data = parts
    dtype = np.dtype(str(name))
    if dtype.kind not in NUMBERS:
        raise BadMessage(f"an array of {dtype} holds more than numbers")
    return np.frombuffer(b64decode(data), dtype).reshape([int(size) for size in shape]).copy()


READERS: Final[Mapping[str, Callable[[Sequence[Any]], Any]]] = {
    "array": _array,
    "bytes": lambda parts: b64decode(parts[0]),
    "dict": lambda parts: {_unpacked(key): _unpacked(entry) for key, entry in parts},
    "frozenset": lambda parts: frozenset(map(_unpacked, parts)),
    "list": lambda parts: list(map(_unpacked, parts)),
    "set": lambda parts: set(map(_unpacked, parts)),
    "text": lambda parts: b64decode(parts[0]).decode("utf-8", "surrogatepass"),
    "tuple": lambda parts: tuple(map(_unpacked, parts)),
}
