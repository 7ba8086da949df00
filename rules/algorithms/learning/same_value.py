"""Find the other nodes of a page that show what an annotated node shows: its doubles.

Departures: The paper calls every other node of an annotated page wrong (III-C.2). What an editor
            says is that the page shows this value; a page that shows it in the heading and in a
            table shows it twice. A rule is right that selects either, and wrong only where it
            selects something else. An editor who means one node alone says so, and then its group
            is this node.
Readings:   Doubles show the whole text of the node, so that the part which is the value is the
            same. Where editors marked one text of a list several times, a rule must find it as
            often.
Cost:       One look at each node of the annotated pages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rules.algorithms.learning.columns import numbers_of, union
from rules.algorithms.learning.features import Positive
from rules.algorithms.learning.node_index import NodeIndex, NodeSet
from rules.algorithms.learning.targets import TargetNode

MAX_DOUBLES: Final = 6  # whose features are read: each costs as much as the annotated node
MAX_NODES_COMPARED: Final = 8  # of a page, whose texts are compared


@dataclass(frozen=True, slots=True)
class ValueGroup:
    """The annotated nodes of a page that show one text, with their doubles."""

    page: int
    marked: NodeSet
    nodes: NodeSet  # those that are marked, and their doubles
    n_values: int = 1  # so many of them a rule must select

    def is_hit(self, bits: NodeSet) -> bool:
        """Return whether a rule that selects these nodes finds the value as often as marked."""
        selected = bits & self.nodes
        if self.n_values == 1:
            return selected != 0
        return selected.bit_count() >= self.n_values


def groups_of(index: NodeIndex, marks: Sequence[TargetNode]) -> list[ValueGroup]:
    """Return the groups of some marks, in the order of the marks."""
    marks_by_nodes: dict[NodeSet, list[TargetNode]] = {}
    for mark in marks:
        marks_by_nodes.setdefault(_nodes_of_value(index, mark), []).append(mark)
    groups = []
    for nodes, of_group in marks_by_nodes.items():
        marked = union(1 << mark.positive.node for mark in of_group)
        page = of_group[0].positive.page
        groups.append(ValueGroup(page, marked, nodes, marked.bit_count()))
    return groups


def _nodes_of_value(index: NodeIndex, mark: TargetNode) -> NodeSet:
    positive = mark.positive
    if mark.is_only_here:
        return 1 << positive.node
    text = index.shown_of(positive.node, positive.target)
    return union(1 << node for node in index.nodes_showing(positive.page, positive.target, text))


def doubles_of(index: NodeIndex, mark: TargetNode) -> list[Positive]:
    """Return the nearest doubles of an annotated node."""
    positive = mark.positive
    others = numbers_of(_nodes_of_value(index, mark) & ~(1 << positive.node))
    nearest = sorted(others, key=lambda node: (abs(node - positive.node), node))
    return [replace(positive, node=node) for node in nearest[:MAX_DOUBLES]]


@dataclass(slots=True)
class ShownTexts:
    """What targets of one kind show, to tell several values from one value at several places."""

    index: NodeIndex
    target: str
    _is_one_text: dict[NodeSet, bool] = field(default_factory=dict)

    def is_one_text(self, selected: NodeSet) -> bool:
        """Return whether all nodes of a set show the same; of attributes each counts."""
        if not selected & (selected - 1):
            return True
        if self.target.startswith("@") or selected.bit_count() > MAX_NODES_COMPARED:
            return False
        is_one = self._is_one_text.get(selected)
        if is_one is None:
            texts = {self.index.shown_of(node, self.target) for node in numbers_of(selected)}
            is_one = self._is_one_text[selected] = len(texts) == 1
        return is_one
