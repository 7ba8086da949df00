"""What annotating a site costs: measured so far, and what the rest will take at that pace."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, Sum

from annotation.models import Annotation, Effort
from annotation.services.samples.worth import reasons_to_leave_out
from clustering.models import Cluster, ClusterFigures, PageMembership
from rules.models import Rule
from vertex.core.models import Site

DEFAULT_PAGES = 2.0  # of a cluster, before anything was measured


class FieldCost(NamedTuple):
    """What one attribute took."""

    name: str
    n_pages: int
    seconds: float
    n_actions: int

    @property
    def seconds_a_page(self) -> float:
        return self.seconds / self.n_pages if self.n_pages else 0.0


class ClusterCost(NamedTuple):
    """What the pages of a cluster took."""

    cluster: Cluster
    n_pages: int  # that somebody annotated or worked on
    n_people: int
    seconds: float
    n_keys: int
    n_clicks: int
    n_accepted: int
    n_corrected: int
    has_rule: bool
    fields: Sequence[FieldCost]

    @property
    def seconds_a_page(self) -> float:
        return self.seconds / self.n_pages if self.n_pages else 0.0

    @property
    def actions_a_page(self) -> float:
        return (self.n_keys + self.n_clicks) / self.n_pages if self.n_pages else 0.0

    @property
    def accepted_share(self) -> float | None:
        """The share of suggestions that were accepted as they were."""
        n_shown = self.n_accepted + self.n_corrected
        return self.n_accepted / n_shown if n_shown else None


class Forecast(NamedTuple):
    """What is left to do at a site."""

    n_clusters: int  # that are worth annotating and have no published rule
    pages: float
    seconds: float | None  # None: nothing was measured yet
    pages_a_cluster: float


class Economics(NamedTuple):
    """What a site took, and what it will take."""

    clusters: Sequence[ClusterCost]
    forecast: Forecast

    @property
    def n_pages(self) -> int:
        return sum(cost.n_pages for cost in self.clusters)

    @property
    def seconds(self) -> float:
        return sum(cost.seconds for cost in self.clusters)

    @property
    def n_actions(self) -> int:
        return sum(cost.n_keys + cost.n_clicks for cost in self.clusters)

    @property
    def n_accepted(self) -> int:
        return sum(cost.n_accepted for cost in self.clusters)

    @property
    def n_suggested(self) -> int:
        return sum(cost.n_accepted + cost.n_corrected for cost in self.clusters)


def economics_of(site: Site) -> Economics:
    """Return what annotating a site took, cluster by cluster, and a forecast."""
    cluster_figures = ClusterFigures.objects.current().with_pages().filter(clustering__site=site)
    clusters = [
        figures.cluster
        for figures in cluster_figures.select_related("cluster").order_by("-n_pages")
    ]
    with_rule = set(Rule.objects.published().of_site(site).values_list("cluster", flat=True))
    n_annotated_by_cluster = _annotated_pages(site)
    fields_by_cluster = _fields(site)
    sums_by_cluster = _sums(site)
    costs = []
    for cluster in clusters:
        sums = sums_by_cluster.get(cluster.pk, {})
        n_annotated = n_annotated_by_cluster.get(cluster.pk, 0)
        costs.append(
            ClusterCost(
                cluster=cluster,
                n_pages=max(n_annotated, sums.get("n_pages") or 0),
                n_people=sums.get("n_people") or 0,
                seconds=sums.get("total_seconds") or 0.0,
                n_keys=sums.get("keys") or 0,
                n_clicks=sums.get("clicks") or 0,
                n_accepted=sums.get("accepted") or 0,
                n_corrected=sums.get("corrected") or 0,
                has_rule=cluster.pk in with_rule,
                fields=fields_by_cluster.get(cluster.pk, []),
            )
        )
    left_out = reasons_to_leave_out(clusters).keys()
    return Economics([cost for cost in costs if cost.n_pages], _forecast(costs, left_out))


def _efforts(site: Site) -> QuerySet[Effort]:
    return Effort.objects.filter(site=site, cluster__isnull=False)


def _sums(site: Site) -> dict[int, Mapping[str, Any]]:
    """Return the sums over the pages of each cluster."""
    rows = _efforts(site).filter(attribute=None).values("cluster")
    summed = rows.annotate(
        n_pages=Count("page", distinct=True, filter=Q(n_done__gt=0)),
        n_people=Count("person", distinct=True),
        total_seconds=Sum("seconds"),
        keys=Sum("n_keys"),
        clicks=Sum("n_clicks"),
        accepted=Sum("n_accepted"),
        corrected=Sum("n_corrected"),
    )
    return {row["cluster"]: row for row in summed}


def _fields(site: Site) -> dict[int, list[FieldCost]]:
    """Return the costs of attributes by cluster, the dearest first."""
    rows = _efforts(site).filter(attribute__isnull=False).values("cluster", "attribute__name")
    summed = rows.annotate(
        n_pages=Count("page", distinct=True),
        total=Sum("seconds"),
        keys=Sum("n_keys"),
        clicks=Sum("n_clicks"),
    )
    by_cluster: dict[int, list[FieldCost]] = {}
    for row in summed.order_by("cluster", "-total"):
        cost = FieldCost(
            name=row["attribute__name"],
            n_pages=row["n_pages"],
            seconds=row["total"],
            n_actions=row["keys"] + row["clicks"],
        )
        by_cluster.setdefault(row["cluster"], []).append(cost)
    return by_cluster


def _annotated_pages(site: Site) -> dict[int, int]:
    """Return how many pages of each cluster are annotated."""
    live = Annotation.objects.live().filter(page__site=site, attribute__isnull=False)
    members = PageMembership.objects.current().filter(
        page__in=live.values("page"), cluster__isnull=False
    )
    counted = members.order_by().values("cluster").annotate(n=Count("page", distinct=True))
    return {row["cluster"]: row["n"] for row in counted}


def _forecast(costs: Sequence[ClusterCost], left_out: Collection[int]) -> Forecast:
    """Return what the clusters without a rule will take, at the pace of those that have one.

    Nobody is asked to annotate those that are left out.
    """
    done = [cost for cost in costs if cost.n_pages and cost.has_rule]
    pages_a_cluster = DEFAULT_PAGES
    if done:
        pages_a_cluster = sum(cost.n_pages for cost in done) / len(done)
    remaining = [cost for cost in costs if not cost.has_rule and cost.cluster.pk not in left_out]
    pages = sum(max(0.0, pages_a_cluster - cost.n_pages) for cost in remaining)

    timed = [cost for cost in costs if cost.seconds]
    n_timed_pages = sum(cost.n_pages for cost in timed)
    seconds = None
    if n_timed_pages:
        seconds = sum(cost.seconds for cost in timed) / n_timed_pages * pages
    return Forecast(len(remaining), pages, seconds, pages_a_cluster)
