"""Change clusters by hand: each change is a row, repeated in later clusterings, undone at will.

A job draws the pages that show what the clusters are then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.models import Cluster, ClusterChange, Clustering, PageMembership
from clustering.services.clusters.cluster_names import free_name, used_names
from clustering.services.clusters.current_changes import (
    apply_last_change,
    clusters_of,
    repeat_changes,
)
from clustering.services.clusters.current_clusterings import has_pages, locked_clustering
from clustering.services.looks.thumbnails import start_drawing
from vertex.core.models import Site, User
from vertex.core.services.people import audit
from vertex.core.texts import storable

MAX_PAGES = 100_000  # in one move
MAX_PAGES_IN_MESSAGE = 5
MAX_TITLE_CHARS = 200


def move_pages(
    *, site: Site, pages: Sequence[int], to: Cluster, actor: User | None
) -> ClusterChange:
    """Move pages to another cluster, in this clustering and all that follow.

    Raises ValidationError for pages or a cluster that the site does not have.
    """
    with transaction.atomic():
        change = _move(locked_clustering(site), pages, to, actor)
    start_drawing(site=site, actor=actor)
    return change


def move_to_new_cluster(
    *, site: Site, pages: Sequence[int], title: str, actor: User | None
) -> ClusterChange:
    """Move pages to a new cluster. Raises ValidationError as `move_pages` does."""
    title = _checked_title(title)
    with transaction.atomic():
        clustering = locked_clustering(site)
        cluster = Cluster.objects.create(
            site=site,
            name=free_name(title, used_names(site)),
            title=title,
            has_own_title=True,
            is_hand_made=True,
        )
        change = _move(clustering, pages, cluster, actor)
    start_drawing(site=site, actor=actor)
    return change


def merge_clusters(*, cluster: Cluster, into: Cluster, actor: User | None) -> ClusterChange:
    """Move all pages of a cluster to another one, those of later clusterings too.

    Raises ValidationError where the two are not two clusters of one site that have pages.
    """
    if cluster.pk == into.pk:
        raise ValidationError(f"{cluster} cannot be merged into itself")
    if cluster.site_id != into.site_id:
        raise ValidationError(f"{into} is a cluster of another site than {cluster}")
    with transaction.atomic():
        clustering = locked_clustering(cluster.site)
        for merged in (cluster, into):
            if not has_pages(merged):
                raise ValidationError(
                    f"{merged} has no pages in the current clustering; it cannot be merged"
                )
        n_pages = PageMembership.objects.filter(clustering=clustering, cluster=cluster).count()
        change = ClusterChange.objects.create(
            site=cluster.site,
            kind=ClusterChange.Kind.MERGE,
            cluster=cluster,
            into=into,
            detail={"n_pages": n_pages},
            made_by=actor,
        )
        apply_last_change(change, clustering)
        _record(actor, "cluster.merged", change, {"into": into.name, "pages": n_pages})
    start_drawing(site=cluster.site, actor=actor)
    return change


def undo_change(*, change: ClusterChange, actor: User | None) -> None:
    """Undo a change; the others stay in force. Raises ValidationError for one that is undone."""
    with transaction.atomic():
        clustering = locked_clustering(change.site)
        rows = ClusterChange.objects.filter(pk=change.pk, undone_at=None)
        if not rows.update(undone_at=timezone.now()):
            raise ValidationError("this change is undone already")
        repeat_changes(clustering, toggled=change)
        _record(actor, "cluster_change.undone", change, {"change": change.pk, "kind": change.kind})
    start_drawing(site=change.site, actor=actor)
    change.refresh_from_db(fields=["undone_at"])


def redo_change(*, change: ClusterChange, actor: User | None) -> None:
    """Redo a change, at its old position in the order. Raises ValidationError for one in force."""
    with transaction.atomic():
        clustering = locked_clustering(change.site)
        rows = ClusterChange.objects.filter(pk=change.pk, undone_at__isnull=False)
        if not rows.update(undone_at=None):
            raise ValidationError("this change is in force already")
        repeat_changes(clustering, toggled=change)
        _record(actor, "cluster_change.redone", change, {"change": change.pk, "kind": change.kind})
    start_drawing(site=change.site, actor=actor)
    change.refresh_from_db(fields=["undone_at"])


def rename_cluster(*, cluster: Cluster, title: str, actor: User | None) -> None:
    """Rename a cluster; no clustering changes this title, and its name stays.

    Raises ValidationError for a blank title and one that is too long.
    """
    title = _checked_title(title)
    with transaction.atomic():
        stored = Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
        old_title = stored.title
        Cluster.objects.filter(pk=cluster.pk).update(title=title, has_own_title=True)
        if old_title != title:
            audit.record(
                actor=actor,
                action="cluster.renamed",
                subject=cluster,
                site=cluster.site,
                detail={"was": old_title, "now": title},
            )
    cluster.refresh_from_db(fields=["title", "has_own_title"])


def _move(
    clustering: Clustering, pages: Sequence[int], to: Cluster, actor: User | None
) -> ClusterChange:
    if to.site_id != clustering.site_id:
        raise ValidationError(f"{to} is a cluster of another site; pages stay in their site")
    pages = _checked_pages(clustering, pages, to)
    change = ClusterChange.objects.create(
        site=clustering.site,
        kind=ClusterChange.Kind.MOVE,
        cluster=to,
        detail={"pages": pages, "n_pages": len(pages)},
        made_by=actor,
    )
    apply_last_change(change, clustering)
    _record(actor, "cluster.pages_moved", change, {"pages": len(pages)})
    return change


def _checked_pages(clustering: Clustering, pages: Sequence[int], to: Cluster) -> list[int]:
    """Return the pages in ascending order, each once. Raises ValidationError."""
    checked = sorted(set(pages))
    if not checked:
        raise ValidationError("choose at least one page to move")
    if len(checked) > MAX_PAGES:
        raise ValidationError(
            f"{len(checked):,} pages are too many for one move; {MAX_PAGES:,} go at once"
        )
    cluster_by_page = clusters_of(clustering, checked)
    unknown = [page for page in checked if page not in cluster_by_page]
    if unknown:
        listed = ", ".join(map(str, unknown[:MAX_PAGES_IN_MESSAGE]))
        if len(unknown) > MAX_PAGES_IN_MESSAGE:
            listed += ", …"
        raise ValidationError(
            f"{clustering.site.name} has no such page in its current clustering: {listed}"
        )
    if set(cluster_by_page.values()) == {to.pk}:
        raise ValidationError(f"these pages are in {to} already")
    return checked


def _checked_title(title: str) -> str:
    """Return a title on one line. Raises ValidationError."""
    title = " ".join(storable(title).split())
    if not title:
        raise ValidationError("a cluster needs a title")
    if len(title) > MAX_TITLE_CHARS:
        raise ValidationError(f"a title has at most {MAX_TITLE_CHARS} characters, not {len(title)}")
    return title


def _record(actor: User | None, action: str, change: ClusterChange, detail: dict[str, Any]) -> None:
    audit.record(
        actor=actor, action=action, subject=change.cluster, site=change.site, detail=detail
    )
