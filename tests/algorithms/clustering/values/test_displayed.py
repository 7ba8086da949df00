"""Values as a reader sees them."""

from __future__ import annotations

import pytest

from clustering.values.displayed import displayed


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  Oak \n\t desk ", "Oak desk"),
        ("25,00\xa0EUR", "25,00 EUR"),
        ("so\u00adfa\u200b\ufeff", "sofa"),
        ("\u200b \u2003", ""),
        ("日本\u3000東京", "日本 東京"),
        ("", ""),
    ],
)
def test_white_space_is_one_blank_and_the_invisible_goes(text: str, shown: str) -> None:
    assert shown == displayed(text)


def test_what_is_displayed_stays_as_it_is() -> None:
    assert displayed(displayed("a \xa0b\u200b c")) == displayed("a \xa0b\u200b c")
