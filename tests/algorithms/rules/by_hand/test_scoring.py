"""What a rule finds, compared with what editors said."""

from __future__ import annotations

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.by_hand.scoring import (
    AttributeScore,
    ScoredPage,
    WrongPage,
    score_pages,
    values_found,
)
from rules.algorithms.running.records import Extracted, ExtractedRecord

PRICE = AttributeType("price", "price", regex=r"\d+")


def score(*pages: tuple[tuple[str, ...] | None, tuple[str, ...]]) -> AttributeScore:
    """Return the score of prices: what was said of each page, and what was found there."""
    scored = [
        ScoredPage(None if said is None else {"price": said}, {"price": got}) for said, got in pages
    ]
    return score_pages([PRICE], scored)[0]


def test_each_page_counts_once_as_what_it_is() -> None:
    result = score(
        (("7 EUR",), ("7",)), (("8",), ("9",)), (("8",), ()), ((), ("1",)), ((), ()), (None, ("1",))
    )

    assert (1, 1, 1, 1, 1) == (
        result.n_right,
        result.n_wrong,
        result.n_missed,
        result.n_unwanted,
        result.n_absent,
    )
    assert (5, 3, 1, 1) == (result.n_annotated, result.n_bad, result.n_found, result.n_others)
    assert WrongPage(1, ("8",), ("9",)) == result.examples[0]


def test_several_values_are_right_only_together_and_in_their_order() -> None:
    tags = AttributeType("tags", is_multi=True)
    fields = {"tags": ("a", "b\xa0 c")}
    pages = [ScoredPage(fields, {"tags": got}) for got in (("a", "b c"), ("b c", "a"), ("a",))]

    assert (1, 2) == ((result := score_pages([tags], pages)[0]).n_right, result.n_wrong)


def test_an_attribute_of_which_nothing_was_said_counts_neither_way() -> None:
    (result,) = score_pages([PRICE], [ScoredPage({"name": ("x",)}, {"price": ("1",)})])

    assert (0, 1, 1) == (result.n_annotated, result.n_found, result.n_others)


def test_a_page_on_which_nothing_ran_is_missed_where_it_has_a_value() -> None:
    (result,) = score_pages([PRICE], [ScoredPage({"price": ("1",)}, None), ScoredPage(None, None)])

    assert (1, 0) == (result.n_missed, result.n_others)


def test_the_records_of_a_list_are_one_after_the_other() -> None:
    records = [
        ExtractedRecord({"a": "1", "b": ["x", "y"]}, {}, {}, [], {}, {}),
        ExtractedRecord({"a": "2"}, {}, {}, [], {}, {}),
    ]

    assert {"a": ("1", "2"), "b": ("x", "y")} == values_found(Extracted(records))
