"""What visits that learn are compared with: the best schedule and the least a learner needs."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.stream.best_schedules import best_intervals
from benchmarks.stream.least_learning import least_requests
from benchmarks.stream.simulated_pages import SimulatedPages, make_pages, share_changed
from benchmarks.stream.simulation import FixedVisits, LearntVisits, simulate
from monitoring.algorithms.stream.change_rates import default_shares

GOAL, MAX_LATE = 24.0, 0.05
HOURS = 30 * 24.0
KINDS = ("constant", "poisson", "bursts")


def best_requests(pages: SimulatedPages) -> float:
    return float((HOURS / best_intervals(pages, GOAL, MAX_LATE)).mean())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hours", [6.0, 30.0])
def test_pages_change_as_often_as_is_said(kind: str, hours: float) -> None:
    start, period = 24.0 * 60, 40.0  # when bursts of before are under way as well
    pages = make_pages(np.random.default_rng(5), 8000, (kind,), (period, period), start + hours)
    has_changed = [
        bool(((changes > start) & (changes <= start + hours)).any()) for changes in pages.changes
    ]

    assert np.mean(has_changed[1::2]) == pytest.approx(
        float(share_changed(kind, period, np.array([hours]))[0]), abs=0.025
    )


def test_who_knows_the_only_rate_need_not_learn() -> None:
    alike = SimulatedPages(["poisson"] * 4, np.full(4, 100.0), [])

    assert least_requests(alike, GOAL, MAX_LATE, HOURS) == pytest.approx(
        best_requests(alike), rel=0.05
    )


def test_a_learner_needs_more_than_who_knows_and_no_more_than_visits_that_learn() -> None:
    pages = make_pages(np.random.default_rng(6), 120, KINDS, (18.0, 120.0), HOURS)
    least = least_requests(pages, GOAL, MAX_LATE, HOURS)
    learnt = simulate(pages, LearntVisits(120, GOAL, default_shares()), GOAL, (0, 30))

    assert 1.1 * best_requests(pages) < least < learnt.requests_per_page


def test_the_best_schedule_has_as_many_late_records_as_there_may_be() -> None:
    pages = make_pages(np.random.default_rng(7), 600, ("bursts",), (18.0, 120.0), 2 * HOURS)
    best = FixedVisits(best_intervals(pages, GOAL, MAX_LATE))

    assert simulate(pages, best, GOAL, (30, 60)).late_share == pytest.approx(MAX_LATE, abs=0.01)
