"""Tell how far apart two groups of pages may be and still be of one type, and which groups hide two.

Notation:   A contrast is a feature that nearly all pages of one group and nearly none of the other have. Nearly all
            is judged on (k + 1/2) / (n + 1), so that what one or two pages have is never a contrast, what they lack
            may be. The overlap of two groups is the share of their address patterns in common.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from clustering.algorithms.profiles import shares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clustering.algorithms.feature_table import FeatureTable
    from clustering.algorithms.profiles import Matrix

NEARLY_ALL, NEARLY_NONE = 0.85, 0.1
SAME_ADDRESS = 0.3  # overlap from which two groups stand at the same addresses
FEWEST_CONTRASTS = 3  # from which groups at different addresses are of different types; by chance there is none
FEW_CONTRASTS = 0.2  # share of the features that nearly all pages have; below, the same address decides
MOST_LABEL_CONTRASTS = 2  # that count: labels may go with a category of things, paths hardly do
FEWEST_KNOWN, FEW_MISSING = 3, 0.5  # of fewer pages only what they lack counts, and more of it
FEW_PAGES = 5  # of which too little is known to hold against them that they look different
MOST_LOOKS = 2  # of one type at one address; where more look different, the address is that of several types
NEARLY_ALL_PAGES = 0.95  # of a site; if so many have one address, it tells nothing
COMMON_ADDRESS = 0.3  # of the site's pages; an address that so many have tells no types apart

APART, NORMAL, UNTOLD, SAME = 0.3, 0.62, 0.66, 0.85  # bounds of d: see Bounds
SHARED_LABELS, FEWEST_SHARED = 0.45, 1.5  # from which two looks at the same addresses are of one type


class Bounds:
    """How far apart two groups may be: less at different addresses, more at the same."""

    def __init__(self, table: FeatureTable, patterns: NDArray[np.intp], group: NDArray[np.intp]) -> None:
        self.sizes = np.bincount(group).astype(np.float32)
        self.paths = _counts(table.paths, group)
        self.labels = _counts(table.labels_of_pages, group)
        self.pairs = _counts(table.pairs, group)
        self.addresses = _counts(indicator(patterns), group)
        self.is_mixed = self.mixed_addresses(patterns, group)
        self.is_rare_address = np.bincount(patterns) <= COMMON_ADDRESS * len(patterns)

    def mixed_addresses(self, patterns: NDArray[np.intp], group: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Say which addresses several groups share that differ clearly: they tell nothing of the type."""
        is_mixed = np.bincount(patterns) > NEARLY_ALL_PAGES * len(patterns)
        for pattern in range(len(is_mixed)):
            cells = np.unique(group[patterns == pattern])
            cells = cells[self.sizes[cells] >= FEWEST_KNOWN]
            if len(cells) > MOST_LOOKS:
                largest = int(np.argmax(self.sizes[cells]))
                contrasts, core = contrasts_with(self.paths[:, cells], self.sizes[cells], largest)
                is_mixed[pattern] |= (contrasts >= FEW_CONTRASTS * np.maximum(core, 1)).sum() >= MOST_LOOKS
        return is_mixed

    def of(self, a: int) -> Matrix:
        """Return the bound of one group with each."""
        contrasts, core = contrasts_with(self.paths, self.sizes, a)
        label_contrasts = np.maximum(
            contrasts_with(self.labels, self.sizes, a)[0], contrasts_with(self.pairs, self.sizes, a)[0]
        )
        is_other = overlap_with(self.addresses, self.sizes, a) < SAME_ADDRESS
        is_same = overlap_with(self.addresses[~self.is_mixed], self.sizes, a) >= SAME_ADDRESS
        is_known = np.minimum(self.sizes, self.sizes[a]) >= FEWEST_KNOWN
        is_half_known = ~is_known & (np.maximum(self.sizes, self.sizes[a]) >= FEWEST_KNOWN)
        is_alike = contrasts < np.where(is_known, FEW_CONTRASTS, FEW_MISSING) * np.maximum(core, 1)
        is_alike &= is_known | is_half_known
        is_small = np.maximum(self.sizes, self.sizes[a]) <= FEW_PAGES
        is_alike |= is_small & (self.is_rare_address @ np.minimum(self.addresses, self.addresses[:, [a]]) > 0)
        bounds = np.where(is_other | is_same, NORMAL, UNTOLD).astype(np.float32)
        n_contrasts = contrasts + np.minimum(label_contrasts, MOST_LABEL_CONTRASTS)
        bounds[is_other & (n_contrasts >= FEWEST_CONTRASTS)] = APART
        bounds[is_same & is_alike] = SAME
        return bounds

    def join(self, a: int, b: int) -> None:
        """Take note that `b` is now part of `a`."""
        for counts in (self.sizes, self.paths.T, self.labels.T, self.pairs.T, self.addresses.T):
            counts[a] += counts[b]
            counts[b] = 0


def indicator(values: NDArray[np.intp]) -> sparse.csr_matrix:
    """Return pages by values, 1 where the page has the value."""
    ones = np.ones(len(values), np.float32)
    return sparse.csr_matrix((ones, (np.arange(len(values)), values)))


def contrasts_with(counts: Matrix, sizes: Matrix, a: int) -> tuple[Matrix, Matrix]:
    """Return the number of contrasts of one group with each, and of what nearly all of one of them have."""
    is_all = (counts + 0.5) / (sizes + 1) >= NEARLY_ALL
    is_none = counts / np.maximum(sizes, 1) <= NEARLY_NONE
    contrasts = (is_all[:, [a]] & is_none) | (is_all & is_none[:, [a]])
    return contrasts.sum(axis=0), (is_all | is_all[:, [a]]).sum(axis=0)


def overlap_with(counts: Matrix, sizes: Matrix, a: int) -> Matrix:
    """Return what share of one group and of each other is in common."""
    shares = counts / np.maximum(sizes, 1)
    overlap: Matrix = np.minimum(shares, shares[:, a, np.newaxis]).sum(axis=0)
    return overlap


def _counts(incidence: sparse.csr_matrix, group: NDArray[np.intp]) -> Matrix:
    return shares_of(incidence, group) * np.bincount(group).astype(np.float32)


def join_looks(
    table: FeatureTable, patterns: NDArray[np.intp], group: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Join groups that stand at the same addresses and show the same labels, however different they look."""
    labels = shares_of(table.labels_of_pages, group)
    weights = 1 - np.asarray(table.labels_of_pages.mean(axis=0), np.float32).ravel()
    addresses = shares_of(indicator(patterns), group)
    joined = np.arange(labels.shape[1])
    for a in range(labels.shape[1]):
        shared = weights @ np.minimum(labels, labels[:, a, np.newaxis])
        in_all = weights @ np.maximum(labels, labels[:, a, np.newaxis])
        is_one = (shared >= FEWEST_SHARED) & (shared >= SHARED_LABELS * in_all)
        is_one &= np.minimum(addresses, addresses[:, a, np.newaxis]).sum(axis=0) >= SAME_ADDRESS
        for b in np.flatnonzero(is_one[:a]).tolist():
            joined[joined == joined[a]] = joined[b]
    return joined[group]
