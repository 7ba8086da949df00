"""Tell the layouts of a group apart: pages of one type that differ in looks or in what they have.

Notation:   A look is a group by structure alone. Looks that contrast in nothing are one layout;
            within a layout, near-twins are layouts of their own.
Readings:   A rule has alternatives by layout, so layouts are no reason for a cluster; people see
            what each has, and may split one off.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureSet, FeatureTable
from clustering.algorithms.automatic.group_reasons import MOST_READ, name_features
from clustering.algorithms.automatic.near_twins import own_features, split_twins
from clustering.algorithms.automatic.page_features import PageFeatures
from clustering.algorithms.automatic.pair_features import CORE_SHARE, STRANGE_SHARE
from clustering.algorithms.automatic.profiles import distances_to, numbered, shares_of
from clustering.algorithms.grouping import GroupLayout

MIN_PAGES, MIN_SHARE = 5, 0.04  # of the group's pages; fewer are exceptions of another layout
MAX_LAYOUTS = 8
MIN_CONTRASTS = 2
MAX_NAMED = 3

Pages = NDArray[np.intp]


def find_layouts(
    table: FeatureTable, patterns: Sequence[str], look: Pages, members: Pages
) -> list[Pages]:
    """Return the layouts of a group's pages, the largest first."""
    parts = _join_like_looks(table, look, members)
    twins = [twin for part in parts for twin in split_twins(table, patterns, look, part)]
    min_pages = max(MIN_PAGES, MIN_SHARE * len(members))
    if len(twins) > MAX_LAYOUTS or any(len(twin) < min_pages for twin in twins):
        twins = parts
    return sorted(twins, key=lambda pages: (-len(pages), int(pages[0])))


def _join_like_looks(table: FeatureTable, look: Pages, members: Pages) -> list[Pages]:
    """Return the parts of a group: small looks, and those without contrasts, go to the nearest."""
    part = numbered(look[members])
    min_pages = max(MIN_PAGES, MIN_SHARE * len(members))
    while True:
        sizes = np.bincount(part)
        parts = [members[part == number] for number in range(len(sizes))]
        if len(parts) == 1:
            return parts
        smallest = int(sizes.argmin())
        is_small = sizes[smallest] < min_pages or len(parts) > MAX_LAYOUTS
        pair = (smallest, _nearest(table, part, members, smallest)) if is_small else None
        if pair is None:
            pair = _pair_without_contrasts(table, parts)
        if pair is None:
            return parts
        part[part == pair[0]] = pair[1]
        part = numbered(part)


def _nearest(table: FeatureTable, part: Pages, members: Pages, number: int) -> int:
    P = shares_of(table.weighed.incidence[members], part)
    w = table.weighed.weights.astype(np.float32)
    distances = distances_to(P[:, number], P, w, w @ P)
    distances[number] = np.inf
    return int(distances.argmin())


def _pair_without_contrasts(table: FeatureTable, parts: Sequence[Pages]) -> tuple[int, int] | None:
    for b in range(1, len(parts)):
        for a in range(b):
            own = own_features(table.paths, parts[a], parts[b])
            theirs = own_features(table.paths, parts[b], parts[a])
            if own.sum() + theirs.sum() < MIN_CONTRASTS:
                return b, a
    return None


def describe_layouts(
    table: FeatureTable,
    layouts: Sequence[Pages],
    page_numbers: Sequence[int],
    pages: Sequence[PageFeatures],
) -> list[GroupLayout]:
    """Return layouts with what each has that others lack, and what it lacks that others have.

    What tells a layout from the most other pages comes first. `page_numbers` has the index under
    which each page is known outside. One layout is none.
    """
    if len(layouts) < 2:
        return []
    feature_sets = (table.pairs, table.paths)  # an element with a label is shown by the label
    contrasts = [_contrasts(features, layouts) for features in feature_sets]
    sizes = np.array([[len(members)] for members in layouts])
    described = []
    for number, members in enumerate(layouts):
        n_lacking = [(strange * sizes).sum(axis=0) * core[number] for core, strange in contrasts]
        n_having = [(core * sizes).sum(axis=0) * strange[number] for core, strange in contrasts]
        others = [pages_ for pages_ in layouts if pages_ is not members]
        some_others = np.concatenate([pages_[: MOST_READ // len(others)] for pages_ in others])
        has = _telling_texts(feature_sets, n_lacking, [pages[page] for page in members])
        lacks = _telling_texts(feature_sets, n_having, [pages[page] for page in some_others])
        # Two elements may have the same last steps: what stands in both lists tells nothing.
        described.append(
            GroupLayout(
                name=layout_name(number),
                members=sorted(page_numbers[page] for page in members.tolist()),
                has=[text for text in has if text not in lacks][:MAX_NAMED],
                lacks=[text for text in lacks if text not in has][:MAX_NAMED],
            )
        )
    return described


def _contrasts(
    features: FeatureSet, layouts: Sequence[Pages]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which features nearly all pages of each layout have, and which hardly any has."""
    n = np.array(
        [np.asarray(features.incidence[members].sum(axis=0)).ravel() for members in layouts]
    )
    sizes = np.array([[len(members)] for members in layouts])
    return (n + 0.5) / (sizes + 1) >= CORE_SHARE, n <= STRANGE_SHARE * sizes


def _telling_texts(
    feature_sets: Sequence[FeatureSet],
    n_told_of_sets: Sequence[NDArray[np.int64]],
    pages: Sequence[PageFeatures],
) -> list[str]:
    """Return in words what tells a layout from other pages, what tells it from the most first.

    `n_told_of_sets` has the number of these pages for each feature. An element is shown once.
    """
    text_by_element: dict[str, str] = {}
    for features, n_told in zip(feature_sets, n_told_of_sets, strict=True):
        order = np.lexsort((-features.weights, -n_told))  # by the last one first
        telling = order[n_told[order] > 0].tolist()
        for name in name_features(features, telling, pages):
            text_by_element.setdefault(name.element, name.label or name.where)
    return list(dict.fromkeys(text_by_element.values()))


def layout_name(number: int) -> str:
    return f"layout-{number + 1}"
