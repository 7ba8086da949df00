"""Visit simulated pages hour by hour, and measure how many records are late."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.stream.simulated_pages import SimulatedPages
from monitoring.algorithms.stream.change_rates import FloatArray, Looks
from monitoring.algorithms.stream.revisits import RevisitPlan, hours_to_next_visit, plan_revisits

PLAN_HOURS: Final = 6  # after which the plan of the cluster is made anew
Places = NDArray[np.intp]


class Visits(Protocol):
    """What decides when pages are visited."""

    def first(self) -> FloatArray: ...

    def after(self, places: Places, hours: FloatArray, changed: NDArray[np.bool_]) -> FloatArray:
        """Return how long pages wait after a visit, by the last wait and what the visit brought."""
        ...


class Result(NamedTuple):
    """What visits came to over some days."""

    requests_per_page: float
    late_share: float
    worst_day: float


class FixedVisits:
    """Each page after the same time, again and again."""

    def __init__(self, intervals: FloatArray) -> None:
        self.intervals = intervals

    def first(self) -> FloatArray:
        return self.intervals.copy()

    def after(self, places: Places, _hours: FloatArray, _changed: NDArray[np.bool_]) -> FloatArray:
        return self.intervals[places]


class LearntVisits:
    """The visits of the product, by what they saw."""

    def __init__(self, n_pages: int, goal_hours: float, prior: FloatArray) -> None:
        self.goal_hours = goal_hours
        self.prior = prior
        self.looks = Looks(np.zeros(n_pages), np.zeros(n_pages), np.zeros(n_pages))
        self.n_rounds = 0
        self.plan = self._plan()

    def first(self) -> FloatArray:
        return hours_to_next_visit(self.looks, self.plan, self.goal_hours)

    def after(self, places: Places, hours: FloatArray, changed: NDArray[np.bool_]) -> FloatArray:
        self.looks.n_changed[places] += changed
        self.looks.hours_changed[places] += hours * changed
        self.looks.hours_unchanged[places] += hours * ~changed
        self.n_rounds += 1
        if self.n_rounds % PLAN_HOURS == 0:
            self.plan = self._plan()
        of_places = Looks(*(numbers[places] for numbers in self.looks))
        return hours_to_next_visit(of_places, self.plan, self.goal_hours)

    def _plan(self) -> RevisitPlan:
        return plan_revisits(self.looks, goal_hours=self.goal_hours, prior=self.prior)


def simulate(
    pages: SimulatedPages, visits: Visits, goal_hours: float, days: tuple[int, int]
) -> Result:
    """Return the result of visits over the given days; they begin on the first day in any case."""
    n_pages = len(pages.changes)
    visited_at = np.zeros(n_pages)
    next_at = visits.first()
    stale_from = np.array([_next_change(changes, 0.0) for changes in pages.changes])
    n_requests = 0
    late_by_hour = []
    for hour in range(1, 24 * days[1] + 1):
        is_counted = hour > 24 * days[0]
        due = np.flatnonzero(next_at <= hour)
        if len(due):
            changed = stale_from[due] <= hour
            next_at[due] = hour + visits.after(due, hour - visited_at[due], changed)
            visited_at[due] = hour
            for place in due[changed]:
                stale_from[place] = _next_change(pages.changes[place], hour)
            n_requests += len(due) * is_counted
        if is_counted:
            late_by_hour.append(np.mean(stale_from < hour - goal_hours))
    late_by_day = np.array(late_by_hour).reshape(-1, 24).mean(axis=1)
    return Result(n_requests / n_pages, float(late_by_day.mean()), float(late_by_day.max()))


def _next_change(changes: FloatArray, hour: float) -> float:
    place = np.searchsorted(changes, hour, side="right")
    return float(changes[place]) if place < len(changes) else np.inf
