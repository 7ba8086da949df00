"""Clusters as lists show them: their figures, share of the site, a page and the last review."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.http import Http404

from clustering.models import (
    Cluster,
    ClusterChange,
    ClusterFigures,
    Clustering,
    ClusterReview,
    Page,
)
from clustering.services.looks.thumbnails import examples_of
from vertex.core.models import Job, Site

N_ON_SITE_PAGE = 8  # clusters
CLUSTER_TASKS = (
    "clustering.cluster_site",
    "clustering.split_cluster",
    "clustering.draw_thumbnails",
)


class ChangeRow(NamedTuple):
    """A change of a list, with the clusters that a split made."""

    change: ClusterChange
    n_pages: int
    parts: list[Cluster]


class ShownCluster(NamedTuple):
    """A cluster of a list."""

    figures: ClusterFigures
    cluster: Cluster
    share: float  # of the clustering's pages
    page: Page | None  # the most typical one
    verdict: ClusterReview | None  # the last one
    number: int  # its mark on the map


def current_clustering(site: Site) -> Clustering | None:
    """Return the clustering that the site works with."""
    return (
        Clustering.objects.current()
        .without_model()
        .filter(site=site)
        .select_related("made_by")
        .first()
    )


def site_clusters(site: Site) -> dict[str, Any]:
    """Return what the page of a site shows of its clusters: their number, and the largest ones."""
    current = current_clustering(site)
    if current is None:
        return {"clustering": None, "n_clusters": 0, "cluster_rows": []}
    cluster_figures = current.figures.with_pages().select_related("cluster")
    return {
        "clustering": current,
        "n_clusters": cluster_figures.count(),
        "cluster_rows": cluster_rows(current, list(cluster_figures[:N_ON_SITE_PAGE])),
        "unassigned_share": current.n_unassigned / current.n_pages if current.n_pages else 0.0,
    }


def cluster_of(site: Site, name: str) -> Cluster:
    """Return the cluster of that name; 404 where the site has none."""
    cluster = Cluster.objects.filter(site=site, name=name).select_related("site").first()
    if cluster is None:
        raise Http404(f"{site.name} has no cluster “{name}”.")
    return cluster


def cluster_rows(
    clustering: Clustering,
    cluster_figures: Sequence[ClusterFigures],
    numbers: dict[int, int] | None = None,
) -> list[ShownCluster]:
    """Return a row for each cluster; `numbers` are the clusters' marks."""
    examples = examples_of(cluster_figures)
    reviews = last_reviews([figures.cluster_id for figures in cluster_figures])
    if numbers is None:
        numbers = mark_numbers(clustering)
    return [
        ShownCluster(
            figures=figures,
            cluster=figures.cluster,
            share=figures.n_pages / clustering.n_pages if clustering.n_pages else 0.0,
            page=next(iter(examples[figures.pk]), None),
            verdict=reviews.get(figures.cluster_id),
            number=numbers.get(figures.cluster_id, 0),
        )
        for figures in cluster_figures
    ]


def pictures_of(clusters: Sequence[Cluster]) -> dict[int, Page]:
    """Return the most typical page of each of some clusters, by cluster."""
    listed = list(ClusterFigures.objects.current().filter(cluster__in=clusters))
    examples = examples_of(listed)
    return {row.cluster_id: examples[row.pk][0] for row in listed if examples.get(row.pk)}


def change_rows(changes: Iterable[Any]) -> list[ChangeRow]:
    """Return changes, read without their detail, as rows."""
    listed = list(changes)
    parts_by_change = {change.pk: list((change.groups or {}).values()) for change in listed}
    cluster_by_pk = Cluster.objects.in_bulk(
        {pk for parts in parts_by_change.values() for pk in parts}
    )
    rows = []
    for change in listed:
        parts = [
            cluster_by_pk[pk]
            for pk in parts_by_change[change.pk]
            if pk in cluster_by_pk and pk != change.cluster_id
        ]
        rows.append(ChangeRow(change, change.n_pages or 0, parts))
    return rows


def mark_numbers(clustering: Clustering) -> dict[int, int]:
    """Return the number of each cluster, which chooses its mark: by size, the largest first."""
    by_size = clustering.figures.with_pages().order_by("-n_pages", "cluster_id")
    clusters = by_size.values_list("cluster_id", flat=True)
    return {cluster: number for number, cluster in enumerate(clusters)}


def last_reviews(clusters: Sequence[int]) -> dict[int, ClusterReview]:
    """Return the last review of each of some clusters."""
    reviews = ClusterReview.objects.filter(cluster__in=clusters).select_related("given_by")
    return {review.cluster_id: review for review in reviews.order_by("id")}


def is_mixed(cluster: Cluster) -> bool:
    """Return whether the last review found several types in a cluster that was not split since."""
    last = last_reviews([cluster.pk]).get(cluster.pk)
    if last is None or last.verdict != ClusterReview.Verdict.MIXED:
        return False
    splits = ClusterChange.objects.in_force().filter(cluster=cluster, kind=ClusterChange.Kind.SPLIT)
    return not splits.filter(made_at__gt=last.given_at).exists()


def work_on(site: Site) -> Job | None:
    """Return the unfinished job that groups the site's pages or draws them."""
    return Job.objects.unfinished().filter(site=site, task__in=CLUSTER_TASKS).order_by("pk").first()
