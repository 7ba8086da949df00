"""Decisions that may be wrong, in words; and answers brought back to groups."""

from __future__ import annotations

import numpy as np

from clustering.algorithms.automatic.doubts import describe_doubts, groups_of_answers
from clustering.algorithms.automatic.join_model import trained_model
from clustering.algorithms.automatic.joining import Decision, GroupAnswer
from clustering.algorithms.automatic.pair_features import COLUMNS
from clustering.algorithms.grouping import Doubt, PageAnswer

URLS = ["http://a.b/0", "http://a.b/1", "http://a.b/2", "http://a.b/3", "http://a.b/4"]
FIRST = np.array([0, 0, 1, 1, 2])


def decision(log_odds: float, left: int = 0, right: int = 1, *, is_joined: bool = True) -> Decision:
    columns = np.full(len(COLUMNS), 0.2, np.float32)
    return Decision(np.array([left]), np.array([right]), log_odds, is_joined, 20, 20, columns)


def doubts(*decisions: Decision) -> list[Doubt]:
    return describe_doubts(decisions, trained_model(), FIRST, [10, 11, 12, 13, 14])


def test_the_decision_nearest_to_even_comes_first() -> None:
    probabilities = [each.probability for each in doubts(decision(2), decision(0.1), decision(1))]

    assert 3 == len(probabilities)
    assert probabilities == sorted(probabilities)


def test_what_is_certain_is_no_doubt() -> None:
    assert [] == doubts(decision(3), decision(-3, is_joined=False))
    assert 2 == len(doubts(decision(2.9), decision(-2.9, is_joined=False)))


def test_a_doubt_has_the_pages_as_they_are_known_outside() -> None:
    (doubt,) = doubts(decision(0.5, left=0, right=2))

    assert ([10, 11], [14]) == (doubt.left, doubt.right)


def test_answers_are_about_the_groups_that_hold_their_pages() -> None:
    answers = [PageAnswer(URLS[:3], URLS[3:], is_same=False)]

    assert [GroupAnswer([0], [1, 2], is_same=False)] == groups_of_answers(answers, URLS, FIRST)


def test_an_answer_without_pages_on_one_side_is_left_out() -> None:
    answers = [PageAnswer(["http://a.b/gone"], URLS[:2], is_same=True)]

    assert [] == groups_of_answers(answers, URLS, FIRST)


def test_the_newest_of_two_answers_about_the_same_groups_holds() -> None:
    answers = [
        PageAnswer(URLS[:2], URLS[2:4], is_same=True),
        PageAnswer(URLS[2:4], URLS[:2], is_same=False),
    ]

    assert [False] == [each.is_same for each in groups_of_answers(answers, URLS, FIRST)]
