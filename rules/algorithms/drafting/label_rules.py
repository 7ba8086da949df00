"""Draft the fields of a cluster from doubtful labels, and check what was learnt against them.

Readings:   The likeliest slot of a field counts if the labels agree with it; the learner gets its
            texts. A rule that was learnt from labels is used only where it then shows what is
            labelled: labels are many, so that they can judge what a few of them led to.
Cost:       That of ranking the slots, and of learning once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.noisy_labels import (
    MIN_AGREEMENT,
    DoubtfulLabel,
    Labels,
    RankedSlot,
    counted_texts,
    rank_slots,
)
from clustering.algorithms.slots.finding import DataSlot
from clustering.values.displayed import displayed
from rules.algorithms.drafting.slot_rules import ClusterPage, Marks
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.targets import MarkedNode
from rules.algorithms.rule.rule import AttributeRule, ClusterRule, LearningFailure

REFUTED: Final = "labels"  # the step that a failure names


@dataclass(frozen=True, slots=True)
class LabelledField:
    """The slot that explains the labels of a field best."""

    field: str
    ranked: RankedSlot
    # By page and number of the text, what of it is the value.
    values: Mapping[int, Mapping[int, str]]


def fields_of_labels(
    slots: Sequence[DataSlot],
    labels: Mapping[str, Labels],
    attributes: Sequence[AttributeType],
) -> list[LabelledField]:
    """Return the fields whose labels agree with a slot, in the attributes' order."""
    fields = []
    for attribute in attributes:
        of_field = labels.get(attribute.name, {})
        ranked = rank_slots(slots, of_field, is_multi=attribute.is_multi)
        if ranked and ranked[0].is_trusted:
            values = _labelled_values(ranked[0].slot, of_field, is_multi=attribute.is_multi)
            fields.append(LabelledField(attribute.name, ranked[0], values))
    return fields


def _labelled_values(
    slot: DataSlot, labels: Labels, *, is_multi: bool
) -> dict[int, dict[int, str]]:
    values: dict[int, dict[int, str]] = {}
    for page, label_by_number in labels.items():
        for text in counted_texts(slot, page, is_multi=is_multi):
            label: DoubtfulLabel | None = label_by_number.get(text.number)
            if label is not None:
                values.setdefault(page, {})[text.number] = label.part or text.text.text
    return values


def marks_of_labels(n_pages: int, fields: Sequence[LabelledField]) -> list[Marks]:
    """Return what is labelled of the fields' slots on each page, as a person would mark it."""
    marks: list[dict[str, list[MarkedNode]]] = [{} for _ in range(n_pages)]
    for field in fields:
        for page, value_by_number in field.values.items():
            nodes = []
            for text in field.ranked.slot.texts[page]:
                value = value_by_number.get(text.number)
                if value is not None:
                    part = None if value == text.text.text else value
                    nodes.append(MarkedNode(text.text.xpath, part))
            marks[page][field.field] = nodes
    return list(marks)


def without_refuted(
    rule: ClusterRule, pages: Sequence[ClusterPage], fields: Sequence[LabelledField]
) -> ClusterRule:
    """Return a rule without the attributes that do not show what is labelled."""
    index = number_nodes(page.tree for page in pages)
    columns = Columns(index)
    field_by_name = {field.field: field for field in fields}
    attributes: list[AttributeRule] = []
    for attribute in rule.attributes:
        field = field_by_name.get(attribute.attribute)
        if field is None or not attribute.alternatives:
            attributes.append(attribute)
            continue
        n_agreed = sum(
            _compared(values_on(columns, attribute, index.page_bits[page]))
            == _compared(list(value_by_number.values()))
            for page, value_by_number in field.values.items()
        )
        if n_agreed >= MIN_AGREEMENT * len(field.values):
            attributes.append(attribute)
        else:
            attributes.append(_refuted(attribute, n_agreed, len(field.values)))
    return replace(rule, attributes=tuple(attributes))


def _refuted(attribute: AttributeRule, n_agreed: int, n_pages: int) -> AttributeRule:
    reason = f"what was learnt shows what is labelled on {n_agreed} of {n_pages} pages only"
    failure = LearningFailure(attribute.attribute, REFUTED, "", reason)
    return replace(attribute, alternatives=(), losers=(), failures=(failure,))


def _compared(values: Sequence[str]) -> set[str]:
    """Return values without their blanks, which nobody sees alike."""
    return {"".join(displayed(value).split()) for value in values}
