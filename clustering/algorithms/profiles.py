"""Join the closest profiles, one pair after the other.

Notation:   p, a profile: the share of a group's pages that have each feature; w, the features' weights;
            d = sum w|p - q| / sum w max(p, q), between 0 for equal profiles and 1 for profiles with nothing in
            common. The profile of two joined groups is that of all their pages.
Cost:       Quadratic in the distinct pages; each join compares the new profile with all others on its own features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

FAR = np.float32(1e9)  # more than any distance


class Bounds(Protocol):
    """How far apart two groups may be and still be one."""

    def of(self, a: int) -> Matrix:
        """Return the bound of one group with each."""

    def join(self, a: int, b: int) -> None:
        """Take note that `b` is now part of `a`."""


class Join(NamedTuple):
    """Two groups joined; `second` ceases to be."""

    first: int
    second: int
    height: float


def shares_of(incidence: sparse.csr_matrix, group: NDArray[np.intp]) -> Matrix:
    """Return the share of each group's pages that have each feature, a group a column."""
    ones = np.ones(len(group), np.float32)
    members = sparse.csr_matrix((ones, (group, np.arange(len(group)))))
    counts = (members @ incidence).toarray()
    return np.ascontiguousarray((counts / np.bincount(group)[:, np.newaxis]).T, np.float32)


def distances_to(p: Matrix, P: Matrix, w: Matrix, masses: Matrix) -> Matrix:
    """Return d of one profile to each of P, one a column, whose masses are `masses`."""
    present = np.flatnonzero(p)
    shared = w[present] @ np.minimum(P[present], p[present, np.newaxis])
    return _distances(shared, masses, float(w @ p))


def _distances(shared: Matrix, masses: Matrix, mass: float) -> Matrix:
    """Return sum w|p-q| / sum w max(p,q) from what is shared: |p-q| = p + q - 2 min, max = p + q - min."""
    both = masses + np.float32(mass) - shared
    return np.where(both > 0, 1 - shared / np.where(both > 0, both, 1), 0).astype(np.float32)


def all_distances(P: Matrix, w: Matrix) -> Matrix:
    """Return d between all pairs of columns of P."""
    shared = _shared(P, w)
    masses = w @ P
    both = masses[:, np.newaxis] + masses[np.newaxis, :] - shared
    return np.where(both > 0, 1 - shared / np.where(both > 0, both, 1), 0).astype(np.float32)


def _shared(P: Matrix, w: Matrix) -> Matrix:
    if np.isin(P, (0, 1)).all():
        return P.T @ (P * w[:, np.newaxis])
    return np.stack([w @ np.minimum(P, column[:, np.newaxis]) for column in P.T])


def join_profiles(
    P: Matrix,
    w: Matrix,
    sizes: NDArray[np.float64],
    stop: float = 1.0,
    bounds: Bounds | None = None,
) -> list[Join]:
    """Join the closest pair of columns of P until none is closer than `stop`; ties go to the lowest columns.

    With bounds, distances are told in shares of the bound that each pair has.
    """
    P, sizes = P.copy(), sizes.astype(np.float64)
    masses = w @ P
    D = all_distances(P, w)
    if bounds is not None:
        for column in range(len(D)):
            D[column] /= bounds.of(column)
    np.fill_diagonal(D, FAR)
    nearest = D.argmin(axis=1)
    heights = D[np.arange(len(D)), nearest]
    joins: list[Join] = []
    while len(joins) < len(sizes) - 1:
        a = int(heights.argmin())
        b = int(nearest[a])
        height = float(heights[a])
        if height >= stop:
            break
        a, b = min(a, b), max(a, b)
        joins.append(Join(a, b, height))
        P[:, a] = (P[:, a] * sizes[a] + P[:, b] * sizes[b]) / (sizes[a] + sizes[b])
        P[:, b] = 0
        sizes[a] += sizes[b]
        masses[a] = w @ P[:, a]
        is_gone = D[a] == FAR
        row = distances_to(P[:, a], P, w, masses)
        if bounds is not None:
            bounds.join(a, b)
            row /= bounds.of(a)
        row[is_gone] = FAR
        row[[a, b]] = FAR
        D[b, :] = D[:, b] = FAR
        D[a, :] = D[:, a] = row
        _renew_nearest(D, nearest, heights, a, b)
    return joins


def _renew_nearest(D: Matrix, nearest: NDArray[np.intp], heights: Matrix, a: int, b: int) -> None:
    """Find the nearest of each column again where a join changed it."""
    heights[b] = FAR
    lost = np.flatnonzero(((nearest == a) | (nearest == b)) & (heights < FAR))
    for column in {*lost.tolist(), a}:
        nearest[column] = D[column].argmin()
        heights[column] = D[column, nearest[column]]
    closer = D[a] < heights
    closer |= (D[a] == heights) & (a < nearest)
    closer[b] = closer[a] = False
    nearest[closer] = a
    heights[closer] = D[a, closer]
