"""The distance of profiles, and joining the closest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from clustering.algorithms.automatic.profiles import (
    FAR,
    Join,
    all_distances,
    distances_to,
    grouped,
    join_profiles,
    numbered,
    shares_of,
)

F32 = np.float32
Matrix = NDArray[np.float32]


def matrix(*rows: list[float]) -> Matrix:
    return np.array(rows, F32)


def by_definition(p: Matrix, q: Matrix, w: Matrix) -> float:
    whole = float((w * np.maximum(p, q)).sum())
    return float((w * np.abs(p - q)).sum()) / whole if whole else 0.0


class TestDistance:
    def test_worked_by_hand(self) -> None:
        # |p - q| = 0, 1, 0.5 and max = 1, 1, 1 under the weights 2, 1, 4.
        P, w = matrix([1, 1], [1, 0], [1, 0.5]), np.array([2, 1, 4], F32)

        assert all_distances(P, w)[0, 1] == pytest.approx(3 / 7)

    def test_equal_profiles_are_at_0_and_strange_ones_at_1(self) -> None:
        P, w = matrix([1, 1, 0], [0, 0, 1]), np.ones(2, F32)

        assert all_distances(P, w)[0].tolist() == [0, 0, 1]

    def test_pages_without_features_are_alike(self) -> None:
        assert all_distances(np.zeros((3, 2), F32), np.ones(3, F32))[0, 1] == 0

    @given(st.integers(0, 10_000), st.booleans())
    def test_is_the_definition(self, seed: int, are_shares: bool) -> None:  # drawn by hypothesis  # noqa: FBT001 - a test's own builder
        chance = np.random.default_rng(seed)
        P = (
            chance.random((7, 5)).astype(F32)
            if are_shares
            else chance.integers(0, 2, (7, 5)).astype(F32)
        )
        w = chance.random(7).astype(F32)
        expected = [[by_definition(p, q, w) for q in P.T] for p in P.T]

        assert np.allclose(expected, all_distances(P, w), atol=1e-5)
        assert np.allclose(expected[2], distances_to(P[:, 2], P, w, w @ P), atol=1e-5)


def join_by_definition(P: Matrix, w: Matrix, sizes: list[int], stop: float) -> list[set[int]]:
    """Join the closest pair of profiles, each made anew from the pages of its group."""
    groups = [{column} for column in range(P.shape[1])]

    def profile(group: set[int]) -> Matrix:
        columns = sorted(group)
        shares: Matrix = np.average(P[:, columns], axis=1, weights=[sizes[c] for c in columns])
        return shares

    while len(groups) > 1:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        distance = {
            (a, b): by_definition(profile(groups[a]), profile(groups[b]), w) for a, b in pairs
        }
        a, b = min(pairs, key=lambda pair: (round(distance[pair], 5), pair))
        if distance[a, b] >= stop:
            break
        groups[a] |= groups.pop(b)
    return groups


class TestJoining:
    @given(st.integers(0, 10_000))
    def test_is_the_plain_procedure(self, seed: int) -> None:
        chance = np.random.default_rng(seed)
        P, w = chance.integers(0, 2, (12, 9)).astype(F32), chance.random(12).astype(F32)
        sizes = chance.integers(1, 5, 9)
        group = grouped(9, join_profiles(P, w, sizes, 0.6))
        expected = join_by_definition(P, w, sizes.tolist(), 0.6)

        assert {frozenset(expectation) for expectation in expected} == {
            frozenset(np.flatnonzero(group == number).tolist()) for number in set(group.tolist())
        }

    def test_the_profile_of_two_groups_is_that_of_all_their_pages(self) -> None:
        # Three pages with the feature and one without: the share is 3/4, and the third column
        # has it.
        P, w = matrix([1, 0, 1], [1, 1, 0]), np.array([1, 10], F32)
        joins = join_profiles(P, w, np.array([3, 1, 1]), 2.0)

        assert joins[0][:2] == (0, 1)
        assert joins[0].height == pytest.approx(1 / 11)
        assert joins[1].height == pytest.approx((10 + 0.25) / 11)

    def test_nothing_is_joined_from_stop_on(self) -> None:
        assert join_profiles(matrix([1, 0], [0, 1]), np.ones(2, F32), np.array([1, 1]), 1.0) == []

    def test_no_distance_is_as_far_as_far(self) -> None:
        assert FAR > 1


def test_groups_are_numbered_by_their_first_columns() -> None:
    assert grouped(4, [Join(1, 3, 0.1)]).tolist() == [0, 1, 2, 1]
    assert numbered(["b", "a", "b"]).tolist() == [1, 0, 1]


def test_shares_are_of_the_pages_of_a_group() -> None:
    incidence = sparse.csr_matrix(matrix([1, 0], [1, 1], [0, 1]))

    assert shares_of(incidence, np.array([0, 0, 1])).tolist() == [[1, 0], [0.5, 1]]
