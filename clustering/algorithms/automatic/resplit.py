"""Group the pages of one cluster again, more strictly, until they fall into at least two parts.

Paper:      None; the measures are those of `auto`, weighed on the cluster's own pages only.
Notation:   The bound is the profile distance up to which two groups are one. A part is large where
            it has at least so many pages and such a share as is asked for.
Readings:   The steps of `split_pages`, in their order; the first that makes parts decides:
            1. Join the closest profiles up to LOOSEST and take the bound back by STEP, down to
               APART, until two parts have MIN_PAGES_APART pages and a share of SMALL: what differs
               by more are types.
            2. Look for near-twins.
            3. Take the bound further back, down to STRICTEST, until two parts have MIN_PAGES pages
               and a share of LARGE, then of SMALL.
            Pages in no part that is large enough go to the part whose profile is the nearest. Pages
            that are alike within STRICTEST stay together: they cannot be told apart by their looks.
Cost:       Quadratic in the distinct pages, as `auto`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureTable, tabulate
from clustering.algorithms.automatic.near_twins import split_twins
from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.automatic.profile_model import model_of
from clustering.algorithms.automatic.profiles import (
    Join,
    distances_to,
    grouped,
    join_profiles,
    numbered,
    shares_of,
)
from clustering.algorithms.grouping import Grouping, TooManyPages, grouping_of
from clustering.algorithms.url_patterns import address_patterns

Pages = NDArray[np.intp]

MAX_PAGES = 5_000  # distances between all pairs of 5,000 pages take 100 MB and a minute
LOOSEST, STRICTEST, STEP = 0.9, 0.1, 0.9
APART = 0.6
MIN_PAGES, MIN_PAGES_APART = 2, 5  # pages of a part
LARGE, SMALL = 0.05, 0.01


def split_pages(urls: Sequence[str], observations: Sequence[PageFeatures]) -> Grouping:
    """Split the pages of a cluster, the largest part first; one group if they are too much alike.

    Raises TooManyPages.
    """
    if len(urls) > MAX_PAGES:
        raise TooManyPages(f"{len(urls):,} pages; at most {MAX_PAGES:,} are grouped again")
    # So that no result depends on the pages' order; equal addresses by what stands there.
    order = sorted(
        range(len(urls)), key=lambda page: (urls[page], observations[page].features.tobytes())
    )
    if len(order) < 2 * MIN_PAGES:
        return _whole(len(order), f"{len(order)} pages are too few to be told apart.")
    table = tabulate([observations[page] for page in order])
    patterns = address_patterns([urls[page] for page in order])
    group, why = find_parts(table, patterns)
    if not group.any():
        return _whole(len(order), f"Its pages differ by less than {STRICTEST:.0%}.")
    names = _names(group)
    name_by_page = {page: names[number] for page, number in zip(order, group.tolist(), strict=True)}
    return grouping_of(
        [name_by_page[page] for page in range(len(urls))],
        why=why,
        model=model_of(table, group, group, patterns, names),
    )


def find_parts(table: FeatureTable, patterns: Sequence[str]) -> tuple[Pages, str]:
    """Return the part of each page, all 0 if too much alike, and how they were told apart."""
    joins = Joins(table)
    group, bound = joins.split(SMALL, APART, MIN_PAGES_APART)
    if not group.any():
        whole = np.zeros(len(patterns), np.intp)
        twins = split_twins(table, patterns, whole, np.arange(len(patterns)))
        if len(twins) > 1:
            for number, twin in enumerate(twins):
                group[twin] = number
            return group, "Split by an address, a section or labels that only some pages have."
        group, bound = joins.split(LARGE, STRICTEST)
    if not group.any():
        group, bound = joins.split(SMALL, STRICTEST)
    return group, f"Split where the pages of a part differ by less than {bound:.0%}."


class Joins:
    """The joins of a cluster's pages, which are cut at one bound or another."""

    def __init__(self, table: FeatureTable) -> None:
        self.table = table
        # Pages with the same features need no join: they are one row, with their number.
        dense = table.weighed.incidence.toarray()
        distinct, rows, sizes = np.unique(dense, axis=0, return_inverse=True, return_counts=True)
        weights = table.weighed.weights.astype(np.float32)
        self.joins = join_profiles(np.ascontiguousarray(distinct.T), weights, sizes, LOOSEST)
        self.n_distinct = len(sizes)
        self.row_by_page = rows.ravel()

    def split(self, share: float, strictest: float, fewest: int = MIN_PAGES) -> tuple[Pages, float]:
        """Return each page's part under the loosest bound with two large parts, and that bound.

        All pages are in part 0 where no bound does.
        """
        bound = LOOSEST
        while bound >= strictest:
            group = grouped(self.n_distinct, _below(self.joins, bound))[self.row_by_page]
            is_large = np.bincount(group) >= max(fewest, share * len(group))
            if is_large.sum() > 1:
                return attach_small(self.table, group, np.flatnonzero(is_large)), bound
            bound *= STEP
        return np.zeros(len(self.row_by_page), np.intp), strictest


def _below(joins: Sequence[Join], bound: float) -> Sequence[Join]:
    """Return the joins before the first that is not closer than the bound."""
    return next((joins[:place] for place, join in enumerate(joins) if join.height >= bound), joins)


def attach_small(table: FeatureTable, group: Pages, large: Pages) -> Pages:
    """Move the pages of small parts to the large part with the nearest profile."""
    P, w = shares_of(table.weighed.incidence, group), table.weighed.weights.astype(np.float32)
    masses = w @ P[:, large]
    nearest = [int(large[distances_to(p, P[:, large], w, masses).argmin()]) for p in P.T]
    is_large = np.isin(np.arange(len(nearest)), large)
    target = np.where(is_large, np.arange(len(nearest)), nearest)
    return numbered(target[group])


def _names(group: Pages) -> list[str]:
    return [f"part{number:03}" for number in range(int(group.max()) + 1)]


def _whole(n_pages: int, why: str) -> Grouping:
    return grouping_of(["whole"] * n_pages, why=why)
