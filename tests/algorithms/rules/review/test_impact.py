"""What another rule would change, record by record and field by field."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rules.algorithms.review.impact import add_counts, changes_of_page, count_changes
from rules.algorithms.running.record_lines import Line, NoRecord
from tests.algorithms.rules.running.line_cast import line_of

NAMES = ["name", "price"]


def line(key: str | None = None, **record: Any) -> Line:
    return line_of(record, key=key, index=0 if key else None)


def counts(was: list[Line], now: list[Line]) -> dict[str, dict[str, int]]:
    """Return the counts that are not zero."""
    table = count_changes(changes_of_page(was, now, NAMES))
    return {name: {kind: n for kind, n in row.items() if n} for name, row in table.items()}


def test_each_field_is_gained_lost_changed_or_the_same() -> None:
    assert {"": {"changed": 1}, "name": {"same": 1}, "price": {"changed": 1}} == counts(
        [line(name="Rope", price="5")], [line(name="Rope", price="6")]
    )
    assert {"": {"changed": 1}, "name": {"lost": 1}, "price": {"gained": 1}} == counts(
        [line(name="Rope")], [line(price="6")]
    )


def test_a_page_without_record_before_gains_one_with_its_fields() -> None:
    nothing = Line("u", "products", "products@3", NoRecord("no_records"))

    assert {"": {"gained": 1}, "name": {"gained": 1}} == counts([nothing], [line(name="Rope")])
    assert {"": {"lost": 1}, "name": {"lost": 1}} == counts([line(name="Rope")], [nothing])


def test_the_first_change_of_a_record_is_that_of_the_record_as_a_whole() -> None:
    changes = changes_of_page([line(n="1")], [line(n="2")], ["n"])

    assert [("", "changed"), ("n", "changed")] == [
        (change.attribute, change.kind) for change in changes
    ]


def test_records_of_a_list_are_paired_by_key_and_then_by_place() -> None:
    was = [line("a", name="a"), line("b", name="b"), line("c", name="c")]
    now = [line("c", name="c"), line("x", name="x"), line("a", name="a"), line("y", name="y")]

    assert {
        "": {"same": 2, "changed": 1, "gained": 1},
        "name": {"same": 2, "changed": 1, "gained": 1},
    } == (counts(was, now))


def test_what_changed_is_told_with_both_values() -> None:
    changes = changes_of_page([line(name="Rope")], [line(name="Ropes")], NAMES)

    assert [("", {"name": "Rope"}, {"name": "Ropes"}), ("name", "Rope", "Ropes")] == [
        (change.attribute, change.old, change.new) for change in changes
    ]


records = st.lists(
    st.builds(line, key=st.sampled_from(["a", "b", "c"]), name=st.sampled_from(["1", "2"])),
    max_size=4,
)


@given(records, records)
def test_going_back_turns_gains_into_losses(was: list[Line], now: list[Line]) -> None:
    there = count_changes(changes_of_page(was, now, NAMES))
    back = count_changes(changes_of_page(now, was, NAMES))

    turned = {"gained": "lost", "lost": "gained", "changed": "changed", "same": "same"}
    assert {name: {turned[kind]: n for kind, n in row.items()} for name, row in there.items()} == {
        name: {kind: row[kind] for kind in turned.values()} for name, row in back.items()
    }


def test_counts_add_up() -> None:
    first = count_changes(changes_of_page([line(name="a")], [line(name="b")], NAMES))

    assert {"gained": 0, "lost": 0, "changed": 2, "same": 0} == add_counts(first, first)["name"]
    assert first == add_counts({}, first)
