"""Numbers as people write them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.values.numbers import find_number, plain


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.50", "1234.50"),
        ("1.234,50", "1234.50"),
        ("1 299,00", "1299.00"),
        ("1'299", "1299"),
        ("12,5", "12.5"),
        ("1.5", "1.5"),
        ("1,234", "1234"),
        ("1.234.567", "1234567"),
        ("0.125", "0.125"),
        ("0,125", "0.125"),
        ("1234,567", "1234.567"),
        ("-3.5", "-3.5"),
        ("\u2212 7", "-7"),
        ("2019-20", "2019"),
        ("A-4", "4"),
        ("10 20", "10"),
        ("1 000 000 pieces", "1000000"),
        ("12.", "12"),
    ],
)
def test_the_last_mark_is_the_decimal_one_unless_it_parts_thousands(text: str, number: str) -> None:
    assert Decimal(number) == find_number(text)


def test_a_point_parts_thousands_where_it_is_said() -> None:
    assert Decimal("1.299") == find_number("1.299")
    assert Decimal(1299) == find_number("1.299", point_parts_thousands=True)


@pytest.mark.parametrize("text", ["", "none", "1" * 31, "½"])
def test_what_is_no_number_is_none(text: str) -> None:
    assert find_number(text) is None


@given(st.decimals(0, 10**12, places=2))
def test_english_and_german_notation_mean_the_same(number: Decimal) -> None:
    english = f"{number:,.2f}"
    german = english.translate(str.maketrans(",.", ".,"))

    assert number == find_number(english)
    assert number == find_number(german)


def test_no_number_is_written_with_an_exponent() -> None:
    assert plain(Decimal("1E+3")) == "1000"
