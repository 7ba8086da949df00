"""The trees of stored snapshots, as they are annotated."""

from __future__ import annotations

from lxml.html import HtmlElement

from clustering.dom.page import PageTooLarge, parse_page
from clustering.models import Snapshot
from vertex.core.storage import BodyDamaged, BodyMissing, page_store


def tree_of(snapshot: Snapshot) -> HtmlElement | None:
    """Parse a snapshot's bytes; None where they are gone or hold no tree."""
    try:
        return parse_page(page_store().read(snapshot.body), snapshot.content_type).tree
    except (BodyMissing, BodyDamaged, PageTooLarge):
        return None
