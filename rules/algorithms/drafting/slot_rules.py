"""Learn a cluster's rule from the slots that are taken for its fields.

Readings:   A slot is no rule: it knows its pages only, and ordinals break when pages change. So its
            texts on a few pages are handed to the learner as if a person had marked them. What a
            person did mark stays as it is.
Cost:       That of learning from so many annotated pages.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.drafting import FieldDraft
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule

Marks: TypeAlias = Mapping[str, Sequence[MarkedNode]]  # of a page, by field

MAX_MARKED_PAGES: Final = 6  # more do not make the rule better


@dataclass(frozen=True, slots=True)
class ClusterPage:
    """A page of a cluster, with what a person annotated on it."""

    url: str
    tree: _Element
    annotated: AnnotatedPage | None = None


def learn_from_slots(
    pages: Sequence[ClusterPage],
    drafts: Sequence[FieldDraft],
    attributes: Sequence[AttributeType],
) -> ClusterRule:
    """Return the rule of a cluster; a field without a draft or annotation has no alternative.

    The number of a page among `pages` is the one that the slots know it by.
    """
    return learn_from_marks(pages, marks_of_slots(len(pages), drafts, attributes), attributes)


def marks_of_slots(
    n_pages: int, drafts: Sequence[FieldDraft], attributes: Sequence[AttributeType]
) -> list[Marks]:
    """Return what the slots of fields mark on each page."""
    multi = {attribute.name for attribute in attributes if attribute.is_multi}
    return [_marks_on(number, drafts, multi) for number in range(n_pages)]


def learn_from_marks(
    pages: Sequence[ClusterPage],
    marks: Sequence[Marks],
    attributes: Sequence[AttributeType],
) -> ClusterRule:
    """Return the rule that is learnt from some of the marked pages and all annotated ones."""
    marked = _pages_to_mark(pages, marks)
    annotated = []
    unannotated = []
    for number, page in enumerate(pages):
        if number in marked:
            annotated.append(_annotated(page, marks[number]))
        else:
            unannotated.append(page.tree)
    return learn_cluster(annotated, unannotated, attributes)


def _marks_on(page: int, drafts: Sequence[FieldDraft], multi: Collection[str]) -> Marks:
    """Return what the slots show on a page; of a single value the first text."""
    marks = {}
    for draft in drafts:
        texts = draft.slot.texts.get(page, ())
        if draft.field not in multi:
            texts = texts[:1]
        if texts:
            marks[draft.field] = [MarkedNode(text.text.xpath) for text in texts]
    return marks


def _pages_to_mark(pages: Sequence[ClusterPage], marks: Sequence[Marks]) -> set[int]:
    """Return the annotated pages, and those on which most fields are shown."""
    annotated = [number for number, page in enumerate(pages) if page.annotated is not None]
    others = [number for number, page in enumerate(pages) if page.annotated is None]
    fullest = sorted(others, key=lambda number: -len(marks[number]))
    shown = [number for number in fullest if marks[number]]
    return {*annotated, *shown[: max(0, MAX_MARKED_PAGES - len(annotated))]}


def _annotated(page: ClusterPage, marks: Marks) -> AnnotatedPage:
    """Return a page with what a person annotated, and with the slots' marks for other fields."""
    by_hand = page.annotated
    if by_hand is None:
        return AnnotatedPage(page.url, page.tree, marks)
    not_annotated = {
        field: nodes
        for field, nodes in marks.items()
        if field not in by_hand.values and field not in by_hand.absent
    }
    return AnnotatedPage(
        page.url,
        page.tree,
        {**not_annotated, **by_hand.values},
        by_hand.absent,
        by_hand.problem,
        by_hand.records,
    )
