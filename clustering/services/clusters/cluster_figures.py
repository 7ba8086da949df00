"""Update what a clustering knows of its clusters when pages move.

Numbers of pages are counted. The other figures of a changed cluster come from some of its pages, so
that a person who moves a page does not wait until thousands are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from django.db.models import Count, Q

from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.cohesion import centre_of, cohesion_of, distance_to
from clustering.algorithms.kinds.cluster_kinds import cluster_kinds
from clustering.algorithms.url_patterns import pattern_of
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from clustering.services.clusters.grouped_pages import (
    N_EXAMPLES,
    best_signature,
    read_cluster_facts,
    signature_of,
)
from clustering.services.clusters.observer_processes import observe_few
from clustering.services.pages.stored_pages import stored_pages
from vertex.core.texts import storable

Value = TypeVar("Value")
MAX_READ_PAGES = 20  # of a changed cluster
MAX_URLS = 5_000  # of a changed cluster that make its pattern
UPDATED_FIELDS = (
    "n_pages",
    "signature",
    "url_pattern",
    "cohesion",
    "examples",
    "kind",
    "certainty",
)


def update_figures(clustering: Clustering, changed: Collection[int | None]) -> None:
    """Count the pages of all clusters again; describe anew those with other pages than before.

    Those that have no figures yet are described in any case.
    """
    n_by_cluster = _count_pages(clustering)
    stored = ClusterFigures.objects.filter(clustering=clustering)
    _save(clustering, list(stored), n_by_cluster, changed)
    clustering.n_pages = sum(n_by_cluster.values())
    _count_unassigned(clustering, n_by_cluster)


def update_changed_figures(clustering: Clustering, changed: Collection[int | None]) -> None:
    """Count the pages of some clusters again and describe them anew.

    None is among them where other pages are in no cluster now.
    """
    n_by_cluster = _count_pages(clustering, changed)
    stored = ClusterFigures.objects.filter(
        clustering=clustering, cluster__in=[pk for pk in changed if pk]
    )
    _save(clustering, list(stored), n_by_cluster, changed)
    if None in changed:
        _count_unassigned(clustering, n_by_cluster)


def _count_pages(
    clustering: Clustering, among: Collection[int | None] | None = None
) -> dict[int | None, int]:
    """Return the number of pages of each cluster, or of some; None stands for no cluster."""
    memberships = PageMembership.objects.filter(clustering=clustering)
    if among is not None:
        is_among = Q(cluster__in=[pk for pk in among if pk is not None])
        if None in among:
            is_among |= Q(cluster=None)
        memberships = memberships.filter(is_among)
    rows = memberships.order_by().values_list("cluster").annotate(n=Count("page"))
    return dict(rows)


def _save(
    clustering: Clustering,
    stored: list[ClusterFigures],
    n_by_cluster: Mapping[int | None, int],
    changed: Collection[int | None],
) -> None:
    """Save the figures that changed, and those of clusters that have none yet."""
    missing = {pk for pk in n_by_cluster if pk is not None} - {
        figures.cluster_id for figures in stored
    }
    new = [
        ClusterFigures(clustering=clustering, cluster=cluster, why=_why(cluster))
        for cluster in Cluster.objects.filter(pk__in=missing)
    ]
    updated = []
    for figures in [*stored, *new]:
        cluster = figures.cluster_id
        n_pages = n_by_cluster.get(cluster, 0)
        is_changed = n_pages > 0 and (cluster in changed or cluster in missing)
        if n_pages == figures.n_pages and not is_changed:
            continue
        figures.n_pages = n_pages
        if is_changed:
            _describe(clustering, figures)
        if figures.pk:
            updated.append(figures)
    ClusterFigures.objects.bulk_update(updated, UPDATED_FIELDS, batch_size=200)
    ClusterFigures.objects.bulk_create(new, batch_size=500)


def _count_unassigned(clustering: Clustering, n_by_cluster: Mapping[int | None, int]) -> None:
    clustering.n_unassigned = n_by_cluster.get(None, 0)
    share = clustering.n_unassigned / clustering.n_pages if clustering.n_pages else 0.0
    clustering.measures = {**clustering.measures, "unassigned": share}
    clustering.save(update_fields=["n_pages", "n_unassigned", "measures"])


def _why(cluster: Cluster) -> str:
    if cluster.is_hand_made:
        return "Made by hand."
    return "Kept by what people changed; the algorithm did not find it."


def _describe(clustering: Clustering, figures: ClusterFigures) -> None:
    """Set the figures of a cluster that has pages."""
    urls = _urls(clustering, figures)
    pages = stored_pages(clustering.site, [pk for pk, _ in spread(urls, MAX_READ_PAGES)])
    observed = observe_few(pages)
    centre = centre_of([page.paths for page in observed])
    by_distance = sorted(
        (distance_to(centre, seen.paths), page.url, page.pk)
        for page, seen in zip(pages, observed, strict=True)
    )
    vectors = Counter(page.vector for page in observed if page.vector is not None)
    clusterer = clusterer_with(clustering.algorithm, clustering.parameters)
    if figures.group:
        figures.signature, _ = signature_of(clusterer, figures.group, vectors)
    else:
        figures.signature, _ = best_signature(vectors)
    figures.url_pattern = storable(pattern_of([url for _, url in urls]))
    figures.cohesion = cohesion_of([distance for distance, _, _ in by_distance])
    figures.examples = [pk for _, _, pk in by_distance[:N_EXAMPLES]]
    figures.importance = figures.importance or float(figures.n_pages)
    if not figures.kind:  # one that the clustering knows by its site is not judged by itself
        facts = read_cluster_facts(pages, MAX_READ_PAGES)
        kind = cluster_kinds([facts])[0]
        figures.kind, figures.certainty = kind.kind, kind.certainty


def _urls(clustering: Clustering, figures: ClusterFigures) -> list[tuple[int, str]]:
    """Return pages of a cluster with their addresses, spread over all where there are too many."""
    members = PageMembership.objects.filter(clustering=clustering, cluster=figures.cluster)
    pks = list(members.order_by("page").values_list("page", flat=True))
    pages = Page.objects.filter(pk__in=spread(pks, MAX_URLS)).order_by("pk")
    return list(pages.values_list("pk", "url"))


def spread(values: Sequence[Value], n: int) -> list[Value]:
    """Return at most so many values, evenly spread."""
    if len(values) <= n:
        return list(values)
    return [values[index * len(values) // n] for index in range(n)]
