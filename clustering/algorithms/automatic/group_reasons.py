"""Return in words what sets a group apart: the features with the largest w|p - q|."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureSet, FeatureTable, is_pair
from clustering.algorithms.automatic.page_features import PageFeatures, feature_names
from clustering.algorithms.automatic.page_walk import hash_text
from clustering.algorithms.automatic.profiles import distances_to, shares_of

MOST_NAMED = 3
SMALLEST_GAP = 0.3  # between the shares of two groups; less sets nothing apart
MOST_STEPS = 3  # of a path that are shown
MOST_READ = 50  # pages in which names are looked for
MOST_TRIED = 20  # features, of which some have the same name or none

_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_CLASS = re.compile(r"\.[^/]*$")


class FeatureName(NamedTuple):
    """How a feature is shown: by a label and where it stands, or by that alone."""

    label: str  # “Price”, or what follows “Price”; blank for a path
    where: str  # the last steps to its element

    @property
    def element(self) -> str:
        """Return where it stands, without a class."""
        return _CLASS.sub("", self.where)

    def __str__(self) -> str:
        return f"{self.label} in {self.where}" if self.label else self.where


def describe_groups(
    table: FeatureTable, group: NDArray[np.intp], observations: Sequence[PageFeatures]
) -> list[str]:
    """Return a sentence for each group."""
    P = shares_of(table.weighed.incidence, group)
    w = table.weighed.weights.astype(np.float32)
    masses = w @ P
    return [
        _sentence(table.weighed, P, w, a, distances_to(P[:, a], P, w, masses), observations, group)
        for a in range(P.shape[1])
    ]


def _sentence(
    features: FeatureSet,
    P: NDArray[np.float32],
    w: NDArray[np.float32],
    a: int,
    distances: NDArray[np.float32],
    observations: Sequence[PageFeatures],
    group: NDArray[np.intp],
) -> str:
    if P.shape[1] == 1:
        return "All pages are in this group."
    distances[a] = np.inf
    b = int(distances.argmin())
    for owner, verb in (
        (a, "Set apart from the nearest group by"),
        (b, "Its pages lack what the nearest group has:"),
    ):
        other = a + b - owner
        gaps = P[:, owner] - P[:, other]
        gains = w * gaps * (gaps >= SMALLEST_GAP)
        columns = [
            column
            for column in np.argsort(-gains, kind="stable")[:MOST_TRIED].tolist()
            if gains[column]
        ]
        pages = (observations[page] for page in np.flatnonzero(group == owner)[:MOST_READ].tolist())
        named = _named(features, columns, pages)[:MOST_NAMED]
        if named:
            shown = [
                f"{name} ({P[column, a]:.0%}, there {P[column, b]:.0%})" for column, name in named
            ]
            return f"{verb} {', '.join(shown)}."
    return "Nothing in particular sets it apart from the nearest group."


def name_features(
    features: FeatureSet, columns: Sequence[int], pages: Iterable[PageFeatures]
) -> list[FeatureName]:
    """Return how features are shown, no two alike; those that no page names are left out."""
    some_pages = islice(pages, MOST_READ)
    return [name for _, name in _named(features, columns[:MOST_TRIED], some_pages)]


def _named(
    features: FeatureSet, columns: Sequence[int], pages: Iterable[PageFeatures]
) -> list[tuple[int, FeatureName]]:
    """Return the columns whose features the pages name, no two of one name."""
    path_by_hash: dict[int, str] = {}
    label_by_hash: dict[int, str] = {}
    missing = {int(features.paths[column]) for column in columns} | {
        int(features.labels[column]) for column in columns if features.labels[column]
    }
    for page in pages:
        if missing <= path_by_hash.keys() | label_by_hash.keys():
            break
        path_by_hash.update(zip(page.features.tolist(), feature_names(page), strict=True))
        label_by_hash.update((hash_text(label), label) for label in page.labels.split("\n"))
    column_by_name: dict[FeatureName, int] = {}
    for column in columns:
        name = _name(features, column, path_by_hash, label_by_hash)
        if name is not None:
            column_by_name.setdefault(name, column)
    return [(column, name) for name, column in column_by_name.items()]


def _name(
    features: FeatureSet,
    column: int,
    path_by_hash: Mapping[int, str],
    label_by_hash: Mapping[int, str],
) -> FeatureName | None:
    """Return how a feature is shown, None where no page names it or its label is a mere sign."""
    is_path = not features.labels[column]
    path = path_by_hash.get(int(features.hashes[column] if is_path else features.paths[column]), "")
    where = "/".join(path.split("/")[-MOST_STEPS:])
    if not path:
        return None
    if is_path:
        return FeatureName("", where)
    label = label_by_hash.get(int(features.labels[column]), "")
    if not _HAS_WORD.search(label):
        return None
    if is_pair(features, column):
        return FeatureName(f"“{label}”", where)
    return FeatureName(f"what follows “{label}”", where)
