"""Learn the weights that tell lists from pages about one thing.

A logistic regression whose weights may only have the sign that each feature's meaning asks for:
what training sites would turn round is left out, as there are too few of them to learn it from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from benchmarks.cluster_kinds.labelled_clusters import ClusteredSite
from benchmarks.labelled_sites import GENERATED
from clustering.algorithms.kinds.cluster_kinds import Weights
from clustering.algorithms.kinds.kind_features import KindFeatures, SiteLinks, kind_features
from clustering.algorithms.kinds.kind_names import DETAIL, LIST

Floats = NDArray[np.float64]

FOR_LISTS = KindFeatures(
    n_slots=False,
    links_in=False,
    prose_share=False,
    heading_differs=False,
    detail_words_in_classes=False,
    size_ratio=True,
    repeat_own_links=True,
    rows_linked=True,
    list_share=True,
    list_words_in_address=True,
    pages_are_numbered=True,
    has_pager=True,
)
PENALTY = 0.3  # of the squared weights
WEIGHT_OF_GENERATED = 0.25  # four versions of a site are no four sites
DECIMALS = 5


class TaughtRow(NamedTuple):
    """A type of a site, measured, and what it teaches."""

    family: str
    features: KindFeatures
    is_list: bool


def measure_site(site: ClusteredSite) -> list[TaughtRow]:
    """Measure the types of a site; one of both kinds, or of neither, teaches nothing."""
    links = SiteLinks([cluster.facts for cluster in site.clusters])
    rows = []
    for number, cluster in enumerate(site.clusters):
        is_list = LIST in cluster.kinds
        if cluster.is_scored and is_list != (DETAIL in cluster.kinds):
            rows.append(TaughtRow(site.family, kind_features(number, links), is_list))
    return rows


def learn_weights(rows: Sequence[TaughtRow]) -> Weights:
    """Return the weights that some types teach."""
    table = np.array([row.features for row in rows], dtype=float)
    labels = np.array([float(row.is_list) for row in rows])
    shares = np.array([WEIGHT_OF_GENERATED if row.family == GENERATED else 1.0 for row in rows])
    means, scales = table.mean(axis=0), table.std(axis=0) + 1e-9
    weights = _fit((table - means) / scales, labels, shares)
    *weights_of_features, bias = np.round(weights, DECIMALS).tolist()
    return Weights(
        KindFeatures(*np.round(means, DECIMALS).tolist()),
        KindFeatures(*np.round(scales, DECIMALS).tolist()),
        KindFeatures(*weights_of_features),
        bias,
    )


def weights_json(weights: Weights) -> dict[str, Any]:
    return {
        "made_by": "python -m benchmarks.cluster_kinds",
        "features": {
            name: {
                "mean": getattr(weights.means, name),
                "scale": getattr(weights.scales, name),
                "weight": getattr(weights.weights, name),
            }
            for name in KindFeatures._fields
        },
        "bias": weights.bias,
    }


def _fit(table: Floats, labels: Floats, shares: Floats) -> Floats:
    """Return the weights and the bias that make the labels likeliest."""
    n_features = table.shape[1]
    signs = [(0, None) if is_for_lists else (None, 0) for is_for_lists in FOR_LISTS]
    result = minimize(
        _unlikeliness,
        np.zeros(n_features + 1),
        args=(table, labels, shares),
        jac=True,
        bounds=[*signs, (None, None)],
        method="L-BFGS-B",
    )
    return np.asarray(result.x)


def _unlikeliness(
    parameters: Floats, table: Floats, labels: Floats, shares: Floats
) -> tuple[float, Floats]:
    """Return how unlikely the labels are by some weights and a bias, and the slope of that."""
    weights, bias = parameters[:-1], parameters[-1]
    margins = table @ weights + bias
    of_rows = np.logaddexp(0, margins) - labels * margins
    unlikeliness = shares @ of_rows + PENALTY * weights @ weights
    probabilities = 1 / (1 + np.exp(-margins))
    errors = shares * (probabilities - labels)
    slope_of_weights = table.T @ errors + 2 * PENALTY * weights
    return float(unlikeliness), np.append(slope_of_weights, errors.sum())
