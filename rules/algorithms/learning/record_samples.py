"""Copy each record of an annotated list page into a sample, so that fields are learnt within them.

Notation:   The sample of a record is the page without everything but the record: what stands
            around it keeps its elements, and the elements beside it are there without their
            content. The texts between its elements and behind the last one are its own where
            records have several elements, or values in such texts.
Readings:   A record in which a field was annotated is annotated as a whole: a field that others on
            the page have and it has not is absent there. A record without any is one more sample
            without annotations. A value in no record belongs to the page.
Cost:       One copy of each record. At most MAX_ANNOTATED_RECORDS and MAX_UNANNOTATED_RECORDS
            count, spread over the page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

from lxml import etree
from lxml.etree import _Element

from rules.algorithms.learning.features import ABOVE_RECORD
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode, NodeNotFound, find_node

MAX_ANNOTATED_RECORDS, MAX_UNANNOTATED_RECORDS = 60, 40
MAX_ELEMENTS_BESIDE = 20  # before and behind a record
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")  # of a tag or an attribute; pages have others too


@dataclass(slots=True)
class RecordSamples:
    """The records of a page as samples, and what of the page's values stands in none of them."""

    annotated: list[AnnotatedPage] = field(default_factory=list)
    unannotated: list[_Element] = field(default_factory=list)
    outside: dict[str, list[MarkedNode]] = field(default_factory=dict)
    has_text: bool = False  # whether texts behind their elements belong to the records


@dataclass(slots=True, eq=False)
class _Record:
    """The elements of a record, and the marks in it with their nodes, by attribute."""

    elements: list[_Element]
    marks: dict[str, list[tuple[MarkedNode, Any]]] = field(default_factory=dict)


def samples_of_records(page: AnnotatedPage) -> RecordSamples:
    """Return the samples of a page's records; marks that select nothing stay with the page.

    Raises NodeNotFound where an element of a record is not on the page.
    """
    records = [_Record([find_node(page.tree, node) for node in record]) for record in page.records]
    record_by_root = {root: record for record in records for root in record.elements}
    samples = RecordSamples(has_text=any(len(record.elements) > 1 for record in records))
    for name, marks in page.values.items():
        for mark in marks:
            try:
                node = find_node(page.tree, mark.node)
            except NodeNotFound:
                samples.outside.setdefault(name, []).append(mark)
                continue
            record: _Record | None
            element_before = _element_before(node)
            if element_before is not None and element_before in record_by_root:
                record = record_by_root[element_before]  # the text stands behind its element
                samples.has_text = True
            else:
                record = _record_around(owner_of(node), record_by_root)
            if record is None:
                samples.outside.setdefault(name, []).append(mark)
            else:
                record.marks.setdefault(name, []).append((mark, node))

    names = {name for record in records for name in record.marks}
    for record in _spread([record for record in records if record.marks], MAX_ANNOTATED_RECORDS):
        absent = frozenset((names | page.absent) - set(record.marks) - set(samples.outside))
        samples.annotated.append(_sample(page, record, absent, has_text=samples.has_text))
    for record in _spread(
        [record for record in records if not record.marks], MAX_UNANNOTATED_RECORDS
    ):
        tree, _ = copy_of_record(record.elements, has_text=samples.has_text)
        samples.unannotated.append(tree)
    return samples


def _element_before(node: Any) -> _Element | None:
    """Return the element behind which a text stands; None for what stands behind none."""
    if not getattr(node, "is_tail", False):
        return None
    before = node.getparent()
    while before is not None and not isinstance(before.tag, str):  # a comment
        before = before.getprevious()
    return before  # type: ignore[no-any-return]  # an element, or none


def owner_of(node: Any) -> _Element:
    """Return the element that a node is, or that it stands in."""
    if isinstance(node, etree._Element):
        return node
    owner: _Element = node.getparent()
    return owner.getparent() if node.is_tail else owner  # type: ignore[return-value]  # a tail has a parent


