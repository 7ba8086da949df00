"""Group pages by type from all that a site offers: the default."""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import lru_cache

from typing import TYPE_CHECKING

import numpy as np

from clustering.algorithms.feature_table import FeatureTable, Texts, cells_of, tabulate
from clustering.algorithms.grouping import Clusterer, Evidence, Grouping, grouping_of
from clustering.algorithms.kinship import Bounds, join_looks
from clustering.algorithms.near_twins import split_by_address, split_by_section
from clustering.algorithms.page_features import PageFeatures, observe
from clustering.algorithms.profiles import distances_to, join_profiles, shares_of
from clustering.algorithms.url_patterns import address_patterns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from clustering.algorithms.grouping import Model
    from clustering.algorithms.page_features import Hashes
    from clustering.algorithms.profiles import Matrix

FINE = 0.45

FARTHEST = 0.85  # a later page farther from all profiles is in no group
MOST_MODEL_CELLS = 1_000_000
MOST_MODEL_FEATURES = 6_000


def cluster_pages(urls: Sequence[str], observations: Sequence[PageFeatures], evidence: Evidence) -> Grouping:
    """Group pages by type."""
    if not urls:
        return Grouping([], why="There are no pages.")
    order = sorted(range(len(urls)), key=lambda page: (urls[page], page))
    table = tabulate([observations[page] for page in order])
    fine = group_by_structure(table)
    patterns = _numbered(address_patterns([urls[page] for page in order]))
    look = join_cells(table, patterns, by_both(fine, patterns))
    labels = split_twins(table, patterns, join_looks(table, patterns, look))
    look = by_both(look, labels)
    names = [f"g{label:04}" for label in labels.tolist()]
    by_page = dict(zip(order, names, strict=True))
    return grouping_of(
        [by_page[page] for page in range(len(urls))],
        why="Decided on the paths, fields and labels of the pages.",
        model=model_of(table, names, look),
    )


def group_by_structure(table: FeatureTable) -> NDArray[np.intp]:
    """Join the closest profiles up to FINE; return the group of each page."""
    dense = table.incidence.toarray()
    distinct, page_to_distinct, sizes = np.unique(dense, axis=0, return_inverse=True, return_counts=True)
    P, w = np.ascontiguousarray(distinct.T, np.float32), table.weights.astype(np.float32)
    joins = join_profiles(P, w, sizes)
    heights = np.maximum.accumulate([join.height for join in joins]) if joins else np.zeros(0)
    group = np.arange(len(sizes))
    for join, height in zip(joins, heights, strict=True):
        if height < FINE:
            group[group == join.second] = join.first
    return group[page_to_distinct.ravel()]


def by_both(first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.intp]:
    """Number the distinct pairs of two numbers of each page."""
    return _numbered(first * (second.max() + 1) + second)


def _numbered(values: Sequence[object] | NDArray[np.intp]) -> NDArray[np.intp]:
    numbers: NDArray[np.intp] = np.unique(np.asarray(values), return_inverse=True)[1].ravel()
    return numbers


def join_cells(
    table: FeatureTable, patterns: NDArray[np.intp], cell: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Join the closest cells until none are closer than their addresses allow."""
    P = shares_of(table.incidence, cell)
    bounds = Bounds(table, patterns, cell)
    group = np.arange(P.shape[1])
    for join in join_profiles(P, table.weights.astype(np.float32), np.bincount(cell), 1.0, bounds):
        group[group == join.second] = join.first
    return _numbered(group[cell])


def split_twins(
    table: FeatureTable, patterns: NDArray[np.intp], group: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Split the groups that hold near-twins."""
    split = group.copy()
    for number in np.unique(group).tolist():
        members = np.flatnonzero(group == number)
        for part in split_by_address(table, patterns, members):
            for piece in split_by_section(table, part):
                split[piece] = piece.min() + len(group)
    return _numbered(split)


def model_of(table: FeatureTable, names: Sequence[str], look: NDArray[np.intp]) -> Model:
    """Return the profile of each look of each group on the strongest features."""
    profiles = shares_of(table.incidence, look)
    name_by_look = dict(zip(look.tolist(), names, strict=True))
    n_kept = min(MOST_MODEL_FEATURES, MOST_MODEL_CELLS // max(profiles.shape[1], 1))
    strongest = np.sort(np.argsort(-table.weights * profiles.max(axis=1), kind="stable")[:n_kept])
    return {
        "groups": [name_by_look[number] for number in range(profiles.shape[1])],
        "features": _packed(table.hashes[strongest]),
        "weights": _packed(table.weights[strongest].astype("<f4")),
        "shares": _packed(np.rint(profiles[strongest].T * 255).astype(np.uint8)),
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
