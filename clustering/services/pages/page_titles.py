"""The titles of stored pages, read in limited children."""

from __future__ import annotations

from collections.abc import Iterable

from clustering.dom.page import PageTooLarge
from clustering.dom.titles import read_title
from clustering.models import Page, Snapshot
from clustering.services.children.limits import ChildrenBusy
from clustering.services.children.stored import PageTooHeavy, call_on_page
from vertex.core.storage import BodyDamaged, BodyMissing


def read_titles(pages: Iterable[Page]) -> dict[int, str]:
    """Return the titles of some pages in their latest snapshots; blank where none can be read."""
    return {
        page.pk: _title_of(page.latest_snapshot) if page.latest_snapshot is not None else ""
        for page in pages
    }


def _title_of(snapshot: Snapshot) -> str:
    try:
        return call_on_page(snapshot, read_title)
    except (PageTooHeavy, PageTooLarge, ChildrenBusy, BodyMissing, BodyDamaged):
        return ""
