"""What is known of a page's attributes, as the page to annotate shows it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Max

from annotation.algorithms.anchors.anchoring import Anchor, find_again
from annotation.algorithms.anchors.node_paths import AnchorProblem, select_node
from annotation.algorithms.anchors.picking import NumberedPage, drawing_of
from annotation.algorithms.attribute_keys import keys_of
from annotation.models import Annotation, Assignment, Attribute, Sample, Vertical
from annotation.services.annotations.annotating import anchor_of
from clustering.models import Cluster, Page, Snapshot
from vertex.core.models import User

RECORDS = ""  # the name under which the boundaries of records are told; no attribute is called so
RECORDS_KEY = "*"
VALUES_SHOWN = 6
NEXT_NAMED = 3


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value of an attribute, and where on the page it is."""

    position: int
    text: str
    drawing: dict[str, Any] | None  # None where it is not on this page any more
    place: str  # the XPath
    record: int | None = None  # the number of the record that it belongs to, from 1
    has_moved: bool = False  # found by its text, not at its place


@dataclass(frozen=True, slots=True)
class Row:
    """An attribute of a page, or its records, as shown beside it."""

    name: str
    title: str
    key: str
    type: str
    is_multi: bool
    is_mandatory: bool
    revision: int
    values: list[ShownValue] = field(default_factory=list)
    is_absent: bool = False
    author: User | None = None
    made_at: datetime | None = None
    source: str = ""

    @property
    def is_open(self) -> bool:
        """Say whether nothing is said of the attribute yet."""
        return not self.values and not self.is_absent

    @property
    def shown_values(self) -> list[ShownValue]:
        """Return the values that are listed; of many only the first."""
        return self.values[:VALUES_SHOWN]

    @property
    def n_more(self) -> int:
        return max(0, len(self.values) - VALUES_SHOWN)

    @property
    def has_several(self) -> bool:
        return len(self.values) > 1

    @property
    def marks_json(self) -> str:
        return json.dumps(self.marks)

    @property
    def marks(self) -> list[dict[str, Any]]:
        """Return what is drawn for the row."""
        kind = "value" if self.name else "record"
        return [
            {
                "id": f"{self.name}/{n}",
                "kind": "found" if value.has_moved else kind,
                "label": self.title,
                **value.drawing,
            }
            for n, value in enumerate(self.values)
            if value.drawing is not None
        ]


class AnnotatedPageState(NamedTuple):
    """What holds on a page, by attribute, with the last revision of each."""

    rows: dict[int | None, list[Annotation]]
    revisions: dict[int | None, int]


def vertical_of_page(page: Page, cluster: Cluster | None) -> Vertical | None:
    return Assignment.objects.vertical_of(page.site, cluster)


def rows_of(page: NumberedPage, snapshot: Snapshot, attributes: Iterable[Attribute]) -> list[Row]:
    """Return the rows of a page: its attributes in their order, the records last."""
    listed = list(attributes)
    said = what_is_said(snapshot.page_id)
    records = _records(said.rows.get(None, []))
    keys = keys_of(attribute.name for attribute in listed)
    rows = [
        Row(
            name=attribute.name,
            title=attribute.name,
            key=keys[attribute.name],
            type=attribute.type,
            is_multi=attribute.is_multi,
            is_mandatory=attribute.is_mandatory,
            revision=said.revisions.get(attribute.pk, 0),
            **_said_of(page, said.rows.get(attribute.pk, []), records),
        )
        for attribute in listed
    ]
    return [*rows, _records_row(page, said)]


def what_is_said(page_id: int) -> AnnotatedPageState:
    """Return what holds on a page."""
    rows: defaultdict[int | None, list[Annotation]] = defaultdict(list)
    for row in (
        Annotation.objects.live().filter(page=page_id).select_related("author").order_by("position")
    ):
        rows[row.attribute_id].append(row)
    last = (
        Annotation.objects.filter(page=page_id)
        .order_by()
        .values_list("attribute")
        .annotate(Max("revision"))
    )
    return AnnotatedPageState(dict(rows), dict(last))


def _records_row(page: NumberedPage, said: AnnotatedPageState) -> Row:
    rows = said.rows.get(None, [])
    values = [
        ShownValue(
            row.position,
            _text_of_record(page, row.record),
            _record_drawing(page, row.record),
            xpath,
        )
        for row in rows
        for xpath in row.record[:1]
    ]
    return Row(
        name=RECORDS,
        title="Records",
        key=RECORDS_KEY,
        type="record",
        is_multi=True,
        is_mandatory=False,
        revision=said.revisions.get(None, 0),
        values=values,
        **_signature(rows),
    )


