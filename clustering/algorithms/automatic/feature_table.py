"""Weigh what pages are made of: paths, fields and labels, in one table of pages by features.

Notation:   A path's weight is (distinct contents - 1) / (pages with it - 1): what is the same
            everywhere, such as navigation, and what holds no text weigh nothing. A label is a text
            that stands on many pages; a field is a path with the nearest label before it, and
            shares its path's weight with the path's other fields; a pair is a path with a label
            that stands at it and weighs (1 - share of the pages) / sqrt(labels that stand at the
            path). Each of the three sets is scaled to a mean mass of a page.
Departures: Only the MOST_COLUMNS heaviest features are kept for distances, and the MOST_COLUMNS
            most frequent ones of each kind for the comparison of groups, so that memory is bounded.
Cost:       Sorts of all features and of all texts of the pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clustering.algorithms.automatic.page_features import Hashes, PageFeatures
from clustering.algorithms.automatic.placing import FIELD, PAIR

# On fewer pages, so many or such a share, a feature says nothing of a type and a text is a value;
# the shares end at numbers of pages that small types of large sites have.
FEWEST_WITH_FEATURE, FEATURE_SHARE, ENOUGH_WITH_FEATURE = 2, 0.005, 5
FEWEST_WITH_LABEL, LABEL_SHARE, ENOUGH_WITH_LABEL = 3, 0.02, 10
# Mean weight of what a page has of each set.
MASS_OF_PATHS, MASS_OF_FIELDS, MASS_OF_PAIRS = (
    1.0,
    1.0,
    0.5,
)
LEAST_VARIED = 0.15  # values of a field as a share of its pages; fewer are signs and states
MOST_LABELS = 20_000
MOST_COLUMNS = 8_000

_FIELD, _PAIR = np.uint64(FIELD), np.uint64(PAIR)
_NONE = np.uint64(0)


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """Features of one kind: which pages have which, and what each weighs."""

    incidence: sparse.csr_matrix  # pages by columns, 1 where the page has the feature
    hashes: Hashes  # of each column
    weights: NDArray[np.float64]  # of each column
    paths: Hashes  # of each column; that of its element
    labels: Hashes  # of each column; 0 for a path

    @property
    def df(self) -> NDArray[np.float64]:
        """The number of pages with each."""
        return np.asarray(self.incidence.sum(axis=0), np.float64).ravel()

    def select(self, is_kept: NDArray[np.bool_]) -> FeatureSet:
        """Return the columns where `is_kept`."""
        columns = (
            self.hashes[is_kept],
            self.weights[is_kept],
            self.paths[is_kept],
            self.labels[is_kept],
        )
        return FeatureSet(self.incidence[:, np.flatnonzero(is_kept)], *columns)

    def strongest(self, strength: NDArray[np.float64]) -> FeatureSet:
        """Return the MOST_COLUMNS strongest columns in their order."""
        is_kept = np.zeros(len(strength), np.bool_)
        is_kept[np.argsort(-strength, kind="stable")[:MOST_COLUMNS]] = True
        return self.select(is_kept)

    def weighing(self, weights: NDArray[np.float64]) -> FeatureSet:
        """Return the same features with other weights."""
        return FeatureSet(self.incidence, self.hashes, weights, self.paths, self.labels)

    def scaled(self, mass: float) -> FeatureSet:
        """Scale the weights so that a page has so much of this set on average."""
        total = (self.incidence @ self.weights).sum() / max(self.incidence.shape[0], 1)
        return self.weighing(self.weights * (mass / total if total else 0.0))


@dataclass(frozen=True, slots=True)
class FeatureTable:
    """Pages by features."""

    weighed: FeatureSet  # informative paths, fields and pairs, for distances
    informative: FeatureSet  # its three parts, each by itself
    labelled: FeatureSet
    captions: FeatureSet
    paths: FeatureSet  # all that are not rare, whatever they weigh
    pairs: FeatureSet
    texts: FeatureSet  # labels, wherever they stand
    fields: FeatureSet  # labels with something behind them that differs from page to page
    labels: Hashes  # sorted


@dataclass(frozen=True, slots=True)
class Texts:
    """All texts of some pages, page after page."""

    n_pages: int
    pages: NDArray[np.intp]
    paths: Hashes
    texts: Hashes


def tabulate(observations: Sequence[PageFeatures]) -> FeatureTable:
    """Weigh the features of pages."""
    least = max(FEWEST_WITH_FEATURE, min(FEATURE_SHARE * len(observations), ENOUGH_WITH_FEATURE))
    paths = weigh_paths(observations, least)
    texts = texts_of(observations)
    labels = find_labels(texts)
    informative = paths.select(paths.weights > 0)
    pairs = weigh_pairs(texts, labels, least)
    labelled = weigh_fields(texts, labels, informative, least)
    weighed = _united(
        [
            informative.scaled(MASS_OF_PATHS),
            labelled.scaled(MASS_OF_FIELDS),
            pairs.scaled(MASS_OF_PAIRS),
        ]
    )
    return FeatureTable(
        weighed.strongest(weighed.weights * weighed.df),
        informative.strongest(informative.weights * informative.df),
        labelled.strongest(labelled.weights * labelled.df),
        pairs.strongest(pairs.weights * pairs.df),
        paths.strongest(paths.df),
        pairs.strongest(pairs.df),
        labels_anywhere(texts, labels),
        find_fields(texts, labels),
        labels,
    )


def weigh_paths(observations: Sequence[PageFeatures], least: float) -> FeatureSet:
    """Weigh paths and token paths (`features`) by how much their contents differ from page to page.

    Those on fewer than `least` pages are left out.
    """
    pages = np.repeat(np.arange(len(observations)), [len(page.features) for page in observations])
    features = _concatenated([page.features for page in observations])
    contents = _concatenated([page.contents for page in observations])
    element_paths = _concatenated([page.features[page.owners] for page in observations])
    no_labels = np.full(len(features), _NONE)
    paths = feature_set(len(observations), pages, features, element_paths, no_labels)
    content_keys = features * _FIELD + contents  # one hash for a feature with a content
    first_of_content = np.unique(content_keys, return_index=True)[1]
    columns = np.searchsorted(paths.hashes, features[first_of_content])
    n_contents = np.bincount(columns, minlength=len(paths.hashes))
    weights = (n_contents - 1) / np.maximum(paths.df - 1, 1)
    return paths.weighing(weights).select(paths.df >= least)


def texts_of(observations: Sequence[PageFeatures]) -> Texts:
    """Return the texts of pages in document order, page after page."""
    return Texts(
        len(observations),
        np.repeat(np.arange(len(observations)), [len(page.texts) for page in observations]),
        _concatenated([page.features[page.places] for page in observations]),
        _concatenated([page.texts for page in observations]),
    )


def find_labels(texts: Texts) -> Hashes:
    """Return the texts that stand on many pages, sorted."""
    candidates = feature_set(texts.n_pages, texts.pages, texts.texts, texts.paths, texts.texts)
    least = max(FEWEST_WITH_LABEL, min(LABEL_SHARE * texts.n_pages, ENOUGH_WITH_LABEL))
    is_label = candidates.df >= least
    is_label &= candidates.hashes != _NONE
    if is_label.sum() > MOST_LABELS:
        is_label &= candidates.df > np.sort(candidates.df[is_label])[-MOST_LABELS]
    return candidates.hashes[is_label]


def weigh_fields(texts: Texts, labels: Hashes, paths: FeatureSet, least: float) -> FeatureSet:
    """Share the weight of each path over the labels that it stands behind."""
    before = preceding_labels(texts, labels)
    known = are_among(texts.paths, paths.hashes) & (before != _NONE)
    its_paths, its_labels = texts.paths[known], before[known]
    keys = its_paths * _FIELD + its_labels
    fields = feature_set(texts.n_pages, texts.pages[known], keys, its_paths, its_labels)
    fields = fields.select(fields.df >= least)
    place = np.searchsorted(paths.hashes, fields.paths)
    n_fields = np.bincount(place, minlength=len(paths.hashes))
    return fields.weighing(paths.weights[place] / np.maximum(n_fields[place], 1))


def preceding_labels(texts: Texts, labels: Hashes) -> Hashes:
    """Return for each text the nearest label before it on its page, 0 where there is none."""
    if not len(texts.texts):
        return texts.texts
    is_label = are_among(texts.texts, labels)
    last = np.maximum.accumulate(np.where(is_label, np.arange(len(is_label)), -1))
    before = np.concatenate([[-1], last[:-1]])
    has_label = (before >= 0) & (texts.pages[before] == texts.pages)
    return np.where(has_label, texts.texts[before], _NONE)


def weigh_pairs(texts: Texts, labels: Hashes, least: float) -> FeatureSet:
    """Weigh labels at their paths: the rarer, and the fewer labels stand at the path, the more."""
    known = are_among(texts.texts, labels)
    pages, its_paths, its_labels = texts.pages[known], texts.paths[known], texts.texts[known]
    pairs = feature_set(texts.n_pages, pages, its_paths * _PAIR + its_labels, its_paths, its_labels)
    paths = feature_set(texts.n_pages, pages, its_paths, its_paths, its_labels)
    place = np.searchsorted(paths.hashes, pairs.paths)
    n_on_page = np.bincount(place, weights=pairs.df, minlength=len(paths.hashes)) / np.maximum(
        paths.df, 1
    )
    weights = (1 - pairs.df / max(texts.n_pages, 1)) / np.sqrt(np.maximum(n_on_page[place], 1))
    return pairs.weighing(weights).select((pairs.df >= least) & (pairs.df < texts.n_pages))


def labels_anywhere(texts: Texts, labels: Hashes) -> FeatureSet:
    """Return the labels of the pages, the rarer the heavier."""
    known = are_among(texts.texts, labels)
    features = feature_set(
        texts.n_pages,
        texts.pages[known],
        texts.texts[known],
        texts.paths[known],
        texts.texts[known],
    )
    return features.weighing(1 - features.df / max(texts.n_pages, 1)).strongest(features.df)


def find_fields(texts: Texts, labels: Hashes) -> FeatureSet:
    """Return the labels behind which a text stands that differs from page to page."""
    n = len(texts.texts)
    behind = np.minimum(np.arange(1, n + 1), n - 1)
    is_field = (
        are_among(texts.texts, labels)
        & (np.arange(n) < n - 1)
        & (texts.pages[behind] == texts.pages)
    )
    pages, its_labels, values = (
        texts.pages[is_field],
        texts.texts[is_field],
        texts.texts[behind][is_field],
    )
    # No two long texts are the same.
    values = np.where(values == _NONE, pages.astype(np.uint64), values)
    fields = feature_set(texts.n_pages, pages, its_labels, its_labels, its_labels)
    first_of_value = np.unique(its_labels * _FIELD + values, return_index=True)[1]
    places = np.searchsorted(fields.hashes, its_labels[first_of_value])
    n_values = np.bincount(places, minlength=len(fields.hashes))
    weights = (n_values - 1) / np.maximum(fields.df - 1, 1)
    fields = fields.weighing(weights).select(weights >= LEAST_VARIED)
    return fields.strongest(fields.df)


def are_among(hashes: Hashes, known: Hashes) -> NDArray[np.bool_]:
    """Return which hashes are among known ones, which are sorted."""
    if not len(known):
        return np.zeros(len(hashes), np.bool_)
    places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
    are_known: NDArray[np.bool_] = known[places] == hashes
    return are_known


def is_pair(features: FeatureSet, column: int) -> bool:
    """Return whether a feature with a label is the label at its path, not a field behind it."""
    pair = features.paths[column : column + 1] * _PAIR + features.labels[column : column + 1]
    return bool(pair[0] == features.hashes[column])


def _concatenated(arrays: Sequence[Hashes]) -> Hashes:
    return np.concatenate([np.zeros(0, np.uint64), *arrays])


def feature_set(
    n_pages: int, pages: NDArray[np.intp], keys: Hashes, paths: Hashes, labels: Hashes
) -> FeatureSet:
    """Return the distinct keys, sorted, as columns that weigh 1; a page has a key once."""
    hashes, first, columns = np.unique(keys, return_index=True, return_inverse=True)
    cells = np.unique(pages * max(len(hashes), 1) + columns)
    pages, columns = np.divmod(cells, max(len(hashes), 1))
    ones = np.ones(len(cells), np.float32)
    incidence = sparse.csr_matrix((ones, (pages, columns)), shape=(n_pages, len(hashes)))
    return FeatureSet(incidence, hashes, np.ones(len(hashes)), paths[first], labels[first])


def _united(sets: Sequence[FeatureSet]) -> FeatureSet:
    """Join the columns of several sets."""
    return FeatureSet(
        sparse.hstack([features.incidence for features in sets], format="csr"),
        np.concatenate([features.hashes for features in sets]),
        np.concatenate([features.weights for features in sets]),
        np.concatenate([features.paths for features in sets]),
        np.concatenate([features.labels for features in sets]),
    )
