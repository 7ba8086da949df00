"""Values that mean the same."""

from __future__ import annotations

import pytest

from monitoring.algorithms.known_values import amount_of, form_of, plain, same_value


@pytest.mark.parametrize(
    ("kind", "was", "now"),
    [
        ("text", "Ice  Axe", "ice axe"),
        ("text", "Weight:", "Weight"),
        ("date", "7 October 2024", "2024-10-07"),
        ("price", "€1,299.00", "1.299,00 €"),
        ("phone", "(207) 555-4973", "207-555-4973"),
        ("image", "/img/a.svg", "https://cdn.example/img/a.svg?v=2"),
        ("url", "http://shop.example/a/", "https://www.shop.example/a"),
        ("text", ["red", "blue"], ["blue", "red"]),
        ("text", None, None),
    ],
)
def test_another_way_to_write_a_value_is_no_other_value(kind: str, was: str, now: str) -> None:
    assert same_value(kind, was, now)


@pytest.mark.parametrize(
    ("kind", "was", "now"),
    [
        ("text", "Ice axe", "Ice screw"),
        ("price", "€12.00", "€12.50"),
        ("date", "2024-10-07", "2024-10-08"),
        ("image", "/img/a.svg", "/img/b.svg"),
        ("text", ["red", "blue"], ["red"]),
        ("text", "red", None),
    ],
)
def test_another_value_is_told(kind: str, was: str, now: str) -> None:
    assert not same_value(kind, was, now)


def test_an_address_without_a_path_is_known_by_its_host() -> None:
    assert "shop.example" == form_of("url", "https://www.shop.example/")


def test_numbers_are_read_from_numbers_and_prices_only() -> None:
    assert [26148.0, 12.5, None, None] == [
        amount_of("number", "26,148"),
        amount_of("price", "€12.50"),
        amount_of("text", "12"),
        amount_of("price", "on request"),
    ]


def test_what_shows_nothing_does_not_count() -> None:
    assert "iceaxe" == plain(" Ice\u200b\xa0Axe :")
