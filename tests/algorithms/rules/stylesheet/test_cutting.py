"""Cutting in XSLT gives what `select_parts` gives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.algorithms.learning.range_pruner import select_parts
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Alternative, AttributeRule, ClusterRule, Selection
from rules.algorithms.running.run_rule import run_stylesheet
from rules.algorithms.stylesheet.cutting import MAX_WORDS, quoted
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from tests.algorithms.rules.stylesheet.test_stylesheet import tree_of


def cut(selection: Selection, text: str) -> list[str]:
    way = Alternative("xpath", "@title", (Feature("tag", 0, ("p",)),), selection)
    rule = ClusterRule((AttributeRule("a", is_multi=True, alternatives=(way,)),))
    tree = tree_of("<p>")
    next(tree.iter("p")).set("title", text)
    (record,) = run_stylesheet(stylesheet_of(rule), tree)
    return [value.text for value in record.values.get("a", [])]


@pytest.mark.parametrize(
    ("selection", "text", "values"),
    [
        (Selection(prefix="Price:"), "Our Price: $25.99", ["$25.99"]),
        (Selection(first=3), "Our Price: $25.99", ["$25.99"]),
        (Selection(first=-1), "Our Price: $25.99", ["$25.99"]),
        (Selection(suffix=" - ", is_last_suffix=True), "a - b - shop", ["a - b"]),
        (Selection(prefix="by", is_optional=True), "Tom", ["Tom"]),
        (Selection(prefix="by"), "Tom", []),
        (Selection(separator=","), "a, ,b", ["a", "b"]),
        (Selection(first=2, last=3), "a b", []),
    ],
)
def test_a_part_is_cut_out(selection: Selection, text: str, values: list[str]) -> None:
    assert values == cut(selection, text)


words = st.lists(
    st.sampled_from(["a", "b", "EUR", "\xa0", "\u200b", "x'y", 'q"', ",", "&<"]), max_size=8
)
offsets = st.sampled_from([1, 2, 3, -1, -2, -3])
selections = st.builds(
    Selection,
    prefix=st.sampled_from(["", "a", "EUR", "x'"]),
    suffix=st.sampled_from(["", "b", ",", 'q"']),
    is_optional=st.booleans(),
    is_last_suffix=st.booleans(),
    first=offsets,
    last=offsets,
    separator=st.sampled_from(["", ",", "&"]),
)


@settings(max_examples=150, deadline=None)
@given(selections, words, st.sampled_from(["", " "]))
def test_stylesheet_and_selection_agree(selection: Selection, some: list[str], blank: str) -> None:
    text = blank.join(some)
    if selection.is_whole:
        return

    assert select_parts(selection, text) == cut(selection, text)


def test_very_many_words_do_not_stop_the_stylesheet() -> None:
    assert [] == cut(Selection(first=2), "a " * (MAX_WORDS + 1))
    assert 1 == len(cut(Selection(first=2), "a " * (MAX_WORDS - 1)))


def test_quotes_and_controls_are_escaped() -> None:
    assert "&quot;&lt;&amp;&#10;&#160;" == quoted('"<&\n\xa0')
