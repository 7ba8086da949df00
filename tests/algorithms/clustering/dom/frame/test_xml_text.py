"""Text comes out of XML as it went in, but for what XML cannot hold."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from clustering.dom.frame.xml_text import attributes, escaped, is_local


@given(st.text(), st.text())
def test_text_and_attributes_keep_their_length(text: str, value: str) -> None:
    read = etree.fromstring(f"<p{attributes({'a': value})}>{escaped(text)}</p>".encode())

    assert (len(text), len(value)) == (len(read.text or ""), len(read.get("a", "")))


def test_what_leads_out_of_a_drawing_is_seen() -> None:
    assert [True, True, True, False, False, False] == [
        is_local(value)
        for value in (
            "red",
            "url(#a) none",
            "rotate(4) scale(2,3)",
            "url(//x)",
            "u\\72l(x)",
            "f(url(x))",
        )
    ]


@pytest.mark.parametrize(
    "value",
    [
        "url(#" + " " * 100_000,
        "a-" * 50_000,
        "-" * 100_000,
        "a(" * 50_000,
        "url(#a)" * 14_000 + "(",
    ],
    ids=["blanks", "names", "dashes", "functions", "addresses"],
)
def test_a_hostile_value_is_judged_in_linear_time(value: str) -> None:
    started = time.thread_time()

    is_local(value)

    assert time.thread_time() - started < 0.5
