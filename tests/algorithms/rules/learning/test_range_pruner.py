import pytest

from rules.algorithms.learning.range_pruner import (
    CutExample,
    commonprefix,
    find_word,
    learn_offsets,
    learn_selection,
    select_parts,
)
from rules.algorithms.rule.rule import Selection


def example(text: str, *values: str) -> CutExample:
    return CutExample(text, values)


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

    def test_of_offsets_that_do_not_hold_everywhere_the_more_consistent_ones_count(self) -> None:
        examples = [example("by Ann", "Ann"), example("of Bob", "Bob"), example("Cy of York", "Cy")]
        assert Selection(first=-1, last=-1) == learn_offsets(examples)


def test_the_whole_text_needs_no_selection() -> None:
    assert Selection() == learn_selection([example("Ann", "Ann"), example("Bob", "Bob")])


def test_a_text_before_the_value_beats_an_offset() -> None:
    learnt = learn_selection(
        [example("Price: $25.99", "$25.99"), example("Our Price: $3 each", "$3 each")]
    )
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


class TestWitnesses:
    """The same nodes of pages that nobody annotated tell what is stable beside a value."""

    def test_one_example_is_enough_to_find_the_stable_text(self) -> None:
        jobs = ["Baker at Rye Ltd", "Nurse at Elm Ltd", "Old clerk at Oak Ltd"]
        learnt = learn_selection([example("Anchor at Fir Ltd", "Fir Ltd")], witnesses=jobs)
        assert Selection(prefix=" at ") == learnt
        assert ["Oak Ltd"] == select_parts(learnt, jobs[2])

    def test_a_word_is_not_found_within_another(self) -> None:
        texts = ["Sold by Tom Lindt in Rye", "Sold by Bo Finn in Elm", "Sold by Al Berlin in Ash"]
        learnt = learn_selection([example("Sold by Ann Lee in Oak", "Ann Lee")], witnesses=texts)
        assert learnt is not None
        assert [["Tom Lindt"], ["Bo Finn"], ["Al Berlin"]] == [
            select_parts(learnt, text) for text in texts
        ]

    def test_what_follows_on_some_pages_only_does_not_end_the_value(self) -> None:
        texts = [
            "Prep 7 min · Serves 4",
            "Prep 9 min · Cook 8 min · Serves 1",
            "Prep 2 min · Serves 3",
        ]
        learnt = learn_selection(
            [example("Prep 5 min · Cook 20 min · Serves 2", "5 min")],
            is_optional=True,
            witnesses=texts,
        )
        assert learnt is not None
        assert [["7 min"], ["9 min"], ["2 min"]] == [select_parts(learnt, text) for text in texts]

    def test_an_old_price_that_most_pages_lack_is_cut(self) -> None:
        texts = ["Price: 9 EUR", "Price: 3 EUR", "Price: 8 EUR (was 12 EUR)", "Price: 7 EUR"]
        learnt = learn_selection([example("Price: 12 EUR (was 15 EUR)", "12 EUR")], witnesses=texts)
        assert learnt is not None
        assert [["9 EUR"], ["3 EUR"], ["8 EUR"], ["7 EUR"]] == [
            select_parts(learnt, text) for text in texts
        ]

    def test_a_list_that_shows_one_value_is_divided_as_other_pages_divide_it(self) -> None:
        texts = ["lift, garden", "cellar", "garage, lift, garden", "balcony, cellar"]
        assert Selection(separator=",") == learn_selection(
            [example("balcony", "balcony")], is_multi=True, witnesses=texts
        )
        hours = ["Mon, Wed 9:00 - 12:00", "Tue, Sat 8:00 - 11:00", "Mon, Fri 7:00 - 9:00"]
        learnt = learn_selection(
            [example("Sun 9:00 - 11:00", "Sun 9:00 - 11:00")], is_multi=True, witnesses=hours
        )
        assert Selection() == learnt


def test_a_value_that_stands_twice_is_tried_at_each_place() -> None:
    learnt = learn_selection([example("1 of 1 pages", "1"), example("3 of 12 pages", "12")])
    assert learnt is not None
    assert ["40"] == select_parts(learnt, "7 of 40 pages")


def test_a_value_is_looked_for_between_words_first() -> None:
    assert [7, 0, -1] == [find_word("14 for 4", "4"), find_word("14", "1"), find_word("14", "5")]
