"""Normalised forms by the type of the attribute."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.values.normalising import MAX_VALUE_CHARS, READERS, PageContext, normalise

PAGE = PageContext("http://h.example/a/b/c?d=1", "de")


@pytest.mark.parametrize(
    ("kind", "value", "normalised"),
    [
        ("price", "12,99 €", {"amount": "12.99", "currency": "EUR"}),
        ("number", "1,234 reviews", 1234),
        ("number", "2.5 kg", 2.5),
        ("number", "12345678901234567890", "12345678901234567890"),
        ("rating", "4/5", {"value": 4.0, "best": 5.0}),
        ("phone", "+49 89 123456", "+4989123456"),
        ("date", "05/03/2024", "2024-03-05"),
        ("zip", "Springfield, IL 62704-1234", "62704-1234"),
        ("zip", "221B Baker Street, London NW1 6XE", "NW1 6XE"),
        ("zip", "12345 Main St, 10115 Berlin", "10115"),
        ("zip", "1011 ab Amsterdam", "1011 AB"),
        ("url", "../x.html#f", "http://h.example/a/x.html#f"),
        ("url", "?p=2", "http://h.example/a/b/c?p=2"),
        ("url", "//cdn.example/x", "http://cdn.example/x"),
        ("url", "http://x/y/../z?q=/../", "http://x/z?q=/../"),
        ("url", "mailto:a@b.example", "mailto:a@b.example"),
        ("image", "/i.png", "http://h.example/i.png"),
    ],
)
def test_each_type_has_its_form(kind: str, value: str, normalised: object) -> None:
    assert normalised == normalise(kind, value, PAGE)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("text", "plain"),
        ("html", "<b>x</b>"),
        ("price", "on request"),
        ("url", "javascript:void(0)"),
        ("zip", "none"),
        ("number", ""),
        ("unknown", "1"),
    ],
)
def test_what_cannot_be_read_has_none(kind: str, value: str) -> None:
    assert normalise(kind, value, PAGE) is None


def test_a_relative_address_needs_the_page() -> None:
    assert normalise("url", "/x", PageContext()) is None
    assert normalise("url", "http://h.example/x", PageContext()) == "http://h.example/x"


def test_a_long_text_is_not_read() -> None:
    assert normalise("number", "1" + " " * MAX_VALUE_CHARS, PAGE) is None
    assert normalise("number", "1" + " " * 10, PAGE) == 1


@given(st.sampled_from(sorted(READERS)), st.text(max_size=80))
def test_no_text_makes_a_reader_fail(kind: str, value: str) -> None:
    normalise(kind, value, PAGE)
