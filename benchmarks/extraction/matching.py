"""How many later pages find a cluster in the paper's order (IV-A) and by the clustering's model.

Half of a site's pages are clustered, the others come later. A page is served where it finds a
cluster, and served rightly where most pages of that cluster have the page's type.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from benchmarks.clustering import typed_sites
from benchmarks.clustering.typed_sites import TypedSite
from benchmarks.report import markdown_table
from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import Clusterer, Grouping, RawPage, group_key
from clustering.algorithms.published.shingles import shingle_vector
from clustering.algorithms.url_patterns import pattern_of
from clustering.dom.addresses import url_hash
from clustering.services.clusters.grouped_pages import signature_of
from rules.algorithms.running.matching import (
    BY_MODEL,
    BY_SIGNATURE,
    ClusterProfile,
    Clusters,
    GroupModel,
    match_by_signature,
    match_page,
)

ALGORITHMS = ("auto", "shingles")


class Shares(NamedTuple):
    """What came of the later pages of a site."""

    served: float  # of all later pages
    right: float  # of all later pages


def section(data: Path | None) -> str:
    """Return the share of later pages that find a cluster, by site, as a section of the page."""
    shares: dict[tuple[str, str], list[Shares]] = {
        (algorithm, order): [] for algorithm in ALGORITHMS for order in (BY_MODEL, BY_SIGNATURE)
    }
    rows: list[list[object]] = []
    n_profiles: list[float] = []
    for name in typed_sites.names(data):
        clustered, later = halves(typed_sites.load(name, data))
        row: list[object] = [name, len(later.pages)]
        for algorithm in ALGORITHMS:
            clusters, type_by_cluster = clusters_of(CLUSTERERS[algorithm], clustered)
            for order in (BY_MODEL, BY_SIGNATURE):
                result = measure(replace(clusters, variant=order), type_by_cluster, later)
                shares[algorithm, order].append(result)
                row.append(f"{result.served:.2f} / {result.right:.2f}")
            if algorithm == "shingles":
                n_profiles.append(mean(count_profiles(page, clusters) for page in later.pages))
                row.append(f"{n_profiles[-1]:.2f}")
        rows.append(row)
    total: list[object] = ["**mean**", ""]
    for column in shares.values():
        served, right = (mean(figures) for figures in zip(*column, strict=True))
        total.append(f"**{served:.2f} / {right:.2f}**")
    total.append(f"**{mean(n_profiles):.2f}**")
    header = ["site", "later pages"]
    header += [
        f"{algorithm}, {order}" for algorithm in ALGORITHMS for order in ("model (default)", "IV-A")
    ]
    header.append("shingles, rules a page")
    about = (
        "Half of a site's pages are clustered, the others come later. A cell: "
        "the share of the later pages "
        "that find a cluster / that find one of their type. IV-A: "
        "the address fits the cluster's pattern and its "
        "signature covers the page; of several the most important (`match_by` of a site). "
        "Rules a page: clusters "
        "whose address and signature fit; the paper has about two."
    )
    absent = typed_sites.absent(data)
    left_out = f"Not found, so left out: {', '.join(absent)}." if absent else ""
    return "\n\n".join(
        part for part in (about, markdown_table(header, [*rows, total]), left_out) if part
    )


def halves(site: TypedSite) -> tuple[TypedSite, TypedSite]:
    """Return a site as two, each with every second page in the order of the hashes of addresses."""
    pages = sorted(site.pages, key=lambda page: url_hash(page.url))
    return _part(site, pages[::2]), _part(site, pages[1::2])


def _part(site: TypedSite, pages: list[RawPage]) -> TypedSite:
    type_by_url = {page.url: site.type_by_url[page.url] for page in pages}
    return TypedSite(
        pages, type_by_url, [click for click in site.clicks if click.url in type_by_url]
    )


def clusters_of(clusterer: Clusterer, site: TypedSite) -> tuple[Clusters, dict[str, str]]:
    """Return the clusters of a site as extraction gets them, and the commonest type of each."""
    observe = clusterer.observe or (lambda _page: None)
    grouping = clusterer.cluster_pages(
        site.urls, [observe(page) for page in site.pages], site.evidence()
    )
    profiles, clusters_by_group, type_by_cluster = [], {}, {}
    for number, group in enumerate(grouping.groups):
        name = f"c{number}"
        pages = [site.pages[member] for member in group.members]
        profiles.append(profile_of(clusterer, name, grouping, number, pages))
        clusters_by_group[group_key(group.name)] = [name]
        types = Counter(site.type_by_url[page.url] for page in pages)
        type_by_cluster[name] = types.most_common(1)[0][0]
    model = GroupModel(clusterer.name, grouping.model, clusters_by_group)
    return Clusters(tuple(profiles), model), type_by_cluster


def profile_of(
    clusterer: Clusterer, name: str, grouping: Grouping, number: int, pages: Sequence[RawPage]
) -> ClusterProfile:
    group = grouping.groups[number]
    vectors = [shingle_vector(page.body, page.content_type) for page in pages]
    n_by_vector = Counter(vector for vector in vectors if vector is not None)
    signature, _ = signature_of(clusterer, group.name, n_by_vector)
    return ClusterProfile(
        name, pattern_of([page.url for page in pages]), signature, group.importance
    )


def measure(clusters: Clusters, type_by_cluster: dict[str, str], later: TypedSite) -> Shares:
    """Return how many of the later pages are served, and rightly."""
    n_served = n_right = 0
    for page in later.pages:
        cluster = match_page(page, clusters).cluster
        if cluster is None:
            continue
        n_served += 1
        n_right += type_by_cluster[cluster] == later.type_by_url[page.url]
    return Shares(n_served / len(later.pages), n_right / len(later.pages))


def count_profiles(page: RawPage, clusters: Clusters) -> int:
    """Return how many clusters fit a page by address and signature."""
    return sum(
        match_by_signature(page, [profile]).cluster is not None for profile in clusters.profiles
    )
