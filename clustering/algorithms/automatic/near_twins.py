"""Split a group that holds two types which differ by a few paths or labels only.

Notation:   A twin is the smaller type; a bundle are elements and labels that exactly the same pages
            of a group have, a section a bundle with elements or labels at places of its own; its
            extent is their number.
Readings:   Two kinds of evidence split. An address of its own that goes with contrasts: labels
            alone suffice only where few addresses are in the group, else they are categories of one
            type. Without such an address, a section that goes with labels among the facts that
            nearly all pages show, for what is merely optional changes nothing elsewhere; or one
            that few pages have and that never varies within itself. Either must be the only one of
            its kind: parts that come and go as the content does come in several kinds and shapes.
Cost:       Linear in the features of the group's pages, but for a comparison of the bundles of rare
            sections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.exclusive_fields import split_by_fields
from clustering.algorithms.automatic.feature_table import FeatureSet, FeatureTable
from clustering.algorithms.automatic.page_features import Hashes
from clustering.algorithms.automatic.pair_features import CORE_SHARE, STRANGE_SHARE
from clustering.algorithms.automatic.profiles import numbered
from clustering.algorithms.url_patterns import beginnings

Pages = NDArray[np.intp]

FEWEST_PAGES, FEWEST_PAGES_SHARE = 8, 0.04  # that a twin has; fewer are exceptions of their type
LARGEST_SHARE = 0.25  # of a group; what more pages have is a section that a page may have
FEWEST_ELEMENTS, SMALLEST_EXTENT = 2, 3  # of a section; less is a detail of one
# Elements on some of the pages only, as a share of the section's own; more is prose.
MOST_VARIATION = 0.25
MOST_CANDIDATES = 50  # of which one is not sought: the group's pages come in many shapes
FEWEST_FACTS, EXTENT_WITH_FACTS, LARGEST_SHARE_WITH_FACTS = 2, 4, 0.5
COMMON_PLACE = 0.9  # of a group's pages have it
MOST_ADDRESSES = 3  # among which labels alone tell twins; more addresses are categories of one type
MOST_ELSEWHERE = 0.1  # of the pages, at other addresses than these
FEWEST_CONTRASTS = 2


class FieldBundle(NamedTuple):
    """What exactly the same pages have, as hashes."""

    elements: set[int]
    labels: set[int]  # at places of their own
    facts: set[int]  # labels at places that nearly all pages of the group have


def split_twins(
    table: FeatureTable, patterns: Sequence[str], looks: Pages, members: Pages
) -> list[Pages]:
    """Split pages into near-twins: by an address, a section, or fields that exclude each other."""
    twins = []
    for part in split_by_address(table, patterns, members):
        for kind in split_by_section(table, looks, part):
            twins += split_by_fields(table, kind)
    return twins


def split_by_address(table: FeatureTable, patterns: Sequence[str], members: Pages) -> list[Pages]:
    """Split pages at the first level where one of few addresses has paths or labels of its own."""
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
        len(contrasting(features, first, second))
        for features in (table.paths, table.pairs, table.texts)
    )
    return paths + max(pairs, texts)


def contrasting(features: FeatureSet, first: Pages, second: Pages) -> Hashes:
    """Return the features that nearly all of some pages and nearly none of others have."""
    is_own = own_features(features, first, second) | own_features(features, second, first)
    return features.hashes[is_own]


def own_features(features: FeatureSet, own: Pages, others: Pages) -> NDArray[np.bool_]:
    """Return which features nearly all of some pages and nearly none of the others have.

    What one or two pages have is never enough to be nearly all.
    """
    n_own = np.asarray(features.incidence[own].sum(axis=0)).ravel()
    n_others = np.asarray(features.incidence[others].sum(axis=0)).ravel()
    is_all = (n_own + 0.5) / (len(own) + 1) >= CORE_SHARE
    is_own: NDArray[np.bool_] = is_all & (n_others <= STRANGE_SHARE * len(others))
    return is_own


def split_by_section(table: FeatureTable, looks: Pages, members: Pages) -> list[Pages]:
    """Split off the pages with a section that makes a type, if there is one and one only.

    Where it is in one of several looks, its labels tell the pages of the others that have it too.
    """
    parts = [members[looks[members] == look] for look in np.unique(looks[members]).tolist()]
    for part in [members, *sorted(parts, key=len, reverse=True)]:
        twin = _find_twin(table, part)
        if len(twin):
            is_other = ~np.isin(looks[members], looks[twin])
            contrast_pages = np.setdiff1d(members[~is_other], twin)
            twin = np.union1d(twin, _with_labels_of(table, twin, contrast_pages, members[is_other]))
            return [np.setdiff1d(members, twin), twin]
    return [members]


def _find_twin(table: FeatureTable, members: Pages) -> Pages:
    bundles = find_bundles(table, members)
    for sections in (
        sections_with_facts(bundles, len(members)),
        rare_sections(bundles, len(members)),
    ):
        if len(sections) == 1:
            return members[sorted(sections[0])]
    return members[:0]


def _with_labels_of(
    table: FeatureTable, twin: Pages, contrast_pages: Pages, candidates: Pages
) -> Pages:
    """Return which candidates have the labels that a twin has and the contrast pages lack.

    Return no page where candidates or contrast pages are missing, or such labels are too few.
    """
    if not len(contrast_pages) or not len(candidates):
        return candidates[:0]
    own = np.flatnonzero(own_features(table.texts, twin, contrast_pages))
    if len(own) < FEWEST_FACTS:
        return candidates[:0]
    shares = table.texts.incidence[candidates][:, own].mean(axis=1)
    return candidates[np.asarray(shares).ravel() > 1 / 2]


def find_bundles(table: FeatureTable, members: Pages) -> dict[frozenset[int], FieldBundle]:
    """Return what exactly the same pages have, by these pages, but nothing that over half have."""
    bundles: dict[frozenset[int], FieldBundle] = {}
    for pages, column in _columns(table.paths, members):
        bundle = bundles.setdefault(pages, FieldBundle(set(), set(), set()))
        bundle.elements.add(int(table.paths.paths[column]))
    shares = np.asarray(table.paths.incidence[members].mean(axis=0)).ravel()
    common = set(table.paths.hashes[shares >= COMMON_PLACE].tolist())
    for pages, column in _columns(table.pairs, members):
        bundle = bundles.setdefault(pages, FieldBundle(set(), set(), set()))
        is_fact = int(table.pairs.paths[column]) in common
        (bundle.facts if is_fact else bundle.labels).add(int(table.pairs.labels[column]))
    return bundles


def _columns(features: FeatureSet, members: Pages) -> Iterator[tuple[frozenset[int], int]]:
    """Yield each feature that some, at most half of the pages have, with these pages' places."""
    incidence = features.incidence[members].tocsc()
    counts = np.diff(incidence.indptr)
    for column in np.flatnonzero(
        (counts > 0) & (counts <= LARGEST_SHARE_WITH_FACTS * len(members))
    ).tolist():
        rows = incidence.indices[incidence.indptr[column] : incidence.indptr[column + 1]]
        yield frozenset(rows.tolist()), column


