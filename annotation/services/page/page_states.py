"""The attributes of a page as they are shown beside it, and the samples around it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, NamedTuple

from annotation.algorithms.anchors.anchoring import Anchor, find_again
from annotation.algorithms.anchors.node_paths import AnchorProblem, select_node
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.algorithms.attribute_keys import keys_of
from annotation.models import Annotation, Attribute, Sample
from annotation.services.annotations.annotated_values import anchor_of, annotations_of
from annotation.services.page.drawing import anchor_drawing, record_drawing
from clustering.models import Cluster, Page, Snapshot
from vertex.core.models import User

RECORDS = ""  # the name under which the boundaries of records are shown; no attribute is called so
RECORDS_KEY = "*"
MAX_VALUES_SHOWN = 6
MAX_NEXT_SAMPLES = 3
MAX_RECORD_CHARS = 80


@dataclass(frozen=True, slots=True)
class ShownValue:
    """A value of an attribute, and where on the page it is."""

    position: int
    text: str
    drawing: dict[str, Any] | None  # None where it is not on this page any more
    xpath: str
    record: int | None = None  # the number of the record that it belongs to, from 1
    has_moved: bool = False  # found by its text, not by its XPath
    n_elsewhere: int = 0  # other texts of the page that show the same and are not annotated
    is_only_here: bool = False  # these are no value


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
        """Return whether the attribute is not annotated yet."""
        return not self.values and not self.is_absent

    @property
    def shown_values(self) -> list[ShownValue]:
        """Return the values that are listed; of many only the first."""
        return self.values[:MAX_VALUES_SHOWN]

    @property
    def n_more(self) -> int:
        return max(0, len(self.values) - MAX_VALUES_SHOWN)

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
        marks = []
        for number, value in enumerate(self.values):
            if value.drawing is None:
                continue
            mark = {
                "id": f"{self.name}/{number}",
                "kind": "found" if value.has_moved else kind,
                "label": self.title,
                **value.drawing,
            }
            marks.append(mark)
        return marks


def rows_of(page: NumberedPage, snapshot: Snapshot, attributes: Iterable[Attribute]) -> list[Row]:
    """Return the rows of a page: its attributes in their order, the records last."""
    listed = list(attributes)
    annotated = annotations_of(snapshot.page_id)
    record_rows = annotated.rows.get(None, [])
    number_by_record = {tuple(row.record): number for number, row in enumerate(record_rows, 1)}
    keys = keys_of(attribute.name for attribute in listed)
    n_by_text = Counter(page.texts.text_of(node).strip() for node in page.texts.nodes)
    rows = []
    for attribute in listed:
        annotations = annotated.rows.get(attribute.pk, [])
        values = []
        for annotation in annotations:
            anchor = anchor_of(annotation)
            if anchor is not None:
                number = number_by_record.get(tuple(annotation.record))
                value = _shown_value(page, annotation, anchor, number)
                n_annotated = sum(row.text == annotation.text for row in annotations)
                n_elsewhere = max(0, n_by_text[annotation.text.strip()] - n_annotated)
                values.append(replace(value, n_elsewhere=n_elsewhere))
        row = Row(
            name=attribute.name,
            title=attribute.name,
            key=keys[attribute.name],
            type=attribute.type,
            is_multi=attribute.is_multi,
            is_mandatory=attribute.is_mandatory,
            revision=annotated.revisions.get(attribute.pk, 0),
            values=values,
            is_absent=bool(annotations) and not values,
            **_signature(annotations),
        )
        rows.append(row)
    return [*rows, _records_row(page, record_rows, annotated.revisions.get(None, 0))]


def _records_row(page: NumberedPage, annotations: list[Annotation], revision: int) -> Row:
    values = []
    for annotation in annotations:
        record = annotation.record
        if record:
            text, drawing = _text_of_record(page, record), record_drawing(page, record)
            values.append(ShownValue(annotation.position, text, drawing, record[0]))
    return Row(
        name=RECORDS,
        title="Records",
        key=RECORDS_KEY,
        type="record",
        is_multi=True,
        is_mandatory=False,
        revision=revision,
        values=values,
        **_signature(annotations),
    )


def _signature(annotations: list[Annotation]) -> dict[str, Any]:
    """Return who annotated when and how; nothing where nobody did."""
    if not annotations:
        return {}
    first = annotations[0]
    return {"author": first.author, "made_at": first.made_at, "source": first.source}


def _shown_value(
    page: NumberedPage, annotation: Annotation, anchor: Anchor, record: int | None
) -> ShownValue:
    """Return a value where it stands on the page now."""
    drawing: dict[str, Any] | None = None
    has_moved = False
    try:
        resolved = find_again(page.texts, anchor)
        has_moved = resolved.how != "xpath"
        drawing = anchor_drawing(page, resolved.anchor if has_moved else anchor)
    except AnchorProblem:
        has_moved = False  # it is lost
    return ShownValue(
        position=annotation.position,
        text=annotation.text,
        drawing=drawing,
        xpath=annotation.xpath,
        record=record,
        has_moved=has_moved,
        is_only_here=annotation.is_only_here,
    )


def _text_of_record(page: NumberedPage, record: list[str]) -> str:
    try:
        element = select_node(page.texts.tree, record[0]).element
    except AnchorProblem:
        return ""
    span = page.texts.span(element)
    if span is None:
        return ""
    start, end = span
    return page.texts.whole[start : min(end, start + MAX_RECORD_CHARS)]


class Neighbours(NamedTuple):
    """The samples around one, and the next ones that nobody annotated yet."""

    before: Sample | None
    after: Sample | None
    unannotated: list[Sample]
    n_samples: int
    n_annotated: int


def neighbours_of(cluster: Cluster, page: Page) -> Neighbours:
    """Return what comes before and after a page among the samples of its cluster.

    A page that is no sample has the first one after it.
    """
    samples = list(Sample.objects.filter(cluster=cluster).order_by("rank"))
    pages = [sample.page_id for sample in samples]
    live = Annotation.objects.live().filter(page__in=pages)
    annotated = set(live.values_list("page", flat=True))
    index = pages.index(page.pk) if page.pk in pages else -1
    ahead = [*samples[index + 1 :], *samples[: max(index, 0)]]
    unannotated = [sample for sample in ahead if sample.page_id not in annotated]
    return Neighbours(
        before=samples[index - 1] if index > 0 else None,
        after=samples[index + 1] if index + 1 < len(samples) else None,
        unannotated=unannotated[:MAX_NEXT_SAMPLES],
        n_samples=len(samples),
        n_annotated=sum(page_id in annotated for page_id in pages),
    )


def share_covered(sample: Sample) -> float | None:
    """Return which share of what all samples cover a sample and those before it cover.

    None where the samples cover nothing.
    """
    samples = Sample.objects.filter(cluster=sample.cluster_id).order_by("rank")
    gains = list(samples.values_list("rank", "gain"))
    total = sum(gain for _, gain in gains)
    if total <= 0:
        return None
    return sum(gain for rank, gain in gains if rank <= sample.rank) / total
