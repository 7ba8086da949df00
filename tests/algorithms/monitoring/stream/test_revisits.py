"""When pages are visited again."""

from __future__ import annotations

import numpy as np
import pytest

from monitoring.algorithms.stream.change_rates import Looks
from monitoring.algorithms.stream.revisits import (
    RevisitPlan,
    hours_to_next_visit,
    late_share,
    plan_revisits,
)

GOAL = 24.0


@pytest.fixture
def looks() -> Looks:
    """Fifty pages that never changed in ninety days, and fifty that did every other day."""
    n_changed = np.array([0.0] * 50 + [30.0] * 50)
    return Looks(n_changed, n_changed * 36, np.array([90 * 24.0] * 50 + [30 * 36.0] * 50))


def late_of(looks: Looks, plan: RevisitPlan) -> float:
    """Return the share of late records if each page seen to change does so once in 52 hours."""
    rates = np.where(looks.n_changed > 0, 1 / 52, 0.0)
    hours = hours_to_next_visit(looks, plan, GOAL)
    pairs = zip(rates, hours, strict=True)
    return float(np.mean([late_share(np.array([rate]), each, GOAL)[0] for rate, each in pairs]))


class TestPaper:
    def test_a_page_visited_once_a_goal_is_never_late(self) -> None:
        assert [0.0, 0.0] == late_share(np.array([1 / 24, 1.0]), GOAL, GOAL).tolist()

    def test_the_formula_is_what_a_poisson_process_does(self) -> None:
        rng = np.random.default_rng(4)
        first_change = rng.exponential(1 / 0.05, 100_000)
        late = np.clip(60 - (first_change + GOAL), 0, None) / 60

        assert late.mean() == pytest.approx(late_share(np.array([0.05]), 60, GOAL)[0], abs=0.005)


def test_no_more_records_are_late_than_may_be(looks: Looks) -> None:
    plan = plan_revisits(looks, goal_hours=GOAL)

    assert plan.late_share <= 0.05
    assert 0.02 < late_of(looks, plan) <= 0.055


def test_still_pages_are_hardly_visited(looks: Looks) -> None:
    hours = hours_to_next_visit(looks, plan_revisits(looks, goal_hours=GOAL), GOAL)

    assert hours[0] >= 8 * GOAL
    assert GOAL <= hours[-1] <= 3 * GOAL


def test_fewer_requests_than_a_visit_of_all_once_a_goal(looks: Looks) -> None:
    assert plan_revisits(looks, goal_hours=GOAL).requests_per_day <= 50


def test_a_budget_is_kept_and_more_records_are_late(looks: Looks) -> None:
    free = plan_revisits(looks, goal_hours=GOAL)
    poor = plan_revisits(looks, goal_hours=GOAL, requests_per_day=15)

    assert poor.requests_per_day <= 15 < free.requests_per_day
    assert poor.late_share > 0.05


def test_a_cluster_without_pages_needs_no_visit() -> None:
    nothing = Looks(np.array([]), np.array([]), np.array([]))

    assert plan_revisits(nothing, goal_hours=GOAL).requests_per_day == 0
    assert hours_to_next_visit(nothing, plan_revisits(nothing, goal_hours=GOAL), GOAL).size == 0
