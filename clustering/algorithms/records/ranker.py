"""Rank the candidates of a page by how much they look like its records.

Paper:      Shen and Karger, "U-REST" (WWW 2007), section 2: psi, a trained classifier that gives
            the cluster most like records the highest score. This takes its place by default.
Notation:   A model is a linear SVM and small regression trees over the same features; its score is
            the F that the trees expect of a candidate, moved by the SVM's margin.
Readings:   Candidates are ranked in two steps: all of them by quick features, the best by all
            features, among which are their places among each other.
Departures: Weights are plain JSON, written by `python -m benchmarks.train_urest`; ranking needs no
            library.
Cost:       Below a millisecond a candidate.
"""

from __future__ import annotations

import json
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp
from typing import Any, TypeAlias

from clustering.algorithms.records.candidates import RecordList
from clustering.algorithms.records.features import (
    DEEP_NAMES,
    FULL_NAMES,
    QUICK_NAMES,
    RANKED_NAMES,
    RELATION_NAMES,
    TAGS,
    deep_features,
    quick_features,
)
from clustering.algorithms.records.page_model import PageModel

Row: TypeAlias = Sequence[float]
# The nodes of a tree: (feature, threshold, left, right, value); feature -1 is a leaf.
Tree: TypeAlias = list[list[float]]

WEIGHTS = files(__package__) / "weights"
MIN_RELATED = 0.7  # share of the regions for which a relation between candidates must hold
N_COMPARED = 12
MAX_MARGIN = 30.0


class WeightsDoNotFit(Exception):
    """A file of weights was made for other features than those that are measured."""


@dataclass(frozen=True, slots=True)
class Model:
    """What was learnt: a linear SVM on scaled features, and trees."""

    names: list[str]
    means: Row
    scales: Row
    weights: Row
    share: float  # of the SVM in the score
    base: float
    trees: list[Tree]

    def score(self, row: Row) -> float:
        """Return a number that is higher the more the row looks like records."""
        return (1 - self.share) * self.expect(row) + self.share / (1 + exp(-self.margin(row)))

    def margin(self, row: Row) -> float:
        """Return the distance from the plane of the SVM, within bounds."""
        terms = zip(row, self.means, self.scales, self.weights, strict=True)
        margin = sum(weight * (value - mean) / scale for value, mean, scale, weight in terms)
        return max(min(margin, MAX_MARGIN), -MAX_MARGIN)

    def expect(self, row: Row) -> float:
        """Return the sum of the trees."""
        return self.base + sum(_leaf_value(tree, row) for tree in self.trees)


@dataclass(frozen=True, slots=True)
class Ranker:
    """Two models: one for all candidates, one for the best of them."""

    quick: Model
    full: Model
    least: float  # a page whose best candidate scores less has no records
    n_best: int  # candidates that all features are measured of

    def rank(
        self, page: PageModel, candidates: Sequence[RecordList]
    ) -> list[tuple[float, RecordList]]:
        """Return the best candidates with their scores, the best first."""
        best, quick_rows = preselect(page, candidates, self.quick, self.n_best)
        rows = complete(page, best, quick_rows)
        scored = [
            (self.full.score(row), candidate) for row, candidate in zip(rows, best, strict=True)
        ]
        return sorted(scored, key=lambda pair: -pair[0])


def preselect(
    page: PageModel, candidates: Sequence[RecordList], model: Model | None, n_best: int = 0
) -> tuple[list[RecordList], list[Row]]:
    """Return the best candidates by quick features alone, in their old order, and these features.

    Without a model, all candidates are returned.
    """
    rows = [quick_features(page, candidate) for candidate in candidates]
    indices = list(range(len(rows)))
    if model and len(rows) > n_best:
        indices = indices_of_best([model.score(row) for row in rows], n_best)
    return [candidates[index] for index in indices], [rows[index] for index in indices]


def indices_of_best(scores: Sequence[float], n_best: int) -> list[int]:
    """Return the indices of the highest scores, in rising order."""
    return sorted(sorted(range(len(scores)), key=lambda index: -scores[index])[:n_best])


