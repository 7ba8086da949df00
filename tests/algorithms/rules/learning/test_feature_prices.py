import pytest

from rules.algorithms.learning.feature_prices import (
    feature_price,
    is_bound_to_item,
    looks_generated,
    price_of,
)
from rules.algorithms.rule.feature import Feature

LABEL = Feature("label", 0, ("Price",))


def test_labels_are_cheapest_and_positions_dearest() -> None:
    features = [
        LABEL,
        Feature("id", 0, ("price",)),
        Feature("tag", 0, ("td",)),
        Feature("token", 0, ("price",)),
        Feature("class", 0, ("price",)),
        Feature("first", 0),
        Feature("tag", 0, ("td",), axis="preceding-sibling", distance=1),
        Feature("after", 0, ("Price",)),
        Feature("position", 0, distance=1),
    ]
    prices = [feature_price(feature) for feature in features]
    assert sorted(prices) == prices


@pytest.mark.parametrize(
    "dearer",
    [
        Feature("before", 3, ("Price",)),
        Feature("label", 0, ("Price 25",)),
        Feature("label", 0, ("|",)),
        Feature("label", 0, ("Price", "Cost")),
    ],
)
def test_what_is_far_or_likely_to_change_costs_more(dearer: Feature) -> None:
    assert feature_price(LABEL) < feature_price(dearer)


def test_a_generated_class_costs_more_than_a_named_one() -> None:
    assert feature_price(Feature("token", 0, ("price",))) < feature_price(
        Feature("token", 0, ("css-1x2y3z",))
    )


def test_each_feature_of_a_conjunction_costs() -> None:
    assert price_of([LABEL]) < price_of([LABEL, Feature("tag", 1, ("td",))])


def test_what_is_bound_to_one_item_is_dear_in_lists_only() -> None:
    assert is_bound_to_item(LABEL)
    assert not is_bound_to_item(Feature("token", 1, ("item",)))
    assert price_of([LABEL]) < price_of([LABEL], is_multi=True)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("css-1x2y3z", True),
        ("sc-bdVaJaX", True),
        ("post-41675", True),
        ("productPrice", False),
        ("col-md-4", False),
        ("h1", False),
    ],
)
def test_words_of_programs_look_generated(word: str, *, expected: bool) -> None:
    assert expected == looks_generated(word)


def test_a_label_with_its_plural_costs_what_one_label_does() -> None:
    assert feature_price(LABEL) == feature_price(Feature("label", 0, ("Price", "Prices")))
