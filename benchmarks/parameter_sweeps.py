"""The published clustering algorithms at their paper's parameters, at the best one value, and at each site's best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.clustering import typed_sites
from benchmarks.clustering.typed_sites import TypedSite
from benchmarks.report import markdown_table
from clustering.algorithms.clusterers import CLUSTERERS, clusterer_with
from clustering.algorithms.grouping import ClusteringInputs, EvidenceMissing, Observation
from clustering.algorithms.measures import compare

TITLE = "Published algorithms at other parameters"
N_SEEDS = 3  # of those that choose by hash
BY_HASH = {"path_shingles", "masked_path_shingles", "pq_grams_shingles"}
Values = Mapping[str, Any]
SWEEPS: dict[str, Sequence[Values]] = {
    "shingles": [{"shingle_length": length} for length in (10, 1, 2, 3, 4, 5, 7, 15, 20)],
    "keyclus": [{"k": 1}, {"k": 2}, {"occurrence_threshold": 0.9}, {"weight_base": 0.7}],
    "uxclust": [{"similarity_threshold": share / 10} for share in (8, 5, 6, 7, 9)],
    "uxclust_without_positions": [
        {"similarity_threshold": share / 10} for share in (8, 5, 6, 7, 9)
    ],
    "site_model": [
        *({"dt": share / 10} for share in (2, 1, 3, 4, 5)),
        *({"n": n} for n in (1, 3, 5, 10)),
        {"strategy": "sparsest_first"},
        {"stop": "peak"},
    ],
    "path_shingles": [{"k": k} for k in (4, 1, 2, 3, 5, 6, 7, 8)],
    "masked_path_shingles": [
        {"k": k, "m": m} for k, m in ((8, 6), (4, 2), (4, 3), (6, 4), (8, 5), (8, 7))
    ],
    "pq_grams": [{"threshold": share / 10} for share in (8, 5, 6, 7, 9)],
    "pq_grams_shingles": [{"k": k} for k in (4, 1, 2, 3, 5, 6, 7, 8)],
    "common_paths": [{"threshold": share / 10} for share in (8, 5, 6, 7, 9)],
    "tree_distance": [{"threshold": share / 10} for share in (8, 5, 6, 7, 9)],
}  # the paper's values first
EXPLAINED = """\
Adjusted Rand on the sites of [the scoreboard](clustering.md). The first line of each algorithm has its paper's
values, which are the defaults. `Chosen on other sites` takes for each site the value that is best on all sites but
this one and its other editions: what tuning would gain. `Best value` is the one of the tried values whose mean is
highest, `each site's best` chooses it for each site with the help of its types: both are chosen on the sites they are
judged on and are bounds, no figures of quality. KeyClus counts on the sites with a search log only, UXClust on those with links. Algorithms that
choose by hash have the mean of 3 seeds. `auto` has no parameters."""

Scores = dict[str, dict[str, float]]  # by what was chosen, the score of each site


def run(data: Path | None = None) -> str:
    """Return the tables as sections in Markdown."""
    scores: dict[str, Scores] = {algorithm: {} for algorithm in SWEEPS}
    names = typed_sites.names(data)
    for name in names:
        site = typed_sites.load(name, data)
        inputs = site.evidence()
        for algorithm, sweep in SWEEPS.items():
            for written, score in sweep_site(site, inputs, algorithm, sweep).items():
                scores[algorithm].setdefault(written, {})[name] = score
    return "\n\n".join([EXPLAINED, board(scores), all_values(scores)])


def sweep_site(
    site: TypedSite, inputs: ClusteringInputs, algorithm: str, sweep: Sequence[Values]
) -> dict[str, float]:
    """Return the score of each choice of values on a site; none where the site lacks what is needed."""
    by_values: dict[str, float] = {}
    observations: list[Observation] = []
    seeds = range(N_SEEDS) if algorithm in BY_HASH else range(1)
    for values in sweep:
        clusterer = clusterer_with(algorithm, values)
        if not observations or any(p.is_observed for p in clusterer.parameters):
            observe = clusterer.observe
            observations = [observe(page) if observe else None for page in site.pages]
        try:
            groupings = [
                clusterer.cluster_pages(site.urls, observations, replace(inputs, seed=seed))
                for seed in seeds
            ]
        except EvidenceMissing:
            return {}
        rands = []
        for grouping in groupings:
            labels = dict(zip(site.urls, grouping.labels(len(site.urls)), strict=True))
            rands.append(compare(labels, site.type_by_url).adjusted_rand)
        by_values[written_values(values)] = mean(rands)
    return by_values


def written_values(values: Values) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


def board(scores: Mapping[str, Scores]) -> str:
    """Show what better parameters could add."""
    rows = []
    for algorithm, by_values in scores.items():
        published = next(iter(by_values))
        names = list(by_values[published])
        best = best_on(by_values, names)
        left_out = [
            by_values[best_on(by_values, [n for n in names if not are_editions(n, name)])][name]
            for name in names
        ]
        per_site = [max(values[name] for values in by_values.values()) for name in names]
        rows.append(
            [
                CLUSTERERS[algorithm].title,
                len(per_site),
                f"{mean(by_values[published].values()):.3f}",
                f"{mean(left_out):.3f}",
                f"{mean(by_values[best].values()):.3f} ({best})",
                f"{mean(per_site):.3f}",
            ]
        )
    head = [
        *("algorithm", "sites", "as published", "chosen on other sites", "best value"),
        "each site's best",
    ]
    return "## As published and at best\n\n" + markdown_table(head, rows)


def best_on(by_values: Scores, names: Sequence[str]) -> str:
    """Return the values that are best on some sites; of equal ones the first."""
    return max(by_values, key=lambda written: mean(by_values[written][name] for name in names))


def are_editions(name: str, other: str) -> bool:
    """Return whether two names are of the same site at different times."""
    return name.split(" ", maxsplit=1)[0] == other.split(" ", maxsplit=1)[0]


def all_values(scores: Mapping[str, Scores]) -> str:
    rows = [
        [f"{algorithm}, {written}", f"{mean(values.values()):.3f}", f"{min(values.values()):.3f}"]
        for algorithm, by_values in scores.items()
        for written, values in by_values.items()
    ]
    return "## All values\n\n" + markdown_table(["algorithm", "mean", "least"], rows)
