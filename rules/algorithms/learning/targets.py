"""Find what editors annotated among the nodes: which nodes, which part of their text, which kind.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.
Notation:   P+ -> `Targets.positives`; P- -> all other targets of the annotated pages but the
            neutral ones.
Readings:   Where an attribute was marked absent, no node of the page is positive, so all are
            negative.
Departures: The target is the text node that holds the value, where one does; an element where the
            value runs over several text nodes or is long; the attribute where the annotation names
            one. One wrong click among forty makes the forty have nothing in common, and no rule is
            precise: `part_odd_marks` parts the few that have other tags above them than nearly
            all.
Cost:       Linear in the annotations and their depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.features import Positive
from rules.algorithms.learning.node_index import NodeIndex
from rules.algorithms.learning.nodes import ITSELF, TAIL, TEXT
from rules.algorithms.learning.range_pruner import find_word, word_starts
from rules.algorithms.rule.rule import ELEMENT_TARGET, HTML, TEXT_TARGET, LearningFailure
from rules.algorithms.rule.xpaths import shown

BOUNDARY: Final = "record"  # what failures call the boundary of records
MAX_TEXT_CHARS: Final = 300  # of a value that is looked for in a text node
MIN_ALIKE_SHARE: Final = 0.8  # of the annotations, which must have the same tags above them


@dataclass(frozen=True, slots=True)
class MarkedNode:
    """A node that holds a value, and the value where it is a part of the node's text."""

    node: Any  # an XPath, or the element of the page's tree
    text: str | None = None
    before: str = ""  # what stands before the value in the node's text, or the end of it
    is_only_here: bool = False  # whether another node that shows the same is no value


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """A sample with its annotations."""

    url: str
    tree: _Element
    values: Mapping[str, Sequence[MarkedNode]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    problem: str = ""  # of the page as a whole: truncated
    records: Sequence[Sequence[Any]] = ()  # of a list, all of them: the sibling elements of each


@dataclass(frozen=True, slots=True)
class TargetNode:
    """An annotation as a node of the index."""

    positive: Positive
    value: str  # as it is shown
    element: int  # the element that can stand for it
    is_whole: bool  # whether the value is all of the element's text
    is_only_here: bool = False  # whether another node that shows the same is no value


@dataclass(slots=True)
class Targets:
    """An attribute's marks, and what could not be used."""

    marks: list[TargetNode] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)  # pages annotated for it, be it as absent
    failures: list[LearningFailure] = field(default_factory=list)


def find_targets(
    index: NodeIndex, pages: Sequence[AnnotatedPage], attribute: AttributeType
) -> Targets:
    """Return the marks of an attribute, without contradictory annotations and those not found."""
    targets = Targets()
    for number, page in enumerate(pages):
        marks = page.values.get(attribute.name, ())
        if not marks and attribute.name not in page.absent:
            continue
        failure = _failure_of(page, attribute, marks)
        if failure is not None:
            targets.failures.append(failure)
            continue
        try:
            targets.marks += [
                replace(find_mark(index, number, page, marked), is_only_here=marked.is_only_here)
                for marked in marks
            ]
            targets.judged.append(number)
        except NodeNotFound as error:
            targets.failures.append(LearningFailure(attribute.name, "node", page.url, str(error)))
    targets.marks = unify_targets(targets.marks)
    is_text = all(mark.is_whole and mark.positive.target == TEXT_TARGET for mark in targets.marks)
    if attribute.type == HTML and is_text:
        # Samples without markup are no reason against it: the value is what its element shows.
        targets.marks = [as_element(mark) for mark in targets.marks]
    return targets


def find_boundaries(index: NodeIndex, pages: Sequence[AnnotatedPage]) -> Targets:
    """Return the first element of each record that an editor marked."""
    targets = Targets()
    for number, page in enumerate(pages):
        try:
            elements = [find_node(page.tree, record[0]) for record in page.records if record]
            numbers = [index.number_by_part[element, ITSELF] for element in elements]
        except (NodeNotFound, KeyError) as error:
            targets.failures.append(
                LearningFailure(BOUNDARY, "node", page.url, f"no record begins there: {error}")
            )
            continue
        if numbers:
            targets.judged.append(number)
        for node in numbers:
            positive = Positive(node, number, target=ELEMENT_TARGET)
            targets.marks.append(
                TargetNode(
                    positive, shown(index.string(node)), node, is_whole=True, is_only_here=True
                )
            )
    return targets


def _failure_of(
    page: AnnotatedPage, attribute: AttributeType, marks: Sequence[MarkedNode]
) -> LearningFailure | None:
    """Return why a page's annotations of an attribute cannot be used, None where they can."""
    if page.problem:
        reason = f"the page is {page.problem}; annotate another sample"
        return LearningFailure(attribute.name, "page", page.url, reason)
    if marks and attribute.name in page.absent:
        reason = "contradictory annotations: it has a value and is said to be absent"
        return LearningFailure(attribute.name, "annotations", page.url, reason)
    texts = {shown(mark.text) for mark in marks if mark.text is not None}
    if len(texts) > 1 and not attribute.is_multi:
        listed = ", ".join(repr(text[:40]) for text in sorted(texts))
        reason = (
            f"contradictory annotations: several values ({listed}) of a single-valued attribute"
        )
        return LearningFailure(attribute.name, "annotations", page.url, reason)
    return None


class NodeNotFound(Exception):
    """An annotation names a node that the page has not, or a value that the node has not."""


