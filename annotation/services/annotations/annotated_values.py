"""Annotations of a page, read as values: what holds now, and in which revision."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Max

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.models import Annotation, Attribute
from clustering.models import Page


@dataclass(frozen=True, slots=True)
class AnnotatedValue:
    """One value of an attribute, its absence, or a record."""

    anchor: Anchor | None = None  # None: absent, or a record
    record: tuple[str, ...] = ()  # XPaths of the record's elements
    is_only_here: bool = False  # another node of the page that shows the same is no value


class PageAnnotations(NamedTuple):
    """What holds on a page by attribute, and the last revision of each; None means the records."""

    rows: dict[int | None, list[Annotation]]
    revisions: dict[int | None, int]


def annotations_of(page_id: int) -> PageAnnotations:
    """Return the annotations that hold on a page, in order."""
    live = Annotation.objects.live().filter(page=page_id).select_related("author")
    rows: defaultdict[int | None, list[Annotation]] = defaultdict(list)
    for row in live.order_by("position"):
        rows[row.attribute_id].append(row)
    of_page = Annotation.objects.filter(page=page_id).order_by()
    revisions = of_page.values_list("attribute").annotate(Max("revision"))
    return PageAnnotations(dict(rows), dict(revisions))


def anchor_of(row: Annotation) -> Anchor | None:
    """Return the anchor that a row holds; None for an absence and a record."""
    if row.kind != Annotation.Kind.VALUE:
        return None
    return Anchor(
        xpath=row.xpath,
        quote=row.text,
        end_xpath=row.end_xpath,
        start=row.start,
        end=row.end,
        prefix=row.prefix,
        suffix=row.suffix,
        position=row.text_position,
    )


def annotated_values(rows: Iterable[Annotation]) -> list[AnnotatedValue]:
    """Return the values that the rows of an attribute hold, in order."""
    in_order = sorted(rows, key=lambda row: row.position)
    return [AnnotatedValue(anchor_of(row), tuple(row.record), row.is_only_here) for row in in_order]


def current_revision(page: Page, attribute: Attribute | None) -> int:
    """Return the last revision of an attribute on a page; 0 where it was never annotated."""
    rows = Annotation.objects.filter(page=page, attribute=attribute)
    return rows.aggregate(last=Max("revision"))["last"] or 0
