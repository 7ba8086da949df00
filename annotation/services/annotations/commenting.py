"""Comment on the nodes of a page, and settle comments."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.algorithms.anchors.node_paths import AnchorProblem, select_node
from annotation.models import Attribute, Comment
from annotation.services.page.stored_pages import PageUnfit, read_page
from clustering.models import Page, Snapshot
from clustering.services.pages.stored_trees import read_tree
from vertex.core.models import User
from vertex.core.services.people import audit
from vertex.core.texts import storable

MAX_COMMENT_CHARS = 4_000


def add_comment(
    *,
    page: Page,
    text: str,
    xpath: str = "",
    attribute: str = "",
    snapshot: Snapshot | None = None,
    actor: User | None = None,
) -> Comment:
    """Comment on a node, or on the page as a whole. Raises ValidationError."""
    stored_text = storable(text).strip()
    if not stored_text or len(stored_text) > MAX_COMMENT_CHARS:
        raise ValidationError(
            {"text": f"Write something, of {MAX_COMMENT_CHARS:,} characters at most."}
        )
    snapshot = snapshot or page.latest_snapshot
    if snapshot is None or snapshot.page_id != page.pk:
        raise ValidationError(f"{page.url} was not fetched yet, so there is nothing to comment on.")
    of_attribute = _attribute(page, attribute) if attribute else None
    with transaction.atomic():
        comment = Comment.objects.create(
            page=page,
            snapshot=snapshot,
            attribute=of_attribute,
            xpath=_checked_xpath(snapshot, xpath) if xpath else "",
            text=stored_text,
            author=actor,
        )
        detail = {"comment": comment.pk, "xpath": comment.xpath, "attribute": attribute}
        audit.record(
            actor=actor, action="comment.added", subject=page.url, site=page.site, detail=detail
        )
    return comment


def resolve_comment(
    *, comment: Comment, is_resolved: bool = True, actor: User | None = None
) -> None:
    """Settle a comment, or open it again; nothing happens where it is so already."""
    rows = Comment.objects.filter(pk=comment.pk, resolved_at__isnull=is_resolved)
    now = timezone.now() if is_resolved else None
    with transaction.atomic():
        if rows.update(resolved_at=now, resolved_by=actor if is_resolved else None):
            audit.record(
                actor=actor,
                action="comment.resolved" if is_resolved else "comment.reopened",
                subject=comment.page.url,
                site=comment.page.site,
                detail={"comment": comment.pk},
            )
    comment.refresh_from_db()


def element_numbers(comments: Iterable[Comment], snapshot: Snapshot | None) -> dict[int, int]:
    """Return the number of the element on which each comment stands, by comment.

    Comments on the page as a whole are left out, and those whose node is not in this snapshot.
    """
    at_nodes = [comment for comment in comments if comment.xpath]
    if not at_nodes or snapshot is None:
        return {}
    try:
        page = read_page(snapshot)
    except PageUnfit:
        return {}
    number_by_comment = {}
    for comment in at_nodes:
        try:
            element = select_node(page.texts.tree, comment.xpath).element
        except AnchorProblem:
            continue
        number_by_comment[comment.pk] = page.number_of(element)
    return number_by_comment


def _attribute(page: Page, name: str) -> Attribute:
    """Return the attribute of this name in a vertical of a page's site. Raises ValidationError."""
    of_site = Attribute.objects.filter(vertical__assignments__site=page.site_id)
    attribute = of_site.filter(name=storable(name)).first()
    if attribute is None:
        raise ValidationError(
            {"attribute": f"No vertical of {page.site.name} has an attribute {name!r}."}
        )
    return attribute


def _checked_xpath(snapshot: Snapshot, xpath: str) -> str:
    """Return the XPath with positions of the node at an XPath. Raises ValidationError."""
    tree = read_tree(snapshot)
    if tree is None:
        raise ValidationError({"xpath": "The page has no tree, so comment on it as a whole."})
    try:
        return select_node(tree, xpath).xpath
    except AnchorProblem as error:
        raise ValidationError({"xpath": str(error)}) from None
