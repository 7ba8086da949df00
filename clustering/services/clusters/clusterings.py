"""What people do with clusterings: request one, make one current, drop one, compare two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.measures import adjusted_rand, confusion
from clustering.algorithms.parameters import BadParameter
from clustering.dom.addresses import address_keys
from clustering.models import Clustering, ClusterReview, Page, PageMembership
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clustering_store import delete_clusterings, switch_current
from clustering.services.clusters.current_changes import apply_changes
from clustering.services.clusters.current_clusterings import lock_clusters
from vertex.core.models import Job, Site, User
from vertex.core.services.jobs.requests import JobKind, JobRequest
from vertex.core.services.people import audit

MAX_MOVED_PAGES = 20  # that are shown


class MovedPage(NamedTuple):
    """A page that two clusterings put into different clusters."""

    page: int
    url: str
    cluster: str | None  # its name in the first clustering, None where the page is in none
    other_cluster: str | None  # in the other one


class ClusteringComparison(NamedTuple):
    """How two clusterings of a site agree."""

    n_pages: int  # that are in both
    n_moved: int
    adjusted_rand: float
    # A cluster of each and the number of pages in both, most first.
    table: list[tuple[str | None, str | None, int]]
    moved: list[MovedPage]


def clustering_request(
    *,
    site: Site,
    algorithm: str = "auto",
    n_sample: int | None = None,
    compare: bool = False,
    parameters: Mapping[str, object] | None = None,
) -> JobRequest:
    """Describe the clustering of a site's stored pages. Raises ValidationError for bad options.

    A parameter of the algorithm that is not named has its default.
    """
    if algorithm not in CLUSTERERS:
        raise ValidationError(f"{algorithm!r} is no algorithm; use one of {', '.join(CLUSTERERS)}")
    if n_sample is not None and n_sample < 1:
        raise ValidationError(f"the sample must have at least 1 page, not {n_sample}")
    try:
        values = CLUSTERERS[algorithm].values(parameters or {})
    except BadParameter as error:
        raise ValidationError({"parameters": str(error)}) from error
    params = {
        "algorithm": algorithm,
        "n_sample": n_sample,
        "compare": compare,
        "parameters": values,
    }
    return JobRequest(
        kind=CLUSTER_SITE,
        title=f"Cluster {site.name} by {algorithm}",
        site=site,
        params=params,
        key=f"cluster_site:{site.pk}",
        detail=params,
    )


def reclustering_request(*, site: Site) -> JobRequest:
    """Describe the clustering of a site once more, with its present algorithm and parameters.

    A site that was never clustered is clustered by default.
    """
    current = Clustering.objects.current().filter(site=site).without_model().first()
    if current is None or current.algorithm not in CLUSTERERS:
        return clustering_request(site=site)
    return clustering_request(
        site=site,
        algorithm=current.algorithm,
        parameters=current.parameters,
    )


CLUSTER_SITE = JobKind(
    "clustering.cluster_site", Job.Queue.LEARN, cluster_site, "clustering.requested"
)


def make_current(*, clustering: Clustering, actor: User | None) -> None:
    """Make a clustering the site's current one and reapply people's changes."""
    with transaction.atomic():
        lock_clusters(clustering.site_id)
        clustering.refresh_from_db(fields=["is_current"])
        if clustering.is_current:
            return
        switch_current(clustering)
        apply_changes(clustering=clustering)
        audit.record(
            actor=actor, action="clustering.made_current", subject=clustering, site=clustering.site
        )


def drop_clustering(*, clustering: Clustering, actor: User | None) -> None:
    """Delete a clustering. Raises ValidationError for the current one and one with reviews."""
    with transaction.atomic():
        lock_clusters(clustering.site_id)
        clustering.refresh_from_db(fields=["is_current"])
        if clustering.is_current:
            raise ValidationError(
                "the site works with this clustering; make another one current first"
            )
        if ClusterReview.objects.filter(clustering=clustering).exists():
            raise ValidationError(
                "people gave verdicts on clusters of this clustering; it is kept for them"
            )
        audit.record(
            actor=actor, action="clustering.dropped", subject=clustering, site=clustering.site
        )
        delete_clusterings([clustering.pk])


def compare_clusterings(clustering: Clustering, other: Clustering) -> ClusteringComparison:
    """Return how two clusterings of one site agree on the pages that are in both.

    As in the measures, a page in no cluster counts as a cluster of its own.
    """
    clusters, other_clusters = _cluster_by_page(clustering), _cluster_by_page(other)
    pages = sorted(clusters.keys() & other_clusters.keys())
    pairs = [(clusters[page], other_clusters[page]) for page in pages]
    table = confusion(
        [_label(page, clusters[page]) for page in pages],
        [_label(page, other_clusters[page]) for page in pages],
    )
    moved = [page for page in pages if clusters[page] != other_clusters[page]]
    step = max(1, len(moved) // MAX_MOVED_PAGES)
    shown = Page.objects.in_bulk(moved[::step][:MAX_MOVED_PAGES])
    n_pages_by_pair = Counter(pairs)
    ranked = sorted(n_pages_by_pair, key=lambda pair: (-n_pages_by_pair[pair], str(pair)))
    return ClusteringComparison(
        n_pages=len(pages),
        n_moved=len(moved),
        adjusted_rand=adjusted_rand(table),
        table=[(*pair, n_pages_by_pair[pair]) for pair in ranked],
        moved=[
            MovedPage(pk, page.url, clusters[pk], other_clusters[pk])
            for pk, page in sorted(shown.items())
        ],
    )


def assignments(clustering: Clustering) -> Iterator[dict[str, Any]]:
    """Yield the address and the cluster of each page, after what people changed."""
    rows = PageMembership.objects.filter(clustering=clustering).order_by("page")
    columns = rows.values_list("page__given_url", "cluster__name")
    for url, cluster in columns.iterator(chunk_size=5_000):
        yield {**address_keys(url), "cluster": cluster}


def _cluster_by_page(clustering: Clustering) -> dict[int, str | None]:
    rows = PageMembership.objects.filter(clustering=clustering)
    return dict(rows.values_list("page", "cluster__name").iterator(chunk_size=5_000))


def _label(page: int, cluster: str | None) -> tuple[str, int | str]:
    """Return what a page counts as: its cluster, or itself where it is in none."""
    return ("alone", page) if cluster is None else ("cluster", cluster)
