"""Pages that change in stated ways, at times drawn from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from monitoring.algorithms.stream.change_rates import FloatArray

NEVER: Final = "never"
N_OF_BURST: Final = 5
BURST_HOURS: Final = 12.0


class SimulatedPages(NamedTuple):
    """Pages with the hours at which they change, in order."""

    kinds: list[str]
    periods: FloatArray  # hours between two changes on average; of no use where there is none
    changes: list[FloatArray]


def make_pages(
    rng: np.random.Generator,
    n_pages: int,
    kinds: Sequence[str],
    periods: tuple[float, float],
    hours: float,
) -> SimulatedPages:
    """Return pages of which half never change, the others in each of some ways alike."""
    kind_of_page = [
        NEVER if place % 2 == 0 else kinds[place // 2 % len(kinds)] for place in range(n_pages)
    ]
    shortest, longest = periods
    period_of_page = np.exp(rng.uniform(np.log(shortest), np.log(longest), n_pages))
    changes = [
        _changes(rng, kind, period, hours)
        for kind, period in zip(kind_of_page, period_of_page, strict=True)
    ]
    return SimulatedPages(kind_of_page, period_of_page, changes)


def share_changed(kind: str, period: float, hours: FloatArray) -> FloatArray:
    """Return how likely a page has changed within so many hours of any moment."""
    if kind == NEVER:
        return np.zeros_like(hours)
    if kind == "constant":
        return np.minimum(hours / period, 1.0)
    if kind == "poisson":
        return 1.0 - np.exp(-hours / period)
    # A burst may have begun before, with changes still to come.
    later_share = (N_OF_BURST - 1) / N_OF_BURST
    left = 1.0 - np.minimum(hours / BURST_HOURS, 1.0)
    under_way = BURST_HOURS * later_share * (1.0 - left**N_OF_BURST)
    return 1.0 - np.exp(-(hours + under_way) / (period * N_OF_BURST))


def _changes(rng: np.random.Generator, kind: str, period: float, hours: float) -> FloatArray:
    if kind == NEVER:
        return np.array([])
    if kind == "constant":
        return np.arange(rng.uniform(0, period), hours, period)
    if kind == "poisson":
        return np.sort(rng.uniform(0, hours, rng.poisson(hours / period)))
    starts = rng.uniform(0, hours, rng.poisson(hours / (period * N_OF_BURST)))
    later = rng.uniform(0, BURST_HOURS, (len(starts), N_OF_BURST - 1))
    bursts = np.concatenate([starts[:, None], starts[:, None] + later], axis=1)
    return np.sort(bursts.ravel())
