"""Count how often sites change, from how much of their pages is covered day by day.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B, Table III.
Notation:   Coverage, the share of the pages of a day that a cluster's rule serves -> `shares`,
            oldest first; a site change event, a drop by more than a threshold -> `count_changes`.
Readings:   The paper measures against the clusters of the first day. A drop is measured from the
            highest coverage since the last event, so that one change counts once, however long it
            stays.
Departures: None.
Cost:       Linear in the days and thresholds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

THRESHOLDS: Final = (0.1, 0.2, 0.3, 0.4, 0.5)


class ChangeTable(NamedTuple):
    """How many sites changed how often, for each threshold."""

    thresholds: Sequence[float]
    rows: Sequence[tuple[int, Sequence[int]]]  # number of changes, and so many sites by threshold
    totals: Sequence[int]
    n_sites: int


def count_changes(shares: Iterable[float], threshold: float) -> int:
    """Return how often the coverage fell by more than a threshold.

    >>> count_changes([0.9, 0.92, 0.3, 0.31, 0.9, 0.2], 0.5)
    2
    """
    n_changes = 0
    highest = 0.0
    for share in shares:
        if highest - share > threshold:
            n_changes += 1
            highest = share
        highest = max(highest, share)
    return n_changes


def change_table(
    shares_by_site: Mapping[str, Sequence[float]], thresholds: Sequence[float] = THRESHOLDS
) -> ChangeTable:
    """Return Table III over the coverage of some sites."""
    n_sites_by_changes = [
        Counter(count_changes(shares, threshold) for shares in shares_by_site.values())
        for threshold in thresholds
    ]
    most = max((max(counter, default=0) for counter in n_sites_by_changes), default=0)
    return ChangeTable(
        thresholds=thresholds,
        rows=[(n, [counter[n] for counter in n_sites_by_changes]) for n in range(most + 1)],
        totals=[
            sum(n * n_sites for n, n_sites in counter.items()) for counter in n_sites_by_changes
        ],
        n_sites=len(shares_by_site),
    )
