"""How values usually look, and how odd another one looks beside them."""

from __future__ import annotations

import json
from math import log
from typing import Any

import pytest

from clustering.values.normalising import PageContext, normalise
from rules.algorithms.running.value_looks import (
    MIN_VALUES,
    ShownText,
    ValueLooks,
    learn_looks,
    looks_by_attribute,
    oddness_of_values,
    shown_texts,
)


def price(text: str) -> ShownText:
    return ShownText(text, normalise("price", text, PageContext("", "")))


def title(text: str) -> ShownText:
    return ShownText(text, None)


@pytest.fixture
def prices() -> ValueLooks:
    return learn_looks([price(f"${dollars}.99") for dollars in range(20, 40)])


@pytest.fixture
def titles() -> ValueLooks:
    words = ["Trail", "Rope", "Peak 2", "Down-filled", "Alpine (new)"]
    return learn_looks([title(f"{words[n % 5]} jacket no {n}") for n in range(20)])


def test_a_value_like_the_others_is_not_odd(prices: ValueLooks, titles: ValueLooks) -> None:
    assert 0.5 > prices.oddness_of(price("$27.49"))
    assert 0.5 > titles.oddness_of(title("Peak jacket no 77"))


@pytest.mark.parametrize("text", ["Call us", "N/A", "2 reviews", "$27.99 In stock", "$2,799.99"])
def test_what_is_no_price_of_this_shop_is_odd(prices: ValueLooks, text: str) -> None:
    assert 2 < prices.oddness_of(price(text))


def test_the_length_of_a_title_tells(titles: ValueLooks) -> None:
    assert 2 < titles.oddness_of(title("Sale"))
    assert 2 < titles.oddness_of(title("Trail jacket no 3 " * 20))


def test_one_of_a_few_usual_lengths_is_not_odd() -> None:
    means = [*["Cash", "Visa", "Check"] * 5, *["American Express"] * 3]
    looks = learn_looks([title(text) for text in means])

    assert looks.length.surprise_of(log(len("American Express") + 1)) < 1.5
    assert looks.length.surprise_of(log(101)) > 2.5


def test_where_all_values_differ_a_new_kind_says_little() -> None:
    signs = "!?#%&*+=<>@^_|~/"
    looks = learn_looks([title(f"word {sign}") for sign in signs])

    assert 0.2 > looks.oddness_of(title("word $"))


def test_of_several_values_the_mean_counts(prices: ValueLooks) -> None:
    values = [price("$30.99"), price("Call us")]

    assert sum(map(prices.oddness_of, values)) / 2 == oddness_of_values(prices, values)
    assert 0.0 == oddness_of_values(None, [price("Call us")])


def test_looks_are_learnt_by_attribute_where_values_are_enough() -> None:
    records: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"name": "Rope", "sizes": ["S", None, "M"]}, {}) for _ in range(MIN_VALUES - 1)
    ]

    assert {"sizes"} == set(looks_by_attribute(records))
    assert {"name", "sizes"} == set(looks_by_attribute(records * 2))


def test_texts_keep_what_was_read_from_them() -> None:
    amounts = [{"amount": "1.00"}, None, {"amount": "2.00"}]

    assert [ShownText("€1", amounts[0]), ShownText("€2", amounts[2])] == shown_texts(
        ["€1", None, "€2"], amounts
    )


def test_looks_survive_json(prices: ValueLooks, titles: ValueLooks) -> None:
    for looks in (prices, titles):
        assert looks == ValueLooks.from_json(json.loads(json.dumps(looks.as_json())))


@pytest.mark.parametrize("amount", [0, -3, True, "x", {"amount": None}, 10**30])
def test_amounts_without_a_logarithm_are_none(amount: object) -> None:
    looks = learn_looks([ShownText("x", amount)] * MIN_VALUES)

    assert (looks.amount is None) == (amount != 10**30)
