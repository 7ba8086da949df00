"""The best schedule of those that know how each page changes and how often, but not when."""

from __future__ import annotations

from typing import Final

import numpy as np

from benchmarks.stream.simulated_pages import NEVER, SimulatedPages, share_changed
from monitoring.algorithms.stream.change_rates import FloatArray

LONGEST: Final = 64  # goals between two visits
FAR_OFF: Final = 1e9  # hours
N_STEPS: Final = 200  # of the integral over an interval
N_HALVINGS: Final = 50


def best_intervals(pages: SimulatedPages, goal_hours: float, max_late_share: float) -> FloatArray:
    """Return each page's hours between visits: the fewest requests for a share of late records."""
    intervals = possible_intervals(goal_hours)
    late = late_shares(pages, goal_hours)
    low, high = -8.0, 8.0
    for _ in range(N_HALVINGS):
        power = (low + high) / 2
        cheapest = np.argmin(1.0 / intervals + 10.0**power * late, axis=1)
        if np.take_along_axis(late, cheapest[:, None], axis=1).mean() > max_late_share:
            low = power
        else:
            high = power
    best: FloatArray = intervals[np.argmin(1.0 / intervals + 10.0**high * late, axis=1)]
    return best


def possible_intervals(goal_hours: float) -> FloatArray:
    """Return the hours between visits that a schedule chooses from; the last means no visit."""
    return np.append(goal_hours * LONGEST ** np.linspace(0, 1, 61), FAR_OFF)


def late_shares(pages: SimulatedPages, goal_hours: float) -> FloatArray:
    """Return the share of its time that a page is late: a row a page, a column an interval."""
    visited = possible_intervals(goal_hours)[:-1]
    rows = [
        [*(_late(kind, period, each, goal_hours) for each in visited), float(kind != NEVER)]
        for kind, period in zip(pages.kinds, pages.periods, strict=True)
    ]
    return np.array(rows)


def _late(kind: str, period: float, interval: float, goal_hours: float) -> float:
    """Return for which share of its time a page that is visited so often is late."""
    hours = np.linspace(0.0, max(interval - goal_hours, 0.0), N_STEPS)
    return float(np.trapezoid(share_changed(kind, period, hours), hours) / interval)
