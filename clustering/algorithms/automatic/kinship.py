"""Decide how far apart two groups of pages may be and still be of one type.

Notation:   A contrast is a feature that nearly all pages of one group and nearly none of the other
            have. Nearly all is judged on (k + 1/2) / (n + 1), so that what one or two pages have is
            never a contrast, what they lack may be. The core of two groups is what nearly all pages
            of one of them have. The overlap of two groups is the share of their address patterns
            that they have in common.
Cost:       A comparison of one group with all others reads the features that it has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustering.algorithms.automatic.feature_table import FeatureTable
from clustering.algorithms.automatic.profiles import Matrix, counts_of, indicator

NEARLY_ALL, NEARLY_NONE = 0.85, 0.1
FEWEST_KNOWN = 3  # pages of which it can be said what nearly all have

SAME_ADDRESS = 0.3  # overlap from which two groups stand at the same addresses
# From which groups at other addresses are of other types; by chance there is none.
FEWEST_CONTRASTS = 3
# Contrasting, from which groups of which the address tells nothing are of other types.
FEWEST_FIELDS = 2
MOST_LABEL_CONTRASTS = 2  # that count: labels may go with a category of things, paths hardly do
FEW_CONTRASTS = 0.2  # of the core, below which the same address makes one type
FEW_MISSING = 0.5  # of the core, where one of the groups has too few pages to have a core
SMALLEST_CORE = 10  # of which it can be said that a page or two lack little
FEW_PAGES = 5  # of which too little is known to hold against them that they look different
# Looks that differ from the commonest at one address; where more do, it is the address of several
# types.
MOST_LOOKS = 2
NEARLY_ALL_PAGES = 0.95  # of a site; where so many have one address, it tells nothing
# Of a site's pages; what so many have does not excuse that a few look different.
COMMON_ADDRESS = 0.3

# Bounds of d. In the middle of the range where groups of one type and groups of several types meet;
# lower for groups at other addresses that differ clearly, higher for groups at the same address
# that do not.
APART, OTHER, UNTOLD, SAME = 0.30, 0.55, 0.65, 0.85
# Weight of the labels from which two looks at the same addresses are of one type, as a share of
# those of both and of those of the one with less, and at least.
SHARED_LABELS, SHARED_OF_SMALLER, FEWEST_SHARED = 0.45, 0.75, 1.5


class Contrasts:
    """What nearly all and nearly no pages of each group have, kept up to date while groups join."""

    def __init__(self, incidence: sparse.csr_matrix, group: NDArray[np.intp]) -> None:
        self.sizes = np.bincount(group).astype(np.float32)
        self.counts = counts_of(incidence, group)
        self.is_all = (self.counts + 0.5) / (self.sizes + 1) >= NEARLY_ALL
        self.is_none = self.counts <= NEARLY_NONE * self.sizes
        self.n_all = self.is_all.sum(axis=0)

    def of(self, a: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the number of contrasts of one group with each, and the size of their core."""
        core, present = np.flatnonzero(self.is_all[:, a]), np.flatnonzero(~self.is_none[:, a])
        lacking = self.n_all - self.is_all[present].sum(axis=0)
        in_core = self.n_all + len(core) - self.is_all[core].sum(axis=0)
        return self.is_none[core].sum(axis=0) + lacking, in_core

    def join(self, a: int, b: int) -> None:
        """Record that `b` is now part of `a`."""
        self.sizes[a] += self.sizes[b]
        self.counts[:, a] += self.counts[:, b]
        self.is_all[:, a] = (self.counts[:, a] + 0.5) / (self.sizes[a] + 1) >= NEARLY_ALL
        self.is_none[:, a] = self.counts[:, a] <= NEARLY_NONE * self.sizes[a]
        self.n_all[a] = self.is_all[:, a].sum()
        self.sizes[b] = self.n_all[b] = 0
        self.counts[:, b], self.is_all[:, b], self.is_none[:, b] = 0, False, True


class Where(NamedTuple):
    """Where pages stand: their address patterns, and with them the places that they are linked from."""

    addresses: NDArray[np.intp]
    places: NDArray[np.intp]
    # Places of pages of which neither address nor links tell anything.
    untold: frozenset[int] = frozenset()


