"""What an editor does on a page: take a node for an attribute, mark it absent, mark records.

Each gesture makes a further revision of one attribute of the page and returns which one, so that it
can be undone. A gesture that replaces the annotation names the revision that was read; one that
adds a value is valid whatever happened meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

from django.db import transaction
from lxml.etree import _Element

from annotation.algorithms.anchors.alike import find_alike, find_records_alike
from annotation.algorithms.anchors.anchoring import (
    Anchor,
    ProposedNode,
    anchor_node,
    anchor_proposed,
)
from annotation.algorithms.anchors.node_paths import AnchorProblem, PageNode, select_node
from annotation.algorithms.anchors.picking import (
    NumberedPage,
    PickedPlace,
    anchor_place,
    anchor_stretch,
    anchor_text,
)
from annotation.models import Annotation, Attribute
from annotation.services.annotations.annotated_values import (
    AnnotatedValue,
    annotated_values,
    current_revision,
)
from annotation.services.annotations.annotating import (
    AnnotatedMeanwhile,
    AttributeMarks,
    annotate,
    annotate_each,
    restore_revision,
)
from clustering.algorithms.records.finding import find_records
from clustering.dom.paths import element_paths
from clustering.models import Page, Snapshot
from vertex.core.models import User

MAX_MARKS = 2_000  # of one attribute on one page
TYPED_NODES = {Attribute.Type.IMAGE: ("img", "src"), Attribute.Type.URL: ("a", "href")}
# Attributes that may hold the value of an element without a text, the best first.
SPEAKING_ATTRIBUTES = ("content", "alt", "title", "value", "datetime", "src", "href")


@dataclass(frozen=True, slots=True)
class GestureChange:
    """A revision that a gesture made, and the one before it."""

    page: int
    attribute: str  # blank: the records
    before: int
    after: int


class TooManyMarks(Exception):
    """More values than a page may have of an attribute."""

    def __init__(self, n_marks: int) -> None:
        super().__init__(
            f"{n_marks:,} values are too many for one attribute; {MAX_MARKS:,} fit on a page"
        )


class Subject(NamedTuple):
    """What a gesture is about: an attribute on a page that was read."""

    snapshot: Snapshot
    page: NumberedPage
    attribute: Attribute | None
    actor: User | None
    source: str = Annotation.Source.HAND

    @property
    def name(self) -> str:
        """Return the attribute's name, blank for the records."""
        return self.attribute.name if self.attribute else ""


class Accepted(NamedTuple):
    """What an editor accepted for an attribute."""

    subject: Subject
    marks: Sequence[ProposedNode]
    is_absent: bool
    revision: int  # the one that was shown
    adds: bool = False  # to the values that the attribute has, whatever happened meanwhile


Refusal: TypeAlias = AnchorProblem | AnnotatedMeanwhile | TooManyMarks


def take(
    *, subject: Subject, anchor: Anchor, revision: int | None, adds: bool = False
) -> GestureChange:
    """Annotate an anchor as the value of the attribute, or as a further one of it.

    Within a record it replaces the value in that record only. Raises AnnotatedMeanwhile.
    """
    with transaction.atomic():
        _lock(subject.snapshot.page_id)
        values = _values_of(subject)
        new = AnnotatedValue(anchor, _record_around(subject, anchor))
        if adds or (subject.attribute and subject.attribute.is_multi):
            return _write(subject, _in_order([*values, new]), None)
        of_other_records: list[AnnotatedValue] = []
        if new.record:
            of_other_records = [value for value in values if value.record != new.record]
        return _write(subject, _in_order([*of_other_records, new]), revision)


def take_alike(*, subject: Subject, revision: int | None) -> GestureChange:
    """Annotate every node that stands as the attribute's values do. Raises AnchorProblem."""
    tree = subject.page.texts.tree
    anchors = [value.anchor for value in _values_of(subject) if value.anchor is not None]
    nodes = [select_node(tree, anchor.xpath) for anchor in anchors]
    if not nodes:
        raise AnchorProblem("take a value first: the others are searched by what it looks like")
    values = []
    for element in find_alike([node.element for node in nodes]):
        node = PageNode(element, nodes[0].number, nodes[0].name)
        try:
            anchor = anchor_node(subject.page.texts, node.xpath)
        except AnchorProblem:
            continue  # it shows nothing
        values.append(AnnotatedValue(anchor, _record_around(subject, anchor)))
    return _write(subject, values, revision)


def remove_value(*, subject: Subject, position: int, revision: int | None) -> GestureChange:
    """Remove one value of the attribute. Raises AnnotatedMeanwhile."""
    marks = _marks_of(subject)
    return _write(subject, [*marks[:position], *marks[position + 1 :]], revision)


def mark_only_here(
    *, subject: Subject, position: int, is_only_here: bool, revision: int | None
) -> GestureChange:
    """Annotate that no other node which shows the same is the value, or that any is.

    Raises AnnotatedMeanwhile.
    """
    marks = [
        replace(mark, is_only_here=is_only_here) if number == position else mark
        for number, mark in enumerate(_marks_of(subject))
    ]
    return _write(subject, marks, revision)


