"""Write remarks at the nodes of a page, and settle them."""

from __future__ import annotations

from collections.abc import Iterable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.algorithms.anchors.node_paths import AnchorProblem, select_node
from annotation.models import Attribute, Comment
from annotation.services.page.stored_pages import PageUnfit, read_page, tree_of
from clustering.models import Page, Snapshot
from vertex.core.models import User
from vertex.core.services.people import audit
from vertex.core.texts import storable

LONGEST = 4_000  # characters


def add_comment(
    *,
    page: Page,
    text: str,
    xpath: str = "",
    attribute: str = "",
    snapshot: Snapshot | None = None,
    actor: User | None = None,
) -> Comment:
    """Write a remark at a node, or at the page as a whole. Raises ValidationError."""
    told = storable(text).strip()
    if not told or len(told) > LONGEST:
        raise ValidationError({"text": f"Write something, of {LONGEST:,} characters at most."})
    at = snapshot or page.latest_snapshot
    if at is None or at.page_id != page.pk:
        raise ValidationError(f"{page.url} was not fetched yet, so there is nothing to comment on.")
    of_attribute = _attribute(page, attribute) if attribute else None
    with transaction.atomic():
        comment = Comment.objects.create(
            page=page,
            snapshot=at,
            attribute=of_attribute,
            xpath=_checked_xpath(at, xpath) if xpath else "",
            text=told,
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
    """Settle a remark, or open it again; nothing happens where it is so already."""
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


def places_of(comments: Iterable[Comment], snapshot: Snapshot | None) -> dict[int, int]:
    """Return on which element of a snapshot each remark stands, by the number of the element."""
    placed = [comment for comment in comments if comment.xpath]
    if not placed or snapshot is None:
        return {}
    try:
        page = read_page(snapshot)
    except PageUnfit:
        return {}
    places = {}
    for comment in placed:
        try:
            places[comment.pk] = page.number_of(select_node(page.texts.tree, comment.xpath).element)
        except AnchorProblem:
            continue
    return places


def _attribute(page: Page, name: str) -> Attribute:
    """Return the attribute of this name in a vertical of the page's site. Raises ValidationError."""
    found = Attribute.objects.filter(
        name=storable(name), vertical__assignments__site=page.site_id
    ).first()
    if found is None:
        raise ValidationError(
            {"attribute": f"No vertical of {page.site.name} has an attribute {name!r}."}
        )
    return found


def _checked_xpath(snapshot: Snapshot, xpath: str) -> str:
    """Return the path of the node that is meant. Raises ValidationError."""
    tree = tree_of(snapshot)
    if tree is None:
        raise ValidationError({"xpath": "The page has no tree, so comment on it as a whole."})
    try:
        return select_node(tree, xpath).xpath
    except AnchorProblem as error:
        raise ValidationError({"xpath": str(error)}) from None
