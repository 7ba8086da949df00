"""How few requests could do where only visits tell which pages change, and how often.

Notation:   A learner is told which share of a cluster's pages changes in which way and how often,
            but not which pages these are. It is told that of a page with the first visit that sees
            a change, and visits the page as the best schedule does from then on. What it chooses
            is when to visit the pages that did not change yet: all at the same times, as nothing
            tells them apart.
Readings:   None; what a learner is not told it has to learn, so none needs fewer requests.
Departures: For a price of being late, the cheapest visits follow from the last hour back to the
            first one. What they cost, less the price of as many late records as there may be, is
            at most what visits with so few late records take (Lagrange's bound); the greatest over
            all prices counts.
Cost:       Prices times the square of the times at which a page may be visited: a second.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks.stream.best_schedules import late_shares, possible_intervals
from benchmarks.stream.simulated_pages import SimulatedPages, share_changed
from monitoring.algorithms.stream.change_rates import FloatArray

STEP_HOURS: Final = 3  # between two times at which a page may be visited; the goal is some of them
PRICES: Final[FloatArray] = 10.0 ** np.linspace(-3, 1, 41)  # of an hour of being late, in requests


def least_requests(
    pages: SimulatedPages, goal_hours: float, max_late_share: float, hours: float
) -> float:
    """Return how many requests a page any learner needs at least, over so many hours."""
    times = np.arange(0.0, hours + STEP_HOURS, STEP_HOURS)
    unchanged = np.array(
        [
            1.0 - share_changed(kind, period, times)
            for kind, period in zip(pages.kinds, pages.periods, strict=True)
        ]
    )
    intervals, late = possible_intervals(goal_hours), late_shares(pages, goal_hours)
    bounds = []
    for price in PRICES:
        cost_when_known = (1.0 / intervals + price * late).min(axis=1)
        cost = _least_cost(price, unchanged, cost_when_known, times, int(goal_hours // STEP_HOURS))
        bounds.append(cost - price * max_late_share * hours)
    return float(max(bounds))


def _least_cost(
    price: float, unchanged: FloatArray, cost_when_known: FloatArray, times: FloatArray, goal: int
) -> float:
    """Return what visits and being late cost a page at least.

    `unchanged` is how likely each page has not changed until each of the times, `goal` a
    number of steps.
    """
    share = unchanged.mean(axis=0)  # of the pages, that no visit saw change
    hours_unchanged = np.append(0.0, np.cumsum((share[1:] + share[:-1]) / 2 * STEP_HOURS))
    known_cost = (unchanged * cost_when_known[:, None]).mean(axis=0)  # an hour, if they were known
    last = len(times) - 1
    cost_from = np.zeros(len(times))
    for now in range(last, -1, -1):
        visits = np.arange(now + goal, last + 1)
        # Late is what changed since the last visit, once the goal is over; the last entry: no
        # further visit.
        late_from = np.maximum(np.append(visits, last) - goal, now)
        late = share[now] * (times[late_from] - times[now])
        late -= hours_unchanged[late_from] - hours_unchanged[now]
        found_out = (known_cost[now] - known_cost[visits]) * (times[last] - times[visits])
        after = np.append(share[now] + found_out + cost_from[visits], 0.0)
        cost_from[now] = (price * late + after).min()
    return float(cost_from[0])
