"""The trees of stored snapshots, as they are annotated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clustering.dom.page import PageTooLarge, parse_page
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

if TYPE_CHECKING:
    from lxml.html import HtmlElement

    from clustering.models import Snapshot


def tree_of(snapshot: Snapshot) -> HtmlElement | None:
    """Parse a snapshot's bytes; None where they are gone or hold no tree."""
    try:
        return parse_page(page_store().read(snapshot.body), snapshot.content_type).tree
    except (BodyMissing, BodyDamaged, PageTooLarge):
        return None
