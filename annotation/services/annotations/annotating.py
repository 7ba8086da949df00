"""Write annotations: a change makes a further revision, and earlier ones stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from annotation.models import Annotation, Attribute
from annotation.services.annotations.annotated_values import (
    AnnotatedValue,
    annotated_values,
    annotations_of,
    current_revision,
)
from annotation.services.annotations.comparing import compare_again
from clustering.models import Page, Snapshot
from vertex.core.models import User
from vertex.core.services.people import audit

RESTORED_FIELDS = (
    "snapshot_id",
    "kind",
    "position",
    "xpath",
    "end_xpath",
    "text",
    "start",
    "end",
    "prefix",
    "suffix",
    "text_position",
    "record",
    "is_only_here",
)


class AnnotatedMeanwhile(Exception):
    """Somebody else annotated the attribute on the page after it was read."""

    def __init__(self, page: Page, name: str, revision: int) -> None:
        super().__init__(
            f"{name} on {page.url} was changed meanwhile: it is at revision {revision} now"
        )
        self.revision = revision


class NoSuchRevision(Exception):
    """The attribute never had that revision on the page."""


class AttributeMarks(NamedTuple):
    """What is to be said of an attribute on a page."""

    attribute: Attribute | None  # None: its records
    marks: Sequence[AnnotatedValue]  # none: nothing is known any more
    source: str = Annotation.Source.HAND
    revision: int | None = None  # the one that was read; None: whichever it is


def annotate(
    *,
    snapshot: Snapshot,
    attribute: Attribute | None,
    marks: Sequence[AnnotatedValue],
    actor: User | None,
    source: str = Annotation.Source.HAND,
    revision: int | None = None,
    is_audited: bool = True,
) -> int:
    """Replace the annotation of an attribute on a page, and return the new revision.

    Without an attribute the marks are the page's records; without marks nothing is known any more.
    `revision` is the one that was read; raises AnnotatedMeanwhile where it is another one by now.
    """
    replacement = AttributeMarks(attribute, marks, source, revision)
    [outcome] = annotate_each(
        snapshot=snapshot, replacements=[replacement], actor=actor, is_audited=is_audited
    )
    if isinstance(outcome, AnnotatedMeanwhile):
        raise outcome
    return outcome


def annotate_each(
    *,
    snapshot: Snapshot,
    replacements: Sequence[AttributeMarks],
    actor: User | None,
    is_audited: bool = True,
) -> list[int | AnnotatedMeanwhile]:
    """Replace the annotations of different attributes on a page; return the new revision of each.

    In place of a revision stands AnnotatedMeanwhile where the attribute was changed after it was
    read; the other attributes are annotated all the same.
    """
    with transaction.atomic():
        page = Page.objects.select_for_update(no_key=True).get(pk=snapshot.page_id)
        revisions = _last_revisions(page, [each.attribute for each in replacements])
        outcomes: list[int | AnnotatedMeanwhile] = []
        changed: dict[Attribute | None, int] = {}  # with the new revision
        new_rows: list[Annotation] = []
        for attribute, marks, source, revision in replacements:
            last = revisions.get(_key(attribute), 0)
            if revision is not None and revision != last:
                outcomes.append(AnnotatedMeanwhile(page, _name(attribute), last))
                continue
            outcomes.append(last + 1)
            changed[attribute] = last + 1
            rows = _rows_of(marks, snapshot, attribute) or [_cleared(snapshot, attribute)]
            new_rows += _signed(rows, last + 1, actor, source)
        live = Annotation.objects.live().filter(_is_of(changed), page=page)
        live.update(superseded_at=timezone.now())
        Annotation.objects.bulk_create(new_rows)
        compare_again(page, changed)
        if is_audited:
            _audit(page, changed, actor)
    return outcomes


def restore_revision(
    *, page: Page, attribute: Attribute | None, revision: int, actor: User | None
) -> int:
    """Restore an earlier revision of an attribute and return the new one. Raises NoSuchRevision."""
    with transaction.atomic():
        Page.objects.select_for_update(no_key=True).get(pk=page.pk)
        rows = list(Annotation.objects.filter(page=page, attribute=attribute, revision=revision))
        if not rows:
            raise NoSuchRevision(f"{_name(attribute)} on {page.url} has no revision {revision}")
        new_revision = current_revision(page, attribute) + 1
        live = Annotation.objects.live().filter(page=page, attribute=attribute)
        live.update(superseded_at=timezone.now())
        copies = []
        for row in rows:
            fields = {name: getattr(row, name) for name in RESTORED_FIELDS}
            copies.append(Annotation(page=page, attribute=attribute, **fields))
        Annotation.objects.bulk_create(_signed(copies, new_revision, actor, rows[0].source))
        compare_again(page, [attribute])
        _audit(page, {attribute: new_revision}, actor)
    return new_revision


def annotate_page(
    *,
    snapshot: Snapshot,
    marks: Mapping[Attribute | None, Sequence[AnnotatedValue]],
    actor: User | None,
    source: str,
) -> int:
    """Replace the annotations of several attributes of a page, and return how many changed.

    An attribute that is annotated so already keeps its revision. Nothing is audited: the caller
    knows of how many pages this is one.
    """
    with transaction.atomic():
        page = Page.objects.select_for_update(no_key=True).get(pk=snapshot.page_id)
        annotated = annotations_of(page.pk)
        changed = []
        superseded: list[int] = []
        for attribute, new_marks in marks.items():
            rows = annotated.rows.get(_key(attribute), [])
            is_of_snapshot = {row.snapshot_id for row in rows} == {snapshot.pk}
            if is_of_snapshot and annotated_values(rows) == list(new_marks):
                continue
            changed.append(attribute)
            superseded += [row.pk for row in rows]
        Annotation.objects.filter(pk__in=superseded).update(superseded_at=timezone.now())
        new_rows = []
        for attribute in changed:
            rows = _rows_of(marks[attribute], snapshot, attribute)
            revision = annotated.revisions.get(_key(attribute), 0) + 1
            new_rows += _signed(rows, revision, actor, source)
        Annotation.objects.bulk_create(new_rows)
        compare_again(page, changed)
    return len(changed)


def _is_of(attributes: Iterable[Attribute | None]) -> Q:
    """Match the annotations of some attributes; None stands for the records."""
    keys = {_key(attribute) for attribute in attributes}
    is_of = Q(attribute__in=keys - {None})
    return is_of | Q(attribute=None) if None in keys else is_of


def _last_revisions(page: Page, attributes: Iterable[Attribute | None]) -> dict[int | None, int]:
    """Return the last revision of attributes on a page; those never annotated have none."""
    rows = Annotation.objects.filter(_is_of(attributes), page=page).order_by()
    return dict(rows.values_list("attribute").annotate(Max("revision")))


def _signed(
    rows: list[Annotation], revision: int, author: User | None, source: str
) -> list[Annotation]:
    """Return rows as one revision; one that says nothing is superseded at once, it never holds."""
    for row in rows:
        row.revision, row.author, row.source = revision, author, source
        if row.kind == Annotation.Kind.CLEARED:
            row.superseded_at = row.made_at
    return rows


def _cleared(snapshot: Snapshot, attribute: Attribute | None) -> Annotation:
    return Annotation(
        page_id=snapshot.page_id,
        snapshot=snapshot,
        attribute=attribute,
        kind=Annotation.Kind.CLEARED,
    )


def _rows_of(
    marks: Sequence[AnnotatedValue], snapshot: Snapshot, attribute: Attribute | None
) -> list[Annotation]:
    rows = []
    for position, mark in enumerate(marks):
        row = Annotation(
            page_id=snapshot.page_id,
            snapshot=snapshot,
            attribute=attribute,
            kind=_kind(mark, attribute),
            position=position,
            record=list(mark.record),
            is_only_here=mark.is_only_here,
        )
        if mark.anchor is not None:
            row.xpath, row.end_xpath = mark.anchor.xpath, mark.anchor.end_xpath
            row.text, row.text_position = mark.anchor.quote, mark.anchor.position
            row.start, row.end = mark.anchor.start, mark.anchor.end
            row.prefix, row.suffix = mark.anchor.prefix, mark.anchor.suffix
        rows.append(row)
    return rows


def _kind(mark: AnnotatedValue, attribute: Attribute | None) -> Annotation.Kind:
    if attribute is None:
        return Annotation.Kind.RECORD
    return Annotation.Kind.ABSENT if mark.anchor is None else Annotation.Kind.VALUE


def _audit(page: Page, changed: Mapping[Attribute | None, int], actor: User | None) -> None:
    """Audit the new revisions of a page's attributes."""
    audit.record_each(
        actor=actor,
        action="annotation.changed",
        subject=page.url,
        site=page.site,
        details=[
            {"attribute": _name(attribute), "revision": revision}
            for attribute, revision in changed.items()
        ],
    )


def _key(attribute: Attribute | None) -> int | None:
    return attribute.pk if attribute else None


def _name(attribute: Attribute | None) -> str:
    return attribute.name if attribute else "the records"
