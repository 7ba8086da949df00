"""Let people look at some pages of a cluster and say whether they are one type; that makes a truth file."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F

from clustering.algorithms.cohesion import centre_of, distance_to
from clustering.algorithms.observation import observe_pages
from clustering.models import Cluster, ClusterFigures, ClusterReview, PageMembership
from clustering.models.clusterings import MembershipQuerySet
from clustering.services.clusters.cluster_figures import spread
from clustering.services.clusters.current_clusterings import locked_clustering
from clustering.services.pages.stored_pages import read_pages, stored_pages
from vertex.core.models import Site, User
from vertex.core.services.people import audit
from vertex.core.texts import storable

N_SHOWN = 10
N_LOOKED_AT = 50  # of those that were moved, and as many of the others
MOST_SHOWN = 1_000  # pages that a verdict may be about
COMMENT_LENGTH = 5_000


class ReviewPages(NamedTuple):
    """Pages by which a person judges a cluster."""

    random: list[PageMembership]
    strangest: list[PageMembership]  # the most distant from the others, the farthest first


def pages_to_review(cluster: Cluster, seed: int = 0) -> ReviewPages:
    """Return pages of a cluster in the current clustering: some at random, and the strangest.

    Those at random are always the same for a seed. A distance is told from the centre of the cluster that
    the algorithm found; where people changed the cluster, some pages are read and measured against its
    present one.
    """
    memberships = PageMembership.objects.of_cluster(cluster)
    pks = list(memberships.order_by("page").values_list("pk", flat=True))
    chosen = random.Random(seed).sample(pks, min(N_SHOWN, len(pks)))  # noqa: S311 - chance, no secret
    if memberships.moved_by_hand().exists() or _left(cluster).exists():
        strangest = _strangest_now(cluster, memberships)
    else:
        strangest = list(
            memberships.order_by(F("distance").desc(nulls_last=True), "page")[:N_SHOWN]
        )
        strangest = _with_pages([one.pk for one in strangest])
    return ReviewPages(_with_pages(chosen), strangest)


def store_review(
    *,
    cluster: Cluster,
    verdict: str,
    pages: Sequence[int],
    strangers: Sequence[int],
    comment: str,
    actor: User | None,
) -> ClusterReview:
    """Keep what a person says of a cluster after looking at some of its pages.

    Raises ValidationError for a verdict that there is not, for pages that are not in the cluster and for
    strangers that were not shown.
    """
    if verdict not in ClusterReview.Verdict.values:
        raise ValidationError(
            f"{verdict!r} is no verdict; use one of {', '.join(ClusterReview.Verdict.values)}"
        )
    shown, marked = sorted(set(pages)), sorted(set(strangers))
    _check_shown(shown, marked)
    with transaction.atomic():
        clustering = locked_clustering(cluster.site)
        inside = PageMembership.objects.filter(
            clustering=clustering, cluster=cluster, page__in=shown
        )
        outside = sorted(set(shown) - set(inside.values_list("page", flat=True)))
        if outside:
            raise ValidationError(
                f"not in {cluster} any more: {', '.join(map(str, outside))}; look again"
            )
        given = ClusterReview.objects.create(
            cluster=cluster,
            clustering=clustering,
            verdict=verdict,
            pages=shown,
            strangers=marked,
            comment=storable(comment, COMMENT_LENGTH),
            given_by=actor,
        )
        audit.record(
            actor=actor,
            action="cluster.judged",
            subject=cluster,
            site=cluster.site,
            detail={"verdict": verdict, "pages": len(shown), "strangers": len(marked)},
        )
    return given


def truth_lines(site: Site) -> Iterator[dict[str, str]]:
    """Yield the address and the type of each page whose cluster people found to be one type.

    The last verdict on a cluster counts, and the last one that showed a page says whether it is a stranger,
    which is left out. The type is the cluster's name.
    """
    for cluster in (
        Cluster.objects.filter(site=site, reviews__isnull=False).distinct().order_by("name")
    ):
        verdicts = list(ClusterReview.objects.filter(cluster=cluster).order_by("id"))
        if verdicts[-1].verdict != ClusterReview.Verdict.ONE_TYPE:
            continue
        strangers: set[int] = set()
        for verdict in verdicts:
            strangers = (strangers - set(verdict.pages)) | set(verdict.strangers)
        rows = PageMembership.objects.of_cluster(cluster).order_by("page")
        for page, url in rows.values_list("page", "page__url").iterator(chunk_size=5_000):
            if page not in strangers:
                yield {"url": url, "type": cluster.name}


def _check_shown(shown: Sequence[int], marked: Sequence[int]) -> None:
    if not shown:
        raise ValidationError("a verdict needs at least one page that was looked at")
    if len(shown) > MOST_SHOWN:
        raise ValidationError(
            f"a verdict is about at most {MOST_SHOWN:,} pages, not {len(shown):,}"
        )
    if not set(marked) <= set(shown):
        raise ValidationError("strangers must be among the pages that were looked at")


def _left(cluster: Cluster) -> MembershipQuerySet:
    """Return the pages that the algorithm found in a cluster and people took out of it."""
    return PageMembership.objects.current().filter(found=cluster).exclude(cluster=cluster)


def _strangest_now(cluster: Cluster, memberships: MembershipQuerySet) -> list[PageMembership]:
    """Return the strangest of some pages by the distances that they have now."""
    moved = memberships.moved_by_hand().order_by("page").values_list("page", flat=True)
    others = memberships.filter(found=cluster).order_by(F("distance").desc(nulls_last=True), "page")
    some = [*spread(list(moved), N_LOOKED_AT), *others.values_list("page", flat=True)[:N_LOOKED_AT]]
    extent = ClusterFigures.objects.filter(clustering__is_current=True, cluster=cluster).first()
    typical = _paths(cluster, extent.examples if extent else [])
    centre = centre_of(list(typical.values()))
    distances = {page: distance_to(centre, paths) for page, paths in _paths(cluster, some).items()}
    strangest = sorted(distances, key=lambda page: (-distances[page], page))[:N_SHOWN]
    pk_by_page = dict(memberships.filter(page__in=strangest).values_list("page", "pk"))
    found = _with_pages([pk_by_page[page] for page in strangest])
    for one in found:
        one.distance = round(distances[one.page_id], 4)
    return found


def _paths(cluster: Cluster, pages: Sequence[int]) -> dict[int, Any]:
    stored = stored_pages(cluster.site, pages)
    seen = observe_pages("shingles", list(read_pages(stored)))
    return {page.pk: one.paths for page, one in zip(stored, seen, strict=True)}


def _with_pages(pks: Sequence[int]) -> list[PageMembership]:
    """Return memberships with their pages, in the order given."""
    found = PageMembership.objects.select_related("page", "page__latest_snapshot").in_bulk(pks)
    return [found[pk] for pk in pks if pk in found]
