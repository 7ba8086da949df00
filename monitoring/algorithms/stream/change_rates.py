"""Estimate how often pages change from looks at irregular times, which miss changes in between.

Paper:      Cho and Garcia-Molina, "Estimating Frequency of Change" (ACM TOIT 3(3), 2003), sections
            4.2 (the improved estimator for regular looks) and 5.2 (irregular looks).
Notation:   A look says whether a page changed since the look before it. Of a page's looks, X saw a
            change -> `n_changed`; the hours between looks, summed over those that saw one ->
            `hours_changed`, and over the others -> `hours_unchanged`; lambda -> a rate, in changes
            an hour.
Readings:   The equation of section 5.2 has no closed form where each interval differs. The looks
            that saw a change are taken to have been equally long: a page then needs three numbers
            instead of its whole history, and regular looks give the estimator of section 4.2.
Departures: The likelihood is kept over a row of rates, never among them, and weighted by how many
            of the cluster's pages have each (`cluster_shares`, by expectation and maximisation).
            A page with few looks is taken to change like its cluster, one with many as it does.
Cost:       Pages times rates; ten times that for the shares of a cluster.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

SLOWEST_HOURS: Final = 64 * 24.0  # between two changes; what changes less often never does
N_RATES: Final = 13  # each twice the one before: the fastest page changes three times an hour
RATES: Final[FloatArray] = np.concatenate([[0.0], 2.0 ** np.arange(N_RATES) / SLOWEST_HOURS])
NEVER_SHARE: Final = 0.3  # of the pages of a cluster of which nothing is known
PAGES_OF_PRIOR: Final = 20.0  # so many pages of a cluster weigh as much as what was assumed of it
N_ROUNDS: Final = 10


class Looks(NamedTuple):
    """What looks at some pages saw, a number for each page."""

    n_changed: FloatArray
    hours_changed: FloatArray
    hours_unchanged: FloatArray


def change_rate(n_changed: int, hours_changed: float, hours_unchanged: float) -> float:
    """Return the changes an hour of one page by its own looks; 0 where none saw a change.

    A page that changed at each of three daily looks changes more often than once a day:

    >>> round(24 * change_rate(3, 72, 0), 2)
    1.95
    """
    if not n_changed:
        return 0.0
    interval = hours_changed / n_changed
    return math.log1p(hours_changed / (hours_unchanged + 0.5 * interval)) / interval


def default_shares() -> FloatArray:
    """Return the share of a cluster's pages at each rate, where nothing is known of it."""
    shares = np.full(len(RATES), (1.0 - NEVER_SHARE) / N_RATES)
    shares[0] = NEVER_SHARE
    return shares


def page_shares(looks: Looks, shares: FloatArray) -> FloatArray:
    """Return how likely each page has each rate, a row a page, by its looks and cluster shares."""
    n_changed = looks.n_changed[:, None]
    intervals = looks.hours_changed[:, None] / np.maximum(n_changed, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        of_changes = n_changed * np.log(-np.expm1(-RATES * intervals))
    likelihoods = np.where(n_changed > 0, of_changes, 0.0) - RATES * looks.hours_unchanged[:, None]
    weights = likelihoods + np.log(shares)
    weights = np.exp(weights - weights.max(axis=1, keepdims=True))
    normalised: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def cluster_shares(looks: Looks, prior: FloatArray) -> FloatArray:
    """Return the share of a cluster's pages at each rate, near the prior where these are few."""
    shares = prior
    for _ in range(N_ROUNDS):
        seen = page_shares(looks, shares).sum(axis=0)
        shares = (seen + PAGES_OF_PRIOR * prior) / (len(looks.n_changed) + PAGES_OF_PRIOR)
    return shares
