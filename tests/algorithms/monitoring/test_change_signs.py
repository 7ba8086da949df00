"""What is measured of texts beside the values that an attribute had."""

from __future__ import annotations

import pytest

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.change_signs import (
    ChangeSigns,
    StoredValues,
    TextsByPage,
    cosine,
    signs_of,
    words_of,
)

PRICES = {page: [f"${100 * page + 50}"] for page in range(10)}
TEXT, PRICE = AttributeType("stock"), AttributeType("price", "price")


def signs(attribute: AttributeType, stored: TextsByPage, shown: TextsByPage) -> ChangeSigns:
    measured = signs_of(StoredValues.of(attribute, stored), shown)
    assert measured is not None
    return measured


def test_amounts_moved_by_one_factor_keep_their_order_and_have_no_spread() -> None:
    dearer = {page: [f"${110 * page + 55}"] for page in PRICES}
    others = {page: [f"${900 - 37 * page % 310}"] for page in PRICES}
    of_dearer, of_others = signs(PRICE, PRICES, dearer), signs(PRICE, PRICES, others)

    assert of_dearer.order > of_others.order
    assert of_dearer.shift < of_others.shift
    assert of_dearer.spread == pytest.approx(0, abs=1e-9)
    assert of_dearer.shapes == pytest.approx(1.0)
    assert of_dearer.is_amount


def test_values_that_are_no_amounts_are_told_by_words_and_known_texts() -> None:
    words = ("In stock", "Sold out")
    stored = {page: [words[page % 2]] for page in range(10)}
    exchanged = {page: [words[page % 3 == 0]] for page in range(10)}
    of_exchanged = signs(TEXT, stored, exchanged)
    of_names = signs(TEXT, stored, {page: [f"Rope {page} of hemp"] for page in range(10)})

    assert (1.0, 1.0, 0.0) == (of_exchanged.known, of_exchanged.shown, of_exchanged.is_amount)
    assert (0.0, 0.0) == (of_names.known, of_names.shown)
    assert of_exchanged.words > of_names.words
    assert of_exchanged.distinct < of_names.distinct


@pytest.mark.parametrize(
    "shown",
    [
        {page: ["$5"] for page in (0, 1)},  # on too few pages
        {page: ["on request"] for page in PRICES},  # no amounts
    ],
)
def test_what_cannot_be_the_values_has_no_signs(shown: TextsByPage) -> None:
    assert signs_of(StoredValues.of(PRICE, PRICES), shown) is None


def test_the_same_amount_on_all_pages_has_no_order() -> None:
    assert 0.0 == signs(PRICE, PRICES, {page: ["$500"] for page in PRICES}).order


def test_several_values_are_no_amounts() -> None:
    sizes = AttributeType("size", "number", is_multi=True)
    stored = {page: ["40", "42"] for page in range(6)}
    of_sizes = signs(sizes, stored, {page: ["41", "43", "45", "47"] for page in range(6)})

    assert not of_sizes.is_amount
    assert of_sizes.several > 0.5


def test_all_numbers_are_one_word() -> None:
    assert {"0": 2, "of": 1, "stars": 1} == dict(words_of(["4 of 5 stars", "7"]))
    assert 0.0 == cosine(words_of([""]), words_of(["4"]))
