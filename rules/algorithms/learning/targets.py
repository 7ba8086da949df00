"""Find what editors annotated in the index: which nodes, which part of their text, of which kind.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.
Notation:   P+ -> `Targets.positives`; P- -> all other targets of the annotated pages but the neutral ones.
Readings:   Where an attribute was marked absent, no node of the page is positive, so all are negative.
Departures: The target is the text node that holds the value, where one does; an element where the value runs
            over several text nodes or is long; the attribute where the annotation says so.
Cost:       Linear in the annotations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lxml import etree
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.features import Positive
from rules.algorithms.learning.node_index import NodeIndex
from rules.algorithms.learning.nodes import ITSELF, TAIL, TEXT
from rules.algorithms.learning.range_pruner import find_word, word_places
from rules.algorithms.rule.rule import ELEMENT_TARGET, HTML, TEXT_TARGET, LearningFailure
from rules.algorithms.rule.xpaths import shown

BOUNDARY = "record"  # what failures call the boundary of records
LONGEST_TEXT = 300  # characters of a value that is looked for in a text node


@dataclass(frozen=True, slots=True)
class MarkedNode:
    """A node that holds a value, and the value where it is a part of the node's text."""

    node: Any  # an XPath, or the element of the page's tree
    text: str | None = None
    before: str = ""  # what stands before the value in the node's text, or the end of it


@dataclass(frozen=True, slots=True)
class AnnotatedPage:
    """A sample with what its editor said."""

    url: str
    tree: _Element
    values: Mapping[str, Sequence[MarkedNode]] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    problem: str = ""  # of the page as a whole: truncated
    records: Sequence[Sequence[Any]] = ()  # of a list, all of them: the sibling elements of each


@dataclass(frozen=True, slots=True)
class TargetNode:
    """An annotation found in the index."""

    positive: Positive
    value: str  # as it is shown
    element: int  # the element that can stand for it
    is_whole: bool  # whether the value is all of the element's text


@dataclass(slots=True)
class Targets:
    """An attribute's marks, by the page, and what could not be used."""

    marks: list[TargetNode] = field(default_factory=list)
    judged: list[int] = field(default_factory=list)  # pages on which the editor said something
    failures: list[LearningFailure] = field(default_factory=list)


def find_targets(index: NodeIndex, pages: Sequence[AnnotatedPage], spec: AttributeType) -> Targets:
    """Return the marks of an attribute; what contradicts itself or is not found is told, not used."""
    targets = Targets()
    for number, page in enumerate(pages):
        marks = page.values.get(spec.name, ())
        if not marks and spec.name not in page.absent:
            continue
        if reason := _unusable(page, spec, marks):
            targets.failures.append(LearningFailure(spec.name, reason[0], page.url, reason[1]))
            continue
        try:
            targets.marks += [find_mark(index, number, page, marked) for marked in marks]
            targets.judged.append(number)
        except NodeNotFound as error:
            targets.failures.append(LearningFailure(spec.name, "node", page.url, str(error)))
    unified = unify_targets(targets)
    is_text = all(mark.is_whole and mark.positive.target == TEXT_TARGET for mark in unified.marks)
    if spec.type == HTML and is_text:
        # Samples without markup say nothing against it: the value is what its element shows.
        unified.marks = [as_element(mark) for mark in unified.marks]
    return unified


def find_boundaries(index: NodeIndex, pages: Sequence[AnnotatedPage]) -> Targets:
    """Return the first element of each record that an editor marked."""
    targets = Targets()
    for number, page in enumerate(pages):
        try:
            firsts = [_node_at(page.tree, record[0]) for record in page.records if record]
            numbers = [index.number_by_part[first, ITSELF] for first in firsts]
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
                TargetNode(positive, shown(index.string(node)), node, is_whole=True)
            )
    return targets


def _unusable(
    page: AnnotatedPage, spec: AttributeType, marks: Sequence[MarkedNode]
) -> tuple[str, str] | None:
    if page.problem:
        return "page", f"the page is {page.problem}; annotate another sample"
    if marks and spec.name in page.absent:
        return "annotations", "contradictory annotations: it has a value and is said to be absent"
    texts = {shown(mark.text) for mark in marks if mark.text is not None}
    if len(texts) > 1 and not spec.is_multi:
        shows = ", ".join(repr(text[:40]) for text in sorted(texts))
        return (
            "annotations",
            f"contradictory annotations: several values ({shows}) of a single-valued attribute",
        )
    return None


class NodeNotFound(Exception):
    """An annotation names a node that the page has not, or a value that the node has not."""