def _records(rows: Iterable[Annotation]) -> dict[tuple[str, ...], int]:
    return {tuple(row.record): number for number, row in enumerate(rows, 1)}


def _said_of(
    page: NumberedPage, rows: list[Annotation], records: dict[tuple[str, ...], int]
) -> dict[str, Any]:
    values = [
        _shown(page, row, anchor, records.get(tuple(row.record)))
        for row in rows
        if (anchor := anchor_of(row)) is not None
    ]
    is_absent = bool(rows) and not values
    return {"values": values, "is_absent": is_absent, **_signature(rows)}


def _signature(rows: list[Annotation]) -> dict[str, Any]:
    first = rows[0] if rows else None
    if first is None:
        return {}
    return {"author": first.author, "made_at": first.made_at, "source": first.source}


def _shown(page: NumberedPage, row: Annotation, anchor: Anchor, record: int | None) -> ShownValue:
    try:
        found = find_again(page.texts, anchor)
        drawing = _as_json(page, anchor if found.how == "xpath" else found.anchor)
    except AnchorProblem:
        return ShownValue(row.position, row.text, None, row.xpath, record)
    return ShownValue(row.position, row.text, drawing, row.xpath, record, found.how != "xpath")


def _as_json(page: NumberedPage, anchor: Anchor) -> dict[str, Any]:
    drawing = drawing_of(page, anchor)
    told: dict[str, Any] = {"number": drawing.number, "text": drawing.text}
    return told if drawing.end_number is None else told | {"endNumber": drawing.end_number}


def drawing_json(page: NumberedPage, anchor: Anchor) -> dict[str, Any] | None:
    """Return where an anchor is drawn; None where it is not on the page."""
    try:
        return _as_json(page, anchor)
    except AnchorProblem:
        return None


def _record_drawing(page: NumberedPage, record: list[str]) -> dict[str, Any] | None:
    try:
        ends = [
            page.number_of(select_node(page.texts.tree, path).element)
            for path in (record[0], record[-1])
        ]
    except AnchorProblem:
        return None
    drawing: dict[str, Any] = {"number": ends[0], "text": None}
    return drawing if ends[0] == ends[1] else drawing | {"endNumber": ends[1]}


def _text_of_record(page: NumberedPage, record: list[str]) -> str:
    try:
        element = select_node(page.texts.tree, record[0]).element
    except AnchorProblem:
        return ""
    span = page.texts.span(element)
    return page.texts.whole[span[0] : min(span[1], span[0] + 80)] if span else ""


class Neighbours(NamedTuple):
    """The samples around one, and the next one that nobody annotated yet."""

    before: Sample | None
    after: Sample | None
    unannotated: list[Sample]  # the next ones of which nothing is said
    n_samples: int
    n_annotated: int


def neighbours_of(cluster: Cluster, page: Page) -> Neighbours:
    """Return what comes before and after a page among the samples of its cluster."""
    samples = list(Sample.objects.filter(cluster=cluster).order_by("rank"))
    annotated = set(
        Annotation.objects.live()
        .filter(page__in=[sample.page_id for sample in samples])
        .values_list("page", flat=True)
    )
    at = next((n for n, sample in enumerate(samples) if sample.page_id == page.pk), None)
    here = -1 if at is None else at
    ahead = [*samples[here + 1 :], *samples[: max(here, 0)]]
    return Neighbours(
        before=samples[at - 1] if at else None,
        after=samples[here + 1] if here + 1 < len(samples) else None,
        unannotated=[one for one in ahead if one.page_id not in annotated][:NEXT_NAMED],
        n_samples=len(samples),
        n_annotated=sum(sample.page_id in annotated for sample in samples),
    )


def share_covered(sample: Sample) -> float | None:
    """Return which share of what all samples of the cluster cover this one and those before it cover."""
    gains = list(
        Sample.objects.filter(cluster=sample.cluster_id)
        .order_by("rank")
        .values_list("rank", "gain")
    )
    total = sum(gain for _, gain in gains)
    return sum(gain for rank, gain in gains if rank <= sample.rank) / total if total > 0 else None