def _record_around(element: _Element, record_by_root: Mapping[_Element, _Record]) -> _Record | None:
    """Return the record in which an element stands, None where it stands in none."""
    for ancestor in (element, *element.iterancestors()):
        if ancestor in record_by_root:
            return record_by_root[ancestor]
    return None


def _spread(records: Sequence[_Record], n_max: int) -> list[_Record]:
    """Return at most so many records, at equal distances over the page."""
    step = max(len(records) / n_max, 1)
    return [records[int(number * step)] for number in range(min(len(records), n_max))]


def _sample(
    page: AnnotatedPage, record: _Record, absent: frozenset[str], *, has_text: bool
) -> AnnotatedPage:
    """Return a record as a page of its own."""
    tree, copies = copy_of_record(record.elements, has_text=has_text)
    values = {
        name: [replace(mark, node=path_of_counterpart(node, copies)) for mark, node in marks]
        for name, marks in record.marks.items()
    }
    return AnnotatedPage(page.url, tree, values, absent, page.problem)


def copy_of_record(
    record: Sequence[_Element], *, has_text: bool = False
) -> tuple[_Element, dict[_Element, _Element]]:
    """Return a tree of nothing but a record, and the copies of its nodes and of their parent.

    Of what stands above and beside the record there are empty elements. With `has_text` the text
    behind its last element is part of it.
    """
    copies: dict[_Element, _Element] = {}
    parent = record[0].getparent()
    above = [] if parent is None else [*reversed([*parent.iterancestors()]), parent]
    root = shell = _shell(above[0]) if above else etree.Element("html")
    shell.set(ABOVE_RECORD, "")
    for element in above[1:]:
        inner = _shell(element)
        inner.set(ABOVE_RECORD, "")
        shell.append(inner)
        shell = inner
    if parent is not None:
        copies[parent] = shell
    shell.extend([_shell(element) for element in _beside(record[0], is_before=True)])
    for number, element in enumerate(record):
        copied = deepcopy(element)
        shell.append(copied)
        copies.update(zip(element.iter(), copied.iter(), strict=True))
        if number + 1 == len(record) and not has_text:
            copied.tail = None
        elif copied.tail is not None or has_text:
            _copy_comments(element, shell, copies)
    shell.extend([_shell(element) for element in _beside(record[-1], is_before=False)])
    return root, copies


def _copy_comments(element: _Element, shell: _Element, copies: dict[_Element, _Element]) -> None:
    """Copy the comments right behind an element, with the texts behind them."""
    sibling: Any
    for sibling in element.itersiblings():
        if isinstance(sibling.tag, str):
            return
        copied = deepcopy(sibling)
        shell.append(copied)
        copies[sibling] = copied


def _shell(element: _Element) -> _Element:
    """Return an element with its attributes alone, those that have names that may be written."""
    attributes = {
        str(name): str(value) for name, value in element.items() if _NAME.fullmatch(str(name))
    }
    tag = str(element.tag) if _NAME.fullmatch(str(element.tag)) else "span"
    return etree.Element(tag, attributes)


def _beside(element: _Element, *, is_before: bool) -> list[_Element]:
    """Return the elements before or behind an element, in their order."""
    siblings = list(islice(element.itersiblings("*", preceding=is_before), MAX_ELEMENTS_BESIDE))
    return siblings[::-1] if is_before else siblings


def path_of_counterpart(node: Any, counterparts: dict[_Element, _Element]) -> str:
    """Return the XPath of the node that stands for a node in another tree: a copy, or its original.

    `counterparts` has the element of the other tree that stands for each element.
    """
    counterpart = counterparts[owner_of(node)]
    path = str(counterpart.getroottree().getpath(counterpart))
    if isinstance(node, etree._Element):
        return path
    if node.is_attribute:
        return f"{path}/@{node.attrname}"
    neighbour = counterparts[node.getparent()]  # in lxml a text belongs to the element before it
    texts: Any = counterpart.xpath("text()")
    is_it = [text.is_tail == node.is_tail and text.getparent() is neighbour for text in texts]
    return f"{path}/text()[{is_it.index(True) + 1}]"