def find_mark(index: NodeIndex, number: int, page: AnnotatedPage, marked: MarkedNode) -> TargetNode:
    """Return an annotation of the numbered page as a node of the index. Raises NodeNotFound."""
    node = find_node(page.tree, marked.node)
    if isinstance(node, etree._Element):
        return _mark_of_element(index, number, index.number_by_part[node, ITSELF], marked)
    owner = node.getparent()
    if node.is_attribute:
        element = index.number_by_part[owner, ITSELF]
        mark = _mark_of(number, element, str(node), marked, f"@{node.attrname}")
        return replace(mark, element=element, is_whole=False)
    text = index.number_by_part.get((owner, TAIL if node.is_tail else TEXT))
    if text is None:
        raise NodeNotFound(f"the text node {marked.node} shows nothing")
    return _mark_of_text(index, number, text, marked)


def find_node(tree: _Element, node: Any) -> Any:
    """Return the node that an annotation names by its XPath, or is itself. Raises NodeNotFound."""
    if isinstance(node, etree._Element):
        return node
    try:
        selected: Any = etree.XPath(node, regexp=False)(tree)
    except etree.XPathError as error:
        raise NodeNotFound(f"the XPath {node!r} cannot be read: {error}") from None
    if not isinstance(selected, list) or not selected:
        raise NodeNotFound(f"the XPath {node!r} selects nothing")
    return selected[0]


def _mark_of_element(index: NodeIndex, page: int, element: int, marked: MarkedNode) -> TargetNode:
    """Return the first text node in the element that holds the value, else the element."""
    mark = _mark_of(page, element, index.string(element), marked, ELEMENT_TARGET)
    is_whole = not mark.positive.left and not mark.positive.right
    if len(mark.value) <= MAX_TEXT_CHARS:
        for number in range(element, index.nodes[element].end):
            node = index.nodes[number]
            if node.text is None:
                continue
            split = _split_at(node.shown, mark.value, shown(marked.before))
            if split is not None:
                left, right = split
                positive = Positive(number, page, left.strip(), right.strip(), TEXT_TARGET)
                return TargetNode(positive, mark.value, element, is_whole)
    return replace(mark, element=element, is_whole=is_whole)


def _mark_of_text(index: NodeIndex, page: int, text: int, marked: MarkedNode) -> TargetNode:
    """Return the text node; its element where the value is long and all that the element shows."""
    mark = _mark_of(page, text, index.nodes[text].text or "", marked, TEXT_TARGET)
    parent = index.nodes[text].parent
    is_whole = shown(index.string(parent)) == mark.value
    if len(mark.value) > MAX_TEXT_CHARS and is_whole:
        positive = Positive(parent, page, target=ELEMENT_TARGET)
        return TargetNode(positive, mark.value, parent, is_whole)
    return replace(mark, element=parent, is_whole=is_whole)


def _mark_of(page: int, node: int, string: str, marked: MarkedNode, target: str) -> TargetNode:
    """Return the part of a node's string that is the value. Raises NodeNotFound."""
    text = shown(string)
    if not text:
        raise NodeNotFound("the node shows nothing")
    value = text if marked.text is None else shown(marked.text)
    split = _split_at(text, value, shown(marked.before))
    if split is None:
        raise NodeNotFound(f"the value {value[:60]!r} is not in the node's text {text[:60]!r}")
    left, right = split
    value = text[len(left) : len(text) - len(right)].strip()
    positive = Positive(node, page, left.strip(), right.strip(), target)
    return TargetNode(positive, value, node, is_whole=False)


def _split_at(text: str, value: str, before: str = "") -> tuple[str, str] | None:
    """Return what stands before and after a value in a text, None where the text has it not.

    Of several occurrences the first counts that has `before` before it, else the first that
    divides no word. Blanks are not compared where the text has the value only without them.
    """
    start = find_word(text, value)
    for occurrence in word_starts(text, value):
        if text[:occurrence].rstrip().endswith(before):
            start = occurrence
            break
    if start >= 0:
        return text[:start], text[start + len(value) :]
    index_of_letter = [index for index, letter in enumerate(text) if letter != " "]
    letters, value_letters = text.replace(" ", ""), "".join(value.split())
    start = letters.find(value_letters)
    if start < 0 or not value_letters:
        return None
    end = start + len(value_letters) - 1
    return text[: index_of_letter[start]], text[index_of_letter[end] + 1 :]


def unify_targets(marks: list[TargetNode]) -> list[TargetNode]:
    """Return all marks as elements where some values need one and all others can have one."""
    kinds = {mark.positive.target for mark in marks}
    if kinds != {TEXT_TARGET, ELEMENT_TARGET}:
        return marks
    if all(mark.is_whole or mark.positive.target == ELEMENT_TARGET for mark in marks):
        return [as_element(mark) for mark in marks]
    return marks


def as_element(mark: TargetNode) -> TargetNode:
    """Return a mark whose target is the element."""
    if mark.positive.target == ELEMENT_TARGET:
        return mark
    return replace(mark, positive=replace(mark.positive, node=mark.element, target=ELEMENT_TARGET))


def part_odd_marks(
    index: NodeIndex, marks: Sequence[TargetNode]
) -> tuple[list[TargetNode], list[TargetNode]]:
    """Return the marks with the same tags above them, and the odd ones; none if those are many."""
    by_tags: dict[tuple[str, ...], list[TargetNode]] = defaultdict(list)
    for mark in marks:
        by_tags[_tags_above(index, mark.positive.node)].append(mark)
    alike = max(by_tags.values(), key=len, default=[])
    if len(alike) < MIN_ALIKE_SHARE * len(marks):
        return list(marks), []
    return alike, [mark for group in by_tags.values() if group is not alike for mark in group]


def _tags_above(index: NodeIndex, node: int) -> tuple[str, ...]:
    tags = []
    while node >= 0:
        tags.append(str(index.nodes[node].element.tag))
        node = index.nodes[node].parent
    return tuple(tags)
