"""Fast paths select what the definition selects."""

from __future__ import annotations

import pytest

from rules.algorithms.rule.feature import Feature
from rules.algorithms.stylesheet.fast_paths import (
    CLASS_KEY,
    ID_KEY,
    TEXT_KEY,
    Steps,
    fast_path,
    keys_worth_building,
    path_within,
)

LABEL = Feature("label", 0, ("Price",))
CLASS = Feature("class", 0, ("x",))
PLACED = Feature("before", 0, ("Price",), name="dt th")


def test_a_key_is_built_where_it_is_asked_so_often_that_it_pays() -> None:
    assert frozenset() == keys_worth_building([LABEL, CLASS, CLASS])
    assert {TEXT_KEY} == keys_worth_building([LABEL, CLASS] * 3)
    assert {CLASS_KEY, TEXT_KEY} == keys_worth_building([LABEL, CLASS] * 6)
    assert {ID_KEY} == keys_worth_building([Feature("id", 0, ("a", "b"))] * 10)


def test_a_label_whose_tag_is_known_asks_no_key() -> None:
    assert frozenset() == keys_worth_building([PLACED] * 10)


def test_a_label_whose_tag_is_known_is_looked_for_in_that_tag() -> None:
    steps = Steps()
    fast_path("text()", (PLACED,), steps)

    assert {"every-dt": "/descendant::dt", "every-th": "/descendant::th"} == steps.shared
    assert any(
        xpath.startswith("($every-dt | $every-th)/text()") for _, xpath in steps.taken_variables()
    )


def test_a_label_goes_before_a_class_and_finds_its_neighbour() -> None:
    steps = Steps(frozenset({TEXT_KEY}))
    path = fast_path("text()", (Feature("class", 1, ("x",)), LABEL), steps)

    assert path.startswith("$found-")
    assert "[parent::*[@class='x']]" in path
    assert {TEXT_KEY} == steps.keys
    assert ["anchor", "beside", "beside", "found"] == [
        name.rpartition("-")[0] for name, _ in steps.taken_variables()
    ]
    assert [] == steps.taken_variables()


@pytest.mark.parametrize(
    ("target", "features", "path"),
    [
        ("element", (Feature("tag", 0, ("h1",)), CLASS), "$every-h1/@class[.='x']/parent::h1"),
        ("@src", (Feature("tag", 0, ("img",)),), "$every-img[@src]"),
        (
            "element",
            (Feature("id", 1, ("a",)), Feature("tag", 0, ("p",))),
            "$every.id[.='a']/parent::*/p",
        ),
    ],
)
def test_without_a_key_the_nodes_are_those_that_the_stylesheet_finds_once(
    target: str, features: tuple[Feature, ...], path: str
) -> None:
    assert path == fast_path(target, features, Steps())


def test_within_a_record_the_path_goes_from_the_target_upwards() -> None:
    features = (Feature("tag", 0, ("b",)), Feature("tag", 1, ("p",)))

    assert "$record/descendant-or-self::b[parent::p]" == path_within(
        "$record", "element", features, Steps()
    )
