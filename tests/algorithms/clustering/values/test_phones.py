"""Telephone numbers as they are dialled."""

from __future__ import annotations

import pytest

from clustering.values.phones import read_phone


@pytest.mark.parametrize(
    ("text", "dialled"),
    [
        ("(555) 010-7788", "5550107788"),
        ("Call +49 (0)89 123-456, ext. 12", "+4989123456;ext=12"),
        ("Tel.: 0049 89 1234567", "+49891234567"),
        ("1-800-FLOWERS", "18003569377"),
        ("555.123.4567 x12", "5551234567;ext=12"),
        ("01 42 68 53 00", "0142685300"),
        ("+1 (212) 555-0100 / +1 212 555 0199", "+12125550100"),
        ("Mon-Fri 9-5, 555-0107788", "5550107788"),
    ],
)
def test_digits_stay_and_the_country_is_told_by_plus(text: str, dialled: str) -> None:
    assert dialled == read_phone(text)


@pytest.mark.parametrize("text", ["", "none", "1234", "1" * 16])
def test_too_few_or_too_many_digits_are_no_number(text: str) -> None:
    assert read_phone(text) is None


@pytest.mark.parametrize(
    ("text", "country", "number"),
    [
        ("030 1234567", "DE", "+49301234567"),
        ("Tel. 089/123456", "DE", "+4989123456"),
        ("01 42 68 53 00", "FR", "+33142685300"),
        ("020 7946 0018", "GB", "+442079460018"),
        ("(718) 268-5300", "US", "+17182685300"),
        ("1-800-FLOWERS", "US", "+18003569377"),
        ("Call 212 555 0199 x12", "US", "+12125550199;ext=12"),
        ("+49 89 123456", "US", "+4989123456"),
    ],
)
def test_with_a_country_numbers_are_those_of_its_plan(text: str, country: str, number: str) -> None:
    assert number == read_phone(text, country)


@pytest.mark.parametrize("text", ["Order 1234567890", "12345", "(555) 010-7788", "none"])
def test_what_the_plan_of_the_country_lacks_is_no_number(text: str) -> None:
    assert read_phone(text, "US") is None


def test_an_unknown_country_is_none() -> None:
    assert "0301234567" == read_phone("030 1234567", "XX")
