"""Place pages on a map, so that clusters are heaps and outliers stand beside them.

Paper:      None; classical scaling, which is the singular value decomposition of centred rows, on
            path sets.
Notation:   A, the incidence of pages and paths, each path weighed by its rarity, each row of length
            1; B, the centred products of its rows.
Readings:   A path that one page alone has makes it like none, so it weighs nothing. Both axes have
            one scale, that of the longer one. A page without paths lies where nothing is in common
            with any other. The sign of an axis is chosen so that the page farthest from the middle
            lies at its upper end.
Departures: At most MAX_PAGES pages, which the caller chooses: their products are a square.
Cost:       Quadratic in the pages; half a second for 1,500.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from clustering.algorithms.path_sets import Hashes

MAX_PAGES = 1_500
N_AXES = 2
N_DIGITS = 4
MIN_EXTENT = 1e-9  # an axis shorter than this is one point
MAX_PAGES_EXACT = 300  # all axes of so many pages are quick to find


def place_on_map(path_sets: Sequence[Hashes]) -> list[tuple[float, float]]:
    """Return x and y of each page, from 0 to 1; pages that are all alike lie in the middle.

    So few pages that they have not enough axes stand in a row, in their order.
    """
    n = len(path_sets)
    if n < N_AXES + 1:
        return [((index + 1) / (n + 1), 0.5) for index in range(n)]
    A = _weighed(path_sets)
    B = (A @ A.T).toarray()
    # Classical scaling: of the centred products the longest axes show the distances best.
    B -= B.mean(axis=0)[np.newaxis, :]
    B -= B.mean(axis=1)[:, np.newaxis]
    is_one_point = np.abs(B).max() <= MIN_EXTENT
    axes = np.zeros((n, N_AXES)) if is_one_point else _longest_axes(B)
    extent = float(np.ptp(axes, axis=0).max())
    x, y = (_scaled(axes[:, axis], extent) for axis in range(N_AXES))
    return list(zip(x, y, strict=True))


def _longest_axes(B: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the pages' positions on the two longest axes."""
    n = len(B)
    start = np.cos(np.arange(n, dtype=np.float64))  # any vector, always the same
    try:
        if n > MAX_PAGES_EXACT:
            values, vectors = eigsh(B, N_AXES, v0=start)
        else:
            values, vectors = eigh(B, subset_by_index=[n - N_AXES, n - 1])
    except ArpackNoConvergence:
        values, vectors = eigh(B, subset_by_index=[n - N_AXES, n - 1])
    longest_first = np.argsort(-values, kind="stable")
    lengths = np.sqrt(np.maximum(values[longest_first], 0))
    axes: NDArray[np.float64] = vectors[:, longest_first] * lengths
    return axes


def _weighed(path_sets: Sequence[Hashes]) -> csr_array:
    """Return a row of length 1 for each page; what all pages have, or one alone, weighs nothing."""
    paths, columns = np.unique(
        np.concatenate([np.zeros(0, np.uint64), *path_sets]), return_inverse=True
    )
    sizes = [len(paths) for paths in path_sets]
    n_pages_by_path = np.bincount(columns, minlength=len(paths))
    rarity = np.log(len(path_sets) / np.maximum(n_pages_by_path, 1))
    weights = np.where(n_pages_by_path > 1, rarity, 0)[columns]
    rows = np.repeat(np.arange(len(path_sets)), sizes)
    lengths = np.sqrt(np.bincount(rows, weights=weights**2, minlength=len(path_sets)))
    weights = weights / np.where(lengths > 0, lengths, 1)[rows]
    ends = np.cumsum([0, *sizes])
    return csr_array((weights, columns, ends), shape=(len(path_sets), max(len(paths), 1)))


def _scaled(axis: NDArray[np.float64], extent: float) -> list[float]:
    """Return positions on an axis from 0 to 1, the farthest from the middle at the upper end."""
    if extent < MIN_EXTENT:
        return [0.5] * len(axis)
    if -axis.min() > axis.max():
        axis = -axis
    positions = (axis - (axis.min() + axis.max()) / 2) / extent + 0.5
    return [round(float(position), N_DIGITS) for position in np.clip(positions, 0, 1)]