def find_mark(index: NodeIndex, number: int, page: AnnotatedPage, marked: MarkedNode) -> TargetNode:
    """Return a marked node as it stands in the index. Raises NodeNotFound."""
    found = _node_at(page.tree, marked.node)
    if isinstance(found, etree._Element):
        return _mark_of_element(index, number, index.number_by_part[found, ITSELF], marked)
    owner = found.getparent()
    if found.is_attribute:
        node = index.number_by_part[owner, ITSELF]
        mark = _mark_of(number, node, str(found), marked, f"@{found.attrname}")
        return replace(mark, element=node, is_whole=False)
    text = index.number_by_part.get((owner, TAIL if found.is_tail else TEXT))
    if text is None:
        raise NodeNotFound(f"the text node {marked.node} shows nothing")
    return _mark_of_text(index, number, text, marked)


def _node_at(tree: _Element, node: Any) -> Any:
    if isinstance(node, etree._Element):
        return node
    try:
        found = tree.xpath(node)
    except etree.XPathError as error:
        raise NodeNotFound(f"the XPath {node!r} cannot be read: {error}") from None
    if not isinstance(found, list) or not found:
        raise NodeNotFound(f"the XPath {node!r} selects nothing")
    return found[0]


def _mark_of_element(index: NodeIndex, page: int, element: int, marked: MarkedNode) -> TargetNode:
    node = index.nodes[element]
    texts = [n for n in range(element, node.end) if index.nodes[n].text is not None]
    whole = _mark_of(page, element, index.string(element), marked, ELEMENT_TARGET)
    is_whole = not whole.positive.left and not whole.positive.right
    if len(whole.value) <= LONGEST_TEXT:
        for text in texts:
            part = _part(index.nodes[text].shown, whole.value, shown(marked.before))
            if part is not None:
                positive = Positive(text, page, part[0].strip(), part[1].strip(), TEXT_TARGET)
                return TargetNode(positive, whole.value, element, is_whole)
    return replace(whole, element=element, is_whole=is_whole)


def _mark_of_text(index: NodeIndex, page: int, text: int, marked: MarkedNode) -> TargetNode:
    mark = _mark_of(page, text, index.nodes[text].text or "", marked, TEXT_TARGET)
    parent = index.nodes[text].parent
    is_whole = shown(index.string(parent)) == mark.value
    if len(mark.value) > LONGEST_TEXT and is_whole:
        return TargetNode(
            Positive(parent, page, "", "", ELEMENT_TARGET), mark.value, parent, is_whole
        )
    return replace(mark, element=parent, is_whole=is_whole)


def _mark_of(page: int, node: int, string: str, marked: MarkedNode, target: str) -> TargetNode:
    full = shown(string)
    if not full:
        raise NodeNotFound("the node shows nothing")
    value = full if marked.text is None else shown(marked.text)
    part = _part(full, value, shown(marked.before))
    if part is None:
        raise NodeNotFound(f"the value {value[:60]!r} is not in the node's text {full[:60]!r}")
    left, right = part
    value = full[len(left) : len(full) - len(right)].strip()
    return TargetNode(
        Positive(node, page, left.strip(), right.strip(), target), value, node, is_whole=False
    )


def _part(full: str, value: str, before: str = "") -> tuple[str, str] | None:
    """Return what stands before and after a value in a text; blanks are not compared.

    Of several places the first counts that has `before` before it, else the first that divides no word.
    """
    behind = (place for place in word_places(full, value) if full[:place].rstrip().endswith(before))
    start = next(behind, find_word(full, value))
    if start >= 0:
        return full[:start], full[start + len(value) :]
    places = [place for place, letter in enumerate(full) if letter != " "]
    squeezed, wanted = full.replace(" ", ""), "".join(value.split())
    start = squeezed.find(wanted)
    if start < 0 or not wanted:
        return None
    return full[: places[start]], full[places[start + len(wanted) - 1] + 1 :]


def unify_targets(targets: Targets) -> Targets:
    """Let elements stand for text nodes where some values need an element and all others can have one."""
    kinds = {mark.positive.target for mark in targets.marks}
    if kinds == {TEXT_TARGET, ELEMENT_TARGET} and all(
        mark.is_whole or mark.positive.target == ELEMENT_TARGET for mark in targets.marks
    ):
        targets.marks = [as_element(mark) for mark in targets.marks]
    return targets


def as_element(mark: TargetNode) -> TargetNode:
    """Return a mark whose target is the element."""
    positive = mark.positive
    if positive.target == ELEMENT_TARGET:
        return mark
    return replace(
        mark,
        positive=Positive(
            mark.element, positive.page, positive.left, positive.right, ELEMENT_TARGET
        ),
    )


def on_element(index: NodeIndex, mark: TargetNode) -> TargetNode:
    """Return a mark whose target is the element that holds the text node, and the rest of its text."""
    positive = mark.positive
    if positive.target != TEXT_TARGET:
        return mark
    element = index.nodes[positive.node].parent
    full = shown(index.string(element))
    left, right = _part(full, mark.value) or ("", "")
    found = Positive(element, positive.page, left.strip(), right.strip(), ELEMENT_TARGET)
    return replace(mark, positive=found, element=element, is_whole=full == mark.value)
