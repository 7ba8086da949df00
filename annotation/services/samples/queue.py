"""Which clusters are worth annotating next: those whose missing fields stand on the most pages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef

from annotation.models import Annotation, Assignment, Attribute, Sample, Vertical
from annotation.services.samples.next_samples import next_samples
from clustering.models import Cluster, ClusterFigures
from vertex.core.models import Site, User

MAX_ROWS = 500


class QueueRow(NamedTuple):
    """A cluster with what is left to do in it."""

    cluster: Cluster
    n_pages: int
    vertical: Vertical | None
    n_fields: int
    missing: list[str]  # the attributes of which nothing is said on any page
    n_samples: int
    n_annotated: int
    next_rank: int | None  # of the sample to go on with, of which nothing is said

    @property
    def worth(self) -> int:
        """Return pages times missing fields; a cluster that nobody described misses all it could have."""
        return self.n_pages * (len(self.missing) if self.vertical else 1)

    @property
    def step(self) -> str:
        """Say what is to be done next: describe, draw, annotate or nothing."""
        if self.vertical is None:
            return "describe"
        if not self.n_samples:
            return "draw"
        return "annotate" if self.missing or not self.n_annotated else "done"


def queue_of(user: User, site: Site | None = None) -> list[QueueRow]:
    """Return the clusters that a user may see, the most worth doing first."""
    sites = Site.objects.visible_to(user)
    extents = ClusterFigures.objects.filter(
        clustering__is_current=True, clustering__site__in=sites, n_pages__gt=0
    )
    if site is not None:
        extents = extents.filter(clustering__site=site)
    listed = list(extents.select_related("cluster__site").order_by("-n_pages")[:MAX_ROWS])
    facts = _Facts([extent.cluster for extent in listed])
    rows = [facts.row(extent) for extent in listed]
    return sorted(rows, key=lambda row: (row.step == "done", -row.worth, -row.n_pages))


class _Facts:
    """What is known of some clusters, each kind of thing by one query."""

    def __init__(self, clusters: list[Cluster]) -> None:
        self.verticals = _verticals(clusters)
        used = {vertical.pk for vertical in self.verticals.values() if vertical}
        self.fields: defaultdict[int, dict[int, str]] = defaultdict(dict)
        for attribute in Attribute.objects.live().filter(vertical__in=used):
            self.fields[attribute.vertical_id][attribute.pk] = attribute.name
        self.said = _said(clusters)
        self.samples = _samples(clusters)
        self.wanted = next_samples(clusters)

    def row(self, extent: ClusterFigures) -> QueueRow:
        cluster = extent.cluster
        vertical = self.verticals.get(cluster.pk)
        fields = self.fields[vertical.pk] if vertical else {}
        ranks = self.samples.get(cluster.pk, {})
        return QueueRow(
            cluster=cluster,
            n_pages=extent.n_pages,
            vertical=vertical,
            n_fields=len(fields),
            missing=[
                name for pk, name in fields.items() if pk not in self.said.get(cluster.pk, ())
            ],
            n_samples=len(ranks),
            n_annotated=sum(ranks.values()),
            next_rank=self._next_rank(cluster),
        )

    def _next_rank(self, cluster: Cluster) -> int | None:
        """Return the sample that is wanted most, or else the first one, of which nothing is said."""
        open_ranks = [
            rank
            for rank, is_said in sorted(self.samples.get(cluster.pk, {}).items())
            if not is_said
        ]
        wanted = self.wanted.get(cluster.pk)
        return wanted if wanted in open_ranks else next(iter(open_ranks), None)


def _verticals(clusters: Iterable[Cluster]) -> dict[int, Vertical | None]:
    """Return the vertical of each cluster: its own, or else its site's."""
    listed = list(clusters)
    rows = Assignment.objects.filter(site__in={one.site_id for one in listed}).select_related(
        "vertical"
    )
    own = {row.cluster_id: row.vertical for row in rows if row.cluster_id}
    default = {row.site_id: row.vertical for row in rows if not row.cluster_id}
    return {one.pk: own.get(one.pk) or default.get(one.site_id) for one in listed}


def _said(clusters: list[Cluster]) -> dict[int, set[int]]:
    """Return of each cluster the attributes of which something is said on one of its pages."""
    rows = Annotation.objects.live().filter(
        attribute__isnull=False,
        page__memberships__clustering__is_current=True,
        page__memberships__cluster__in=clusters,
    )
    found: defaultdict[int, set[int]] = defaultdict(set)
    pairs = (
        rows.order_by().values_list("page__memberships__cluster", "attribute").annotate(Count("pk"))
    )
    for cluster, attribute, _ in pairs:
        found[cluster].add(attribute)
    return dict(found)


def _samples(clusters: list[Cluster]) -> dict[int, dict[int, bool]]:
    """Return of each cluster the ranks of its samples, and whether anything is said of them."""
    said = Annotation.objects.live().filter(page=OuterRef("page"))
    found: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    rows = Sample.objects.filter(cluster__in=clusters).annotate(is_annotated=Exists(said))
    for cluster, rank, is_annotated in rows.values_list("cluster", "rank", "is_annotated"):
        found[cluster][rank] = is_annotated
    return dict(found)
