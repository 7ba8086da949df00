"""What is written down of an attribute on a page, read as marks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Max

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.models import Annotation, Attribute
from clustering.models import Page


@dataclass(frozen=True, slots=True)
class AnnotatedValue:
    """One value of an attribute, its absence, or a record, as it is to be written down."""

    anchor: Anchor | None = None  # None: absent, or a record
    record: tuple[str, ...] = ()  # XPaths of the record's elements


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


def marks_of(rows: Iterable[Annotation]) -> list[AnnotatedValue]:
    """Return what the rows of an attribute say, in order."""
    return [
        AnnotatedValue(anchor_of(row), tuple(row.record))
        for row in sorted(rows, key=lambda row: row.position)
    ]


def current_revision(page: Page, attribute: Attribute | None) -> int:
    """Return the last revision of an attribute on a page; 0 where nothing was ever said."""
    rows = Annotation.objects.filter(page=page, attribute=attribute)
    return rows.aggregate(last=Max("revision"))["last"] or 0
