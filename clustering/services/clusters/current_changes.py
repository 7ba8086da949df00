"""Apply people's changes to a clustering: from where the algorithm put the pages, one by one.

Where a page stands follows from where it was found and from the changes in force. So pages that no
change names are followed together, all of a found cluster as one, however many they are; those that
a move or a split names are followed one by one. Only what stands elsewhere now is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from django.db.models import Count

from clustering.models import ClusterChange, Clustering, PageMembership
from clustering.models.clusterings import MembershipQuerySet
from clustering.services.clusters.cluster_figures import update_changed_figures, update_figures
from clustering.services.clusters.split_parts import part_by_page

PAGES_PER_STATEMENT = 2_000


class _Place(NamedTuple):
    """Where a page was found and where it stands in the database; None for no cluster."""

    found: int | None
    cluster: int | None


def apply_changes(*, clustering: Clustering, pages: Sequence[int] | None = None) -> None:
    """Reset all pages, or some, to where the algorithm put them, and repeat the changes in force.

    Belongs into a transaction that holds the site's lock. With `pages`, the figures of the clusters
    stay but for their numbers of pages, and those of clusters that had none.
    """
    changed = _repeat(clustering, None if pages is None else set(pages))
    update_figures(clustering, changed if pages is None else ())


def apply_last_change(change: ClusterChange, clustering: Clustering) -> None:
    """Add the latest change of a site to those that the clustering's pages show already."""
    if change.kind == ClusterChange.Kind.MOVE:
        with _figures_of(clustering, change.detail["pages"]):
            _assign(clustering, change.detail["pages"], change.cluster_id)
        return
    inside = PageMembership.objects.filter(clustering=clustering, cluster=change.cluster_id)
    if change.kind == ClusterChange.Kind.MERGE:
        inside.update(cluster=change.into_id)
    else:
        pages_inside = list(inside.values_list("page", flat=True))
        _assign_parts(clustering, part_by_page(change, clustering, pages_inside))
    parts = map(int, change.detail.get("parts", ()))
    update_changed_figures(clustering, {change.cluster_id, change.into_id, *parts} - {None})


def repeat_changes(clustering: Clustering, *, toggled: ClusterChange) -> None:
    """Repeat the changes in force after one was undone or redone: of a move for its own pages only.

    The cluster of a page follows from where it was found and from the changes, not from other
    pages.
    """
    pages = set(toggled.detail["pages"]) if toggled.kind == ClusterChange.Kind.MOVE else None
    update_changed_figures(clustering, _repeat(clustering, pages))


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
    return {page: place.cluster for page, place in _places(clustering, pages).items()}


def _places(clustering: Clustering, pages: Iterable[int]) -> dict[int, _Place]:
    """Return where each page stands that a clustering has."""
    place_by_page: dict[int, _Place] = {}
    for memberships in _memberships(clustering, pages):
        for page, origin, cluster in memberships.values_list("page", "found", "cluster"):
            place_by_page[page] = _Place(origin, cluster)
    return place_by_page


def _repeat(clustering: Clustering, pages: set[int] | None) -> set[int | None]:
    """Put all pages, or some, where the changes in force say; return the clusters this changed.

    1. Count the pages of each found cluster, and read the places of those that a change names.
    2. Repeat the changes on both.
    3. Write where the pages of a found cluster stand now, then the pages that a change names.
    """
    changes = list(ClusterChange.objects.filter(site=clustering.site_id).in_force())
    following = _Following(clustering, _named_pages(changes) if pages is None else pages)
    if pages is None:
        following.add_others()
    for change in changes:
        following.apply(change)
    return following.write()


def _named_pages(changes: Iterable[ClusterChange]) -> set[int]:
    """Return the pages that moves and splits name."""
    pages: set[int] = set()
    for change in changes:
        pages.update(change.detail.get("pages", ()))
        for part in change.detail.get("parts", {}).values():
            pages.update(part)
    return pages


