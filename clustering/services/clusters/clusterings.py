"""What people do with clusterings: ask for one, choose the one to work with, drop one, compare two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.measures import adjusted_rand, confusion
from clustering.models import Clustering, ClusterVerdict, Page, PageMembership
from clustering.services.clusters.arrivals import assign_arrivals
from clustering.services.clusters.cluster_changes import apply_changes
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.kept_clusterings import delete_clusterings, switch_current
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.services.people import audit

__all__ = [
    "ClusteringComparison",
    "assign_arrivals",
    "assignments",
    "cluster_site",
    "clustering_request",
    "compare_clusterings",
    "drop_clustering",
    "make_current",
]

N_MOVED = 20  # pages shown that are elsewhere


class MovedPage(NamedTuple):
    """A page that two clusterings put into different clusters."""

    page: int
    url: str
    one: str | None  # the cluster's name
    other: str | None


class ClusteringComparison(NamedTuple):
    """How two clusterings of a site agree."""

    one: Clustering
    other: Clustering
    n_pages: int  # that are in both
    n_moved: int
    adjusted_rand: float
    table: list[
        tuple[str | None, str | None, int]
    ]  # a cluster of each and the pages in both, most first
    moved: list[MovedPage]


def clustering_request(
    *,
    site: Site,
    algorithm: str = "auto",
    n_sample: int | None = None,
    compare: bool = False,
) -> JobRequest:
    """Describe the clustering of a site's stored pages. Raises ValidationError where it cannot be done."""
    if algorithm not in CLUSTERERS:
        raise ValidationError(f"{algorithm!r} is no algorithm; use one of {', '.join(CLUSTERERS)}")
    if n_sample is not None and n_sample < 1:
        raise ValidationError(f"the sample must have at least 1 page, not {n_sample}")
    params = {"algorithm": algorithm, "n_sample": n_sample, "compare": compare}
    return JobRequest(
        kind=CLUSTER_SITE,
        title=f"Cluster {site.name} by {algorithm}",
        site=site,
        params=params,
        key=f"cluster_site:{site.pk}",
        detail=params,
    )


CLUSTER_SITE = JobKind(
    "clustering.cluster_site", Job.Queue.LEARN, cluster_site, "clustering.requested"
)


def make_current(*, clustering: Clustering, actor: User | None) -> None:
    """Let the site work with this clustering; what people changed is repeated in it."""
    with transaction.atomic():
        Site.objects.select_for_update(no_key=True).get(pk=clustering.site_id)
        clustering.refresh_from_db(fields=["is_current"])
        if clustering.is_current:
            return
        switch_current(clustering)
        apply_changes(clustering=clustering)
        audit.record(
            actor=actor, action="clustering.made_current", subject=clustering, site=clustering.site
        )


def drop_clustering(*, clustering: Clustering, actor: User | None) -> None:
    """Drop a clustering. Raises ValidationError for the current one and one with verdicts."""
    with transaction.atomic():
        Site.objects.select_for_update(no_key=True).get(pk=clustering.site_id)
        clustering.refresh_from_db(fields=["is_current"])
        if clustering.is_current:
            raise ValidationError(
                "the site works with this clustering; make another one current first"
            )
        if ClusterVerdict.objects.filter(clustering=clustering).exists():
            raise ValidationError(
                "people gave verdicts on clusters of this clustering; it is kept for them"
            )
        audit.record(
            actor=actor, action="clustering.dropped", subject=clustering, site=clustering.site
        )
        delete_clusterings([clustering.pk])


def compare_clusterings(one: Clustering, other: Clustering) -> ClusteringComparison:
    """Return how two clusterings of one site agree on the pages that are in both.

    As in the measures, a page in no cluster counts as a cluster of its own.
    """
    cluster_by_page, elsewhere = _clusters(one), _clusters(other)
    both = sorted(cluster_by_page.keys() & elsewhere.keys())
    pairs = [(cluster_by_page[page], elsewhere[page]) for page in both]
    table = confusion(
        *(_alone(both, column) for column in (list(zip(*pairs, strict=True)) or [(), ()]))
    )
    moved = [page for page, (a, b) in zip(both, pairs, strict=True) if a != b]
    shown = Page.objects.in_bulk(moved[:: max(1, len(moved) // N_MOVED)][:N_MOVED])
    counts = Counter(pairs)
    return ClusteringComparison(
        one=one,
        other=other,
        n_pages=len(both),
        n_moved=len(moved),
        adjusted_rand=adjusted_rand(table),
        table=[
            (a, b, n)
            for (a, b), n in sorted(counts.items(), key=lambda cell: (-cell[1], str(cell[0])))
        ],
        moved=[
            MovedPage(pk, page.url, cluster_by_page[pk], elsewhere[pk])
            for pk, page in sorted(shown.items())
        ],
    )


def assignments(clustering: Clustering) -> Iterator[dict[str, Any]]:
    """Yield the address and the cluster of each page, after what people changed."""
    rows = PageMembership.objects.filter(clustering=clustering).order_by("page")
    for url, cluster in rows.values_list("page__url", "cluster__name").iterator(chunk_size=5_000):
        yield {"url": url, "cluster": cluster}


def _clusters(clustering: Clustering) -> dict[int, str | None]:
    rows = PageMembership.objects.filter(clustering=clustering)
    return dict(rows.values_list("page", "cluster__name").iterator(chunk_size=5_000))


def _alone(pages: list[int], clusters: tuple[str | None, ...]) -> list[tuple[str, int | str]]:
    return [
        ("alone", page) if cluster is None else ("cluster", cluster)
        for page, cluster in zip(pages, clusters, strict=True)
    ]
