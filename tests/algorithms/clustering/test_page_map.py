"""The map of pages: heaps for clusters, outliers beside them."""

import numpy as np
import pytest

from clustering.algorithms.page_map import place_on_map
from clustering.algorithms.path_sets import Hashes


def paths(*numbers: int) -> Hashes:
    return np.array(sorted(set(numbers)), np.uint64)


def distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    return float(np.hypot(a[0] - b[0], a[1] - b[1]))


TWO_TYPES = [paths(*range(20), 100 + n) for n in range(8)] + [
    paths(*range(40, 60), 200 + n) for n in range(8)
]


def test_pages_of_one_type_lie_together() -> None:
    positions = place_on_map(TWO_TYPES)
    within = max(distance(positions[0], positions[n]) for n in range(8))
    between = min(distance(positions[n], positions[8 + n]) for n in range(8))

    assert within < between / 2


def test_an_outlier_stands_apart() -> None:
    positions = place_on_map([*TWO_TYPES, paths(*range(500, 540))])
    apart = min(distance(positions[-1], position) for position in positions[:-1])

    assert apart > max(distance(positions[0], positions[n]) for n in range(8))


def test_places_are_between_0_and_1() -> None:
    assert all(0 <= x <= 1 and 0 <= y <= 1 for x, y in place_on_map(TWO_TYPES))


def test_the_same_pages_lie_at_the_same_places() -> None:
    assert place_on_map(TWO_TYPES) == place_on_map(list(TWO_TYPES))


def test_many_pages_are_laid_out_as_few_are() -> None:
    many = [paths(*range(20 * (n % 3), 20 * (n % 3) + 20), 1000 + n // 3) for n in range(360)]
    positions = place_on_map(many)

    assert (
        max(distance(positions[0], positions[n]) for n in range(0, 360, 3))
        < distance(positions[0], positions[1]) / 2
    )


@pytest.mark.parametrize("n", [3, 400])
def test_equal_pages_lie_in_the_middle(n: int) -> None:
    assert [(0.5, 0.5)] * n == place_on_map([paths(1, 2)] * n)


def test_pages_without_paths_lie_in_the_middle() -> None:
    assert [(0.5, 0.5)] * 4 == place_on_map([paths()] * 4)


def test_one_or_two_pages_need_no_map() -> None:
    assert [] == place_on_map([])
    assert [(0.5, 0.5)] == place_on_map([paths(1)])
    assert 2 == len(set(place_on_map([paths(1), paths(2)])))


def test_pages_of_which_none_is_like_another() -> None:
    assert 5 == len(place_on_map([paths(n) for n in range(5)]))
