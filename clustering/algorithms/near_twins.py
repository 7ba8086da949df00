"""Split a group that holds two types which differ by a few paths and labels only.

Notation:   A bundle is a set of features that exactly the same pages of a group have; its extent is the number of
            different elements and labels in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clustering.algorithms.kinship import contrasts_with
from clustering.algorithms.profiles import shares_of

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    from clustering.algorithms.feature_table import FeatureTable
    from clustering.algorithms.page_features import Hashes

FEWEST_PAGES, FEWEST_PAGES_SHARE = 8, 0.04  # that a twin has; fewer are exceptions of their type
LARGEST_SHARE = 0.25  # of a group; what more pages have is a section that a page may have
FEWEST_ELEMENTS, SMALLEST_EXTENT = 2, 3  # of a section; less is a detail of one
MOST_VARIATION = 0.25  # elements that only some pages with the section have, as a share of its own: more is prose
MOST_ADDRESSES = 3  # among which labels alone tell twins; more addresses are categories of one type
FEWEST_CONTRASTS = 2


def split_by_address(
    table: FeatureTable, patterns: NDArray[np.intp], members: NDArray[np.intp]
) -> list[NDArray[np.intp]]:
    """Split pages where one of a few address patterns goes with paths or labels of its own."""
    least = _fewest(len(members))
    values, counts = np.unique(patterns[members], return_counts=True)
    if not 2 <= (counts >= least).sum() <= MOST_ADDRESSES or counts[counts < least].sum() > len(members) / 10:  # noqa: PLR2004  # a split needs two
        return [members]
    parts = []
    rest = members
    for value in values[(counts >= least) & (counts <= len(members) / 2)].tolist():
        is_of = patterns[members] == value
        if _n_contrasts(table, members[is_of], members[~is_of]) >= FEWEST_CONTRASTS:
            parts.append(members[is_of])
            rest = rest[patterns[rest] != value]
    return [part for part in (rest, *parts) if len(part)]


def _n_contrasts(table: FeatureTable, first: NDArray[np.intp], second: NDArray[np.intp]) -> int:
    group = np.repeat([0, 1], [len(first), len(second)])
    pages = np.concatenate([first, second])
    sizes = np.array([len(first), len(second)], np.float32)
    paths, pairs, labels = (
        int(contrasts_with(shares_of(matrix[pages], group) * sizes, sizes, 0)[0][1])
        for matrix in (table.paths, table.pairs, table.labels_of_pages)
    )
    return paths + max(pairs, labels)


def split_by_section(table: FeatureTable, members: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Split off the pages with a rare section that never varies, if it is the only one of its kind."""
    found = find_sections(table, members)
    if len(found) != 1:
        return [members]
    return [np.setdiff1d(members, found[0]), found[0]]


def find_sections(table: FeatureTable, members: NDArray[np.intp]) -> list[NDArray[np.intp]]:
    """Return the pages of each section that as many pages have as a twin may have."""
    elements = pages_by_elements(table.paths[members], table.element_of_path)
    labels = pages_by_elements(table.pairs[members], table.element_of_pair)
    sections = []
    for pages, found in sorted(elements.items(), key=lambda bundle: sorted(bundle[0])):
        extent = len(found) + len(labels.get(pages, ()))
        if not _fewest(len(members)) <= len(pages) <= LARGEST_SHARE * len(members):
            continue
        if len(found) < FEWEST_ELEMENTS or extent < SMALLEST_EXTENT:
            continue
        n_within = sum(len(others) for some, others in elements.items() if some < pages and len(some) > 1)
        if n_within <= MOST_VARIATION * len(found):
            sections.append(members[sorted(pages)])
    return sections


def pages_by_elements(incidence: sparse.csr_matrix, elements: Hashes) -> dict[frozenset[int], set[int]]:
    """Return the bundles: for each set of pages, the elements that exactly these pages have."""
    columns = incidence.tocsc()
    bundles: dict[frozenset[int], set[int]] = {}
    for column in np.flatnonzero(np.diff(columns.indptr)).tolist():
        pages = frozenset(columns.indices[columns.indptr[column] : columns.indptr[column + 1]].tolist())
        bundles.setdefault(pages, set()).add(int(elements[column]))
    return bundles


def _fewest(n_pages: int) -> float:
    return max(FEWEST_PAGES, FEWEST_PAGES_SHARE * n_pages)