def mark_absent(*, subject: Subject, revision: int | None) -> GestureChange:
    """Annotate that the page has no value of the attribute. Raises AnnotatedMeanwhile."""
    return _write(subject, [AnnotatedValue()], revision)


def clear(*, subject: Subject, revision: int | None) -> GestureChange:
    """Clear the annotation of the attribute, or of the records. Raises AnnotatedMeanwhile."""
    return _write(subject, [], revision)


def mark_records(
    *, subject: Subject, first: _Element, last: _Element | None, revision: int | None
) -> GestureChange:
    """Annotate the siblings that look like those from first to last as the page's records."""
    return _write_records(subject, find_records_alike(first, last), revision)


def mark_found_records(*, subject: Subject, revision: int | None) -> GestureChange:
    """Annotate the list most like records as the page's records. Raises AnchorProblem."""
    lists = find_records(subject.page.texts.tree)
    if not lists:
        raise AnchorProblem(
            "no list of records is found on this page; click one record to mark them"
        )
    return _write_records(subject, lists[0].records, revision)


def accept_records(
    *, subject: Subject, records: Sequence[ProposedNode], revision: int | None
) -> GestureChange:
    """Annotate the proposed records, each from one element to another. Raises AnchorProblem."""
    return _write_records(subject, [_siblings(subject, record) for record in records], revision)


def accept_each(accepted: Sequence[Accepted]) -> list[GestureChange | Refusal]:
    """Annotate what was proposed for different attributes of one page, as it was shown.

    Returns for each what changed, or why nothing did.
    """
    if not accepted:
        return []
    snapshot, actor = accepted[0].subject.snapshot, accepted[0].subject.actor
    outcomes: dict[str, GestureChange | Refusal] = {}
    replacements = []
    with transaction.atomic():
        _lock(snapshot.page_id)
        records = _records_of(snapshot.page_id)
        for each in accepted:
            try:
                replacements.append(_replacement(each, records))
            except (AnchorProblem, TooManyMarks) as error:
                outcomes[each.subject.name] = error
        revisions = annotate_each(snapshot=snapshot, replacements=replacements, actor=actor)
    for replacement, revision in zip(replacements, revisions, strict=True):
        name = replacement.attribute.name if replacement.attribute else ""
        if isinstance(revision, AnnotatedMeanwhile):
            outcomes[name] = revision
        else:
            outcomes[name] = GestureChange(snapshot.page_id, name, revision - 1, revision)
    return [outcomes[each.subject.name] for each in accepted]


def _replacement(accepted: Accepted, records: Sequence[tuple[str, ...]]) -> AttributeMarks:
    """Return what accepting says of an attribute. Raises AnchorProblem and TooManyMarks."""
    subject = accepted.subject
    if accepted.is_absent:
        marks = [AnnotatedValue()]
    else:
        anchors = [anchor_proposed(subject.page.texts, mark) for mark in accepted.marks]
        marks = [
            AnnotatedValue(anchor, _record_among(records, subject, anchor)) for anchor in anchors
        ]
    if accepted.adds:
        marks = _in_order([*_values_of(subject), *marks])
    if len(marks) > MAX_MARKS:
        raise TooManyMarks(len(marks))
    revision = None if accepted.adds else accepted.revision
    return AttributeMarks(subject.attribute, list(dict.fromkeys(marks)), subject.source, revision)


def restore(
    *, page: Page, attribute: Attribute | None, shown: int, wanted: int, actor: User | None
) -> GestureChange:
    """Restore an earlier revision, as long as what is shown is still what holds.

    Raises AnnotatedMeanwhile, NoSuchRevision.
    """
    with transaction.atomic():
        _lock(page.pk)
        current = current_revision(page, attribute)
        name = attribute.name if attribute else ""
        if _content(page, attribute, current) != _content(page, attribute, shown):
            raise AnnotatedMeanwhile(page, name or "the records", current)
        if wanted:
            after = restore_revision(page=page, attribute=attribute, revision=wanted, actor=actor)
        else:
            snapshot = _snapshot_of(page, attribute, current)
            after = annotate(snapshot=snapshot, attribute=attribute, marks=[], actor=actor)
    return GestureChange(page.pk, name, current, after)


def anchor_clicked(subject: Subject, place: PickedPlace, *, widens: bool = False) -> Anchor:
    """Return the anchor that a click means: what an attribute of its type takes from the place.

    Raises AnchorProblem.
    """
    element = subject.page.element(place.number)
    if place.text_node is not None:
        return anchor_place(subject.page, place)
    parent = element.getparent()
    if widens and parent is not None:
        element = parent
    typed = TYPED_NODES.get(subject.attribute.type) if subject.attribute else None  # type: ignore[call-overload]  # a plain text is a key, too
    node = _typed_node(element, *typed) if typed else None
    return anchor_node(subject.page.texts, (node or _speaking_node(subject.page, element)).xpath)


