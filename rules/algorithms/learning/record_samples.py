"""Make of an annotated list page a sample for each of its records, so that fields are learnt within them.

Notation:   The sample of a record is the page without everything but the record: what stands around it keeps
            its elements, and the elements beside it are there without their content. The texts
            between its elements and behind the last one are its own where records have several elements, or
            values in such texts.
Readings:   A record in which a field was annotated is annotated as a whole: a field that others on the page
            have and it has not is absent there. A record without any is one more sample without annotations.
            A value in no record belongs to the page.
Cost:       One copy of each record. At most MOST_ANNOTATED and MOST_OTHERS records count, spread over the
            page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from lxml import etree
from lxml.etree import _Element

from rules.algorithms.learning.features import ABOVE_RECORD
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, NodeNotFound

MOST_ANNOTATED, MOST_OTHERS = 60, 40
MOST_BESIDE = 20  # elements before and behind a record that are kept
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")  # of a tag or an attribute; pages have others too


@dataclass(slots=True)
class RecordSamples:
    """The records of a page as samples, and what of the page's values stands in none of them."""

    annotated: list[AnnotatedPage] = field(default_factory=list)
    others: list[_Element] = field(default_factory=list)
    outside: dict[str, list[MarkedNode]] = field(default_factory=dict)
    has_text: bool = False  # whether texts behind their elements belong to the records


def samples_of_records(page: AnnotatedPage) -> RecordSamples:
    """Return the samples of a page's records; marks that select nothing stay with the page."""
    records = [[_select(page.tree, node) for node in record] for record in page.records]
    number_by_root = {root: number for number, record in enumerate(records) for root in record}
    found = RecordSamples(has_text=any(len(record) > 1 for record in records))
    marks: list[dict[str, list[tuple[MarkedNode, Any]]]] = [{} for _ in records]
    for name, marked in page.values.items():
        for mark in marked:
            try:
                node = _select(page.tree, mark.node)
            except NodeNotFound:
                found.outside.setdefault(name, []).append(mark)
                continue
            beside = _element_before(node)
            number = number_by_root.get(beside) if beside is not None else None
            found.has_text |= number is not None
            number = _record_of(owner_of(node), number_by_root) if number is None else number
            if number is None:
                found.outside.setdefault(name, []).append(mark)
            else:
                marks[number].setdefault(name, []).append((mark, node))
    inside = {name for of_record in marks for name in of_record}
    annotated = [number for number, of_record in enumerate(marks) if of_record]
    others = [number for number, of_record in enumerate(marks) if not of_record]
    for number in _spread(annotated, MOST_ANNOTATED):
        absent = frozenset((inside | page.absent) - set(marks[number]) - set(found.outside))
        found.annotated.append(
            _sample(page, records[number], marks[number], absent, has_text=found.has_text)
        )
    found.others = [
        copy_of_record(records[number], has_text=found.has_text)[0]
        for number in _spread(others, MOST_OTHERS)
    ]
    return found


def _element_before(node: Any) -> _Element | None:
    """Return the element behind which a text stands; None for what stands behind none."""
    if not getattr(node, "is_tail", False):
        return None
    before = node.getparent()
    while before is not None and not isinstance(before.tag, str):  # a comment
        before = before.getprevious()
    return before  # type: ignore[no-any-return]  # an element, or none


def _select(tree: _Element, node: Any) -> Any:
    """Return the node that an annotation names. Raises NodeNotFound."""
    if isinstance(node, etree._Element):
        return node
    try:
        found: Any = etree.XPath(node, regexp=False)(tree)
    except etree.XPathError as error:
        raise NodeNotFound(f"the XPath {node!r} cannot be read: {error}") from None
    if not isinstance(found, list) or not found:
        raise NodeNotFound(f"the XPath {node!r} selects nothing")
    return found[0]


