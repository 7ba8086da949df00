"""Every published clustering algorithm at its paper's setting and at others, beside two baselines.

The algorithms stand with their papers' settings on the page `clustering`; `auto` is left out of
both pages' question, since it has no settings and was trained on some of these sites: its figures
on sites left out are on the page `joins`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from benchmarks.clustering import typed_sites
from benchmarks.clustering.measuring import observe_all
from benchmarks.clustering.typed_sites import TypedSite
from benchmarks.joins.left_out import plain_groups
from benchmarks.report import markdown_table
from clustering.algorithms.automatic.page_features import observe
from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import ClusteringInputs, EvidenceMissing
from clustering.algorithms.measures import compare
from clustering.algorithms.url_patterns import address_patterns

TITLE = "Clustering algorithms at their settings"

Setting = Mapping[str, Any]
# The first setting of each algorithm is that of its paper.
SETTINGS: Mapping[str, Sequence[Setting]] = {
    "shingles": [{"shingle_length": length} for length in (10, 2, 3, 4, 5, 7, 15)],
    "keyclus": [
        {},
        {"k": 2},
        {"k": 3},
        {"occurrence_threshold": 0.9},
        {"occurrence_threshold": 1.0},
        {"presence_exponent": 2.0},
        {"weight_base": 0.7},
    ],
    "uxclust": [{"similarity_threshold": threshold} for threshold in (0.8, 0.6, 0.7, 0.9)],
    "uxclust_without_positions": [
        {"similarity_threshold": threshold} for threshold in (0.8, 0.6, 0.7, 0.9)
    ],
    "site_model": [{"dt": dt} for dt in (0.2, 0.1, 0.3, 0.4, 0.6)],
    "path_shingles": [{"k": k} for k in (4, 1, 2, 3, 6, 8)],
    "masked_path_shingles": [{"k": 8, "m": m} for m in (6, 2, 3, 4, 5, 7)],
    "pq_grams": [{"threshold": threshold} for threshold in (0.8, 0.5, 0.6, 0.7, 0.9)],
    "pq_grams_shingles": [{"k": k} for k in (4, 1, 2, 3, 6, 8)],
    "common_paths": [{"threshold": threshold} for threshold in (0.8, 0.5, 0.6, 0.7, 0.9)],
    "tree_distance": [{"threshold": threshold} for threshold in (0.8, 0.6, 0.7, 0.9)],
}
Scores = dict[str, list[float]]  # of a site, by the algorithm's name: one for each setting


def run(data: Path | None) -> str:
    """Return the body of the page."""
    scores = {name: _scores(typed_sites.load(name, data)) for name in typed_sites.names(data)}
    missing = typed_sites.absent(data)
    rows = [_row(name, scores) for name in (*BASELINES, *SETTINGS)]
    left_out = f"Left out, because they are not there: {', '.join(missing)}.\n\n" if missing else ""
    return (
        f"{left_out}Mean adjusted Rand over the {len(scores)} sites of [the "
        "scoreboard](clustering.md), without those that do "
        "not offer what an algorithm needs. **Paper**: at the setting of its paper. **Elsewhere**: "
        "each site at the setting "
        "that is best on the others. **Best**: at the one setting that is best on all sites, "
        "and **each site's best**: at the "
        "best of its own; both are chosen by the types, "
        "so they are more than anybody can expect.\n\n"
        "`plain` joins profiles by structure alone up to the widest gap; "
        "`address` groups by the pattern of the address. "
        "`auto` has no settings; on sites left out of its training it is measured "
        "[there](joins.md).\n\n"
        + markdown_table(
            ["algorithm", "sites", "paper", "elsewhere", "best", "its setting", "each site's best"],
            rows,
        )
    )


def _scores(site: TypedSite) -> Scores:
    """Return the adjusted Rand of each setting of each algorithm that can group the site."""
    scores = {name: [_rand(site, group(site))] for name, group in BASELINES.items()}
    evidence = site.evidence()
    for name, settings in SETTINGS.items():
        scores[name] = _scores_of(site, name, settings, evidence)
    return scores


def _scores_of(
    site: TypedSite, name: str, settings: Sequence[Setting], evidence: ClusteringInputs
) -> list[float]:
    """Return each setting's adjusted Rand; none where the site lacks what the algorithm needs."""
    observed = [each.name for each in CLUSTERERS[name].parameters if each.is_observed]
    # By what of a setting decides them: most settings group the same observations.
    observations: dict[tuple[Any, ...], Sequence[Any]] = {}
    scores = []
    for setting in settings:
        clusterer = CLUSTERERS[name].with_values(setting)
        decides = tuple(setting.get(parameter) for parameter in observed)
        if decides not in observations:
            observations[decides] = observe_all(clusterer, site)
        try:
            grouping = clusterer.cluster_pages(site.urls, observations[decides], evidence)
        except EvidenceMissing:
            return []
        scores.append(_rand(site, grouping.labels(len(site.urls))))
    return scores


def _rand(site: TypedSite, groups: Sequence[str | None]) -> float:
    return compare(dict(zip(site.urls, groups, strict=True)), site.type_by_url).adjusted_rand


def _plain(site: TypedSite) -> list[str | None]:
    return [str(group) for group in plain_groups([observe(page) for page in site.pages])]


def _by_address(site: TypedSite) -> list[str | None]:
    return list(address_patterns(site.urls))


BASELINES: Mapping[str, Callable[[TypedSite], list[str | None]]] = {
    "plain": _plain,
    "address": _by_address,
}


def _row(name: str, scores: Mapping[str, Scores]) -> list[object]:
    """Return what an algorithm comes to at the several choices of its setting."""
    of_sites = [of_site[name] for of_site in scores.values() if of_site[name]]
    settings = SETTINGS.get(name, [{}])
    if len(settings) == 1:
        return [name, len(of_sites), f"{mean(site[0] for site in of_sites):.3f}", "", "", "", ""]
    best = _best_setting(of_sites)
    elsewhere = [
        site[_best_setting([*of_sites[:place], *of_sites[place + 1 :]])]
        for place, site in enumerate(of_sites)
    ]
    written = ", ".join(f"{key} {value:g}" for key, value in settings[best].items())
    return [
        name,
        len(of_sites),
        f"{mean(site[0] for site in of_sites):.3f}",
        f"{mean(elsewhere):.3f}",
        f"{mean(site[best] for site in of_sites):.3f}",
        written or "the paper's",
        f"{mean(max(site) for site in of_sites):.3f}",
    ]


def _best_setting(of_sites: Sequence[Sequence[float]]) -> int:
    """Return which setting has the highest mean over sites; of equal ones the first."""
    n_settings = len(of_sites[0])
    return max(
        range(n_settings), key=lambda number: (mean(site[number] for site in of_sites), -number)
    )
