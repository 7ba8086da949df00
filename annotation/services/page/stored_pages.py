"""Stored pages as people annotate them: numbered trees, or why nothing can be annotated."""

from __future__ import annotations

from annotation.algorithms.anchors.page_texts import read_texts
from annotation.algorithms.anchors.picking import NumberedPage
from clustering.dom.page import PageTooLarge
from clustering.models import Page, Snapshot
from clustering.services.pages.stored_trees import parse_snapshot
from vertex.core.storage import BodyDamaged, BodyMissing


class PageUnfit(Exception):
    """Nothing can be annotated on a page; the message says why and what to do."""


def snapshot_to_annotate(page: Page) -> Snapshot:
    """Return the snapshot of a page that is annotated: that of its samples, else the latest one.

    Raises PageUnfit.
    """
    sampled = Snapshot.objects.filter(samples__page=page).select_related("page", "page__site")
    snapshot = sampled.order_by("-pk").first() or page.latest_snapshot
    if snapshot is None:
        why = page.reason or page.get_state_display().lower()
        raise PageUnfit(f"The page has no snapshot ({why}). Crawl or import it first.")
    check_fit(snapshot)
    return snapshot


def check_fit(snapshot: Snapshot) -> None:
    """Raise PageUnfit where a snapshot is broken."""
    if snapshot.problem:
        problem = snapshot.get_problem_display().lower()
        raise PageUnfit(
            f"The snapshot of the page is {problem}, so a rule learnt from it could be wrong. "
            "Annotate another page of the cluster."
        )


def read_page(snapshot: Snapshot) -> NumberedPage:
    """Return the page of a snapshot with its elements numbered. Raises PageUnfit."""
    check_fit(snapshot)
    try:
        tree = parse_snapshot(snapshot)
    except (BodyMissing, BodyDamaged, PageTooLarge) as error:
        raise PageUnfit(f"The page cannot be read: {error}. Crawl or import it again.") from None
    if tree is None:
        raise PageUnfit("The snapshot of the page is empty. Annotate another page of the cluster.")
    return NumberedPage(read_texts(tree))
