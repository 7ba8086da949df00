"""UXClust beside baselines on stored sites, with thresholds swept: Tables 2, 3, Figures 5 to 10."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from benchmarks.clustering import typed_sites
from benchmarks.clustering.typed_sites import TypedSite
from benchmarks.report import line_chart, markdown_table
from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.grouping import ClusteringInputs, RawPage
from clustering.algorithms.path_sets import Hashes, leaf_paths
from clustering.algorithms.published import uxclust
from clustering.algorithms.published.uxclust import (
    GroupOfXPath,
    digests_of,
    fingerprint_of,
    group_by_xpath,
    merge_groups,
    samples_of,
)

TITLE = "UXClust beside its baselines"
ALGORITHMS = (
    "uxclust",
    "uxclust_without_positions",
    "common_paths",
    "pq_grams",
    "tree_distance",
)
MIN_LINKED_SHARE = 0.5  # of the pages, for a site to count
SIMILARITIES = tuple(tenth / 10 for tenth in range(11))
OCCURRENCES = tuple(tenth / 10 for tenth in range(10))
SAMPLES = (1, 2, 3, 5, 10, 20)
CUT_OFFS = (1, 2, 5, 10, 20, 50, 100)
N_PAGES = (50, 100, 200, 400, 700)
SITE_OF_GROWTH = "networkx"
EXPLAINED = """\
Precision and recall on pairs of pages against the largest type of each site, as the paper judges
against one class: of the pairs in one cluster of which a page at least is of the type, the share
that both are; of the pairs of the type, the share in one cluster. Sites count where links lead to
half of the pages at least. Seconds are processor time with all pages in memory; GT-P/s are pages of
that type a second."""


class Score(NamedTuple):
    """How well a site's largest type was found."""

    precision: float
    recall: float
    seconds: float
    pages_a_second: float  # of the type


def run(data: Path | None = None) -> str:
    """Return the tables as sections in Markdown."""
    sites = [(name, typed_sites.load(name, data)) for name in typed_sites.names(data)]
    inputs = {name: site.evidence() for name, site in sites}
    linked = [(name, site) for name, site in sites if is_linked(site, inputs[name])]
    left_out = [name for name, _ in sites if name not in dict(linked)]
    growing = [(name, site) for name, site in linked if name == SITE_OF_GROWTH]
    return "\n\n".join(
        [
            EXPLAINED + (f" Left out: {', '.join(left_out)}." if left_out else ""),
            tables_2_and_3(linked, inputs),
            *(figures_5_and_6(site) for _, site in growing),
            figures_7_and_8(linked, inputs),
            figures_9_and_10(linked, inputs),
        ]
    )


def is_linked(site: TypedSite, evidence: ClusteringInputs) -> bool:
    targets = {link.target for link in evidence.links if link.source != link.target}
    return len(targets) >= MIN_LINKED_SHARE * len(site.pages)


def class_pairs(
    labels: Sequence[str | None], types: Sequence[str], type_: str
) -> tuple[float, float]:
    """Return precision and recall on pairs of pages against one type."""
    n_by_cluster = Counter(label for label in labels if label)
    of_type = Counter(
        label for label, each in zip(labels, types, strict=True) if label and each == type_
    )
    n_right = sum(n * (n - 1) / 2 for n in of_type.values())
    n_found = sum(n * (n - 1) / 2 + n * (n_by_cluster[label] - n) for label, n in of_type.items())
    n_type = sum(each == type_ for each in types)
    n_true = n_type * (n_type - 1) / 2
    return n_right / n_found if n_found else 1.0, n_right / n_true if n_true else 1.0


def largest_type(site: TypedSite) -> str:
    counts = Counter(site.type_by_url.values())
    return min(counts, key=lambda type_: (-counts[type_], type_))


