"""Say of records that they are from before a redesign, until their pages are extracted again."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime

from django.db.models import Count, F

from clustering.models import Cluster, ClusterFigures
from rules.models import Record, Rule


def mark_stale(*, cluster: Cluster, since: datetime) -> int:
    """Mark a cluster's records as stale since a time, but those marked before; return how many."""
    fresh = Record.objects.there().filter(cluster=cluster, stale_since=None)
    return fresh.update(stale_since=since)


def mark_fresh(*, cluster: Cluster) -> int:
    """Unmark the records of a cluster: it is as it was after all. Return how many were marked."""
    marked = Record.objects.filter(cluster=cluster, stale_since__isnull=False)
    return marked.update(stale_since=None)


def mark_pages_fresh(pages: Iterable[int]) -> int:
    """Take the mark from the records of pages that were extracted. Return how many had it."""
    marked = Record.objects.of_pages(pages).filter(stale_since__isnull=False)
    return marked.update(stale_since=None)


def clusters_from_before(clusters: Collection[int]) -> set[int]:
    """Return those of some clusters that show what their site looked like before a redesign.

    Most of their pages hold records from before it, and no visit since has seen them as they are
    stored; no published rule serves them. Of pages that nobody visits, but whose template is as it
    was, no record is stale.
    """
    stale = Record.objects.filter(
        stale_since__isnull=False,
        site__in=Cluster.objects.filter(pk__in=clusters).values("site"),
        page__latest_snapshot__seen_at__lt=F("stale_since"),
        page__memberships__clustering__is_current=True,
        page__memberships__cluster__in=clusters,
    )
    counted = stale.order_by().values_list("page__memberships__cluster")
    n_stale = dict(counted.annotate(n=Count("page", distinct=True)))
    figures = ClusterFigures.objects.current().filter(cluster__in=n_stale)
    figures = figures.exclude(cluster__in=Rule.objects.published().values("cluster"))
    return {
        cluster
        for cluster, n_pages in figures.values_list("cluster", "n_pages")
        if 2 * n_stale[cluster] > n_pages
    }
