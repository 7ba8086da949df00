"""The lists of a stored page as tables to look at, before anybody has said what they are about."""

from __future__ import annotations

from typing import Any, Final

from django.core.cache import cache

from clustering.algorithms.tables.page_tables import ListTable, table_from_json
from clustering.models import Snapshot
from clustering.services.lists.list_tables import tables_of_snapshot

CACHED_FOR: Final = 600  # seconds; a snapshot never changes, the algorithms may


def shown_tables(snapshot: Snapshot) -> list[ListTable]:
    """Return the lists of a stored page as they are shown, the best first.

    None where the page has no list or its bytes are gone.
    """
    key = f"shown_tables:2:{snapshot.pk}:{snapshot.body[:16]}"
    cached = cache.get(key)
    if cached is not None:
        return [table_from_json(table) for table in cached]
    tables = [table.as_shown() for table in tables_of_snapshot(snapshot)]
    cache.set(key, tables, CACHED_FOR)
    return tables


def table_at(snapshot: Snapshot, rank: int) -> ListTable | None:
    """Return a list of a page with where its values stand; None if there is none of this rank."""
    tables = tables_of_snapshot(snapshot)
    return next((table for table in tables if table.rank == rank), None)


def table_ranked(tables: list[ListTable], rank: Any) -> ListTable | None:
    """Return the table of a rank that somebody typed, else the best; None where there is none."""
    for table in tables:
        if str(table.rank) == str(rank):
            return table
    return tables[0] if tables else None
