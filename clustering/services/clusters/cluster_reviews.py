"""Review clusters: show some pages, store a person's verdict, make a truth file of all."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F

from clustering.algorithms.cohesion import centre_of, distance_to
from clustering.algorithms.path_sets import Hashes
from clustering.dom.addresses import address_keys
from clustering.models import Cluster, ClusterFigures, ClusterReview, PageMembership
from clustering.models.clusterings import MembershipQuerySet
from clustering.services.clusters.cluster_figures import spread
from clustering.services.clusters.current_clusterings import locked_clustering
from clustering.services.clusters.observer_processes import observe_few
from clustering.services.pages.stored_pages import stored_pages
from vertex.core.models import Site, User
from vertex.core.services.people import audit
from vertex.core.texts import storable

N_SHOWN = 10
MAX_MEASURED = 50  # pages that were moved, and as many of the others
MAX_PAGES = 1_000  # that a verdict may be about
MAX_COMMENT_CHARS = 5_000


class ReviewPages(NamedTuple):
    """Pages by which a person judges a cluster."""

    random: list[PageMembership]
    strangest: list[PageMembership]  # the most distant from the others, the farthest first


def pages_to_review(cluster: Cluster, seed: int = 0) -> ReviewPages:
    """Return pages of a cluster in the current clustering: some at random, and the strangest.

    Those at random are always the same for a seed. Stored distances are from the centre of the
    cluster that the algorithm found; where people changed the cluster, some pages are read and
    measured against its present centre.
    """
    memberships = PageMembership.objects.of_cluster(cluster)
    pks = list(memberships.order_by("page").values_list("pk", flat=True))
    chance = random.Random(seed)  # noqa: S311 - chance, no secret
    random_pks = chance.sample(pks, min(N_SHOWN, len(pks)))
    if memberships.moved_by_hand().exists() or _moved_away(cluster).exists():
        strangest = _strangest_measured(cluster, memberships)
    else:
        farthest = memberships.order_by(F("distance").desc(nulls_last=True), "page")
        strangest = _with_pages(list(farthest.values_list("pk", flat=True)[:N_SHOWN]))
    return ReviewPages(_with_pages(random_pks), strangest)


def store_review(
    *,
    cluster: Cluster,
    verdict: str,
    pages: Sequence[int],
    strangers: Sequence[int],
    comment: str,
    actor: User | None,
) -> ClusterReview:
    """Store a person's verdict on a cluster, with the pages that were shown.

    Raises ValidationError for a verdict that there is not, for pages that are not in the cluster
    and for strangers that were not shown.
    """
    if verdict not in ClusterReview.Verdict.values:
        raise ValidationError(
            f"{verdict!r} is no verdict; use one of {', '.join(ClusterReview.Verdict.values)}"
        )
    shown_pages, odd_pages = sorted(set(pages)), sorted(set(strangers))
    _check_pages(shown_pages, odd_pages)
    with transaction.atomic():
        clustering = locked_clustering(cluster.site)
        inside = PageMembership.objects.filter(
            clustering=clustering, cluster=cluster, page__in=shown_pages
        )
        outside = sorted(set(shown_pages) - set(inside.values_list("page", flat=True)))
        if outside:
            raise ValidationError(
                f"not in {cluster} any more: {', '.join(map(str, outside))}; look again"
            )
        review = ClusterReview.objects.create(
            cluster=cluster,
            clustering=clustering,
            verdict=verdict,
            pages=shown_pages,
            strangers=odd_pages,
            comment=storable(comment, MAX_COMMENT_CHARS),
            given_by=actor,
        )
        audit.record(
            actor=actor,
            action="cluster.judged",
            subject=cluster,
            site=cluster.site,
            detail={"verdict": verdict, "pages": len(shown_pages), "strangers": len(odd_pages)},
        )
    return review


def truth_lines(site: Site) -> Iterator[dict[str, str]]:
    """Yield the address and the type of each page whose cluster people found to be one type.

    The last review of a cluster counts, and the last one that showed a page decides whether it is a
    stranger, which is left out. The type is the cluster's name.
    """
    reviewed = Cluster.objects.filter(site=site, reviews__isnull=False).distinct()
    for cluster in reviewed.order_by("name"):
        reviews = list(ClusterReview.objects.filter(cluster=cluster).order_by("id"))
        if reviews[-1].verdict != ClusterReview.Verdict.ONE_TYPE:
            continue
        strangers: set[int] = set()
        for review in reviews:
            strangers -= set(review.pages)
            strangers |= set(review.strangers)
        members = PageMembership.objects.of_cluster(cluster).order_by("page")
        for page, url in members.values_list("page", "page__given_url").iterator(chunk_size=5_000):
            if page not in strangers:
                yield {**address_keys(url), "type": cluster.name}


def _check_pages(shown: Sequence[int], odd: Sequence[int]) -> None:
    if not shown:
        raise ValidationError("a verdict needs at least one page that was looked at")
    if len(shown) > MAX_PAGES:
        raise ValidationError(f"a verdict is about at most {MAX_PAGES:,} pages, not {len(shown):,}")
    if not set(odd) <= set(shown):
        raise ValidationError("strangers must be among the pages that were looked at")


def _moved_away(cluster: Cluster) -> MembershipQuerySet:
    """Return the pages that the algorithm found in a cluster and people took out of it."""
    return PageMembership.objects.current().filter(found=cluster).exclude(cluster=cluster)


def _strangest_measured(cluster: Cluster, memberships: MembershipQuerySet) -> list[PageMembership]:
    """Return the strangest pages of a cluster, the strangest first.

    The cluster's examples make its centre. How far a page is from it is measured for some pages
    only: those that people moved into the cluster, and those that its clustering found farthest.
    """
    moved = memberships.moved_by_hand().order_by("page").values_list("page", flat=True)
    by_distance = memberships.filter(found=cluster).order_by(
        F("distance").desc(nulls_last=True), "page"
    )
    measured = [
        *spread(list(moved), MAX_MEASURED),
        *by_distance.values_list("page", flat=True)[:MAX_MEASURED],
    ]
    figures = ClusterFigures.objects.current().filter(cluster=cluster).first()
    examples = _paths_by_page(cluster, figures.examples if figures else [])
    centre = centre_of(list(examples.values()))
    distance_by_page = {
        page: distance_to(centre, paths)
        for page, paths in _paths_by_page(cluster, measured).items()
    }
    farthest_first = sorted(distance_by_page, key=lambda page: (-distance_by_page[page], page))
    strangest = farthest_first[:N_SHOWN]
    pk_by_page = dict(memberships.filter(page__in=strangest).values_list("page", "pk"))
    strangest_memberships = _with_pages([pk_by_page[page] for page in strangest])
    for membership in strangest_memberships:
        membership.distance = round(distance_by_page[membership.page_id], 4)
    return strangest_memberships


def _paths_by_page(cluster: Cluster, pages: Sequence[int]) -> dict[int, Hashes]:
    stored = stored_pages(cluster.site, pages)
    observed = observe_few(stored)
    return {page.pk: seen.paths for page, seen in zip(stored, observed, strict=True)}


def _with_pages(pks: Sequence[int]) -> list[PageMembership]:
    """Return memberships with their pages, in the order given."""
    with_pages = PageMembership.objects.select_related("page", "page__latest_snapshot")
    membership_by_pk = with_pages.in_bulk(pks)
    return [membership_by_pk[pk] for pk in pks if pk in membership_by_pk]
