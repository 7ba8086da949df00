"""Find where the entries of a nested list begin and end, by the values that were annotated in them.

Notation:   A block is the largest element around a value that holds no second value of any
            attribute of the list.
Readings:   Where some block holds values of several attributes, the blocks are the entries: rows of
            a table, items of a list. Where each holds a single one, entries are runs of blocks
            beside each other, each from one block of the attribute that comes first to the next.
            Where a page has one value of each attribute, nothing shows where its only entry ends:
            it teaches nothing. Neither does one whose entries are no elements, such as a table with
            an entry a column.
Cost:       The depth of each value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lxml.etree import _Element

from rules.algorithms.learning.record_samples import owner_of
from rules.algorithms.learning.targets import AnnotatedPage, NodeNotFound, find_node


@dataclass(slots=True)
class _Block:
    element: _Element
    attributes: set[str] = field(default_factory=set)


def entries_of(page: AnnotatedPage, attributes: Sequence[str]) -> list[list[_Element]]:
    """Return a nested list's entries as their elements, in order; none where nothing shows them."""
    owners: dict[str, list[_Element]] = {}
    for name in attributes:
        marks = page.values.get(name, ())
        try:
            owners[name] = [owner_of(find_node(page.tree, mark.node)) for mark in marks]
        except NodeNotFound:
            return []
    if max(map(len, owners.values()), default=0) < 2:
        return []
    blocks = _blocks_of(page.tree, owners)
    if any(len(block.attributes) > 1 for block in blocks) or len(owners) == 1:
        return [[block.element] for block in blocks]
    return _runs_of(blocks)


def _blocks_of(tree: _Element, owners: Mapping[str, Sequence[_Element]]) -> list[_Block]:
    """Return the blocks in page order; none where an element holds two values directly."""
    values_in: dict[_Element, Counter[str]] = {}
    for name, elements in owners.items():
        for owner in elements:
            for ancestor in (owner, *owner.iterancestors()):
                values_in.setdefault(ancestor, Counter())[name] += 1

    block_by_element: dict[_Element, _Block] = {}
    for name, elements in owners.items():
        for owner in elements:
            if max(values_in[owner].values()) > 1:
                return []
            element = owner
            for ancestor in owner.iterancestors():
                if max(values_in[ancestor].values()) > 1:
                    break
                element = ancestor
            block_by_element.setdefault(element, _Block(element)).attributes.add(name)
    in_order = {element: number for number, element in enumerate(tree.iter())}
    return sorted(block_by_element.values(), key=lambda block: in_order[block.element])


def _runs_of(blocks: Sequence[_Block]) -> list[list[_Element]]:
    """Return blocks of a single attribute each as entries; none where their parents differ."""
    if len({block.element.getparent() for block in blocks}) > 1:
        return []
    first_attributes = blocks[0].attributes
    runs: list[list[_Element]] = []
    for block in blocks:
        if block.attributes == first_attributes:
            runs.append([])
        runs[-1].append(block.element)
    return runs
