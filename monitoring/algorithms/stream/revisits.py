"""Decide how long each page waits for its next visit, so that few records are stale too long.

Paper:      After Cho and Garcia-Molina, "Effective Page Refresh Policies for Web Crawlers" (ACM
            TODS 28(4), 2003): the best visits follow from one price that all pages share.
Notation:   The goal I, in hours: a record may be stale so long. Visited every T hours, a page that
            changes at the rate r is late, stale for longer than I, for the share of its time
            L(T) = ((T - I) - (1 - exp(-r (T - I))) / r) / T. The price of being late all the time,
            in requests an hour -> `price`.
Departures: The paper maximises freshness under a budget; here the requests are the fewest for
            which at most a share of the records is expected to be late. Rates are not known but
            weighed (`change_rates`), so what a page does not tell is paid for by its cluster.
            Visits before the goal is over would be of no use.
Cost:       Pages times intervals, forty times for the price of a cluster.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitoring.algorithms.stream.change_rates import (
    RATES,
    FloatArray,
    Looks,
    cluster_shares,
    default_shares,
    page_shares,
)

MAX_LATE_SHARE: Final = 0.05
INTERVALS: Final[FloatArray] = 2.0 ** (np.arange(25) / 4)  # between two visits, in goals: up to 64
LOWEST_PRICE, HIGHEST_PRICE = -8.0, 8.0  # powers of ten
N_HALVINGS: Final = 40


class RevisitPlan(NamedTuple):
    """What the pages of a cluster have in common for their next visits."""

    shares: FloatArray  # of the pages at each rate
    price: float  # of being late, in requests an hour
    requests_per_day: float  # expected of all pages
    late_share: float  # expected


def plan_revisits(
    looks: Looks,
    *,
    goal_hours: float,
    requests_per_day: float | None = None,
    prior: FloatArray | None = None,
    max_late_share: float = MAX_LATE_SHARE,
) -> RevisitPlan:
    """Return the plan with the fewest requests at which no more records are expected to be late.

    Where that takes more than `requests_per_day`, the plan keeps to them, and more records are
    late. `prior` is what other clusters say of the shares of the rates.
    """
    shares = cluster_shares(looks, default_shares() if prior is None else prior)
    n_pages = len(looks.n_changed)
    if not n_pages:
        return RevisitPlan(shares, 10.0**LOWEST_PRICE, 0.0, 0.0)
    late = page_shares(looks, shares) @ _late_shares(goal_hours).T
    low, high = LOWEST_PRICE, HIGHEST_PRICE
    for _ in range(N_HALVINGS):
        power = (low + high) / 2
        plan = _plan_at(10.0**power, late, shares, goal_hours)
        is_dear = requests_per_day is not None and plan.requests_per_day > requests_per_day
        if plan.late_share > max_late_share and not is_dear:
            low = power
        else:
            high = power
    enough = _plan_at(10.0**high, late, shares, goal_hours)
    if requests_per_day is not None and enough.requests_per_day > requests_per_day:
        return _plan_at(10.0**low, late, shares, goal_hours)
    return enough


def hours_to_next_visit(looks: Looks, plan: RevisitPlan, goal_hours: float) -> FloatArray:
    """Return how long each page waits for its next visit after its last one."""
    late = page_shares(looks, plan.shares) @ _late_shares(goal_hours).T
    hours: FloatArray = goal_hours * INTERVALS[_cheapest(plan.price, late, goal_hours)]
    return hours


def late_share(rates: FloatArray, interval: float, goal_hours: float) -> FloatArray:
    """Return for which share of its time a page of each rate is late, visited at this interval.

    >>> late_share(np.array([0.0, 1 / 24]), 48, 24).round(3).tolist()
    [0.0, 0.184]
    """
    over = max(interval - goal_hours, 0.0)
    changing = np.maximum(rates, 1e-12)
    shares: FloatArray = (over + np.expm1(-changing * over) / changing) / interval
    return np.where(rates > 0, shares, 0.0)


def _late_shares(goal_hours: float) -> FloatArray:
    """Return the share of being late at each interval, for each rate."""
    return np.array([late_share(RATES, goal_hours * each, goal_hours) for each in INTERVALS])


def _plan_at(price: float, late: FloatArray, shares: FloatArray, goal_hours: float) -> RevisitPlan:
    cheapest = _cheapest(price, late, goal_hours)
    requests_per_day = float((24.0 / (goal_hours * INTERVALS[cheapest])).sum())
    late_of_pages = np.take_along_axis(late, cheapest[:, None], axis=1)
    return RevisitPlan(shares, price, requests_per_day, float(late_of_pages.mean()))


def _cheapest(price: float, late: FloatArray, goal_hours: float) -> NDArray[np.intp]:
    """Return each page's cheapest interval, by its requests and the price of being late."""
    cheapest: NDArray[np.intp] = np.argmin(1.0 / (goal_hours * INTERVALS) + price * late, axis=1)
    return cheapest
