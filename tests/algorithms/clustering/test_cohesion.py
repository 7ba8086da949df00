"""How alike the pages of a cluster are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.algorithms.cohesion import MAX_PATHS, centre_of, cohesion_of, distance_to
from clustering.algorithms.path_sets import Hashes


def paths(*numbers: int) -> Hashes:
    return np.array(sorted(set(numbers)), np.uint64)


def test_equal_pages_lie_in_their_centre() -> None:
    assert 0 == distance_to(centre_of([paths(1, 2), paths(1, 2)]), paths(1, 2))


def test_a_page_with_nothing_in_common_is_as_far_as_can_be() -> None:
    assert 1 == distance_to(centre_of([paths(1, 2)]), paths(3))


def test_the_distance_counts_what_few_pages_have_less() -> None:
    centre = centre_of([paths(1, 2), paths(1, 2), paths(1, 2), paths(1, 3)])

    assert 1 - 1.75 / (2 + 2 - 1.75) == pytest.approx(distance_to(centre, paths(1, 2)))
    assert distance_to(centre, paths(1, 2)) < distance_to(centre, paths(1, 3))


def test_empty_pages_are_alike_and_unlike_all_others() -> None:
    assert 0 == distance_to(centre_of([paths(), paths()]), paths())
    assert 1 == distance_to(centre_of([paths(1)]), paths())
    assert 1 == distance_to(centre_of([paths()]), paths(1))
    assert 1 == distance_to(centre_of([]), paths(1))


def test_a_centre_keeps_the_commonest_paths() -> None:
    centre = centre_of([paths(*range(MAX_PATHS + 5)), paths(MAX_PATHS + 4)])

    assert MAX_PATHS == len(centre.paths)
    assert MAX_PATHS + 4 in centre.paths


def test_cohesion_is_the_mean_likeness() -> None:
    assert 0.75 == cohesion_of([0.0, 0.5])
    assert cohesion_of([]) is None


@given(
    st.lists(st.lists(st.integers(0, 20)), min_size=1, max_size=6),
    st.lists(st.integers(0, 20)),
)
def test_a_distance_is_between_0_and_1(sets: list[list[int]], page: list[int]) -> None:
    assert 0 <= distance_to(centre_of([paths(*values) for values in sets]), paths(*page)) <= 1
