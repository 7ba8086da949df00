"""Assign pages that come after a clustering to its clusters, without clustering again."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.cohesion import Centre, centre_of, distance_to
from clustering.algorithms.grouping import NOWHERE, Placed, group_key
from clustering.algorithms.observation import ObservedPage
from clustering.models import (
    Cluster,
    ClusterFigures,
    Clustering,
    Page,
    PageMembership,
)
from clustering.services.clusters.clustering_inputs import first_inbound_xpaths
from clustering.services.clusters.clustering_store import create_memberships
from clustering.services.clusters.current_changes import apply_changes
from clustering.services.clusters.current_clusterings import lock_clusters
from clustering.services.clusters.grouped_pages import GroupedPage
from clustering.services.clusters.observer_processes import observe_few, observe_stored
from clustering.services.pages.stored_pages import StoredPage, read_pages, stored_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue

Renew = Callable[[int, int], None]

PAGES_PER_BATCH = 2_000
# A clustering of fewer pages is outgrown when the site has so many times as many.
MIN_LASTING_PAGES, OUTGROWN_TIMES = 5, 2


def plan_arrivals(*, paused: Collection[int] = ()) -> int:
    """Start a job for each site with snapshots that are not judged yet; return how many."""
    waiting = Site.objects.filter(
        deletion_requested_at=None,
        clusterings__is_current=True,
        last_snapshot_at__gt=F("clusterings__assigned_at"),
    ).exclude(pk__in=paused)
    n_planned = 0
    for site in waiting:
        if not Job.objects.unfinished().filter(key=_key(site)).exists():
            enqueue(arrivals_request(site=site))
            n_planned += 1
    return n_planned


def arrivals_request(*, site: Site) -> JobRequest:
    """Describe the job that assigns what came to a site."""
    return JobRequest(
        kind=ASSIGN_ARRIVALS,
        title=f"Assign new pages of {site.name}",
        site=site,
        key=_key(site),
    )


def run_arrivals(run: JobRun) -> dict[str, Any]:
    """Assign what came to the job's site."""

    def renew(n_done: int, n_total: int) -> None:
        run.renew(n_done=n_done, n_total=n_total, message="assigning pages")

    return {"pages": assign_arrivals(site=run.site, renew=renew)}


ASSIGN_ARRIVALS = JobKind("clustering.assign_arrivals", Job.Queue.LEARN, run_arrivals)


def assign_arrivals(*, site: Site, renew: Renew | None = None) -> int:
    """Assign the pages whose latest snapshot the current clustering has not judged to its clusters.

    Returns how many there were; 0 where the site has no clustering. Stops where another clustering
    becomes the current one meanwhile.
    """
    started_at = timezone.now()
    clustering = Clustering.objects.filter(site=site, is_current=True).first()
    if clustering is None:
        return 0
    waiting = _arrivals(site, clustering)
    clusters = _Clusters(clustering)
    n_done = 0
    for start in range(0, len(waiting), PAGES_PER_BATCH):
        pages = stored_pages(site, waiting[start : start + PAGES_PER_BATCH])
        grouped = clusters.assign(pages)
        n_done += len(pages)
        with transaction.atomic():
            if renew is not None:
                renew(n_done, len(waiting))
            if not _locked_if_current(clustering):
                return n_done
            _replace_memberships(clustering, grouped, clusters.cluster_by_group)
    Clustering.objects.filter(pk=clustering.pk).update(assigned_at=started_at)
    return n_done


def is_outgrown(clustering: Clustering) -> bool:
    """Return whether a clustering of very few pages must be repeated, as it knows no others."""
    if not 0 < clustering.n_sampled < MIN_LASTING_PAGES:
        return False
    stored = Page.objects.filter(site=clustering.site_id, latest_snapshot__isnull=False)
    return stored.count() >= OUTGROWN_TIMES * clustering.n_sampled


class _Clusters:
    """The clusters of a clustering, as far as a page needs them to find its own."""

    def __init__(self, clustering: Clustering) -> None:
        self.clustering = clustering
        self.clusterer = CLUSTERERS[clustering.algorithm]
        self.is_outgrown = is_outgrown(clustering)
        of_groups = ClusterFigures.objects.filter(clustering=clustering).exclude(group="")
        self.cluster_by_group: dict[str, Cluster] = {}
        self._examples: dict[str, list[int]] = {}
        for figures in of_groups.select_related("cluster"):
            self.cluster_by_group[figures.group] = figures.cluster
            self._examples[figures.group] = figures.examples
        self._centres: dict[str, Centre] = {}

    def assign(self, pages: Sequence[StoredPage]) -> list[GroupedPage]:
        """Return the group of each page, and how far the page lies from its centre."""
        batches = observe_stored(pages, self.clusterer.name, parameters=self.clustering.parameters)
        observed = [seen for batch in batches for _, seen in batch]
        places = self._places(pages, observed)
        grouped = []
        for page, seen, placed in zip(pages, observed, places, strict=True):
            group = self._known(placed.group)
            grouped.append(GroupedPage(page, group, self._distance(group, seen), placed.layout))
        return grouped

    def _places(
        self, pages: Sequence[StoredPage], observed: Sequence[ObservedPage]
    ) -> list[Placed]:
        """Return the group of each page by the clustering's model, and its layout there."""
        model = self.clustering.model
        if self.is_outgrown:
            return [NOWHERE for _ in pages]
        if not self.clusterer.goes_by_links:
            return [
                self.clusterer.place(model, seen.observation, page.url)
                for page, seen in zip(pages, observed, strict=True)
            ]
        xpaths = first_inbound_xpaths(self.clustering.site, [page.url for page in pages])
        linked = read_pages(pages, xpaths)
        return [Placed(self.clusterer.find_group(model, page)) for page in linked]

    def _known(self, group: str | None) -> str | None:
        """Return a group as it is stored, None for one that has no cluster."""
        if group is None:
            return None
        key = group_key(group)
        return key if key in self.cluster_by_group else None

    def _distance(self, group: str | None, observed: ObservedPage) -> float | None:
        if group is None:
            return None
        if group not in self._centres:
            examples = stored_pages(self.clustering.site, self._examples[group])
            typical = observe_few(examples)
            self._centres[group] = centre_of([page.paths for page in typical])
        return round(distance_to(self._centres[group], observed.paths), 4)


def _arrivals(site: Site, clustering: Clustering) -> list[int]:
    judged = PageMembership.objects.filter(
        clustering=clustering, page=OuterRef("pk"), snapshot_seen=OuterRef("latest_snapshot_id")
    )
    pages = Page.objects.filter(site=site, latest_snapshot__isnull=False)
    return list(pages.filter(~Exists(judged)).order_by("pk").values_list("pk", flat=True))


def _locked_if_current(clustering: Clustering) -> bool:
    """Lock a site's clusters and a clustering; return whether that is still the current one."""
    lock_clusters(clustering.site_id)
    rows = Clustering.objects.select_for_update(no_key=True).filter(
        pk=clustering.pk, is_current=True
    )
    return bool(rows.values_list("pk", flat=True).first())


def _replace_memberships(
    clustering: Clustering, pages: Sequence[GroupedPage], cluster_by_group: Mapping[str, Cluster]
) -> None:
    """Write the memberships anew and repeat people's changes, in the caller's transaction."""
    pks = [grouped.page.pk for grouped in pages]
    PageMembership.objects.filter(clustering=clustering, page__in=pks).delete()
    create_memberships(clustering, pages, cluster_by_group)
    apply_changes(clustering=clustering, pages=pks)


def _key(site: Site) -> str:
    return f"assign_arrivals:{site.pk}"
