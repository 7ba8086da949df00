"""Values come back as they were, and bytes that say anything else are refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import observe_pages
from clustering.algorithms.plain_messages import BadMessage, read_plain, write_plain

PAGE = b"<html><body class=x><h1>Rope</h1><ul><li><a href=/p/1>One</a><li>Two \xf0\x9f</ul></body></html>"
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.text()
    | st.binary()
    | st.floats(allow_nan=False, allow_infinity=False)
)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_plain_values_come_back(value: Any) -> None:
    assert value == read_plain(write_plain(value))


@pytest.mark.parametrize("algorithm", sorted(CLUSTERERS))
def test_what_each_algorithm_observes_comes_back(algorithm: str) -> None:
    pages = [RawPage("https://shop.example/p/1", PAGE), RawPage("https://shop.example/", b"")]

    observed = observe_pages(algorithm, pages)
    message = write_plain(observed)
    received = read_plain(message)

    assert type(observed) is type(received)
    assert in_order(orjson.loads(message)) == in_order(orjson.loads(write_plain(received)))


def in_order(part: Any) -> Any:
    """Return part of a message with the members of its unordered sets sorted by their spelling."""
    if not isinstance(part, list):
        return part
    parts = [in_order(each) for each in part]
    if parts and parts[0] in ("set", "frozenset"):
        return [parts[0], *sorted(parts[1:], key=repr)]
    return parts


def test_half_of_a_pair_comes_back() -> None:
    assert "a\ud800" == read_plain(write_plain("a\ud800"))


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"[",
        b"[]",
        pickle.dumps(1),
        orjson.dumps(["Popen", ["list", "id"]]),
        orjson.dumps(["array", "|O", [1], "AAAAAAAAAAA="]),
        orjson.dumps(["array", "<u8", [9], "AA=="]),
        orjson.dumps(["bytes", 5]),
        orjson.dumps(["dict", [["list"], 1]]),
        orjson.dumps(["RawPage", 1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_anything_else_is_refused(message: bytes) -> None:
    with pytest.raises(BadMessage):
        read_plain(message)


def test_what_is_no_plain_value_cannot_be_written() -> None:
    with pytest.raises(TypeError, match="no plain value"):
        write_plain(np)
