"""A stored snapshot as a page with its bytes, and as a tree."""

from __future__ import annotations

from lxml.html import HtmlElement

from clustering.algorithms.grouping import RawPage
from clustering.dom.page import PageTooLarge, parse_page
from clustering.models import Snapshot
from vertex.core.storage import BodyDamaged, BodyMissing, page_store


def read_snapshot(snapshot: Snapshot) -> RawPage | None:
    """Return a snapshot with its bytes; None where they are gone or damaged."""
    try:
        body = page_store().read(snapshot.body)
    except (BodyMissing, BodyDamaged):
        return None
    return RawPage(snapshot.page.url, body, snapshot.content_type)


def read_tree(snapshot: Snapshot) -> HtmlElement | None:
    """Parse a snapshot's bytes; None where they are gone, hold no tree or are too heavy to read."""
    if snapshot.problem == Snapshot.Problem.TOO_HEAVY:
        return None
    try:
        return parse_snapshot(snapshot)
    except (BodyMissing, BodyDamaged, PageTooLarge):
        return None


def parse_snapshot(snapshot: Snapshot) -> HtmlElement | None:
    """Parse a snapshot's bytes; None where they hold no tree.

    Raises BodyMissing, BodyDamaged, PageTooLarge.
    """
    return parse_page(page_store().read(snapshot.body), snapshot.content_type).tree
