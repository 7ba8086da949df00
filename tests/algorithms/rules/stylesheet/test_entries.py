"""The stylesheet says of each value of a nested list to which entry it belongs."""

from __future__ import annotations

import pytest
from lxml import etree

from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import (
    ELEMENT_TARGET,
    TEXT_TARGET,
    XPATH,
    Alternative,
    AttributeRule,
    ClusterRule,
    NestedList,
    Selection,
)
from rules.algorithms.running.run_rule import StylesheetFailed, read_result, transform
from rules.algorithms.stylesheet import entries
from rules.algorithms.stylesheet.stylesheet import stylesheet_of

PRICE = AttributeRule(
    "offers.price",
    is_multi=True,
    alternatives=(Alternative(XPATH, TEXT_TARGET, (Feature("tag", 1, ("b",)),)),),
)


def rule(price: AttributeRule = PRICE, *, tag: str = "li", is_run: bool = False) -> ClusterRule:
    first = Alternative(XPATH, ELEMENT_TARGET, (Feature("tag", 0, (tag,)),))
    return ClusterRule((price,), nested_lists=(NestedList("offers", first, is_run=is_run),))


def items(written: ClusterRule, text: str) -> list[tuple[int, str]]:
    tree = etree.fromstring(text)
    (record,) = read_result(transform(stylesheet_of(written), tree).getroot())
    return [(value.item, value.text) for value in record.values["offers.price"]]


def test_a_value_has_the_number_of_its_entry() -> None:
    page = "<ul><li><b>1</b></li><li>none</li><li><i><b>3</b></i></li></ul>"

    assert [(1, "1"), (3, "3")] == items(rule(), page)


def test_an_entry_that_is_a_run_begins_before_its_value() -> None:
    page = "<div><h3>a</h3><p><b>1</b></p><h3>b</h3><h3>c</h3><p/><p><b>3</b></p></div>"

    assert [(1, "1"), (3, "3")] == items(rule(tag="h3", is_run=True), page)


def test_a_value_in_no_entry_has_no_number() -> None:
    assert [(0, "x"), (1, "1")] == items(rule(), "<ul><p><b>x</b></p><li><b>1</b></li></ul>")


def test_entries_of_several_parents_are_counted_over_the_page() -> None:
    page = "<p><ul><li><b>1</b></li></ul><ul><li><b>2</b></li></ul></p>"

    assert [(1, "1"), (2, "2")] == items(rule(), page)


def test_parts_of_a_text_have_the_number_of_their_node() -> None:
    target = Alternative(XPATH, TEXT_TARGET, (Feature("tag", 1, ("b",)),), Selection(separator=","))
    split = AttributeRule("offers.price", is_multi=True, alternatives=(target,))

    assert [(1, "1"), (2, "2"), (2, "3")] == items(
        rule(split), "<ul><li><b>1</b></li><li><b>2,3</b></li></ul>"
    )


def test_no_more_entries_are_told_apart_than_there_may_be() -> None:
    n = entries.MAX_ENTRIES + 1
    page = "<ul>" + "".join(f"<li><b>{number}</b></li>" for number in range(1, n + 1)) + "</ul>"

    assert [(n - 1, str(n - 1)), (0, str(n))] == items(rule(), page)[-2:]


def test_a_list_whose_entries_are_not_known_has_no_numbers() -> None:
    assert 'item"' not in stylesheet_of(ClusterRule((PRICE,)))


def test_a_number_that_is_none_is_refused() -> None:
    root = etree.fromstring('<record><value name="a" item="x">1</value></record>')

    with pytest.raises(StylesheetFailed, match="whole numbers"):
        read_result(root)
