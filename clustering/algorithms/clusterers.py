"""The table of all algorithms that group pages; a further one is a module and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustering.algorithms import (
    auto,
    common_paths,
    keyclus,
    masked_path_shingles,
    path_shingles,
    pq_grams,
    shingles,
    site_model,
    uxclust,
)

if TYPE_CHECKING:
    from clustering.algorithms.grouping import Clusterer

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
    )
}
