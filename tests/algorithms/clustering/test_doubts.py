"""Names of doubts, and which answers hold together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.doubts import answers_that_hold, name_doubt, split_reasons
from clustering.algorithms.grouping import PageAnswer


def same(left: str, right: str) -> PageAnswer:
    return PageAnswer(list(left), list(right), is_same=True)


def different(left: str, right: str) -> PageAnswer:
    return PageAnswer(list(left), list(right), is_same=False)


class TestNames:
    def test_two_sets_have_one_name_in_any_order(self) -> None:
        assert name_doubt("ab", "cd") == name_doubt("dc", "ba")

    def test_other_sets_have_other_names(self) -> None:
        names = {name_doubt("ab", "cd"), name_doubt("abc", "d"), name_doubt("a", "bcd")}
        assert 3 == len(names)

    def test_it_fits_its_column(self) -> None:
        assert 16 == len(name_doubt(["https://shop.example/"] * 3_000, ["é" * 500]))


def test_reasons_are_told_apart_by_their_first_word() -> None:
    reasons = split_reasons(["for: the same fields.", "Against:  other addresses.", "few pages."])

    assert ["The same fields."] == reasons.reasons_for
    assert ["Other addresses."] == reasons.reasons_against
    assert ["Few pages."] == reasons.other_reasons


@pytest.mark.parametrize(
    ("answers", "holding"),
    [
        ([], []),
        ([same("a", "b"), different("c", "d")], [0, 1]),
        ([same("a", "b"), different("a", "b")], [1]),
        ([different("a", "b"), same("b", "a")], [1]),
        # The pages overlap, though the sets are others.
        ([same("abc", "de"), different("bx", "ey")], [1]),
        # By way of other pages.
        ([same("a", "b"), same("b", "c"), different("a", "c")], [1, 2]),
        ([different("a", "c"), same("a", "b"), same("b", "c")], [1, 2]),
        # The newest of all brings back what the one in the middle overruled.
        ([same("a", "b"), different("a", "b"), same("a", "b")], [0, 2]),
        ([different("a", "b"), different("b", "c"), same("a", "c")], [0, 1, 2]),
    ],
)
def test_where_answers_contradict_the_newer_one_holds(
    answers: list[PageAnswer], holding: list[int]
) -> None:
    assert holding == answers_that_hold(answers)


ANSWERS = st.lists(
    st.tuples(
        st.lists(st.sampled_from("abcdef"), min_size=1, max_size=2, unique=True),
        st.lists(st.sampled_from("ghijkl"), min_size=1, max_size=2, unique=True),
        st.booleans(),
    ).map(lambda parts: PageAnswer(*parts)),
    max_size=8,
)


@given(ANSWERS)
def test_answers_that_hold_can_all_be_true(answers: list[PageAnswer]) -> None:
    holding = [answers[index] for index in answers_that_hold(answers)]
    group_of = {letter: {letter} for letter in "abcdefghijkl"}
    for answer in holding:
        if answer.is_same:
            merged = set().union(*(group_of[page] for page in (*answer.left, *answer.right)))
            group_of |= dict.fromkeys(merged, merged)

    for answer in holding:
        if not answer.is_same:
            assert all(
                group_of[left] is not group_of[right]
                for left in answer.left
                for right in answer.right
            )
    assert not answers or answers[-1] in holding
