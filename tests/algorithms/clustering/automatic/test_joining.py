"""Joining groups pair by pair, and what people's answers change about it."""

from __future__ import annotations

import random

import numpy as np

from clustering.algorithms.automatic.auto import FirstGroups, find_first_groups
from clustering.algorithms.automatic.join_model import AS_BY_TREES, Likeliest
from clustering.algorithms.automatic.joining import GroupAnswer, Joined, join_groups
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.automatic.pair_features import COLUMNS
from clustering.algorithms.automatic.profiles import Matrix
from clustering.algorithms.grouping import RawPage

DISTANCE = COLUMNS.index("weighed: distance")


class Nearness:
    """A model by which groups are one where their pages have more than a share in common."""

    def __init__(self, bound: float, likeliest: Likeliest = AS_BY_TREES) -> None:
        self.bound = bound
        self.likeliest = likeliest

    def log_odds(self, pairs: Matrix) -> Matrix:
        return self.bound - np.nan_to_num(pairs[:, DISTANCE], nan=1.0)


def start() -> FirstGroups:
    """Return four first groups: two near each other, two far from all."""
    chance, pages = random.Random(2), []
    parts = {"a": "abcdef", "b": "abcxyz", "c": "klm", "d": "nop"}
    for kind, letters in parts.items():
        for number in range(6):
            html = "".join(f"<p class={letter}>{chance.random()}</p>" for letter in letters)
            pages.append((f"http://a.b/{kind * 3}/{number}", html))
    return find_first_groups(
        [url for url, _ in pages], [observe(RawPage(url, html.encode())) for url, html in pages]
    )


def joined(bound: float, answers: list[GroupAnswer] | None = None) -> tuple[Joined, list[int]]:
    begin = start()
    result = join_groups(begin.pairs, Nearness(bound), answers or [])
    return result, result.group[begin.first[::6]].tolist()  # of one page of each kind


def first_groups() -> list[int]:
    groups: list[int] = start().first[::6].tolist()
    return groups


def test_groups_are_joined_as_long_as_the_odds_are_even() -> None:
    _, apart = joined(0.1)
    _, near = joined(0.8)
    _, all_ = joined(1.1)

    assert 4 == len(set(apart))
    assert near[0] == near[1]
    assert 3 == len(set(near))
    assert 1 == len(set(all_))


def test_the_likeliest_of_many_pairs_is_worth_less() -> None:
    as_of_three = Likeliest(1, 3, -1)  # worth what the trees say where three are left
    result = join_groups(start().pairs, Nearness(0.8, as_of_three))

    assert not any(decision.is_joined for decision in result.decisions)
    assert max(decision.log_odds for decision in result.decisions) < 0


def test_an_answer_joins_what_the_model_would_not() -> None:
    a, _, c, _ = first_groups()

    _, group = joined(0.1, [GroupAnswer([a], [c], is_same=True)])

    assert group[0] == group[2]
    assert 3 == len(set(group))


def test_an_answer_keeps_apart_what_the_model_would_join() -> None:
    a, b, _, _ = first_groups()

    _, group = joined(0.8, [GroupAnswer([a], [b], is_same=False)])

    assert group[0] != group[1]


def test_what_is_kept_apart_is_not_joined_by_way_of_a_third() -> None:
    a, b, _, _ = first_groups()

    _, group = joined(1.1, [GroupAnswer([a], [b], is_same=False)])

    assert group[0] != group[1]


def test_an_answer_that_another_forbids_changes_nothing() -> None:
    a, b, _, _ = first_groups()
    answers = [GroupAnswer([a], [b], is_same=False), GroupAnswer([a], [b], is_same=True)]

    _, group = joined(0.1, answers)

    assert group[0] != group[1]


def test_every_join_and_every_pair_left_is_a_decision() -> None:
    result, group = joined(0.8)

    assert 1 == sum(decision.is_joined for decision in result.decisions)
    assert 3 == sum(not decision.is_joined for decision in result.decisions)
    assert 3 == len(set(group))


def test_a_decision_weighs_more_the_more_pages_hang_on_it() -> None:
    (join,) = (decision for decision in joined(0.8)[0].decisions if decision.is_joined)

    assert (6, 6) == (join.n_left, join.n_right)
    assert 0.5 < join.probability < 1
    assert np.isclose((1 - join.probability) * 36, join.weight)
    assert np.isclose(10 * join.weight, join._replace(n_left=60).weight)


def test_what_a_person_decided_is_no_decision_of_the_model() -> None:
    a, b, _, _ = first_groups()

    result, _ = joined(0.8, [GroupAnswer([a], [b], is_same=True)])

    assert not any(decision.is_joined for decision in result.decisions)
