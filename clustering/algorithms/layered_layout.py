"""Place the nodes of a directed graph in layers, so that its main way leads from above to below.

Paper:      None; layers by breadth-first search, each ordered by the position of what a node is
            reached from, as in Sugiyama's method.
Notation:   A trunk edge is the one by which a node is first reached; all others are side edges.
Readings:   What the start does not reach stands in a layer of its own, the last. A layer of more
            than MAX_COLUMNS nodes continues in a further row.
Departures: Crossings are lessened, not minimised: one sweep from above to below.
Cost:       Linear in the edges, n log n in the nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

MAX_COLUMNS = 5


class LayerPosition(NamedTuple):
    """Where a node stands, from 0 at the left and at the top."""

    row: int
    column: int  # counted alike in all rows


class Layout(NamedTuple):
    """A drawing of a graph."""

    position_by_node: dict[str, LayerPosition]
    trunk: set[tuple[str, str]]  # the edges by which nodes are first reached
    n_rows: int
    n_columns: int


def place_in_layers(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> Layout:
    """Return a position for each node; the first node is the start."""
    if not nodes:
        return Layout({}, set(), 0, 0)
    targets = _targets(nodes, edges)
    parent_by_node, layers = _layers(nodes, targets)
    rows = _rows(layers, parent_by_node)
    n_columns = max(map(len, rows))
    positions = {
        node: LayerPosition(row, column + (n_columns - len(members)) // 2)
        for row, members in enumerate(rows)
        for column, node in enumerate(members)
    }
    trunk = {(parent, node) for node, parent in parent_by_node.items()}
    return Layout(positions, trunk, len(rows), n_columns)


def _targets(nodes: Sequence[str], edges: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return where the edges of each node lead, without those of unknown nodes and to itself."""
    targets: dict[str, dict[str, None]] = {node: {} for node in nodes}
    for source, target in edges:
        if source in targets and target in targets and source != target:
            targets[source][target] = None
    return {node: list(reached) for node, reached in targets.items()}


def _layers(
    nodes: Sequence[str], targets: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], list[list[str]]]:
    """Return by which node each is first reached, and the nodes by distance from the start."""
    depth_by_node = {nodes[0]: 0}
    parent_by_node = {}
    waiting = deque(nodes[:1])
    while waiting:
        node = waiting.popleft()
        for target in targets[node]:
            if target not in depth_by_node:
                depth_by_node[target] = depth_by_node[node] + 1
                parent_by_node[target] = node
                waiting.append(target)
    last = max(depth_by_node.values()) + 1
    layers: list[list[str]] = [[] for _ in range(last + 1)]
    for node in nodes:
        layers[depth_by_node.get(node, last)].append(node)
    return parent_by_node, [layer for layer in layers if layer]


def _rows(layers: Sequence[Sequence[str]], parent_by_node: Mapping[str, str]) -> list[list[str]]:
    """Order each layer by where its nodes are reached from, and cut wide layers into rows."""
    rows: list[list[str]] = []
    share_by_node: dict[str, float] = {}  # from 0 at the left to 1 at the right

    def share_of_parent(node: str) -> float:
        return share_by_node.get(parent_by_node.get(node, ""), 1.0)

    for layer in layers:
        ordered = sorted(layer, key=share_of_parent)
        for index, node in enumerate(ordered):
            share_by_node[node] = (index + 1) / (len(ordered) + 1)
        rows += [
            ordered[start : start + MAX_COLUMNS] for start in range(0, len(ordered), MAX_COLUMNS)
        ]
    return rows