def sections_with_facts(
    bundles: Mapping[frozenset[int], FieldBundle], n_pages: int
) -> list[frozenset[int]]:
    """Return the pages of each section that comes with facts at places nearly all pages have."""
    return [
        pages
        for pages, bundle in bundles.items()
        if len(pages) >= _fewest(n_pages)
        and len(bundle.facts) >= FEWEST_FACTS
        and len(bundle.elements) + len(bundle.labels) >= EXTENT_WITH_FACTS
        and not _varies(pages, bundles)
    ]


def rare_sections(
    bundles: Mapping[frozenset[int], FieldBundle], n_pages: int
) -> list[frozenset[int]]:
    """Return the pages of each section that few pages have and that never varies."""
    candidates = [
        pages
        for pages, bundle in bundles.items()
        if _fewest(n_pages) <= len(pages) <= LARGEST_SHARE * n_pages
        and len(bundle.elements) >= FEWEST_ELEMENTS
        and sum(map(len, bundle)) >= SMALLEST_EXTENT
    ]
    if len(candidates) > MOST_CANDIDATES:
        return []
    return [pages for pages in candidates if not _varies(pages, bundles)]


def _varies(pages: frozenset[int], bundles: Mapping[frozenset[int], FieldBundle]) -> bool:
    """Return whether many elements are on some of a section's pages only."""
    within = sum(
        len(bundle.elements) for some, bundle in bundles.items() if len(some) > 1 and some < pages
    )
    return within > MOST_VARIATION * len(bundles[pages].elements)


def _fewest(n_pages: int) -> float:
    return max(FEWEST_PAGES, FEWEST_PAGES_SHARE * n_pages)