class _Following:
    """The pages of a clustering while the changes are repeated."""

    def __init__(self, clustering: Clustering, pages: Iterable[int]) -> None:
        self.clustering = clustering
        self.stored_by_page = _places(clustering, pages)
        self.cluster_by_page = {page: place.found for page, place in self.stored_by_page.items()}
        # Of all other pages, by where they were found.
        self.n_others: Counter[_Place] = Counter()
        self.cluster_by_found: dict[int | None, int | None] = {}

    def add_others(self) -> None:
        """Follow all other pages too: those that were found in one cluster go together.

        A place at which all pages are followed one by one is left out.
        """
        rows = PageMembership.objects.filter(clustering=self.clustering).order_by()
        counts = rows.values_list("found", "cluster").annotate(n=Count("page"))
        n_by_place = Counter({_Place(origin, cluster): n for origin, cluster, n in counts})
        n_by_place.subtract(self.stored_by_page.values())
        self.n_others = Counter({place: n for place, n in n_by_place.items() if n > 0})
        self.cluster_by_found = {place.found: place.found for place in self.n_others}

    def apply(self, change: ClusterChange) -> None:
        """Repeat a change."""
        match change.kind:
            case ClusterChange.Kind.MOVE:
                for page in change.detail["pages"]:
                    if page in self.cluster_by_page:
                        self.cluster_by_page[page] = change.cluster_id
            case ClusterChange.Kind.MERGE:
                for origin, cluster in self.cluster_by_found.items():
                    if cluster == change.cluster_id:
                        self.cluster_by_found[origin] = change.into_id
                for page in self.pages_in(change.cluster_id):
                    self.cluster_by_page[page] = change.into_id
            case ClusterChange.Kind.SPLIT:
                self.follow_one_by_one(change.cluster_id)
                self.cluster_by_page |= part_by_page(
                    change, self.clustering, self.pages_in(change.cluster_id)
                )

    def pages_in(self, cluster: int) -> list[int]:
        """Return the pages in a cluster that are followed one by one."""
        return [page for page, now_in in self.cluster_by_page.items() if now_in == cluster]

    def follow_one_by_one(self, cluster: int) -> None:
        """Follow the pages of a cluster one by one that were followed together."""
        origins = {origin for origin, now_in in self.cluster_by_found.items() if now_in == cluster}
        rows = PageMembership.objects.filter(clustering=self.clustering, found__in=origins)
        places = rows.values_list("page", "found", "cluster")
        for page, origin, stored in places.iterator(chunk_size=5_000):
            if page not in self.stored_by_page:
                self.stored_by_page[page] = _Place(origin, stored)
                self.cluster_by_page[page] = cluster
        for followed in origins:
            del self.cluster_by_found[followed]
        for place in list(self.n_others):
            if place.found in origins:
                del self.n_others[place]

    def write(self) -> set[int | None]:
        """Write where pages stand now, and return the clusters that lost or got any."""
        changed: set[int | None] = set()
        moved = {
            place: self.cluster_by_found[place.found]
            for place in self.n_others
            if place.cluster != self.cluster_by_found[place.found]
        }
        rows = PageMembership.objects.filter(clustering=self.clustering)
        for place, now in moved.items():
            rows.filter(found=place.found, cluster=place.cluster).update(cluster=now)
            changed |= {place.cluster, now}
        pages_by_cluster: dict[int | None, list[int]] = {}
        for page, cluster in self.cluster_by_page.items():
            place = self.stored_by_page[page]
            if place.cluster != cluster:
                changed |= {place.cluster, cluster}
            # What was written for the others of its place was written for this page, too.
            if moved.get(place, place.cluster) != cluster:
                pages_by_cluster.setdefault(cluster, []).append(page)
        for now, pages in pages_by_cluster.items():
            _assign(self.clustering, pages, now)
        return changed


def _assign_parts(clustering: Clustering, part_of: Mapping[int, int]) -> None:
    pages_by_part: dict[int, list[int]] = {}
    for page, part in part_of.items():
        pages_by_part.setdefault(part, []).append(page)
    for part, pages in pages_by_part.items():
        _assign(clustering, pages, part)


def _assign(clustering: Clustering, pages: Iterable[int], cluster: int | None) -> None:
    for memberships in _memberships(clustering, pages):
        memberships.update(cluster=cluster)


def _memberships(clustering: Clustering, pages: Iterable[int]) -> Iterator[MembershipQuerySet]:
    """Yield the memberships of some pages, as many at once as one statement may name."""
    ordered = sorted(set(pages))
    for start in range(0, len(ordered), PAGES_PER_STATEMENT):
        chunk = ordered[start : start + PAGES_PER_STATEMENT]
        yield PageMembership.objects.filter(clustering=clustering, page__in=chunk)
