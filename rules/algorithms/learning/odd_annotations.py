"""Tell annotations that stand elsewhere than nearly all others of their attribute.

Departures: Our own. One wrong click among forty makes the forty have nothing in common, and no rule is
            precise. Where a few annotations have other tags above them than nearly all, a rule is learnt from
            the others, and the few are told.
Cost:       Linear in the annotations and their depth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from rules.algorithms.learning.node_index import NodeIndex
from rules.algorithms.learning.targets import TargetNode

NEARLY_ALL: Final = 0.8  # share of the annotations that must stand alike


def part_strangers(
    index: NodeIndex, marks: Sequence[TargetNode]
) -> tuple[list[TargetNode], list[TargetNode]]:
    """Return the annotations that stand alike, and the strangers; no strangers where they are too many."""
    by_tags: dict[tuple[str, ...], list[TargetNode]] = defaultdict(list)
    for mark in marks:
        by_tags[_tags_above(index, mark.positive.node)].append(mark)
    alike = max(by_tags.values(), key=len, default=[])
    if len(alike) < NEARLY_ALL * len(marks):
        return list(marks), []
    return alike, [mark for group in by_tags.values() if group is not alike for mark in group]


def _tags_above(index: NodeIndex, node: int) -> tuple[str, ...]:
    tags = []
    while node >= 0:
        tags.append(str(index.nodes[node].element.tag))
        node = index.nodes[node].parent
    return tuple(tags)
