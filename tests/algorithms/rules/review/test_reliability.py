"""Values are put together by how sure the rule was of them."""

from __future__ import annotations

import pytest

from rules.algorithms.review.reliability import ReliabilityBin, ValueJudgement, reliability_of


def values(confidence: float, n_right: int, n_wrong: int) -> list[ValueJudgement]:
    return [
        *[ValueJudgement(confidence, is_right=True)] * n_right,
        *[ValueJudgement(confidence, is_right=False)] * n_wrong,
    ]


def test_each_value_is_in_one_bin() -> None:
    bins = reliability_of([*values(0.5, 1, 3), *values(0.98, 4, 0), *values(1.0, 6, 0)])

    assert [(0.0, 0.6, 4, 0.25), (0.98, 1.0, 10, 1.0)] == [
        (of.low, of.high, of.n, of.right) for of in bins
    ]
    assert pytest.approx(0.992) == bins[1].confidence


def test_without_values_there_is_no_bin() -> None:
    assert [] == reliability_of([])


def test_the_interval_holds_the_share_and_narrows() -> None:
    few, many = (ReliabilityBin(0.9, 0.95, n, 0.92, 0.9) for n in (10, 1000))

    assert few.interval[0] < many.interval[0] < 0.9 < many.interval[1] < few.interval[1] < 1.0


def test_the_interval_of_right_values_ends_at_one() -> None:
    assert 1.0 == ReliabilityBin(0.98, 1.0, 5, 0.99, 1.0).interval[1]
