"""Clusters as lists show them: the extent with its share of the site, a page to look at, what people said."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.http import Http404

from clustering.models import (
    Cluster,
    ClusterChange,
    ClusterFigures,
    Clustering,
    ClusterVerdict,
    Page,
)
from clustering.services.looks.thumbnails import examples_of
from vertex.core.models import Job, Site

ON_SITE_PAGE = 8  # clusters
WORK = ("clustering.cluster_site", "clustering.split_cluster", "clustering.draw_thumbnails")


class ChangeRow(NamedTuple):
    """A change of a list, with the clusters that a split made."""

    change: ClusterChange
    n_pages: int
    parts: list[Cluster]


class ClusterRow(NamedTuple):
    """A cluster of a list."""

    extent: ClusterFigures
    cluster: Cluster
    share: float  # of the clustering's pages
    page: Page | None  # the most typical one
    verdict: ClusterVerdict | None  # the last one
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
    """Return what the page of a site shows of its clusters: how many there are, and the largest ones."""
    current = current_clustering(site)
    if current is None:
        return {"clustering": None, "n_clusters": 0, "cluster_rows": []}
    extents = ClusterFigures.objects.filter(clustering=current, n_pages__gt=0).select_related(
        "cluster"
    )
    return {
        "clustering": current,
        "n_clusters": extents.count(),
        "cluster_rows": cluster_rows(current, list(extents[:ON_SITE_PAGE])),
        "unassigned_share": current.n_unassigned / current.n_pages if current.n_pages else 0.0,
    }


def cluster_of(site: Site, name: str) -> Cluster:
    """Return the cluster of that name; 404 where the site has none."""
    found = Cluster.objects.filter(site=site, name=name).select_related("site").first()
    if found is None:
        raise Http404(f"{site.name} has no cluster “{name}”.")
    return found


def cluster_rows(
    clustering: Clustering, extents: Sequence[ClusterFigures], numbers: dict[int, int] | None = None
) -> list[ClusterRow]:
    """Return extents as rows; `numbers` are the clusters' marks."""
    examples = examples_of(extents)
    verdicts = last_verdicts([extent.cluster_id for extent in extents])
    known = numbers if numbers is not None else mark_numbers(clustering)
    return [
        ClusterRow(
            extent=extent,
            cluster=extent.cluster,
            share=extent.n_pages / clustering.n_pages if clustering.n_pages else 0.0,
            page=next(iter(examples[extent.pk]), None),
            verdict=verdicts.get(extent.cluster_id),
            number=known.get(extent.cluster_id, 0),
        )
        for extent in extents
    ]


def change_rows(changes: Iterable[Any]) -> list[ChangeRow]:
    """Return changes, read without their detail, as rows."""
    listed = list(changes)
    parts_of = {change.pk: list((change.groups or {}).values()) for change in listed}
    known = Cluster.objects.in_bulk({pk for parts in parts_of.values() for pk in parts})
    return [
        ChangeRow(
            change,
            change.n_pages or 0,
            [known[pk] for pk in parts_of[change.pk] if pk in known and pk != change.cluster_id],
        )
        for change in listed
    ]


def mark_numbers(clustering: Clustering) -> dict[int, int]:
    """Return the number of each cluster, by which its mark is chosen: by size, the largest first."""
    extents = ClusterFigures.objects.filter(clustering=clustering, n_pages__gt=0).order_by(
        "-n_pages", "cluster_id"
    )
    return {pk: number for number, pk in enumerate(extents.values_list("cluster_id", flat=True))}


def last_verdicts(clusters: Sequence[int]) -> dict[int, ClusterVerdict]:
    """Return the last verdict on each of some clusters."""
    given = (
        ClusterVerdict.objects.filter(cluster__in=clusters)
        .select_related("given_by")
        .order_by("id")
    )
    return {verdict.cluster_id: verdict for verdict in given}


def is_mixed(cluster: Cluster) -> bool:
    """Say whether the last verdict found several types in a cluster that was not split since."""
    last = last_verdicts([cluster.pk]).get(cluster.pk)
    if last is None or last.verdict != ClusterVerdict.Verdict.MIXED:
        return False
    splits = ClusterChange.objects.in_force().filter(cluster=cluster, kind=ClusterChange.Kind.SPLIT)
    return not splits.filter(made_at__gt=last.given_at).exists()


def work_on(site: Site) -> Job | None:
    """Return the unfinished job that groups the site's pages or draws them."""
    return Job.objects.unfinished().filter(site=site, task__in=WORK).order_by("pk").first()
