"""Fit boosted trees to labelled pairs of groups, and write them as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.joins.pairs import Pairs
from clustering.algorithms.automatic.join_model import (
    AS_BY_TREES,
    LEAF,
    JoinModel,
    Likeliest,
)
from clustering.algorithms.automatic.pair_features import COLUMNS, DIRECTIONS

N_FITS = 3  # whose mean is the model
N_TREES, N_LEAVES = 80, 8
LEARNING_RATE = 0.1
MIN_PAIRS_OF_LEAF = 200
SHRINKAGE = 5.0
SHARE_OF_COLUMNS = 0.4  # that a split may choose from
N_BINS = 64


def fit(pairs: Pairs, seed: int) -> HistGradientBoostingClassifier:
    """Fit trees to a draw of the pairs with their weights."""
    rng = np.random.default_rng(seed)
    weights = pairs.weights * rng.exponential(size=len(pairs.weights))
    return HistGradientBoostingClassifier(
        max_iter=N_TREES,
        max_leaf_nodes=N_LEAVES,
        learning_rate=LEARNING_RATE,
        min_samples_leaf=MIN_PAIRS_OF_LEAF,
        l2_regularization=SHRINKAGE,
        max_features=SHARE_OF_COLUMNS,
        max_bins=N_BINS,
        monotonic_cst=list(DIRECTIONS),
        early_stopping=False,
        random_state=seed,
    ).fit(pairs.columns, pairs.is_one, sample_weight=weights)


def as_json(fits: list[HistGradientBoostingClassifier], likeliest: Likeliest) -> dict[str, Any]:
    """Return the mean of several fits as one model."""
    trees = []
    depth = 0
    for fitted in fits:
        for (predictor,) in fitted._predictors:  # noqa: SLF001 - there is no public way to the trees
            nodes = predictor.nodes
            depth = max(depth, int(nodes["depth"].max()))
            trees.append(_tree(nodes, 1 / len(fits)))
    base = float(np.mean([fitted._baseline_prediction.item() for fitted in fits]))  # noqa: SLF001
    return {
        "columns": list(COLUMNS),
        "base": round(base, 5),
        "depth": depth,
        "likeliest": asdict(likeliest),
        "trees": trees,
    }


def _tree(nodes: NDArray[Any], share: float) -> dict[str, Any]:
    """Return a tree; an inner node's value is the mean of the pairs below it."""
    values = [0.0] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):  # children come after their parents
        node = nodes[number]
        if node["is_leaf"]:
            values[number] = float(node["value"]) * share
        else:
            left, right = int(node["left"]), int(node["right"])
            n_left, n_right = float(nodes[left]["count"]), float(nodes[right]["count"])
            values[number] = (n_left * values[left] + n_right * values[right]) / (n_left + n_right)
    return {
        "column": [LEAF if node["is_leaf"] else int(node["feature_idx"]) for node in nodes],
        "threshold": [float(node["num_threshold"]) for node in nodes],
        "left": [int(node["left"]) for node in nodes],
        "right": [int(node["right"]) for node in nodes],
        "missing_left": [int(node["missing_go_to_left"]) for node in nodes],
        "value": [round(value, 6) for value in values],
    }


def fit_several(pairs: Pairs, seeds: range) -> list[HistGradientBoostingClassifier]:
    """Return fits with several seeds; their mean moves less by chance than one."""
    return [fit(pairs, seed) for seed in seeds]


def model_of(pairs: Pairs, n_fits: int) -> JoinModel:
    """Return the mean of several fits, by which the likeliest pair is as likely as by the trees."""
    return JoinModel.from_json(as_json(fit_several(pairs, range(n_fits)), AS_BY_TREES))