def complete(
    page: PageModel,
    candidates: Sequence[RecordList],
    quick_rows: Sequence[Row],
    deep: Callable[[PageModel, RecordList], Row] = deep_features,
) -> list[Row]:
    """Return the rows of FULL_NAMES."""
    rows = [
        [*quick, *deep(page, candidate)]
        for quick, candidate in zip(quick_rows, candidates, strict=True)
    ]
    ranks = _rank_features(page, candidates, rows)
    return [[*row, *rank] for row, rank in zip(rows, ranks, strict=True)]


def _rank_features(
    page: PageModel, candidates: Sequence[RecordList], rows: Sequence[Row]
) -> list[Row]:
    """Return each candidate's places among the others, and which of them it holds or is held by."""
    names = [*QUICK_NAMES, *TAGS, *DEEP_NAMES]
    ranks: list[list[float]] = [[] for _ in rows]
    for name in RANKED_NAMES:
        column = names.index(name)
        values = [row[column] for row in rows]
        falling = sorted(-value for value in values)
        best = max(values, default=0.0) or 1.0
        for rank, value in zip(ranks, values, strict=True):
            rank.append(bisect_left(falling, -value) / max(len(values), 1))
            rank.append(value / best)
    relations = _relations(page, candidates)
    return [[*rank, *shares] for rank, shares in zip(ranks, relations, strict=True)]


def _relations(page: PageModel, candidates: Sequence[RecordList]) -> list[Row]:
    """Return which share of the others each candidate holds or is held by, by RELATION_NAMES."""
    n = len(candidates)
    starts = [[page.starts[first] for first, _ in candidate.regions] for candidate in candidates]
    stops = [[page.stops[last] for _, last in candidate.regions] for candidate in candidates]
    shares = [dict.fromkeys(RELATION_NAMES, 0.0) for _ in candidates]
    for outer, candidate in enumerate(candidates):
        step = max(len(candidate.regions) // N_COMPARED, 1)
        intervals = [page.interval(region) for region in candidate.regions[::step]]
        for inner in range(n):
            is_inside = (
                starts[inner][0] >= starts[outer][0] and stops[inner][-1] <= stops[outer][-1]
            )
            if inner == outer or not is_inside:
                continue
            n_held = [
                bisect_left(starts[inner], stop) - bisect_left(starts[inner], start)
                for start, stop in intervals
                if stop > start
            ]
            if _is_true_of_most([count == 1 for count in n_held]):
                shares[outer]["holds_one_of"] += 1 / n
                shares[inner]["held_by_one"] += 1 / n
            elif _is_true_of_most([count > 1 for count in n_held]):
                shares[outer]["holds_many_of"] += 1 / n
                shares[inner]["held_by_many"] += 1 / n
    return [list(share_by_name.values()) for share_by_name in shares]


def _is_true_of_most(truths: Sequence[bool]) -> bool:
    return sum(truths) >= MIN_RELATED * len(truths)


def _leaf_value(tree: Tree, row: Row) -> float:
    """Return the value of the leaf that a row falls into."""
    node = tree[0]
    while node[0] >= 0:
        node = tree[int(node[2] if row[int(node[0])] <= node[1] else node[3])]
    return node[4]


def read_model(stored: Mapping[str, Any], names: list[str]) -> Model:
    """Return a model from JSON. Raises WeightsDoNotFit."""
    if stored["names"] != names:
        raise WeightsDoNotFit(
            "the weights were made for other features; run: python -m benchmarks.train_urest"
        )
    return Model(**stored)


# Saves reading a file of weights, 5.3 ms, on each page.
@cache
def load_ranker(name: str = "records") -> Ranker:
    """Return the ranker that ships. Raises WeightsDoNotFit."""
    stored = json.loads((WEIGHTS / f"{name}.json").read_text())
    return Ranker(
        quick=read_model(stored["quick"], QUICK_NAMES),
        full=read_model(stored["full"], FULL_NAMES),
        least=stored["least"],
        n_best=stored["n_best"],
    )
