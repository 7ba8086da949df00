"""The lists of stored pages as tables."""

from __future__ import annotations

from clustering.algorithms.tables.page_tables import (
    N_LISTS,
    ListTable,
    table_from_json,
    tables_of_body,
)
from clustering.dom.page import PageTooLarge
from clustering.models import Snapshot
from clustering.services.children.stored import PageTooHeavy, call_on_page
from vertex.core.storage import BodyDamaged, BodyMissing


def tables_of_snapshot(snapshot: Snapshot, n_best: int = N_LISTS) -> list[ListTable]:
    """Return the lists of a stored page as tables.

    None where its bytes are gone, hold no list or are too heavy to read. Raises ChildrenBusy.
    """
    url = snapshot.final_url or snapshot.page.url
    try:
        tables = call_on_page(snapshot, tables_of_body, url, n_best)
    except (BodyMissing, BodyDamaged, PageTooLarge, PageTooHeavy):
        return []
    return [table_from_json(table) for table in tables]
