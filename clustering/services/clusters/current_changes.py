"""Apply people's changes to a clustering: from where the algorithm put the pages, one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from django.db.models import F

from clustering.models import ClusterChange, Clustering, PageMembership
from clustering.models.clusterings import MembershipQuerySet
from clustering.services.clusters.cluster_figures import (
    fingerprints,
    update_changed_figures,
    update_figures,
)
from clustering.services.clusters.split_parts import part_by_page

PAGES_PER_STATEMENT = 2_000


def apply_changes(*, clustering: Clustering, pages: Sequence[int] | None = None) -> None:
    """Reset all pages, or some, to where the algorithm put them, and repeat the changes in force.

    Belongs into a transaction that holds the site's lock. With `pages`, the figures of the clusters
    stay but for their numbers of pages, and those of clusters that had none.
    """
    before = fingerprints(clustering) if pages is None else None
    _repeat(clustering, None if pages is None else set(pages))
    update_figures(clustering, before)


def apply_last_change(change: ClusterChange, clustering: Clustering) -> None:
    """Add the latest change of a site to those that the clustering's pages show already."""
    if change.kind == ClusterChange.Kind.MOVE:
        with _figures_of(clustering, change.detail["pages"]):
            _apply(change, clustering, None)
        return
    _apply(change, clustering, None)
    parts = map(int, change.detail.get("parts", ()))
    update_changed_figures(clustering, {change.cluster_id, change.into_id, *parts} - {None})


def apply_without_or_with(change: ClusterChange, clustering: Clustering) -> None:
    """Repeat the changes in force after one was undone or redone, for its own pages if it names any.

    The cluster of a page follows from where it was found and from the changes, not from other
    pages.
    """
    if change.kind != ClusterChange.Kind.MOVE:
        apply_changes(clustering=clustering)
        return
    with _figures_of(clustering, change.detail["pages"]):
        _repeat(clustering, set(change.detail["pages"]))


@contextmanager
def _figures_of(clustering: Clustering, pages: Sequence[int]) -> Iterator[None]:
    """Update the figures of the clusters that pages leave and enter within the block."""
    before = clusters_of(clustering, pages)
    yield
    after = clusters_of(clustering, pages)
    changed: set[int | None] = set()
    for page in before:
        if before[page] != after[page]:
            changed |= {before[page], after[page]}
    update_changed_figures(clustering, changed)


def clusters_of(clustering: Clustering, pages: Iterable[int]) -> dict[int, int | None]:
    """Return the cluster of each page that a clustering has; None of one in no cluster."""
    cluster_by_page: dict[int, int | None] = {}
    for memberships in _memberships(clustering, set(pages)):
        cluster_by_page.update(memberships.values_list("page", "cluster"))
    return cluster_by_page


def _repeat(clustering: Clustering, pages: set[int] | None) -> None:
    """Reset the pages to where they were found, and repeat the changes in force."""
    for memberships in _memberships(clustering, pages):
        moved = memberships.exclude(cluster=F("found")).exclude(cluster=None, found=None)
        moved.update(cluster=F("found"))
    changes = ClusterChange.objects.filter(site=clustering.site_id).in_force()
    for change in changes.iterator(chunk_size=10):
        _apply(change, clustering, pages)


def _apply(change: ClusterChange, clustering: Clustering, pages: set[int] | None) -> None:
    """Apply a change to all pages, or to some."""
    match change.kind:
        case ClusterChange.Kind.MOVE:
            moved = set(change.detail["pages"])
            _assign(clustering, moved if pages is None else moved & pages, change.cluster_id)
        case ClusterChange.Kind.MERGE:
            for memberships in _memberships(clustering, pages):
                memberships.filter(cluster=change.cluster_id).update(cluster=change.into_id)
        case ClusterChange.Kind.SPLIT:
            _apply_split(change, clustering, pages)


def _apply_split(change: ClusterChange, clustering: Clustering, pages: set[int] | None) -> None:
    """Move the pages that are in the cluster now to its parts."""
    inside: list[int] = []
    for memberships in _memberships(clustering, pages):
        of_cluster = memberships.filter(cluster=change.cluster_id)
        inside += of_cluster.values_list("page", flat=True)
    pages_by_part: dict[int, set[int]] = {}
    for page, part in part_by_page(change, inside).items():
        if part != change.cluster_id:
            pages_by_part.setdefault(part, set()).add(page)
    for part, pages_of_part in sorted(pages_by_part.items()):
        _assign(clustering, pages_of_part, part)


def _assign(clustering: Clustering, pages: set[int], cluster: int) -> None:
    for memberships in _memberships(clustering, pages):
        memberships.exclude(cluster=cluster).update(cluster=cluster)


def _memberships(clustering: Clustering, pages: set[int] | None) -> Iterator[MembershipQuerySet]:
    """Yield the memberships of all pages at once, or those of some in chunks."""
    memberships = PageMembership.objects.filter(clustering=clustering)
    if pages is None:
        yield memberships
        return
    for chunk in _chunks(pages):
        yield memberships.filter(page__in=chunk)


def _chunks(pages: Iterable[int]) -> Iterator[list[int]]:
    """Yield as many pages as one statement may name, in ascending order."""
    ordered = sorted(pages)
    for start in range(0, len(ordered), PAGES_PER_STATEMENT):
        yield ordered[start : start + PAGES_PER_STATEMENT]