def judge(site: TypedSite, evidence: ClusteringInputs, algorithm: str, **values: Any) -> Score:
    """Observe and group a site's pages, and compare the groups with its largest type."""
    clusterer = clusterer_with(algorithm, values)
    for page in site.pages:
        page.__dict__.pop("tree", None)  # each algorithm parses what it reads
    began = time.process_time()
    observations = [clusterer.observe(page) if clusterer.observe else None for page in site.pages]
    labels = clusterer.cluster_pages(site.urls, observations, evidence).labels(len(site.urls))
    seconds = time.process_time() - began
    types = [site.type_by_url[url] for url in site.urls]
    type_ = largest_type(site)
    precision, recall = class_pairs(labels, types, type_)
    return Score(precision, recall, seconds, types.count(type_) / max(seconds, 1e-3))


def tables_2_and_3(
    sites: Sequence[tuple[str, TypedSite]], inputs: Mapping[str, ClusteringInputs]
) -> str:
    scores = {
        name: {algorithm: judge(site, inputs[name], algorithm) for algorithm in ALGORITHMS}
        for name, site in sites
    }
    quality: list[list[object]] = [
        [
            name,
            Counter(site.type_by_url.values())[largest_type(site)],
            *(
                f"{scores[name][a].precision:.2f} / {scores[name][a].recall:.2f}"
                for a in ALGORITHMS
            ),
        ]
        for name, site in sites
    ]
    columns = {a: [by_algorithm[a] for by_algorithm in scores.values()] for a in ALGORITHMS}
    quality.append(
        [
            "**mean**",
            "",
            *(
                f"**{mean(s.precision for s in columns[a]):.2f} / "
                f"{mean(s.recall for s in columns[a]):.2f}**"
                for a in ALGORITHMS
            ),
        ]
    )
    speed = [
        [
            a,
            f"{sum(s.seconds for s in columns[a]):.1f} s",
            f"{mean(s.pages_a_second for s in columns[a]):,.0f}",
        ]
        for a in ALGORITHMS
    ]
    return (
        "## Table 2: precision / recall\n\nThe paper: UXClust 0.93 / 0.93, "
        "common paths 0.93 / 0.78.\n\n"
        + markdown_table(["site", "pages of the type", *ALGORITHMS], quality)
        + "\n\n## Table 3: time\n\nOf all these sites. The paper: 893, 3.14 and 0.40 GT-P/s.\n\n"
        + markdown_table(["algorithm", "seconds", "GT-P/s"], speed)
    )


def figures_5_and_6(site: TypedSite) -> str:
    """Show the baselines on random parts of a site."""
    rows: list[list[object]] = []
    for n_pages in N_PAGES:
        pages = random.Random(7).sample(site.pages, min(n_pages, len(site.pages)))
        part = TypedSite(pages, {page.url: site.type_by_url[page.url] for page in pages}, [])
        results = [judge(part, ClusteringInputs(), a) for a in ("common_paths", "pq_grams")]
        rows.append(
            [
                len(pages),
                *(f"{s.precision:.2f} / {s.recall:.2f} / {s.seconds:.2f} s" for s in results),
            ]
        )
    head = ["pages", "common_paths", "pq_grams"]
    return (
        f"## Figures 5 and 6: pages of {SITE_OF_GROWTH}\n\nPrecision / recall / seconds on a "
        "random part of the "
        "site. The paper: no significant difference.\n\n" + markdown_table(head, rows)
    )