def owner_of(node: Any) -> _Element:
    """Return the element that a node is, or that it stands in."""
    if isinstance(node, etree._Element):
        return node
    owner: _Element = node.getparent()
    return owner.getparent() if node.is_tail else owner  # type: ignore[return-value]  # a tail has a parent


def _record_of(element: _Element, number_by_root: dict[_Element, int]) -> int | None:
    around = (element, *element.iterancestors())
    return next((number_by_root[one] for one in around if one in number_by_root), None)


def _spread(numbers: Sequence[int], most: int) -> list[int]:
    step = max(len(numbers) / most, 1)
    return [numbers[int(place * step)] for place in range(min(len(numbers), most))]


def _sample(
    page: AnnotatedPage,
    record: Sequence[_Element],
    marks: dict[str, list[tuple[MarkedNode, Any]]],
    absent: frozenset[str],
    *,
    has_text: bool,
) -> AnnotatedPage:
    tree, copies = copy_of_record(record, has_text=has_text)
    values = {
        name: [replace(mark, node=path_in_copy(node, copies)) for mark, node in found]
        for name, found in marks.items()
    }
    return AnnotatedPage(page.url, tree, values, absent, page.problem)


def copy_of_record(
    record: Sequence[_Element], *, has_text: bool = False
) -> tuple[_Element, dict[_Element, _Element]]:
    """Return a tree with nothing but a record, and the copy of each of its nodes and of their parent."""
    copies: dict[_Element, _Element] = {}
    parent = record[0].getparent()
    above = [] if parent is None else [*reversed([*parent.iterancestors()]), parent]
    root = place = _shell(above[0]) if above else etree.Element("html")
    for element in above[1:]:
        shell = _shell(element)
        place.append(shell)
        place = shell
    for element in (*place.iterancestors(), place):
        element.set(ABOVE_RECORD, "")
    place.extend([_shell(one) for one in _beside(record[0], is_before=True)])
    if parent is not None:
        copies[parent] = place
    for number, element in enumerate(record):
        copied = deepcopy(element)
        place.append(copied)
        copies.update(zip(element.iter(), copied.iter(), strict=True))
        if number + 1 == len(record) and not has_text:
            copied.tail = None
        elif copied.tail is not None or has_text:
            _copy_comments(element, place, copies)
    place.extend([_shell(one) for one in _beside(record[-1], is_before=False)])
    return root, copies


def _copy_comments(element: _Element, place: _Element, copies: dict[_Element, _Element]) -> None:
    """Copy the comments right behind an element, with the texts behind them."""
    one: Any
    for one in element.itersiblings():
        if isinstance(one.tag, str):
            return
        copied = deepcopy(one)
        place.append(copied)
        copies[one] = copied


def _shell(element: _Element) -> _Element:
    """Return an element with its attributes alone, those that have names that may be written."""
    named = {str(name): str(value) for name, value in element.items() if _NAME.fullmatch(str(name))}
    return etree.Element(str(element.tag) if _NAME.fullmatch(str(element.tag)) else "span", named)


def _beside(element: _Element, *, is_before: bool) -> list[_Element]:
    """Return the elements before or behind an element, in their order."""
    found: list[_Element] = []
    for one in element.itersiblings("*", preceding=is_before):
        if len(found) == MOST_BESIDE:
            break
        if isinstance(one.tag, str):
            found.append(one)
    return found[::-1] if is_before else found


def path_in_copy(node: Any, copies: dict[_Element, _Element]) -> str:
    """Return the XPath of a node in the copy of its record."""
    owner = owner_of(node)
    copied = copies[owner]
    path = str(copied.getroottree().getpath(copied))
    if isinstance(node, etree._Element):
        return path
    if node.is_attribute:
        return f"{path}/@{node.attrname}"
    beside = copies[node.getparent()]
    texts: Any = copied.xpath("text()")
    same = [one.is_tail == node.is_tail and one.getparent() is beside for one in texts]
    return f"{path}/text()[{same.index(True) + 1}]"
