"""Put a clustering's pages where people said: from what the algorithm found, one change after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db.models import F

from clustering.models import ClusterChange, Clustering, PageMembership
from clustering.models.clusterings import MembershipQuerySet
from clustering.services.clusters.extent_figures import (
    fingerprints,
    keep_changed_extents,
    keep_extents,
)
from clustering.services.clusters.split_parts import part_by_page

AT_ONCE = 2_000  # pages named in one statement


def apply_changes(*, clustering: Clustering, pages: Sequence[int] | None = None) -> None:
    """Put all pages, or some, where the algorithm found them and repeat the changes in force in their order.

    Belongs into a transaction that holds the site's lock. With `pages`, the figures of the clusters stay but
    for their numbers of pages, and those of clusters that had none.
    """
    before = fingerprints(clustering) if pages is None else None
    _repeat(clustering, None if pages is None else set(pages))
    keep_extents(clustering, before)


def apply_last_change(change: ClusterChange, clustering: Clustering) -> None:
    """Add a change to those that the clustering's pages show already; the latest one of its site."""
    if change.kind == ClusterChange.Kind.MOVE:
        with _figures_of(clustering, change.detail["pages"]):
            _apply(change, clustering, None)
        return
    changed = {change.cluster_id, change.into_id, *map(int, change.detail.get("parts", ()))} - {
        None
    }
    _apply(change, clustering, None)
    keep_changed_extents(clustering, changed)


def apply_without_or_with(change: ClusterChange, clustering: Clustering) -> None:
    """Repeat the changes in force after one was undone or redone; only its own pages where it names them.

    The place of a page follows from where it was found and from the changes, not from other pages.
    """
    if change.kind != ClusterChange.Kind.MOVE:
        apply_changes(clustering=clustering)
        return
    with _figures_of(clustering, change.detail["pages"]):
        _repeat(clustering, set(change.detail["pages"]))


@contextmanager
def _figures_of(clustering: Clustering, pages: Sequence[int]) -> Iterator[None]:
    """Keep the figures of the clusters in which pages were before and are after what is done to them."""
    before = _places(clustering, pages)
    yield
    after = _places(clustering, pages)
    moved = [page for page in before if before[page] != after[page]]
    keep_changed_extents(clustering, {place[page] for page in moved for place in (before, after)})


def _places(clustering: Clustering, pages: Iterable[int]) -> dict[int, int | None]:
    memberships = PageMembership.objects.filter(clustering=clustering)
    places: dict[int, int | None] = {}
    for chunk in chunks(pages):
        places.update(memberships.filter(page__in=chunk).values_list("page", "cluster"))
    return places


def _repeat(clustering: Clustering, some: set[int] | None) -> None:
    """Reset the pages to where they were found, and repeat the changes in force."""
    for memberships in _rows(clustering, some):
        moved = memberships.exclude(cluster=F("found")).exclude(cluster=None, found=None)
        moved.update(cluster=F("found"))
    for change in (
        ClusterChange.objects.filter(site=clustering.site_id).in_force().iterator(chunk_size=10)
    ):
        _apply(change, clustering, some)


def _apply(change: ClusterChange, clustering: Clustering, some: set[int] | None) -> None:
    memberships = PageMembership.objects.filter(clustering=clustering)
    match change.kind:
        case ClusterChange.Kind.MOVE:
            named = change.detail["pages"]
            _put(
                memberships, named if some is None else some.intersection(named), change.cluster_id
            )
        case ClusterChange.Kind.MERGE:
            for rows in _rows(clustering, some):
                rows.filter(cluster=change.cluster_id).update(cluster=change.into_id)
        case ClusterChange.Kind.SPLIT:
            _apply_split(change, clustering, some)


def _apply_split(change: ClusterChange, clustering: Clustering, some: set[int] | None) -> None:
    """Put the pages that are in the cluster now into its parts."""
    inside = [
        page
        for rows in _rows(clustering, some)
        for page in rows.filter(cluster=change.cluster_id).values_list("page", flat=True)
    ]
    pages_by_part: dict[int, list[int]] = {}
    for page, part in part_by_page(change, inside).items():
        if part != change.cluster_id:
            pages_by_part.setdefault(part, []).append(page)
    memberships = PageMembership.objects.filter(clustering=clustering)
    for part, pages in sorted(pages_by_part.items()):
        _put(memberships, pages, part)


def _put(memberships: MembershipQuerySet, pages: Iterable[int], cluster: int) -> None:
    for chunk in chunks(pages):
        memberships.filter(page__in=chunk).exclude(cluster=cluster).update(cluster=cluster)


def _rows(clustering: Clustering, some: set[int] | None) -> Iterator[MembershipQuerySet]:
    """Yield the memberships of all pages at once, or those of some in chunks."""
    memberships = PageMembership.objects.filter(clustering=clustering)
    if some is None:
        yield memberships
        return
    for chunk in chunks(some):
        yield memberships.filter(page__in=chunk)


def chunks(pages: Iterable[int]) -> Iterator[list[int]]:
    """Yield so many pages as one statement may name, in ascending order."""
    ordered = sorted(pages)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]
