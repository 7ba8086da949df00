"""The table of all algorithms that group pages; a further one is a module and a line here."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from clustering.algorithms.automatic import auto
from clustering.algorithms.grouping import Clusterer
from clustering.algorithms.parameters import describe
from clustering.algorithms.published import (
    common_paths,
    keyclus,
    masked_path_shingles,
    path_shingles,
    pq_grams,
    shingles,
    site_model,
    tree_distance,
    uxclust,
)

CLUSTERERS: dict[str, Clusterer] = {
    clusterer.name: clusterer
    for clusterer in (
        auto.CLUSTERER,
        shingles.CLUSTERER,
        keyclus.CLUSTERER,
        uxclust.CLUSTERER,
        uxclust.WITHOUT_POSITIONS,
        site_model.CLUSTERER,
        path_shingles.CLUSTERER,
        masked_path_shingles.CLUSTERER,
        pq_grams.CLUSTERER,
        pq_grams.BY_SHINGLES,
        common_paths.CLUSTERER,
        tree_distance.CLUSTERER,
    )
}


def clusterer_with(name: str, values: Mapping[str, object]) -> Clusterer:
    """Return an algorithm with these values for its parameters. Raises BadParameter."""
    return CLUSTERERS[name].with_values(values)


def parameter_lines() -> list[str]:
    """Return a line for each algorithm with parameters: its name, and what can be chosen."""
    return [
        f"{clusterer.name}: {'; '.join(map(describe, clusterer.parameters))}."
        for clusterer in CLUSTERERS.values()
        if clusterer.parameters
    ]


def sentence_of(name: str) -> str:
    """Return what an algorithm does: the first sentence of its card, or a variant's own."""
    clusterer = CLUSTERERS[name]
    if clusterer.sentence:
        return clusterer.sentence
    card = sys.modules[clusterer.cluster_pages.__module__].__doc__ or ""
    return " ".join(card.partition("\n\n")[0].split())
