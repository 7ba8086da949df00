"""Measure how alike the pages of a cluster are: centre, each page's distance, cohesion.

Paper:      None; the likeness is the weighted Jaccard measure of a page's tag paths and a profile.
Notation:   P, a page's tag paths -> a set of hashes; c, the centre -> `Centre`, for each path the
            share of the pages that have it; cohesion, the mean likeness of the pages to their
            centre.
Readings:   A page without paths is alike only to a centre without paths. A centre of one page has
            distance 0 to it.
Departures: A centre keeps its MAX_PATHS commonest paths, so that hostile pages cost no more than
            honest ones.
Cost:       Linear in the paths of the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.path_sets import Hashes

MAX_PATHS = 5_000


class Centre(NamedTuple):
    """What the pages of a cluster have in common."""

    paths: Hashes  # ascending
    shares: NDArray[np.float64]


def centre_of(path_sets: Sequence[Hashes]) -> Centre:
    """Return for each path the share of the pages that have it.

    >>> centre_of([np.array([1, 2], np.uint64), np.array([2], np.uint64)]).shares.tolist()
    [0.5, 1.0]
    """
    paths, counts = np.unique(
        np.concatenate([np.zeros(0, np.uint64), *path_sets]), return_counts=True
    )
    if len(paths) > MAX_PATHS:
        commonest = np.sort(np.argsort(-counts, kind="stable")[:MAX_PATHS])
        paths, counts = paths[commonest], counts[commonest]
    return Centre(paths, counts / max(len(path_sets), 1))


def distance_to(centre: Centre, paths: Hashes) -> float:
    """Return how far a page is from a centre: 0 where both are equal, 1 for nothing shared."""
    if not len(centre.paths):
        return 1.0 if len(paths) else 0.0
    index = np.searchsorted(centre.paths, paths)
    index[index == len(centre.paths)] = 0
    is_shared = centre.paths[index] == paths
    shared = float(centre.shares[index[is_shared]].sum())
    in_either = len(paths) + float(centre.shares.sum()) - shared
    return min(max(1 - shared / in_either, 0.0), 1.0)


def cohesion_of(distances: Sequence[float]) -> float | None:
    """Return the mean likeness of pages to their centre; None where there are no pages."""
    return 1 - sum(distances) / len(distances) if distances else None
