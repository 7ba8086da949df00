from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import pytest

from rules.algorithms.rule.json_form import JsonForm


@dataclass(frozen=True, slots=True)
class Leaf(JsonForm):
    size: int
    names: tuple[str, ...] = ()

    DERIVED: ClassVar[Mapping[str, str]] = {"size": "area"}

    @property
    def area(self) -> int:
        return self.size**2


@dataclass(frozen=True, slots=True)
class Tree(JsonForm):
    first: Leaf | None = None
    rows: tuple[tuple[Leaf, ...], ...] = ()
    label: str = "oak"


TREE = Tree(Leaf(3, ("a", "b")), ((Leaf(1),), ()))
FORM = {
    "first": {"size": 3, "area": 9, "names": ["a", "b"]},
    "rows": [[{"size": 1, "area": 1, "names": []}], []],
    "label": "oak",
}


def test_fields_come_in_their_order_and_what_is_derived_behind_its_field() -> None:
    form = TREE.as_json()

    assert FORM == form
    assert ["size", "area", "names"] == list(form["first"])


def test_what_was_written_is_read_back() -> None:
    assert TREE == Tree.from_json(FORM)
    assert Tree() == Tree.from_json(Tree().as_json())


def test_a_field_that_the_json_lacks_has_its_default() -> None:
    assert Tree() == Tree.from_json({})


def test_a_field_without_a_default_must_be_there() -> None:
    with pytest.raises(TypeError, match="size"):
        Leaf.from_json({"names": []})
