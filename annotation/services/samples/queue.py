"""Which clusters are worth annotating next: those where the most fields are read by no rule yet.

Pages that another cluster's rule reads bring little: only what it does not read counts. Where rules
of the same site were tried and read nothing, the pages are rather of another thing; they come after
the others. What somebody else annotates comes after what is free.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from django.db.models import Count, Exists, OuterRef

from annotation.models import Annotation, Assignment, Attribute, Sample, Vertical
from annotation.services.samples.next_samples import next_samples
from annotation.services.samples.worth import reasons_to_leave_out
from annotation.services.seams import BorrowedReading, borrowed_reading_source
from clustering.models import Annotating, Cluster, ClusterFigures
from vertex.core.models import Site, User

MAX_ROWS = 500
READ_ENOUGH: Final = 0.95  # by another cluster's rule, from where on nobody is asked
# By any rule of the site, below which the pages are rather of another thing.
READ_NOTHING: Final = 0.05


class QueueRow(NamedTuple):
    """A cluster with what is left to do in it."""

    cluster: Cluster
    n_pages: int
    vertical: Vertical | None
    n_fields: int
    missing: list[str]  # the attributes that are annotated on no page
    n_samples: int
    n_annotated: int
    next_rank: int | None  # of the sample to go on with, which nobody annotated
    is_others: bool  # somebody else annotates it
    left_out: str = ""  # why it is not asked for; blank where it is
    reading: BorrowedReading | None = None  # None where no other cluster's rule was tried

    @property
    def worth(self) -> int:
        """Return on how many pages how many fields are missing that no rule reads.

        A cluster that nobody described misses all it could have.
        """
        n_missing = len(self.missing) if self.vertical else 1
        return round(self.n_pages * n_missing * (1 - self.share_read))

    @property
    def share_read(self) -> float:
        """Return how much of the cluster another one's rule reads now, 0 to 1."""
        return self.reading.share if self.reading is not None and self.reading.lender else 0.0

    @property
    def is_perhaps_another_thing(self) -> bool:
        """Return whether the rules of the site were tried here and read nothing."""
        return (
            self.reading is not None
            and self.reading.share < READ_NOTHING
            and self.n_annotated == 0
            and self.cluster.annotating != Annotating.WANTED
        )

    @property
    def step(self) -> str:
        """Return what is to be done next: describe, draw, annotate or nothing.

        What a table or a repair annotated need not stand on samples.
        """
        if self.vertical is None:
            return "describe"
        if self.n_fields and not self.missing:
            return "done"
        if not self.n_samples:
            return "draw"
        return "annotate" if self.missing or not self.n_annotated else "done"


def queue_of(user: User, site: Site | None = None) -> list[QueueRow]:
    """Return the clusters that a user may see, the most worth doing first, those left out last."""
    sites = Site.objects.visible_to(user)
    figures = ClusterFigures.objects.current().with_pages().filter(clustering__site__in=sites)
    if site is not None:
        figures = figures.filter(clustering__site=site)
    with_owners = figures.select_related("cluster__site", "cluster__annotator")
    listed = list(with_owners.order_by("-n_pages")[:MAX_ROWS])
    facts = _ClusterFacts([cluster_figures.cluster for cluster_figures in listed], user)
    rows = [facts.row(cluster_figures) for cluster_figures in listed]
    return sorted(rows, key=_order)


def _order(row: QueueRow) -> tuple[bool, bool, bool, bool, int, int]:
    is_done, is_strange = row.step == "done", row.is_perhaps_another_thing
    return bool(row.left_out), is_done, row.is_others, is_strange, -row.worth, -row.n_pages


