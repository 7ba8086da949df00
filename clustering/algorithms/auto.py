"""Group pages by type from all that a site offers: the default."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from clustering.algorithms.feature_table import FeatureTable, Texts, cells_of, tabulate
from clustering.algorithms.grouping import Clusterer, Evidence, Grouping, grouping_of
from clustering.algorithms.page_features import PageFeatures, observe
from clustering.algorithms.profiles import distances_to, join_profiles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clustering.algorithms.grouping import Model
    from clustering.algorithms.page_features import Hashes
    from clustering.algorithms.profiles import Matrix

LOWEST_CUT, HIGHEST_CUT = 0.65, 0.80
FARTHEST = 0.85  # a later page farther from all profiles is in no group
MOST_MODEL_CELLS = 1_000_000
MOST_MODEL_FEATURES = 6_000


def cluster_pages(urls: Sequence[str], observations: Sequence[PageFeatures], evidence: Evidence) -> Grouping:
    """Group pages by type."""
    if not urls:
        return Grouping([], why="There are no pages.")
    order = sorted(range(len(urls)), key=lambda page: (urls[page], page))
    table = tabulate([observations[page] for page in order])
    labels = group_by_structure(table)
    names = [f"g{label:04}" for label in labels.tolist()]
    by_page = dict(zip(order, names, strict=True))
    return grouping_of(
        [by_page[page] for page in range(len(urls))],
        why="Decided on the paths, fields and labels of the pages.",
        model=model_of(table, names),
    )


def group_by_structure(table: FeatureTable) -> NDArray[np.intp]:
    """Join the closest profiles and cut in the widest gap; return the group of each page."""
    dense = table.incidence.toarray()
    distinct, page_to_distinct, sizes = np.unique(dense, axis=0, return_inverse=True, return_counts=True)
    P, w = np.ascontiguousarray(distinct.T, np.float32), table.weights.astype(np.float32)
    joins = join_profiles(P, w, sizes)
    heights = np.maximum.accumulate([join.height for join in joins]) if joins else np.zeros(0)
    cut = widest_gap(heights)
    group = np.arange(len(sizes))
    for join, height in zip(joins, heights, strict=True):
        if height < cut:
            group[group == join.second] = join.first
    return group[page_to_distinct.ravel()]


def widest_gap(heights: NDArray[np.float64]) -> float:
    """Return the middle of the widest gap between heights within the bounds of the cut."""
    inside = [height for height in heights.tolist() if LOWEST_CUT < height < HIGHEST_CUT]
    low, high = max(pairwise([LOWEST_CUT, *inside, HIGHEST_CUT]), key=lambda gap: gap[1] - gap[0])
    return (low + high) / 2


def model_of(table: FeatureTable, names: Sequence[str]) -> Model:
    """Return the profiles of the groups on their strongest features."""
    groups, page_to_group = np.unique(np.array(names), return_inverse=True)
    sizes = np.bincount(page_to_group)
    shares = np.zeros((len(groups), table.incidence.shape[1]), np.float32)
    np.add.at(shares, page_to_group, table.incidence.toarray())
    shares /= sizes[:, np.newaxis]
    n_kept = min(MOST_MODEL_FEATURES, MOST_MODEL_CELLS // max(len(groups), 1))
    strongest = np.sort(np.argsort(-table.weights * shares.max(axis=0), kind="stable")[:n_kept])
    return {
        "groups": groups.tolist(),
        "features": _packed(table.hashes[strongest]),
        "weights": _packed(table.weights[strongest].astype("<f4")),
        "shares": _packed(np.rint(shares[:, strongest] * 255).astype(np.uint8)),
        "labels": _packed(table.labels),
    }


@dataclass(frozen=True, slots=True)
class _Model:
    groups: list[str]
    features: Hashes
    place: NDArray[np.intp]
    w: Matrix
    P: Matrix
    masses: Matrix
    labels: Hashes


def assign(model: Model, observation: PageFeatures, _url: str) -> str | None:
    """Return the group with the nearest profile, None where none is nearer than FARTHEST."""
    if not model.get("groups"):
        return None
    unpacked = _unpacked(
        tuple(model["groups"]), model["features"], model["weights"], model["shares"], model["labels"]
    )
    known = np.isin(unpacked.features, cells_of(observation, unpacked.labels))
    p = np.zeros(len(unpacked.features), np.float32)
    p[unpacked.place[known]] = 1
    distances = distances_to(p, unpacked.P, unpacked.w, unpacked.masses)
    nearest = int(distances.argmin())
    return unpacked.groups[nearest] if distances[nearest] < FARTHEST else None


def _packed(values: NDArray[np.generic]) -> str:
    return b64encode(values.tobytes()).decode("ascii")


@lru_cache(maxsize=8)
def _unpacked(groups: tuple[str, ...], features: str, weights: str, shares: str, labels: str) -> _Model:
    hashes = np.frombuffer(b64decode(features), "<u8")
    order = np.argsort(hashes)
    w = np.frombuffer(b64decode(weights), "<f4")
    P = np.frombuffer(b64decode(shares), np.uint8).reshape(len(groups), len(hashes)).T / np.float32(255)
    P = np.ascontiguousarray(P, np.float32)
    return _Model(
        list(groups), hashes[order], order, w, P, w @ P, np.frombuffer(b64decode(labels), "<u8")
    )


CLUSTERER = Clusterer("auto", "All evidence", observe, cluster_pages, assign)
