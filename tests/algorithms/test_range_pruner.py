import pytest

from rules.algorithms.range_pruner import Example, commonprefix, learn_offsets, learn_selection, select_parts
from rules.algorithms.rule import Selection


def example(text: str, *values: str) -> Example:
    return Example(text, values)


class TestPaper:
    """Section III-C.4: "Our Price: $25.99", of which "$25.99" is wanted."""

    def test_the_offset_is_3_from_the_beginning_and_1_from_the_end(self) -> None:
        text = "Our Price: $25.99"
        assert ["$25.99"] == select_parts(Selection(first=3, last=3), text)
        assert ["$25.99"] == select_parts(Selection(first=-1, last=-1), text)

    def test_the_consistent_offset_is_learnt(self) -> None:
        examples = [example("Our Price: $25.99", "$25.99"), example("Price: $3.00", "$3.00")]
        assert Selection(first=-1, last=-1) == learn_offsets(examples)

    def test_from_the_beginning_where_the_end_varies(self) -> None:
        examples = [example("by Ann yesterday", "Ann"), example("by Bob", "Bob")]
        assert Selection(first=2, last=2) == learn_offsets(examples)

    def test_no_consistent_offset_is_no_selection(self) -> None:
        assert (
            learn_offsets([example("by Ann", "Ann"), example("Bob of York", "Bob"), example("a b c d", "c")])
            is None
        )


def test_the_whole_text_needs_no_selection() -> None:
    assert Selection() == learn_selection([example("Ann", "Ann"), example("Bob", "Bob")])


def test_a_text_before_the_value_beats_an_offset() -> None:
    learnt = learn_selection([example("Price: $25.99", "$25.99"), example("Our Price: $3 each", "$3 each")])
    assert learnt is not None
    assert ["1 euro"] == select_parts(learnt, "Today's best Price: 1 euro")


def test_a_text_after_the_value_is_cut() -> None:
    learnt = learn_selection([example("5 reviews", "5"), example("12 reviews (new)", "12")])
    assert learnt is not None
    assert ["7"] == select_parts(learnt, "7 reviews")


def test_with_one_example_the_literal_is_cut_at_digits() -> None:
    learnt = learn_selection([example("Posted 12 May by Ann", "Ann")])
    assert learnt is not None
    assert ["Bob"] == select_parts(learnt, "Posted 3 May by Bob")


def test_brackets_around_a_value_are_cut() -> None:
    learnt = learn_selection([example("(12)", "12")])
    assert learnt is not None
    assert ["7"] == select_parts(learnt, "(7)")


def test_a_prefix_that_some_texts_lack_is_optional() -> None:
    learnt = learn_selection([example("By: Ann", "Ann"), example("Bob", "Bob")])
    assert learnt is not None
    assert learnt.is_optional
    assert [["Cy"], ["Di"]] == [select_parts(learnt, "By: Cy"), select_parts(learnt, "Di")]


def test_a_text_without_the_prefix_has_no_value() -> None:
    assert [] == select_parts(Selection(prefix="Price:"), "sold out")
    assert ["5"] == select_parts(Selection(prefix="Price:"), "Price: 5")


def test_several_values_in_one_text_are_split() -> None:
    learnt = learn_selection(
        [example("Drama, Comedy, War", "Drama", "Comedy", "War"), example("Drama", "Drama")]
    )
    assert Selection(separator=",") == learnt
    assert ["Action", "Western"] == select_parts(Selection(separator=","), "Action, Western")


def test_different_texts_between_values_cannot_be_split() -> None:
    assert learn_selection([example("Ann, Bob and Cy", "Ann", "Bob", "Cy")]) is None


def test_a_value_that_is_nowhere_the_same_part_is_not_learnt() -> None:
    examples = [example("a bb c", "bb"), example("bb a", "a"), example("x y z w", "x y")]
    assert learn_selection(examples) is None


@pytest.mark.parametrize(
    "selection", [Selection(first=5, last=5), Selection(first=-5), Selection(suffix="end")]
)
def test_a_part_that_is_not_there_is_no_value(selection: Selection) -> None:
    assert [] == select_parts(selection, "two words")


def test_common_beginnings() -> None:
    assert ["ab", "a", ""] == [
        commonprefix(["abc", "abd"]),
        commonprefix(["a", "ab"]),
        commonprefix(["x", "y"]),
    ]
