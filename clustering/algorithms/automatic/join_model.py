"""Evaluate the trained model of a pair of groups: log-odds that one template made both.

Notation:   A model is boosted trees, the mean of several fits: each tree asks for one column after
            the other, a missing value goes where it went in training, and the leaves that a pair
            falls into add up to its log-odds. What a column adds is the sum of the steps that it
            makes in the trees' expected log-odds.
Readings:   The likeliest of many pairs is so in part by chance, the more so the more groups there
            are. How much was learned from joins on sites that the trees had not seen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.pair_features import COLUMNS

WEIGHTS = files(__package__) / "weights" / "joins.json"
LEAF = -1


@dataclass(frozen=True)
class Likeliest:
    """What the log-odds of the likeliest pair are worth: weights of a logistic regression."""

    of_log_odds: float
    of_fewness: float  # of one divided by how many groups there are
    constant: float

    def log_odds(self, by_trees: float, n_groups: int) -> float:
        """Return the log-odds that the likeliest pair is one, from those by the trees."""
        return self.of_log_odds * by_trees + self.of_fewness / n_groups + self.constant


AS_BY_TREES = Likeliest(1, 0, 0)


@dataclass(frozen=True)
class JoinModel:
    """Trees as arrays, a tree a row; each node has a column, a threshold and two followers."""

    columns: Sequence[str]
    column: NDArray[np.int32]  # of each node; LEAF where it ends
    threshold: NDArray[np.float64]  # a value up to it goes left
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    value: NDArray[np.float32]  # the log-odds that are expected from here on
    base: float
    depth: int
    likeliest: Likeliest

    @classmethod
    def from_json(cls, model: Mapping[str, Any]) -> JoinModel:
        """Read a model; trees are filled up to the size of the largest."""
        trees = model["trees"]
        width = max(len(tree["value"]) for tree in trees)

        def padded(name: str, fill: float, kind: type) -> NDArray[Any]:
            rows = [tree[name] + [fill] * (width - len(tree[name])) for tree in trees]
            return np.array(rows, kind)

        return cls(
            model["columns"],
            padded("column", LEAF, np.int32),
            padded("threshold", 0, np.float64),
            padded("left", 0, np.int32),
            padded("right", 0, np.int32),
            padded("missing_left", 0, np.bool_),
            padded("value", 0, np.float32),
            model["base"],
            model["depth"],
            Likeliest(**model["likeliest"]),
        )

    def log_odds(self, pairs: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the log-odds of each pair, a row of columns each."""
        leaf = self._leaves(pairs)[-1]
        log_odds: NDArray[np.float32] = np.take_along_axis(self.value, leaf.T, axis=1).sum(axis=0)
        return log_odds + np.float32(self.base)

    def contributions(self, pair: NDArray[np.float32]) -> dict[str, float]:
        """Return what each column that is not missing adds to the log-odds of one pair."""
        added = np.zeros(len(self.columns))
        steps = self._leaves(pair[np.newaxis])
        for before, after in pairwise(steps):
            for tree, (node, following) in enumerate(zip(before[0], after[0], strict=True)):
                if node != following:
                    gain = self.value[tree, following] - self.value[tree, node]
                    added[self.column[tree, node]] += gain
        added[np.isnan(pair)] = 0
        return {name: float(gain) for name, gain in zip(self.columns, added, strict=True) if gain}

    def _leaves(self, pairs: NDArray[np.float32]) -> list[NDArray[np.int32]]:
        """Return the node of each pair in each tree, step after step; the last ones are leaves."""
        trees = np.arange(len(self.column))[np.newaxis]
        rows = np.arange(len(pairs))[:, np.newaxis]
        node = np.zeros((len(pairs), len(self.column)), np.int32)
        steps = [node]
        for _ in range(self.depth):
            column = self.column[trees, node]
            x = pairs[rows, np.maximum(column, 0)]
            goes_left = np.where(
                np.isnan(x), self.missing_left[trees, node], x <= self.threshold[trees, node]
            )
            following = np.where(goes_left, self.left[trees, node], self.right[trees, node])
            node = np.where(column == LEAF, node, following).astype(np.int32)
            steps.append(node)
        return steps


# Saves reading a file of weights, 3.4 ms, at each clustering.
@cache
def trained_model() -> JoinModel:
    """Return the model that comes with the product.

    Raises RuntimeError where its weights were made for other columns than those that are measured.
    """
    model = JoinModel.from_json(json.loads(WEIGHTS.read_text("utf-8")))
    if tuple(model.columns) != COLUMNS:
        raise RuntimeError(
            "the weights were made for other columns; run: python -m benchmarks.joins"
        )
    return model
