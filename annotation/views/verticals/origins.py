"""The page from which somebody came to a vertical: shown beside it, opened again after saving."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from annotation.models import Assignment, Sample, Vertical
from annotation.services.verticals.verticals import assign_vertical
from clustering.models import Cluster, PageMembership, Snapshot
from vertex.core.models import Role, User
from vertex.core.views.access import user_of

MAX_DIGITS = 9


class Origin(NamedTuple):
    """The cluster whose pages a vertical is to describe, with the sample that was looked at."""

    cluster: Cluster
    rank: int
    snapshot: Snapshot | None

    @property
    def address(self) -> str:
        """Return where the sample is annotated."""
        return reverse("annotate_page", args=[self.cluster.site.name, self.cluster.name, self.rank])

    @property
    def query(self) -> str:
        """Return what names the origin in an address."""
        fields = {"site": self.cluster.site.name, "cluster": self.cluster.name, "rank": self.rank}
        return urlencode(fields)


def origin_of(request: HttpRequest) -> Origin | None:
    """Return where the request says that somebody came from; None if no cluster of theirs."""
    names = {name: request.GET.get(name, "").replace("\0", "") for name in ("site", "cluster")}
    cluster = Cluster.objects.filter(site__name=names["site"], name=names["cluster"])
    shown = cluster.select_related("site").first()
    if shown is None or not user_of(request).has_role(Role.EDITOR, shown.site):
        return None
    rank = request.GET.get("rank", "")
    number = int(rank) if rank.isascii() and rank.isdecimal() and len(rank) <= MAX_DIGITS else 1
    return Origin(shown, number, snapshot_of(shown, number))


def snapshot_of(cluster: Cluster, rank: int) -> Snapshot | None:
    """Return the page of a sample; where none is drawn yet, any page of the cluster."""
    samples = Sample.objects.filter(cluster=cluster).select_related("snapshot__page__site")
    sample = samples.filter(rank=rank).first() or samples.order_by("rank").first()
    if sample is not None:
        return sample.snapshot
    members = PageMembership.objects.of_cluster(cluster).filter(page__latest_snapshot__isnull=False)
    member = members.select_related("page__latest_snapshot__page__site").order_by("page").first()
    return member.page.latest_snapshot if member else None


def describe_by(origin: Origin, vertical: Vertical, actor: User) -> None:
    """Assign a vertical to the cluster that somebody came from, unless it describes it already."""
    if Assignment.objects.vertical_of(origin.cluster.site, origin.cluster) != vertical:
        assign_vertical(
            site=origin.cluster.site, cluster=origin.cluster, vertical=vertical, actor=actor
        )
