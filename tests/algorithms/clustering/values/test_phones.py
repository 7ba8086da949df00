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