class KinshipBounds:
    """How far apart two groups may be: less at other addresses, more at the same."""

    def __init__(self, table: FeatureTable, where: Where, group: NDArray[np.intp]) -> None:
        self.paths, self.pairs, self.texts = (
            Contrasts(features.incidence, group)
            for features in (table.paths, table.pairs, table.texts)
        )
        self.fields = Contrasts(table.fields.incidence, group)
        self.sizes = self.paths.sizes
        is_telling = ~mixed_addresses(table, where.places, group)
        is_telling[sorted(where.untold)] = False
        self.addresses = counts_of(indicator(where.addresses), group)
        self.places = counts_of(indicator(where.places), group)[is_telling]
        self.is_rare_place = np.bincount(where.places)[is_telling] <= COMMON_ADDRESS * len(group)

    def of(self, a: int) -> Matrix:
        """Return the bound of one group with each."""
        contrasts, core = self.paths.of(a)
        label_contrasts = np.maximum(self.pairs.of(a)[0], self.texts.of(a)[0])
        in_all = contrasts + np.minimum(label_contrasts, MOST_LABEL_CONTRASTS)
        is_other = overlap_with(self.addresses, self.sizes, a) < SAME_ADDRESS
        is_same = overlap_with(self.places, self.sizes, a) >= SAME_ADDRESS
        bounds = np.where(is_other | is_same, OTHER, UNTOLD).astype(np.float32)
        bounds[is_other & (in_all >= FEWEST_CONTRASTS)] = APART
        is_known = np.minimum(self.sizes, self.sizes[a]) >= FEWEST_KNOWN
        bounds[~is_other & ~is_same & is_known & (self.fields.of(a)[0] >= FEWEST_FIELDS)] = APART
        bounds[is_same & self.is_alike(a, contrasts, core)] = SAME
        bounds[~is_other & self.is_stray(a, contrasts, core)] = SAME
        return bounds

    def is_alike(
        self, a: int, contrasts: NDArray[np.intp], core: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return which groups do not look too different from one to be of its type."""
        smaller, larger = (
            np.minimum(self.sizes, self.sizes[a]),
            np.maximum(self.sizes, self.sizes[a]),
        )
        most = np.where(smaller >= FEWEST_KNOWN, FEW_CONTRASTS, FEW_MISSING) * np.maximum(core, 1)
        is_in_rare_place = self.is_rare_place @ np.minimum(self.places, self.places[:, [a]]) > 0
        is_alike: NDArray[np.bool_] = (larger >= FEWEST_KNOWN) & (contrasts < most)
        is_alike |= (larger <= FEW_PAGES) & is_in_rare_place
        return is_alike

    def is_stray(
        self, a: int, contrasts: NDArray[np.intp], core: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return which groups are a page or two that lack little of one's core."""
        smaller, larger = (
            np.minimum(self.sizes, self.sizes[a]),
            np.maximum(self.sizes, self.sizes[a]),
        )
        is_stray: NDArray[np.bool_] = (smaller < FEWEST_KNOWN) & (larger >= FEWEST_KNOWN)
        return is_stray & (core >= SMALLEST_CORE) & (contrasts < FEW_CONTRASTS * core)

    def join(self, a: int, b: int) -> None:
        """Record that `b` is now part of `a`."""
        for contrasts in (self.paths, self.pairs, self.texts, self.fields):
            contrasts.join(a, b)
        for counts in (self.addresses, self.places):
            counts[:, a] += counts[:, b]
            counts[:, b] = 0


def overlap_with(counts: Matrix, sizes: Matrix, a: int) -> Matrix:
    """Return what share of one group and of each other is in common."""
    present = np.flatnonzero(counts[:, a])
    shares = counts[present] / np.maximum(sizes, 1)
    overlap: Matrix = np.minimum(shares, shares[:, [a]]).sum(axis=0)
    return overlap


def mixed_addresses(
    table: FeatureTable, addresses: NDArray[np.intp], group: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return which addresses are of several groups that differ clearly: they tell no type."""
    contrasts = Contrasts(table.paths.incidence, group)
    is_mixed: NDArray[np.bool_] = np.bincount(addresses) > NEARLY_ALL_PAGES * len(addresses)
    for address in range(len(is_mixed)):
        groups = np.unique(group[addresses == address])
        groups = groups[contrasts.sizes[groups] >= FEWEST_KNOWN]
        if len(groups) > MOST_LOOKS:
            n_contrasts, core = contrasts.of(int(groups[contrasts.sizes[groups].argmax()]))
            differs = n_contrasts[groups] >= FEW_CONTRASTS * np.maximum(core[groups], 1)
            is_mixed[address] |= differs.sum() >= MOST_LOOKS
    return is_mixed


def join_looks(table: FeatureTable, where: Where, group: NDArray[np.intp]) -> NDArray[np.intp]:
    """Join groups that stand at the same addresses and show the same labels, however different they look."""
    labels = counts_of(table.texts.incidence, group)
    addresses, sizes = (
        counts_of(indicator(where.addresses), group),
        np.bincount(group).astype(np.float32),
    )
    known = np.flatnonzero(sizes >= FEWEST_KNOWN)
    joined = np.arange(len(sizes))
    for a in known.tolist():
        overlap = overlap_with(addresses, sizes, a)
        for b in known[(known < a) & (overlap[known] >= SAME_ADDRESS)].tolist():
            if has_same_labels(labels, sizes, a, b):
                joined[joined == joined[a]] = joined[b]
    return joined[group]


def has_same_labels(labels: Matrix, sizes: Matrix, a: int, b: int) -> bool:
    """Return whether two groups show the same labels, of which rare ones weigh more."""
    rows = np.flatnonzero(labels[:, a] + labels[:, b])
    p, q = labels[rows, a], labels[rows, b]
    elsewhere = labels[rows].sum(axis=1) - p - q
    w = 1 - elsewhere / max(float(sizes.sum() - sizes[a] - sizes[b]), 1.0)
    p, q = p / sizes[a], q / sizes[b]
    shared, in_all = float(w @ np.minimum(p, q)), float(w @ np.maximum(p, q))
    in_smaller = min(float(w @ p), float(w @ q))
    return shared >= max(FEWEST_SHARED, SHARED_LABELS * in_all, SHARED_OF_SMALLER * in_smaller)
