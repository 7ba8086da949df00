"""Keep what a clustering knows of its clusters right when pages change places.

Numbers of pages are counted. The other figures of a cluster that changed are told from some of its pages, so
that a person who moves a page does not wait until thousands are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple, TypeVar

from django.db.models import BigIntegerField, Count, ExpressionWrapper, F, Q, Sum

from clustering.algorithms.cohesion import centre_of, cohesion_of, distance_to
from clustering.algorithms.observation import observe_pages
from clustering.algorithms.url_patterns import pattern_of
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from clustering.services.clusters.grouped_pages import N_EXAMPLES, best_signature
from clustering.services.pages.stored_pages import read_pages, stored_pages
from vertex.core.texts import storable

Value = TypeVar("Value")
N_LOOKED_AT = 20  # pages of a changed cluster that are read
MOST_URLS = (
    5_000  # of a changed cluster; of a larger one so many, spread over all, make its pattern
)
PRIME = 1_000_003
KEPT = ("n_pages", "signature", "url_pattern", "cohesion", "examples")


class Fingerprint(NamedTuple):
    """What two sets of pages have in common only if they are the same."""

    n_pages: int
    total: int
    remainders: int


def fingerprints(
    clustering: Clustering, among: Collection[int | None] | None = None
) -> dict[int | None, Fingerprint]:
    """Return which pages each cluster has, or each of some; None for those in no cluster."""
    square = ExpressionWrapper(F("page_id") * F("page_id"), BigIntegerField())
    memberships = PageMembership.objects.filter(clustering=clustering)
    if among is not None:
        named = Q(cluster__in=[pk for pk in among if pk is not None])
        memberships = memberships.filter(named | Q(cluster=None) if None in among else named)
    rows = (
        memberships.order_by()
        .values_list("cluster")
        .annotate(n=Count("page"), total=Sum("page_id"), rest=Sum(square % PRIME))
    )
    return {cluster: Fingerprint(n, int(total), int(rest)) for cluster, n, total, rest in rows}


def keep_extents(
    clustering: Clustering, before: Mapping[int | None, Fingerprint] | None = None
) -> None:
    """Count the pages of all clusters again and describe anew those whose pages are not those of before.

    Without `before`, only clusters that have no extent yet are described.
    """
    now = fingerprints(clustering)
    changed = set() if before is None else {pk for pk in now if now[pk] != before.get(pk)}
    _keep(clustering, list(ClusterFigures.objects.filter(clustering=clustering)), now, changed)
    clustering.n_pages = sum(one.n_pages for one in now.values())
    _count_unassigned(clustering, now)


def keep_changed_extents(clustering: Clustering, changed: Collection[int | None]) -> None:
    """Count the pages of some clusters again and describe them anew.

    None is among them where other pages are in no cluster now.
    """
    now = fingerprints(clustering, changed)
    extents = ClusterFigures.objects.filter(
        clustering=clustering, cluster__in=[pk for pk in changed if pk]
    )
    _keep(clustering, list(extents), now, changed)
    if None in changed:
        _count_unassigned(clustering, now)


def _keep(
    clustering: Clustering,
    extents: list[ClusterFigures],
    now: Mapping[int | None, Fingerprint],
    changed: Collection[int | None],
) -> None:
    missing = {pk for pk in now if pk is not None} - {extent.cluster_id for extent in extents}
    new = [
        ClusterFigures(clustering=clustering, cluster=cluster, why=_why(cluster))
        for cluster in Cluster.objects.filter(pk__in=missing)
    ]
    counted = []
    for extent in [*extents, *new]:
        n_pages = now[extent.cluster_id].n_pages if extent.cluster_id in now else 0
        is_changed = n_pages > 0 and (extent.cluster_id in changed or extent.cluster_id in missing)
        if n_pages != extent.n_pages or is_changed:
            extent.n_pages = n_pages
            counted.append(extent)
        if is_changed:
            _describe(clustering, extent)
    ClusterFigures.objects.bulk_update(
        [extent for extent in counted if extent.pk], KEPT, batch_size=200
    )
    ClusterFigures.objects.bulk_create(new, batch_size=500)


def _count_unassigned(clustering: Clustering, now: Mapping[int | None, Fingerprint]) -> None:
    clustering.n_unassigned = now[None].n_pages if None in now else 0
    share = clustering.n_unassigned / clustering.n_pages if clustering.n_pages else 0.0
    clustering.measures = {**clustering.measures, "unassigned": share}
    clustering.save(update_fields=["n_pages", "n_unassigned", "measures"])


def _why(cluster: Cluster) -> str:
    if cluster.is_hand_made:
        return "Made by hand."
    return "Kept by what people changed; the algorithm did not find it."


def _describe(clustering: Clustering, extent: ClusterFigures) -> None:
    """Set the figures of a cluster that has pages."""
    urls = _urls(clustering, extent)
    pages = [pk for pk, _ in spread(urls, N_LOOKED_AT)]
    stored = stored_pages(clustering.site, pages)
    seen = observe_pages("shingles", list(read_pages(stored)))
    centre = centre_of([page.paths for page in seen])
    judged = sorted(
        (distance_to(centre, one.paths), page.url, page.pk)
        for page, one in zip(stored, seen, strict=True)
    )
    vectors = Counter(page.vector for page in seen if page.vector is not None)
    extent.signature = best_signature(vectors)[0]
    extent.url_pattern = storable(pattern_of([url for _, url in urls]))
    extent.cohesion = cohesion_of([distance for distance, _, _ in judged])
    extent.examples = [pk for _, _, pk in judged[:N_EXAMPLES]]
    extent.importance = extent.importance or float(extent.n_pages)


def _urls(clustering: Clustering, extent: ClusterFigures) -> list[tuple[int, str]]:
    rows = PageMembership.objects.filter(clustering=clustering, cluster=extent.cluster)
    pages = list(rows.order_by("page").values_list("page", flat=True))
    found = Page.objects.filter(pk__in=spread(pages, MOST_URLS)).order_by("pk")
    return list(found.values_list("pk", "url"))


def spread(values: Sequence[Value], n: int) -> list[Value]:
    """Return at most so many values, evenly spread."""
    return (
        [values[place * len(values) // n] for place in range(n)]
        if len(values) > n
        else list(values)
    )