def figures_7_and_8(
    sites: Sequence[tuple[str, TypedSite]], inputs: Mapping[str, ClusteringInputs]
) -> str:
    """Show what the thresholds of similarity and of occurrence do to precision and recall."""
    by_similarity: dict[float, list[tuple[float, float]]] = {t: [] for t in SIMILARITIES}
    by_occurrence: dict[float, list[tuple[float, float]]] = {t: [] for t in OCCURRENCES}
    for name, site in sites:
        groups = group_by_xpath(site.urls, inputs[name])
        samples = sampled_paths(site, groups)
        for threshold in SIMILARITIES:
            by_similarity[threshold].append(
                merged_pairs(site, groups, samples, threshold, uxclust.OCCURRENCE_THRESHOLD)
            )
        for threshold in OCCURRENCES:
            by_occurrence[threshold].append(
                merged_pairs(site, groups, samples, uxclust.SIMILARITY_THRESHOLD, threshold)
            )
    return "\n\n".join(
        [
            (
                "## Figures 7 and 8: thresholds of similarity and of occurrence\n\nMeans over the "
                "sites. The paper: precision "
                "and recall meet at a similarity of about 0.8; occurrence has a small effect, "
                "best at 0.2 to 0.3."
            ),
            _two_lines("similarity threshold", by_similarity),
            _two_lines("occurrence threshold", by_occurrence),
        ]
    )


def sampled_paths(site: TypedSite, groups: Sequence[GroupOfXPath]) -> list[list[Hashes]]:
    """Return the leaf paths of the samples of each group."""
    digests = digests_of(site.urls)
    paths: list[list[Hashes]] = []
    for group in groups:
        trees = (RawPage("", site.pages[page].body).tree for page in samples_of(group, digests))
        paths.append([leaf_paths(tree) for tree in trees])
    return paths


def merged_pairs(
    site: TypedSite,
    groups: Sequence[GroupOfXPath],
    samples: Sequence[Sequence[Hashes]],
    similarity: float,
    occurrence: float,
) -> tuple[float, float]:
    """Return precision and recall of groups that were merged at these thresholds."""
    prints = [fingerprint_of(of_group, occurrence) for of_group in samples]
    labels: list[str | None] = [None] * len(site.urls)
    for group, first in zip(groups, merge_groups(groups, prints, similarity), strict=True):
        for page in group.members:
            labels[page] = str(first)
    types = [site.type_by_url[url] for url in site.urls]
    return class_pairs(labels, types, largest_type(site))


def _two_lines(
    title: str, pairs_by_threshold: Mapping[float, Sequence[tuple[float, float]]]
) -> str:
    precision = [mean(p for p, _ in pairs) for pairs in pairs_by_threshold.values()]
    recall = [mean(r for _, r in pairs) for pairs in pairs_by_threshold.values()]
    rows = [
        [threshold, f"{p:.3f}", f"{r:.3f}"]
        for threshold, p, r in zip(pairs_by_threshold, precision, recall, strict=True)
    ]
    drawn = {"precision": precision, "recall": recall}
    return (
        markdown_table([title, "precision", "recall"], rows)
        + "\n\n"
        + line_chart(f"By {title}", list(pairs_by_threshold), drawn)
    )


def figures_9_and_10(
    sites: Sequence[tuple[str, TypedSite]], inputs: Mapping[str, ClusteringInputs]
) -> str:
    """Show what samples and cut-off do to precision, recall and time."""
    parts = [
        (
            "## Figures 9 and 10: samples of a group, and cut-off\n\nMeans over the sites, "
            "seconds of all. Pages in no group "
            "count as found alone. The paper: three samples are enough; "
            "a cut-off of 100 on sites of 76,503 pages on average, "
            "which is less than one page here, so that every value above 1 is harsher "
            "than the paper's."
        )
    ]
    for title, name, values in (
        ("samples", "n_samples", SAMPLES),
        ("cut-off", "cut_off", CUT_OFFS),
    ):
        rows = []
        for value in values:
            scores = [
                judge(site, inputs[site_], "uxclust", **{name: value}) for site_, site in sites
            ]
            rows.append(
                [
                    value,
                    f"{mean(s.precision for s in scores):.3f}",
                    f"{mean(s.recall for s in scores):.3f}",
                    f"{sum(s.seconds for s in scores):.1f}",
                ]
            )
        parts.append(markdown_table([title, "precision", "recall", "seconds"], rows))
    return "\n\n".join(parts)