def anchor_typed(subject: Subject, number: int, start: int, end: int) -> Anchor:
    """Return the anchor of a part of what an element displays. Raises AnchorProblem."""
    return anchor_text(subject.page.texts, subject.page.element(number), start, end)


def anchor_run_of(subject: Subject, first: _Element, last: _Element) -> Anchor:
    """Return the anchor of everything from one element to another. Raises AnchorProblem."""
    first_span, last_span = subject.page.texts.span(first), subject.page.texts.span(last)
    if first_span is None or last_span is None:
        raise AnchorProblem(
            "a value from one node to another begins and ends in nodes that show text"
        )
    return anchor_stretch(subject.page.texts, first_span[0], max(first_span[1], last_span[1]))


def _typed_node(element: _Element, tag: str, name: str) -> PageNode | None:
    """Return the picture or link that a click on an element means: itself, in it or around it."""
    around = [element, *element.iter(tag), *element.iterancestors(tag)]
    for candidate in around:
        if candidate.tag == tag and candidate.get(name):
            return PageNode(candidate, name=name)
    return None


def _speaking_node(page: NumberedPage, element: _Element) -> PageNode:
    """Return the element where it shows a text, else the attribute of it that speaks for it."""
    if page.texts.span(element) is None:
        name = next((name for name in SPEAKING_ATTRIBUTES if element.get(name)), "")
        return PageNode(element, name=name)
    return PageNode(element)


def _marks_of(subject: Subject) -> list[AnnotatedValue]:
    """Return what is annotated of the attribute: its values, or that it is absent."""
    rows = Annotation.objects.live().filter(
        page=subject.snapshot.page_id, attribute=subject.attribute
    )
    return annotated_values(rows)


def _values_of(subject: Subject) -> list[AnnotatedValue]:
    return [mark for mark in _marks_of(subject) if mark.anchor is not None]


def _record_around(subject: Subject, anchor: Anchor) -> tuple[str, ...]:
    """Return the record of the page in which a value stands; empty where it stands in none."""
    return _record_among(_records_of(subject.snapshot.page_id), subject, anchor)


def _records_of(page_id: int) -> list[tuple[str, ...]]:
    """Return the records that are marked on a page."""
    rows = Annotation.objects.live().filter(page=page_id, attribute=None)
    return [tuple(row.record) for row in rows]


def _record_among(
    records: Sequence[tuple[str, ...]], subject: Subject, anchor: Anchor
) -> tuple[str, ...]:
    """Return that of some records in which a value stands; empty where it stands in none."""
    if subject.attribute is None or not records:
        return ()
    element = select_node(subject.page.texts.tree, anchor.xpath).element
    around = set(element_paths([element, *element.iterancestors()]))
    return next((record for record in records if around & set(record)), ())


def _in_order(marks: Iterable[AnnotatedValue]) -> list[AnnotatedValue]:
    """Return marks in the order of the page, as far as it is known."""
    return sorted(marks, key=lambda mark: (mark.anchor.position or 0) if mark.anchor else 0)


def _siblings(subject: Subject, record: ProposedNode) -> list[_Element]:
    """Return the elements of a record, which stand one after the other. Raises AnchorProblem."""
    tree = subject.page.texts.tree
    first = select_node(tree, record.xpath).element
    last = select_node(tree, record.end_xpath or record.xpath).element
    elements = [first]
    while elements[-1] is not last:
        following = next(elements[-1].itersiblings("*"), None)
        if following is None:
            raise AnchorProblem(
                f"the record from {record.xpath} to {record.end_xpath} is not on the page"
            )
        elements.append(following)
    return elements


def _lock(page_id: int) -> None:
    """Keep others from annotating the page until the transaction ends."""
    Page.objects.select_for_update(no_key=True).get(pk=page_id)


def _write_records(
    subject: Subject, records: Iterable[Sequence[_Element]], revision: int | None
) -> GestureChange:
    marks = [AnnotatedValue(record=tuple(element_paths(list(record)))) for record in records]
    return _write(subject, marks, revision)


def _write(
    subject: Subject, marks: Sequence[AnnotatedValue], revision: int | None
) -> GestureChange:
    if len(marks) > MAX_MARKS:
        raise TooManyMarks(len(marks))
    unique = list(dict.fromkeys(marks))
    after = annotate(
        snapshot=subject.snapshot,
        attribute=subject.attribute,
        marks=unique,
        actor=subject.actor,
        source=subject.source,
        revision=revision,
    )
    return GestureChange(subject.snapshot.page_id, subject.name, after - 1, after)


def _content(page: Page, attribute: Attribute | None, revision: int) -> list[AnnotatedValue]:
    rows = Annotation.objects.filter(page=page, attribute=attribute, revision=revision)
    return annotated_values(row for row in rows if row.kind != Annotation.Kind.CLEARED)


def _snapshot_of(page: Page, attribute: Attribute | None, revision: int) -> Snapshot:
    rows = Annotation.objects.filter(page=page, attribute=attribute, revision=revision)
    return rows.select_related("snapshot").earliest("pk").snapshot
