"""Weigh what pages are made of: paths, fields and labels, in one table of pages by features.

Notation:   A path's weight is (distinct contents - 1) / (pages with it - 1): what is the same everywhere, such as
            navigation, and what holds no text weigh nothing. A label is a text that stands on many pages; a field is
            a path with the nearest label before it; a pair is a path with the label that stands at it.
Cost:       Sorts of all features and of all texts of the pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clustering.algorithms.page_features import Hashes, PageFeatures

RAREST_FEATURE, RAREST_FEATURE_SHARE = 2, 0.005  # on fewer pages a feature says nothing of a type
RAREST_LABEL, RAREST_LABEL_SHARE = 3, 0.02  # on fewer pages a text is a value
MASS_OF_PATHS, MASS_OF_FIELDS, MASS_OF_PAIRS = 1.0, 1.0, 0.5  # mean weight of what a page has of each set
MOST_LABELS = 20_000

_FIELD, _PAIR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)  # odd, so that nothing collides


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """One kind of features: which pages have which, and what each weighs."""

    pages: NDArray[np.intp]  # of each cell
    columns: NDArray[np.intp]  # of each cell
    hashes: Hashes  # of each column
    weights: NDArray[np.float64]  # of each column

    def incidence(self, n_pages: int) -> sparse.csr_matrix:
        """Return pages by columns."""
        ones = np.ones(len(self.pages), np.float32)
        return sparse.csr_matrix((ones, (self.pages, self.columns)), shape=(n_pages, len(self.hashes)))

    def scaled(self, mass: float, n_pages: int) -> FeatureSet:
        """Scale the weights so that a page has so much of this set on average."""
        total = self.weights[self.columns].sum() / max(n_pages, 1)
        return FeatureSet(
            self.pages, self.columns, self.hashes, self.weights * (mass / total if total else 0.0)
        )


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Pages by features; a cell is 1 where the page has the feature."""

    incidence: sparse.csr_matrix
    hashes: Hashes  # of each column
    weights: NDArray[np.float64]
    labels: Hashes  # sorted
    paths: sparse.csr_matrix  # all that are not rare, whatever they weigh
    path_hashes: Hashes
    pairs: sparse.csr_matrix  # labels at their paths
    labels_of_pages: sparse.csr_matrix
    element_of_path: Hashes
    element_of_pair: Hashes


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of some pages, page after page."""

    pages: NDArray[np.intp]
    paths: Hashes
    texts: Hashes


def tabulate(observations: Sequence[PageFeatures]) -> FeatureTable:
    """Weigh the features of pages."""
    n = len(observations)
    least = max(RAREST_FEATURE, RAREST_FEATURE_SHARE * n)
    paths = weigh_paths(observations, least)
    texts = texts_of(observations)
    labels = find_labels(texts, n)
    pairs = weigh_pairs(texts, labels, n, least)
    informative = _kept(paths, paths.weights > 0)
    sets = [
        informative.scaled(MASS_OF_PATHS, n),
        weigh_fields(texts, labels, informative, least).scaled(MASS_OF_FIELDS, n),
        pairs.scaled(MASS_OF_PAIRS, n),
    ]
    return FeatureTable(
        sparse.hstack([part.incidence(n) for part in sets], format="csr"),
        _concatenated([part.hashes for part in sets]),
        np.concatenate([part.weights for part in sets]),
        labels,
        paths.incidence(n),
        paths.hashes,
        pairs.incidence(n),
        _label_incidence(texts, labels, n),
        _owners(observations, paths.hashes),
        pairs.hashes,
    )


def _label_incidence(texts: Texts, labels: Hashes, n_pages: int) -> sparse.csr_matrix:
    known = np.isin(texts.texts, labels)
    pages, columns, hashes = _distinct(texts.pages[known], texts.texts[known])
    return FeatureSet(pages, columns, hashes, np.ones(len(hashes))).incidence(n_pages)


def weigh_paths(observations: Sequence[PageFeatures], least: float) -> FeatureSet:
    """Weigh paths and token paths by how much their contents differ from page to page."""
    pages = np.repeat(np.arange(len(observations)), [len(page.features) for page in observations])
    features = _concatenated([page.features for page in observations])
    contents = _concatenated([page.contents for page in observations])
    hashes, columns, df = np.unique(features, return_inverse=True, return_counts=True)
    _, first = np.unique(features * _FIELD + contents, return_index=True)
    n_contents = np.bincount(columns[first], minlength=len(hashes))
    weights = (n_contents - 1) / np.maximum(df - 1, 1)
    return _kept(FeatureSet(pages, columns, hashes, weights), df >= least)


def texts_of(observations: Sequence[PageFeatures]) -> Texts:
    """Return the texts of pages in document order, page after page."""
    return Texts(
        np.repeat(np.arange(len(observations)), [len(page.texts) for page in observations]),
        _concatenated([page.features[page.places] for page in observations]),
        _concatenated([page.texts for page in observations]),
    )


def find_labels(texts: Texts, n_pages: int) -> Hashes:
    """Return the texts that stand on many pages, sorted."""
    pages, columns, hashes = _distinct(texts.pages, texts.texts)
    df = np.bincount(columns, minlength=len(hashes))
    is_label = (df >= max(RAREST_LABEL, RAREST_LABEL_SHARE * n_pages)) & (hashes != 0)
    if is_label.sum() > MOST_LABELS:
        is_label &= df > np.sort(df[is_label])[-MOST_LABELS]
    return hashes[is_label]


def weigh_fields(texts: Texts, labels: Hashes, paths: FeatureSet, least: float) -> FeatureSet:
    """Share the weight of each path over the labels that it stands behind."""
    label_before = preceding_labels(texts, labels)
    known = np.isin(texts.paths, paths.hashes) & (label_before != 0)
    keys = texts.paths[known] * _FIELD + label_before[known]
    pages, columns, hashes = _distinct(texts.pages[known], keys)
    df = np.bincount(columns, minlength=len(hashes))
    path_of_field = texts.paths[known][np.unique(keys, return_index=True)[1]]
    fields = FeatureSet(pages, columns, hashes, np.ones(len(hashes)))
    path_place = np.searchsorted(paths.hashes, path_of_field)
    n_fields = np.bincount(path_place[df >= least], minlength=len(paths.hashes))
    weights = paths.weights[path_place] / np.maximum(n_fields[path_place], 1)
    return _kept(FeatureSet(pages, columns, hashes, weights), df >= least)


def preceding_labels(texts: Texts, labels: Hashes) -> Hashes:
    """Return for each text the nearest label before it on its page, 0 where there is none."""
    place = np.arange(len(texts.texts))
    is_label = np.isin(texts.texts, labels)
    last = np.maximum.accumulate(np.where(is_label, place, -1))
    before = np.concatenate([[-1], last[:-1]]) if len(last) else last
    found = (before >= 0) & (texts.pages[before] == texts.pages)
    return np.where(found, texts.texts[before], np.uint64(0))


def weigh_pairs(texts: Texts, labels: Hashes, n_pages: int, least: float) -> FeatureSet:
    """Weigh labels at their paths: the rarer the more, the fewer labels stand at the path the more."""
    known = np.isin(texts.texts, labels)
    keys = texts.paths[known] * _PAIR + texts.texts[known]
    pages, columns, hashes = _distinct(texts.pages[known], keys)
    df = np.bincount(columns, minlength=len(hashes))
    path_of_pair = texts.paths[known][np.unique(keys, return_index=True)[1]]
    path_hashes, path_place = np.unique(path_of_pair, return_inverse=True)
    cells = np.bincount(path_place, weights=df, minlength=len(path_hashes))
    path_pages, path_columns, _ = _distinct(pages, path_of_pair[columns])
    n_on_page = cells / np.maximum(np.bincount(path_columns, minlength=len(path_hashes)), 1)
    weights = (1 - df / max(n_pages, 1)) / np.sqrt(np.maximum(n_on_page[path_place], 1))
    return _kept(FeatureSet(pages, columns, hashes, weights), (df >= least) & (df < n_pages))


def cells_of(page: PageFeatures, labels: Hashes) -> Hashes:
    """Return the features of all sets that a page has, given the labels of its site."""
    texts = texts_of([page])
    before = preceding_labels(texts, labels)
    is_label = np.isin(texts.texts, labels)
    fields = texts.paths[before != 0] * _FIELD + before[before != 0]
    pairs = texts.paths[is_label] * _PAIR + texts.texts[is_label]
    return np.unique(np.concatenate([page.features, fields, pairs]))


def _concatenated(arrays: Sequence[Hashes]) -> Hashes:
    return np.concatenate([np.zeros(0, np.uint64), *arrays])


def _distinct(
    pages: NDArray[np.intp], keys: Hashes
) -> tuple[NDArray[np.intp], NDArray[np.intp], Hashes]:
    """Return the distinct cells of pages by keys: their pages, their columns and the columns' keys."""
    hashes, columns = np.unique(keys, return_inverse=True)
    cells = np.unique(pages * max(len(hashes), 1) + columns)
    return cells // max(len(hashes), 1), cells % max(len(hashes), 1), hashes


def _kept(features: FeatureSet, kept: NDArray[np.bool_]) -> FeatureSet:
    number = np.cumsum(kept) - 1
    cells = kept[features.columns]
    return FeatureSet(
        features.pages[cells],
        number[features.columns[cells]],
        features.hashes[kept],
        features.weights[kept],
    )


def _owners(observations: Sequence[PageFeatures], hashes: Hashes) -> Hashes:
    """Return for each feature the hash of its element's path."""
    features = _concatenated([page.features for page in observations])
    owners = _concatenated([page.features[page.owners] for page in observations])
    known, first = np.unique(features, return_index=True)
    return owners[first[np.searchsorted(known, hashes)]]
