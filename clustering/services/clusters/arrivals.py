"""Put pages that come after a clustering into its clusters, without clustering again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.cohesion import Centre, centre_of, distance_to
from clustering.algorithms.observation import ObservedPage, observe_pages
from clustering.algorithms.published.uxclust import assign_page
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from clustering.services.clusters.cluster_changes import apply_changes
from clustering.services.clusters.evidence import first_inbound_xpaths
from clustering.services.clusters.grouped_pages import GroupedPage
from clustering.services.clusters.kept_clusterings import group_key, membership_of
from clustering.services.clusters.observer_processes import observe_stored
from clustering.services.pages.stored_pages import StoredPage, read_pages, stored_pages
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue

Renew = Callable[[int, int], None]

AT_ONCE = 500
FEW, TIMES = 5, 2  # a clustering of fewer pages is outgrown when the site has so many times as many


def plan_arrivals() -> int:
    """Let a job look at each site with snapshots that its clustering has not judged; return how many do."""
    waiting = Site.objects.filter(
        deletion_requested_at=None,
        clusterings__is_current=True,
        last_snapshot_at__gt=F("clusterings__assigned_at"),
    )
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
    """Put the pages whose latest snapshot the current clustering has not judged into its clusters.

    Returns how many there were; 0 where the site has no clustering.
    """
    looked_at = timezone.now()
    clustering = Clustering.objects.filter(site=site, is_current=True).first()
    if clustering is None:
        return 0
    waiting = _arrivals(site, clustering)
    clusters = _Clusters(clustering)
    n_done = 0
    for start in range(0, len(waiting), AT_ONCE):
        pages = stored_pages(site, waiting[start : start + AT_ONCE])
        found = clusters.find(pages)
        n_done += len(pages)
        with transaction.atomic():
            if renew is not None:
                renew(n_done, len(waiting))
            if not _holds(clustering):
                return n_done
            _keep(clustering, found, clusters)
    Clustering.objects.filter(pk=clustering.pk).update(assigned_at=looked_at)
    return n_done


def is_outgrown(clustering: Clustering) -> bool:
    """Say whether a clustering of very few pages is to be made anew: it knows nothing of other pages."""
    if not 0 < clustering.n_sampled < FEW:
        return False
    stored = Page.objects.filter(site=clustering.site_id, latest_snapshot__isnull=False)
    return stored.count() >= TIMES * clustering.n_sampled


class _Clusters:
    """The clusters of a clustering, as far as a page needs them to find its own."""

    def __init__(self, clustering: Clustering) -> None:
        self.clustering = clustering
        self.clusterer = CLUSTERERS[clustering.algorithm]
        self.is_outgrown = is_outgrown(clustering)
        of_groups = ClusterFigures.objects.filter(clustering=clustering).exclude(group="")
        extents = list(of_groups.select_related("cluster"))
        self.cluster_by_group: dict[str, Cluster] = {
            extent.group: extent.cluster for extent in extents
        }
        self._examples = {extent.group: extent.examples for extent in extents}
        self._centres: dict[str, Centre] = {}

    def find(self, pages: Sequence[StoredPage]) -> list[GroupedPage]:
        """Return where each page belongs and how far it lies from there."""
        seen = [one for batch in observe_stored(pages, self.clusterer.name) for one in batch]
        groups = self._groups(pages, [observed for _, observed in seen])
        return [
            GroupedPage(page, group, self._distance(group, observed))
            for (page, observed), group in zip(seen, groups, strict=True)
        ]

    def _groups(
        self, pages: Sequence[StoredPage], seen: Sequence[ObservedPage]
    ) -> list[str | None]:
        model, assign = self.clustering.model, self.clusterer.assign
        if self.is_outgrown:
            return [None for _ in pages]
        if self.clusterer.observe:
            return [
                self._known(assign(model, observed.observation, page.url))
                for page, observed in zip(pages, seen, strict=True)
            ]
        xpaths = first_inbound_xpaths(self.clustering.site, [page.url for page in pages])
        return [
            self._known(assign(model, xpaths.get(raw.url), raw.url) or assign_page(model, raw))
            for raw in read_pages(pages)
        ]

    def _known(self, group: str | None) -> str | None:
        key = group_key(group) if group is not None else ""
        return key if key in self.cluster_by_group else None

    def _distance(self, group: str | None, observed: ObservedPage) -> float | None:
        if group is None:
            return None
        if group not in self._centres:
            examples = stored_pages(self.clustering.site, self._examples[group])
            typical = observe_pages("shingles", list(read_pages(examples)))
            self._centres[group] = centre_of([page.paths for page in typical])
        return round(distance_to(self._centres[group], observed.paths), 4)


def _arrivals(site: Site, clustering: Clustering) -> list[int]:
    judged = PageMembership.objects.filter(
        clustering=clustering, page=OuterRef("pk"), snapshot_seen=OuterRef("latest_snapshot_id")
    )
    pages = Page.objects.filter(site=site, latest_snapshot__isnull=False)
    return list(pages.filter(~Exists(judged)).order_by("pk").values_list("pk", flat=True))


def _holds(clustering: Clustering) -> bool:
    """Lock the site and its clustering; say whether it is still the current one."""
    Site.objects.select_for_update(no_key=True).get(pk=clustering.site_id)
    rows = Clustering.objects.select_for_update(no_key=True).filter(
        pk=clustering.pk, is_current=True
    )
    return bool(rows.values_list("pk", flat=True).first())


def _keep(clustering: Clustering, found: Sequence[GroupedPage], clusters: _Clusters) -> None:
    """Write the memberships and repeat in them what people changed, in the caller's transaction."""
    pks = [one.page.pk for one in found]
    there = set(Page.objects.filter(pk__in=pks).values_list("pk", flat=True))
    PageMembership.objects.filter(clustering=clustering, page__in=pks).delete()
    PageMembership.objects.bulk_create(
        [
            membership_of(clustering, one, clusters.cluster_by_group.get(one.group or ""))
            for one in found
            if one.page.pk in there
        ]
    )
    apply_changes(clustering=clustering, pages=pks)


def _key(site: Site) -> str:
    return f"assign_arrivals:{site.pk}"