class _ClusterFacts:
    """What is known of some clusters, each kind of thing by one query."""

    def __init__(self, clusters: list[Cluster], user: User) -> None:
        self.user = user
        self.verticals = _verticals(clusters)
        used = {vertical.pk for vertical in self.verticals.values() if vertical}
        self.names: defaultdict[int, dict[int, str]] = defaultdict(dict)  # by vertical, attribute
        for attribute in Attribute.objects.live().filter(vertical__in=used):
            self.names[attribute.vertical_id][attribute.pk] = attribute.name
        self.annotated = _annotated_attributes(clusters)
        self.samples = _samples(clusters)
        self.next_ranks = next_samples(clusters)
        self.left_out = reasons_to_leave_out(clusters)
        self.readings = borrowed_reading_source()([cluster.pk for cluster in clusters])

    def row(self, figures: ClusterFigures) -> QueueRow:
        cluster = figures.cluster
        vertical = self.verticals.get(cluster.pk)
        names = self.names[vertical.pk] if vertical else {}
        annotated = self.annotated.get(cluster.pk, set())
        samples = self.samples.get(cluster.pk, {})
        n_annotated = sum(samples.values())
        reading = self.readings.get(cluster.pk)
        is_wanted = cluster.annotating == Annotating.WANTED or n_annotated > 0
        left_out = self.left_out.get(cluster.pk, "")
        if not left_out and not is_wanted and reading is not None:
            left_out = _read_by(reading)
        return QueueRow(
            cluster=cluster,
            n_pages=figures.n_pages,
            vertical=vertical,
            n_fields=len(names),
            missing=[name for pk, name in names.items() if pk not in annotated],
            n_samples=len(samples),
            n_annotated=n_annotated,
            next_rank=self._next_rank(cluster),
            is_others=cluster.annotator_id not in {None, self.user.pk},
            left_out=left_out,
            reading=reading,
        )

    def _next_rank(self, cluster: Cluster) -> int | None:
        """Return the sample that is wanted most, or else the first one, that nobody annotated."""
        samples = sorted(self.samples.get(cluster.pk, {}).items())
        open_ranks = [rank for rank, is_annotated in samples if not is_annotated]
        wanted = self.next_ranks.get(cluster.pk)
        if wanted in open_ranks:
            return wanted
        return open_ranks[0] if open_ranks else None


def _read_by(reading: BorrowedReading) -> str:
    """Return whose rule reads a cluster so well that nobody need be asked; blank if none does."""
    if not reading.lender or reading.share < READ_ENOUGH:
        return ""
    return f"Read by {reading.lender}"


def _verticals(clusters: Sequence[Cluster]) -> dict[int, Vertical | None]:
    """Return the vertical of each cluster: its own, or else its site's."""
    sites = {cluster.site_id for cluster in clusters}
    rows = Assignment.objects.filter(site__in=sites).select_related("vertical")
    own = {row.cluster_id: row.vertical for row in rows if row.cluster_id}
    default = {row.site_id: row.vertical for row in rows if not row.cluster_id}
    return {cluster.pk: own.get(cluster.pk) or default.get(cluster.site_id) for cluster in clusters}


def _annotated_attributes(clusters: list[Cluster]) -> dict[int, set[int]]:
    """Return of each cluster the attributes that are annotated on one of its pages."""
    rows = Annotation.objects.live().filter(
        attribute__isnull=False,
        page__memberships__clustering__is_current=True,
        page__memberships__cluster__in=clusters,
    )
    pairs = rows.order_by().values_list("page__memberships__cluster", "attribute")
    annotated: defaultdict[int, set[int]] = defaultdict(set)
    for cluster, attribute, _ in pairs.annotate(Count("pk")):
        annotated[cluster].add(attribute)
    return dict(annotated)


def _samples(clusters: list[Cluster]) -> dict[int, dict[int, bool]]:
    """Return the ranks of each cluster's samples, and whether anything is annotated on them."""
    live = Annotation.objects.live().filter(page=OuterRef("page"))
    rows = Sample.objects.filter(cluster__in=clusters).annotate(is_annotated=Exists(live))
    samples: defaultdict[int, dict[int, bool]] = defaultdict(dict)
    for cluster, rank, is_annotated in rows.values_list("cluster", "rank", "is_annotated"):
        samples[cluster][rank] = is_annotated
    return dict(samples)
