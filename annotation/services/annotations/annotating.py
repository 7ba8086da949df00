"""Write down what editors say about attributes on pages; what was said before is kept."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from annotation.models import Annotation, Attribute
from annotation.services.annotations.comparing import compare_again
from annotation.services.annotations.stored_marks import (
    AnnotatedValue,
    anchor_of,
    current_revision,
    marks_of,
)
from clustering.models import Page, Snapshot
from vertex.core.models import User
from vertex.core.services.people import audit

__all__ = [
    "AnnotatedMeanwhile",
    "AnnotatedValue",
    "NoSuchRevision",
    "anchor_of",
    "annotate",
    "annotate_page",
    "current_revision",
    "marks_of",
    "restore_revision",
]

COPIED = [
    *(
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
    ),
    *("text_position", "record"),
]


class AnnotatedMeanwhile(Exception):
    """Somebody else annotated the attribute on the page after it was read."""

    def __init__(self, page: Page, name: str, revision: int) -> None:
        super().__init__(
            f"{name} on {page.url} was changed meanwhile: it is at revision {revision} now"
        )
        self.revision = revision


class NoSuchRevision(Exception):
    """The attribute never had that revision on the page."""


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
    """Let the marks be all that is said of an attribute on a page, and return the new revision.

    Without an attribute the marks are the page's records; without marks nothing is known any more.
    `revision` is the one that was read; raises AnnotatedMeanwhile where it is another one by now.
    """
    with transaction.atomic():
        page = Page.objects.select_for_update(no_key=True).get(pk=snapshot.page_id)
        new = _supersede(page, attribute, revision)
        rows = [_row(mark, snapshot, attribute, position) for position, mark in enumerate(marks)]
        rows = rows or [_cleared(snapshot, attribute)]
        Annotation.objects.bulk_create(_signed(rows, new, actor, source))
        compare_again(page, [attribute])
        if is_audited:
            _audit(page, attribute, new, actor)
    return new


def restore_revision(
    *, page: Page, attribute: Attribute | None, revision: int, actor: User | None
) -> int:
    """Let hold again what an earlier revision said. Raises NoSuchRevision."""
    with transaction.atomic():
        Page.objects.select_for_update(no_key=True).get(pk=page.pk)
        rows = list(Annotation.objects.filter(page=page, attribute=attribute, revision=revision))
        if not rows:
            raise NoSuchRevision(f"{_name(attribute)} on {page.url} has no revision {revision}")
        new = _supersede(page, attribute, None)
        copies = [
            Annotation(
                page=page, attribute=attribute, **{name: getattr(row, name) for name in COPIED}
            )
            for row in rows
        ]
        Annotation.objects.bulk_create(_signed(copies, new, actor, rows[0].source))
        compare_again(page, [attribute])
        _audit(page, attribute, new, actor)
    return new


def annotate_page(
    *,
    snapshot: Snapshot,
    marks: Mapping[Attribute | None, Sequence[AnnotatedValue]],
    actor: User | None,
    source: str,
) -> int:
    """Do what `annotate` does for several attributes of a page at once, and return how many changed.

    What is said already stays as it is. Nothing is audited: the caller knows of how many pages this is one.
    """
    with transaction.atomic():
        page = Page.objects.select_for_update(no_key=True).get(pk=snapshot.page_id)
        live, last = _live_rows(page)
        changed = {attribute: list(said) for attribute, said in marks.items()}
        for attribute, said in marks.items():
            rows = live.get(_key(attribute), [])
            if (
                rows
                and {row.snapshot_id for row in rows} == {snapshot.pk}
                and marks_of(rows) == list(said)
            ):
                del changed[attribute]
        superseded = [row.pk for attribute in changed for row in live.get(_key(attribute), [])]
        Annotation.objects.filter(pk__in=superseded).update(superseded_at=timezone.now())
        new = []
        for attribute, said in changed.items():
            rows = [_row(mark, snapshot, attribute, position) for position, mark in enumerate(said)]
            new += _signed(rows, last.get(_key(attribute), 0) + 1, actor, source)
        Annotation.objects.bulk_create(new)
        compare_again(page, changed)
    return len(changed)


def _live_rows(page: Page) -> tuple[dict[int | None, list[Annotation]], dict[int | None, int]]:
    """Return what holds on a page, by attribute, and the last revision of each."""
    live: defaultdict[int | None, list[Annotation]] = defaultdict(list)
    for row in Annotation.objects.live().filter(page=page):
        live[row.attribute_id].append(row)
    last = (
        Annotation.objects.filter(page=page)
        .order_by()
        .values_list("attribute")
        .annotate(Max("revision"))
    )
    return dict(live), dict(last)


def _supersede(page: Page, attribute: Attribute | None, expected: int | None) -> int:
    """Take what is said out of force and return the number of the next revision."""
    last = current_revision(page, attribute)
    if expected is not None and expected != last:
        raise AnnotatedMeanwhile(page, _name(attribute), last)
    Annotation.objects.live().filter(page=page, attribute=attribute).update(
        superseded_at=timezone.now()
    )
    return last + 1


def _signed(
    rows: list[Annotation], revision: int, author: User | None, source: str
) -> list[Annotation]:
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


def _row(
    mark: AnnotatedValue, snapshot: Snapshot, attribute: Attribute | None, position: int
) -> Annotation:
    row = Annotation(
        page_id=snapshot.page_id,
        snapshot=snapshot,
        attribute=attribute,
        kind=_kind(mark, attribute),
        position=position,
        record=list(mark.record),
    )
    if mark.anchor is not None:
        row.xpath, row.end_xpath, row.text = (
            mark.anchor.xpath,
            mark.anchor.end_xpath,
            mark.anchor.quote,
        )
        row.start, row.end = mark.anchor.start, mark.anchor.end
        row.prefix, row.suffix = mark.anchor.prefix, mark.anchor.suffix
        row.text_position = mark.anchor.position
    return row


def _kind(mark: AnnotatedValue, attribute: Attribute | None) -> Annotation.Kind:
    if attribute is None:
        return Annotation.Kind.RECORD
    return Annotation.Kind.ABSENT if mark.anchor is None else Annotation.Kind.VALUE


def _audit(page: Page, attribute: Attribute | None, revision: int, actor: User | None) -> None:
    audit.record(
        actor=actor,
        action="annotation.changed",
        subject=page.url,
        site=page.site,
        detail={"attribute": _name(attribute), "revision": revision},
    )


def _key(attribute: Attribute | None) -> int | None:
    return attribute.pk if attribute else None


def _name(attribute: Attribute | None) -> str:
    return attribute.name if attribute else "the records"
