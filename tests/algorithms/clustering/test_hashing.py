"""Numbers whose bits are spread."""

import numpy as np
import pytest

from clustering.algorithms.hashing import mix


def test_numbers_are_mixed_as_splitmix64_does() -> None:
    # The first output of splitmix64 with seed 0 is the finaliser of its increment.
    assert [0xE220A8397B1DCDAF] == mix(np.array([0x9E3779B97F4A7C15], dtype=np.uint64)).tolist()


def test_different_numbers_stay_different() -> None:
    assert 10_000 == len(np.unique(mix(np.arange(10_000, dtype=np.uint64))))


@pytest.mark.parametrize("bit", [0, 31, 63])
def test_one_bit_changes_about_half_of_all(bit: int) -> None:
    numbers = np.arange(1_000, dtype=np.uint64)
    changed = mix(numbers) ^ mix(numbers ^ np.uint64(1 << bit))

    assert 31 < np.mean([int(number).bit_count() for number in changed]) < 33
