"""How much of a site a sample's signatures cover (Figure 3), and how steady clusterings are."""

from __future__ import annotations

import random
from statistics import mean, pstdev
from typing import Any

from benchmarks.clustering.typed_sites import TypedSite
from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.grouping import ClusteringInputs
from clustering.algorithms.measures import compare
from clustering.algorithms.published import shingles

N_DRAWS = 5
N_SEEDS = 20
SHARE_KEPT = 0.8
LARGE, LARGE_SHARE = 100, 0.001  # pages, and of the site: what makes a cluster large


def coverage(site: TypedSite, share: float) -> float | None:
    """Return the mean share of the large clusters' pages that the signatures of a sample cover.

    None where the site has no large cluster.
    """
    vectors = [shingles.observe(page) for page in site.pages]
    everything = shingles.cluster_pages(site.urls, vectors, ClusteringInputs())
    least = max(min(LARGE, len(vectors) // 10), LARGE_SHARE * len(vectors))
    large = [
        page for group in everything.groups if len(group.members) > least for page in group.members
    ]
    if not large:
        return None
    figures = []
    for seed in range(N_DRAWS):
        sample = random.Random(seed).sample(
            range(len(vectors)), max(2, round(share * len(vectors)))
        )
        model = shingles.cluster_pages(
            [site.urls[page] for page in sample],
            [vectors[page] for page in sample],
            ClusteringInputs(),
        ).model
        figures.append(
            mean(shingles.assign(model, vectors[page], "") is not None for page in large)
        )
    return mean(figures)


def steadiness(site: TypedSite, algorithm: str) -> dict[str, Any]:
    """Cluster 20 times four fifths of the pages in another order, and compare with the types."""
    clusterer = CLUSTERERS[algorithm]
    observations = [clusterer.observe(page) if clusterer.observe else None for page in site.pages]
    figures = []
    for seed in range(N_SEEDS):
        remaining = random.Random(seed).sample(
            range(len(site.pages)), round(SHARE_KEPT * len(site.pages))
        )
        urls = [site.urls[page] for page in remaining]
        within = set(urls)
        whole = site.evidence(seed=seed)
        evidence = ClusteringInputs(
            links=[link for link in whole.links if link.source in within and link.target in within],
            clicks=[click for click in site.clicks if click.url in within],
            read=whole.read,
            seed=seed,
        )
        grouping = clusterer.cluster_pages(
            urls, [observations[page] for page in remaining], evidence
        )
        labels = dict(zip(urls, grouping.labels(len(urls)), strict=True))
        figures.append(compare(labels, site.type_by_url).adjusted_rand)
    return {"mean": mean(figures), "deviation": pstdev(figures), "least": min(figures)}
