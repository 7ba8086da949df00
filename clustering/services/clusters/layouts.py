"""The layouts of a site's clusters: pages of one cluster that look alike, and their split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count

from clustering.models import Cluster, ClusterChange, Clustering, ClusterLayout, PageMembership
from clustering.services.clusters.cluster_names import free_name, used_names
from clustering.services.clusters.current_changes import apply_last_change
from clustering.services.clusters.current_clusterings import locked_clustering
from clustering.services.looks.thumbnails import start_drawing
from vertex.core.models import User
from vertex.core.services.people import audit
from vertex.core.texts import storable

MAX_TITLE_CHARS = 200


class ShownLayout(NamedTuple):
    """A layout with the pages of it that are in a cluster now."""

    layout: ClusterLayout
    n_pages: int


def layouts_by_cluster(
    clustering: Clustering, clusters: Sequence[Cluster] | None = None
) -> dict[int, list[ShownLayout]]:
    """Return the layouts of all clusters or of some, largest first; none for a cluster of one."""
    members = PageMembership.objects.filter(
        clustering=clustering, layout__isnull=False, cluster__isnull=False
    )
    if clusters is not None:
        members = members.filter(cluster__in=clusters)
    counts = list(members.order_by().values_list("cluster", "layout").annotate(n=Count("page")))
    layouts = ClusterLayout.objects.select_related("example__latest_snapshot").in_bulk(
        {layout for _, layout, _ in counts}
    )
    shown: dict[int, list[ShownLayout]] = {}
    for cluster, layout, n_pages in sorted(counts, key=lambda row: (-row[2], row[1])):
        shown.setdefault(cluster, []).append(ShownLayout(layouts[layout], n_pages))
    return {pk: of_cluster for pk, of_cluster in shown.items() if len(of_cluster) > 1}


def layout_named(cluster: Cluster, name: str) -> int:
    """Return the key of a layout that a cluster has now; raise ValidationError for another name."""
    clustering = Clustering.objects.current().filter(site=cluster.site).without_model().first()
    layouts: list[ClusterLayout] = []
    if clustering is not None:
        of_cluster = layouts_by_cluster(clustering, [cluster]).get(cluster.pk, [])
        layouts = [shown.layout for shown in of_cluster]
    for layout in layouts:
        if layout.name == name:
            return layout.pk
    names = ", ".join(layout.name for layout in layouts) or "none, since its pages look alike"
    raise ValidationError(f"{cluster} has no layout {name!r}; it has: {names}")


def split_off_layout(*, cluster: Cluster, layout: int, actor: User | None) -> ClusterChange:
    """Split the pages of a layout off into a cluster of their own, in all later clusterings, too.

    A job draws the pages that show what both clusters are.

    Raises ValidationError where the cluster has no such layout beside another one.
    """
    with transaction.atomic():
        clustering = locked_clustering(cluster.site)
        shown = layouts_by_cluster(clustering, [cluster]).get(cluster.pk, [])
        layouts = [each.layout for each in shown]
        split = next((each for each in layouts if each.pk == layout), None)
        if split is None:
            raise ValidationError(
                f"{cluster} has no such layout beside another one; it was clustered again or split"
            )
        members = PageMembership.objects.filter(clustering=clustering, cluster=cluster)
        pages_of_layout = list(members.filter(layout=split).values_list("page", flat=True))
        other_pages = list(members.exclude(layout=split).values_list("page", flat=True))
        part = _create_part(cluster, split)
        change = ClusterChange.objects.create(
            site=cluster.site,
            kind=ClusterChange.Kind.SPLIT,
            cluster=cluster,
            detail={
                "parts": {
                    str(cluster.pk): sorted(other_pages),
                    str(part.pk): sorted(pages_of_layout),
                },
                "by_layout": True,
                "groups": {"": cluster.pk, split.name: part.pk},
                "n_pages": len(other_pages) + len(pages_of_layout),
            },
            made_by=actor,
        )
        apply_last_change(change, clustering)
        audit.record(
            actor=actor,
            action="cluster.layout_split_off",
            subject=cluster,
            site=cluster.site,
            detail={"change": change.pk, "part": part.name, "pages": len(pages_of_layout)},
        )
    start_drawing(site=cluster.site, actor=actor)
    return change


def _create_part(cluster: Cluster, layout: ClusterLayout) -> Cluster:
    """Create the cluster of a layout, titled by what its pages have."""
    texts = [text for text in layout.has if "/" not in text]  # a path is no word for people
    mark = f" with {texts[0]}" if texts else f" {layout.name}"
    title = storable(f"{cluster.title}{mark}", MAX_TITLE_CHARS)
    return Cluster.objects.create(
        site=cluster.site,
        name=free_name(title, used_names(cluster.site)),
        title=title,
        own_kind=cluster.own_kind,
        is_hand_made=True,
    )
