"""Say of records that they are from before a redesign, until their pages are extracted again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from clustering.models import Cluster
from rules.models import Record


def mark_stale(*, cluster: Cluster, since: datetime) -> int:
    """Mark the records of a cluster as stale since a time, but those marked before; return how many."""
    fresh = Record.objects.there().filter(cluster=cluster, stale_since=None)
    return fresh.update(stale_since=since)


def mark_fresh(*, cluster: Cluster) -> int:
    """Take the mark from the records of a cluster: it is as it was after all. Return how many had it."""
    marked = Record.objects.filter(cluster=cluster, stale_since__isnull=False)
    return marked.update(stale_since=None)


def mark_pages_fresh(pages: Iterable[int]) -> int:
    """Take the mark from the records of pages that were extracted. Return how many had it."""
    marked = Record.objects.of_pages(pages).filter(stale_since__isnull=False)
    return marked.update(stale_since=None)
