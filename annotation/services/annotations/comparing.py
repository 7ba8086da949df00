"""Compare the second annotation of a page with the first one as it is now."""

from __future__ import annotations

from collections.abc import Iterable

from annotation.algorithms.anchors.agreement import compare_marks
from annotation.algorithms.anchors.anchoring import Anchor
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.models import Annotation, Attribute, SecondAnnotation
from annotation.services.annotations.annotated_values import anchor_of, current_revision
from clustering.models import Page
from clustering.services.pages.stored_trees import read_tree


def compare_again(page: Page, attributes: Iterable[Attribute | None]) -> None:
    """Compare the second annotations of a page whose first one changed just now.

    One that was settled stays as it is: it says how far two people agreed who knew nothing
    of each other.
    """
    ids = [attribute.pk for attribute in attributes if attribute is not None]
    rows = SecondAnnotation.objects.filter(page=page, attribute__in=ids, resolution="")
    for row in rows.select_related("page", "attribute", "snapshot"):
        compare(row)


def compare(row: SecondAnnotation) -> None:
    """Compare a second annotation with the first as it is now, if that is of the same bytes."""
    first = first_rows(row)
    agreement = ""
    tree = read_tree(row.snapshot) if first else None
    if tree is not None:
        first_anchors = [anchor for anchor in map(anchor_of, first) if anchor is not None]
        try:
            agreement = compare_marks(read_texts(tree), first_anchors, anchors_of(row))
        except AnchorProblem:
            agreement = SecondAnnotation.Agreement.OTHER
    row.agreement, row.first_revision = agreement, current_revision(row.page, row.attribute)
    row.save(update_fields=["agreement", "first_revision"])


def first_rows(row: SecondAnnotation) -> list[Annotation]:
    """Return the first annotation of the same attribute on the same bytes."""
    live = Annotation.objects.live().filter(page=row.page_id, attribute=row.attribute_id)
    of_same_bytes = live.filter(snapshot__body=row.snapshot.body)
    return list(of_same_bytes.select_related("author").order_by("position"))


def anchors_of(row: SecondAnnotation) -> list[Anchor]:
    """Return the anchors that a second annotation holds; none where it says there is no value."""
    return [Anchor(**mark) for mark in row.marks]
