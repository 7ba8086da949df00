"""Compare groups of pages by their profiles, and join the closest pair, one after the other.

Notation:   p, a profile: the share of a group's pages that have each feature, a column of P; w, the
            features' weights; d = sum w|p - q| / sum w max(p, q), between 0 for equal profiles and
            1 for profiles with nothing in common. With s = sum w min(p, q), both sums follow: |p -
            q| = p + q - 2 min, max = p + q - min. The profile of two joined groups is that of all
            their pages.
Cost:       Quadratic in the groups; each join compares the new profile with all others on its own
            features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Matrix = NDArray[np.float32]

FAR = np.float32(1e9)  # more than any distance


class Join(NamedTuple):
    """Two groups joined; `second` ceases to be."""

    first: int
    second: int
    height: float


def numbered(values: Sequence[object] | NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of each value among the distinct ones in their order.

    >>> numbered(["b", "a", "b"]).tolist()
    [1, 0, 1]
    """
    numbers: NDArray[np.intp] = np.unique(np.asarray(values), return_inverse=True)[1].ravel()
    return numbers


def indicator(values: NDArray[np.intp]) -> sparse.csr_matrix:
    """Return pages by values, 1 where the page has the value."""
    ones = np.ones(len(values), np.float32)
    return sparse.csr_matrix((ones, (np.arange(len(values)), values)))


def counts_of(incidence: sparse.csr_matrix, group: NDArray[np.intp]) -> Matrix:
    """Return the number of each group's pages that have each feature, a group a column."""
    return np.ascontiguousarray((incidence.T @ indicator(group)).toarray(), np.float32)


def shares_of(incidence: sparse.csr_matrix, group: NDArray[np.intp]) -> Matrix:
    """Return the share of each group's pages that have each feature, a group a column."""
    sizes = np.maximum(np.bincount(group), 1).astype(np.float32)
    return np.divide(counts_of(incidence, group), sizes, dtype=np.float32)


def distances_to(p: Matrix, P: Matrix, w: Matrix, masses: Matrix) -> Matrix:
    """Return d of one profile to each of P, whose masses, sum w p, are `masses`."""
    present = np.flatnonzero(p)
    shared = w[present] @ np.minimum(P[present], p[present, np.newaxis])
    in_all = masses + w @ p - shared
    return np.where(in_all > 0, 1 - shared / np.where(in_all > 0, in_all, 1), 0).astype(np.float32)


def all_distances(P: Matrix, w: Matrix) -> Matrix:
    """Return d between all pairs of columns of P."""
    masses = w @ P
    if not np.isin(P, (0, 1)).all():
        return np.stack([distances_to(p, P, w, masses) for p in P.T])
    shared = P.T @ (P * w[:, np.newaxis])
    in_all = masses[:, np.newaxis] + masses[np.newaxis, :] - shared
    return np.where(in_all > 0, 1 - shared / np.where(in_all > 0, in_all, 1), 0).astype(np.float32)


def join_profiles(P: Matrix, w: Matrix, sizes: NDArray[np.intp], stop: float) -> list[Join]:
    """Join the closest pair of columns of P until none is closer than `stop`.

    Ties go to the lowest columns.
    """
    P, n_pages = P.copy(), sizes.astype(np.float32)
    masses = w @ P
    D = all_distances(P, w)
    np.fill_diagonal(D, FAR)
    nearest = D.argmin(axis=1)
    heights = D[np.arange(len(D)), nearest]
    joins: list[Join] = []
    while len(joins) < len(n_pages) - 1:
        a = int(heights.argmin())
        a, b, height = min(a, int(nearest[a])), max(a, int(nearest[a])), float(heights[a])
        if height >= stop:
            break
        joins.append(Join(a, b, height))
        P[:, a] = (P[:, a] * n_pages[a] + P[:, b] * n_pages[b]) / (n_pages[a] + n_pages[b])
        P[:, b] = 0
        n_pages[a] += n_pages[b]
        masses[a] = w @ P[:, a]
        row = distances_to(P[:, a], P, w, masses)
        row[D[a] == FAR] = FAR
        row[b] = FAR
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
    closer = (D[a] < heights) | ((D[a] == heights) & (a < nearest))
    closer[[a, b]] = False
    nearest[closer] = a
    heights[closer] = D[a, closer]


def grouped(n: int, joins: Sequence[Join]) -> NDArray[np.intp]:
    """Return the group of each of n columns after the joins, numbered in order of first columns."""
    group = np.arange(n)
    for join in joins:
        group[group == join.second] = join.first
    return numbered(group)
