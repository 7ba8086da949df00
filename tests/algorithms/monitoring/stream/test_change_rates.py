"""How often pages change, by what looks at them saw."""

from __future__ import annotations

import math

import numpy as np
import pytest

from monitoring.algorithms.stream.change_rates import (
    RATES,
    Looks,
    change_rate,
    cluster_shares,
    default_shares,
    page_shares,
)


def looks_of(*pages: tuple[int, float, float]) -> Looks:
    return Looks(*(np.array(numbers, dtype=float) for numbers in zip(*pages, strict=True)))


class TestPaper:
    def test_regular_looks_give_the_improved_estimator(self) -> None:
        # Section 4.2: -log((unchanged + 0.5) / (looks + 0.5)) a look; here 6 of 10 daily looks saw
        # a change.
        assert math.log(10.5 / 4.5) / 24 == pytest.approx(change_rate(6, 6 * 24, 4 * 24))

    def test_changes_between_two_looks_are_not_missed(self) -> None:
        counted = 6 / (10 * 24)  # as if each look had seen all changes

        assert counted < change_rate(6, 6 * 24, 4 * 24)

    @pytest.mark.parametrize("period", [12.0, 48.0, 200.0])
    def test_irregular_looks_find_the_rate_of_a_poisson_process(self, period: float) -> None:
        rng = np.random.default_rng(3)
        intervals = rng.uniform(20, 40, 4000)
        changed = rng.uniform(size=4000) < 1 - np.exp(-intervals / period)
        rate = change_rate(
            int(changed.sum()), float(intervals[changed].sum()), float(intervals[~changed].sum())
        )

        assert 1 / period == pytest.approx(rate, rel=0.1)


def test_a_page_that_never_changed_has_no_rate() -> None:
    assert change_rate(0, 0, 500) == 0


def test_a_page_without_looks_changes_like_its_cluster() -> None:
    shares = default_shares()

    assert shares.tolist() == pytest.approx(page_shares(looks_of((0, 0, 0)), shares)[0].tolist())


def test_a_page_with_many_looks_changes_as_it_does() -> None:
    fast_cluster = cluster_shares(looks_of(*[(20, 20 * 24.0, 0.0)] * 50), default_shares())
    still, daily = page_shares(looks_of((0, 0, 40 * 24), (25, 25 * 24, 15 * 24)), fast_cluster)

    assert still @ RATES < 1 / (20 * 24)
    assert 1 / 24 == pytest.approx(daily @ RATES, rel=0.25)


def test_the_shares_of_a_cluster_follow_its_pages() -> None:
    shares = cluster_shares(
        looks_of(*[(0, 0, 60 * 24.0)] * 300, *[(15, 15 * 48.0, 15 * 48.0)] * 300), default_shares()
    )

    assert 0.5 == pytest.approx(shares[0], abs=0.05)
    assert 1.0 == pytest.approx(shares.sum())
