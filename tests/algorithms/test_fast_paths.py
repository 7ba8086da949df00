"""Fast paths select what the definition selects."""

from __future__ import annotations

import pytest

from rules.algorithms.fast_paths import (
    CLASS_KEY,
    ID_KEY,
    TEXT_KEY,
    Steps,
    fast_path,
    keys_worth_building,
    path_within,
)
from rules.algorithms.rule import Feature

LABEL = Feature("label", 0, ("Price",))
CLASS = Feature("class", 0, ("x",))


def test_a_key_is_built_where_it_is_asked_three_times() -> None:
    assert frozenset() == keys_worth_building([LABEL, CLASS, CLASS])
    assert {CLASS_KEY, TEXT_KEY} == keys_worth_building([LABEL, CLASS] * 3)
    assert {ID_KEY} == keys_worth_building([Feature("id", 0, ("a", "b", "c"))])


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
        ("element", (Feature("tag", 0, ("h1",)), CLASS), "/descendant::h1[@class='x']"),
        ("@src", (Feature("tag", 0, ("img",)),), "/descendant::img[@src]"),
        (
            "element",
            (Feature("id", 1, ("a",)), Feature("tag", 0, ("p",))),
            "/descendant::*/@id[.='a']/parent::*/p",
        ),
    ],
)
def test_without_a_key_the_tree_is_looked_through_once(
    target: str, features: tuple[Feature, ...], path: str
) -> None:
    assert path == fast_path(target, features, Steps())


def test_within_a_record_the_path_goes_from_the_target_upwards() -> None:
    features = (Feature("tag", 0, ("b",)), Feature("tag", 1, ("p",)))

    assert "$record/descendant-or-self::b[parent::p]" == path_within("$record", "element", features)
