"""Texts that look like values of a type."""

from __future__ import annotations

import pytest

from clustering.values.recognising import (
    amount_key,
    date_key,
    find_typed,
    fits,
    is_whole,
    type_of_most,
)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("price", "$1,299.00"),
        ("price", "19,90 €"),
        ("price", "EUR 25"),
        ("date", "2024-10-03"),
        ("date", "3 October 2024"),
        ("date", "Oct 3, 2024"),
        ("date", "19.12.2023"),
        ("phone", "(207) 555-4731"),
        ("phone", "+49 30 901820"),
        ("rating", "4.5 / 5"),
        ("number", "12,820"),
        ("zip", "04629"),
        ("url", "www.rope.example"),
    ],
)
def test_whole_values_are_known(kind: str, text: str) -> None:
    assert is_whole(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("price", "1299"), ("phone", "12 34"), ("date", "in October"), ("number", "A12b")],
)
def test_others_are_not(kind: str, text: str) -> None:
    assert [] == find_typed(kind, text)


def test_a_long_text_is_left_out() -> None:
    assert [] == find_typed("price", "$5 " * 100)


def test_types_without_a_pattern_take_any_text() -> None:
    assert fits("text", "anything")
    assert not fits("number", "none")


@pytest.mark.parametrize("text", ["1,299.00", "1.299,00", "1 299", "1299"])
def test_amounts_have_one_form(text: str) -> None:
    assert "1299" == amount_key(text)


def test_dates_are_compared_by_their_numbers() -> None:
    assert (
        date_key("2024-10-03") == date_key("Thursday, 3 October 2024") != date_key("4 October 2024")
    )
    assert date_key("soon") is None


def test_a_column_is_of_a_type_if_most_of_its_values_are() -> None:
    assert "" == type_of_most(["3 EUR", "ask", "free", "call"])
    assert "" == type_of_most([])
