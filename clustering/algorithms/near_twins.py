"""Split a group that holds two types which differ by a few paths or labels only.

Notation:   A twin is the smaller type. A section is a bundle of elements and labels that exactly the same
            pages of a group have; its extent is their number.
Readings:   Two kinds of evidence split. An address of its own that goes with contrasts: labels alone suffice
            only where few addresses are in the group, else they are categories of one type. Without such an
            address, a section that few pages have, that never varies within itself, and that is the only one
            of its kind: a page type adds one block to a template, while parts that come and go as their
            content does come in several kinds and shapes.
Cost:       Linear in the features of the group's pages, but for a comparison of the bundles of rare sections.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clustering.algorithms.kinship import Contrasts
from clustering.algorithms.profiles import numbered
from clustering.algorithms.url_patterns import beginnings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clustering.algorithms.feature_table import FeatureSet, FeatureTable
    from clustering.algorithms.page_features import Hashes

    Pages = NDArray[np.intp]

FEWEST_PAGES, FEWEST_PAGES_SHARE = 8, 0.04  # that a twin has; fewer are exceptions of their type
LARGEST_SHARE = 0.25  # of a group; what more pages have is a section that a page may have
FEWEST_ELEMENTS, SMALLEST_EXTENT = 2, 3  # of a section; less is a detail of one
MOST_VARIATION = (
    0.25  # elements that only some of the pages have, as a share of the section's own: more is prose
)
MOST_CANDIDATES = 50  # of which one is not sought: the group's pages come in many shapes
MOST_ADDRESSES = 3  # among which labels alone tell twins; more addresses are categories of one type
MOST_ELSEWHERE = 0.1  # of the pages, at other addresses than these
FEWEST_CONTRASTS = 2


def split_by_address(table: FeatureTable, patterns: Sequence[str], members: Pages) -> list[Pages]:
    """Split pages at the first level where one of a few addresses goes with paths or labels of its own."""
    levels = [beginnings(patterns[page]) for page in members.tolist()]
    for level in range(max(map(len, levels))):
        addresses = numbered([row[min(level, len(row) - 1)] for row in levels])
        parts = _split_by(table, addresses, members)
        if len(parts) > 1:
            return parts
    return [members]


def _split_by(table: FeatureTable, addresses: Pages, members: Pages) -> list[Pages]:
    counts = np.bincount(addresses)
    is_large = counts >= _fewest(len(members))
    is_few = 1 < is_large.sum() <= MOST_ADDRESSES
    if not is_few or counts[~is_large].sum() > MOST_ELSEWHERE * len(members):
        return [members]
    own = [
        address
        for address in np.flatnonzero(is_large & (counts <= len(members) / 2)).tolist()
        if _n_contrasts(table, members[addresses == address], members[addresses != address])
        >= FEWEST_CONTRASTS
    ]
    parts = [members[~np.isin(addresses, own)], *(members[addresses == address] for address in own)]
    return [part for part in parts if len(part)]


def _n_contrasts(table: FeatureTable, first: Pages, second: Pages) -> int:
    paths, pairs, texts = (
        len(contrasting(features, first, second)) for features in (table.paths, table.pairs, table.texts)
    )
    return paths + max(pairs, texts)


def contrasting(features: FeatureSet, first: Pages, second: Pages) -> Hashes:
    """Return the features that nearly all of some pages and nearly none of others have."""
    pages = np.concatenate([first, second])
    contrasts = Contrasts(features.incidence[pages], np.repeat([0, 1], [len(first), len(second)]))
    is_all, is_none = contrasts.is_all, contrasts.is_none
    return features.hashes[(is_all[:, 0] & is_none[:, 1]) | (is_all[:, 1] & is_none[:, 0])]


def split_by_section(table: FeatureTable, members: Pages) -> list[Pages]:
    """Split off the pages with a rare section that never varies, if it is the only one of its kind."""
    found = find_sections(table, members)
    if len(found) != 1:
        return [members]
    return [np.setdiff1d(members, found[0]), found[0]]


def find_sections(table: FeatureTable, members: Pages) -> list[Pages]:
    """Return the pages of each section that as many pages have as a twin may have."""
    elements = _elements_by_pages(table.paths, table.paths.paths, members)
    labels = _elements_by_pages(table.pairs, table.pairs.hashes, members)
    candidates = [
        (pages, len(found))
        for pages, found in elements.items()
        if _fewest(len(members)) <= len(pages) <= LARGEST_SHARE * len(members)
        and len(found) >= FEWEST_ELEMENTS
        and len(found) + len(labels.get(pages, ())) >= SMALLEST_EXTENT
    ]
    if len(candidates) > MOST_CANDIDATES:
        return []
    return [
        members[sorted(pages)]
        for pages, extent in candidates
        if sum(len(others) for some, others in elements.items() if len(some) > 1 and some < pages)
        <= MOST_VARIATION * extent
    ]


def _elements_by_pages(
    features: FeatureSet, elements: Hashes, members: Pages
) -> dict[frozenset[int], set[int]]:
    """Return the bundles: for each set of pages, the elements that exactly these pages have."""
    incidence = features.incidence[members].tocsc()
    bundles: dict[frozenset[int], set[int]] = {}
    most = LARGEST_SHARE * len(members)
    counts = np.diff(incidence.indptr)
    for column in np.flatnonzero((counts > 0) & (counts <= most)).tolist():
        pages = frozenset(incidence.indices[incidence.indptr[column] : incidence.indptr[column + 1]].tolist())
        bundles.setdefault(pages, set()).add(int(elements[column]))
    return bundles


def _fewest(n_pages: int) -> float:
    return max(FEWEST_PAGES, FEWEST_PAGES_SHARE * n_pages)
