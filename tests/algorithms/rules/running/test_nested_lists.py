"""The n-th place of each field of a nested list is its n-th entry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.running.nested_lists import align, uneven_fields
from rules.algorithms.running.records import RawRecord, RawValue

NAME, PRICE = "offers.name", "offers.price"
TYPES = [
    AttributeType(NAME, is_multi=True),
    AttributeType(PRICE, is_multi=True),
    AttributeType("tags", is_multi=True),
]


def record(names: list[int], prices: list[int]) -> RawRecord:
    """Return a record whose values stand in the entries of these numbers."""
    return RawRecord(
        {
            NAME: [RawValue(f"n{item}", item=item) for item in names],
            PRICE: [RawValue(f"p{item}", item=item) for item in prices],
            "tags": [RawValue("red"), RawValue("new")],
        }
    )


def texts(raw: RawRecord) -> dict[str, list[str | None]]:
    return {
        name: [None if value is None else value.text for value in values]
        for name, values in align(raw, TYPES).items()
    }


def test_a_gap_is_where_an_entry_has_no_value() -> None:
    assert {NAME: ["n1", None, "n3"], PRICE: ["p1", "p2", None]} == texts(record([1, 3], [1, 2]))


def test_an_entry_without_any_value_is_none() -> None:
    assert {NAME: ["n1", "n4"], PRICE: ["p1", "p4"]} == texts(record([1, 4], [1, 4]))


def test_a_second_value_in_an_entry_is_one_of_its_own() -> None:
    assert {NAME: ["n1", "n1", "n2"], PRICE: ["p1", None, "p2"]} == texts(record([1, 1, 2], [1, 2]))


def test_without_entries_values_stay_as_they_are_and_unequal_numbers_are_a_problem() -> None:
    even, uneven = record([0, 0], [0, 0]), record([0, 0], [0])

    assert {NAME: ["n0", "n0"], PRICE: ["p0"]} == texts(uneven)
    assert {NAME, PRICE} == set(uneven_fields(uneven, TYPES))
    assert {} == uneven_fields(even, TYPES) == uneven_fields(record([1, 2], [2]), TYPES)


@given(st.lists(st.integers(0, 5)), st.lists(st.integers(0, 5)))
def test_no_value_is_lost_and_all_fields_are_as_long(names: list[int], prices: list[int]) -> None:
    raw = record(sorted(names), sorted(prices))
    aligned = align(raw, TYPES)

    for name in (NAME, PRICE):
        assert sorted(value.text for value in aligned[name] if value) == sorted(
            value.text for value in raw.values[name]
        )
    if names and prices and any([*names, *prices]):
        assert len(aligned[NAME]) == len(aligned[PRICE])
