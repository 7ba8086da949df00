"""Count the nodes that two ordered, labelled trees have in common.

Paper:      Shen and Karger, "U-REST" (WWW 2007), section 2, features 1 and 2 of phi; the distance
            is that of Zhang and Shasha (1989).
Notation:   A tree is its labels in postorder and, for each node, its leftmost leaf, as Zhang and
            Shasha have it.
Readings:   The score is the count of matching nodes of the best alignment, a similarity. Inserting
            and deleting cost 1, and a node is never given another label, so that matches = (|A| +
            |B| - distance) / 2.
Cost:       |A| |B| times the smaller of depth and leaves of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from clustering.algorithms.records.page_model import PageModel


@dataclass(frozen=True, slots=True)
class OrderedTree:
    """A tree in postorder."""

    labels: tuple[str, ...]
    leftmost: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.labels)

    def keyroots(self) -> list[int]:
        """Return the highest node of each leftmost leaf."""
        return sorted({leaf: node for node, leaf in enumerate(self.leftmost)}.values())


def tree_of(page: PageModel, element: int, max_nodes: int = 10**9) -> OrderedTree:
    """Return the tree of tags of an element, or of its first `max_nodes` nodes."""
    end = min(page.ends[element], element + max_nodes)
    labels: list[str] = []
    leftmost: list[int] = []
    stack = [(element, 0, -1)]  # the element, how many children are done, its leftmost leaf
    while stack:
        node, n_done, leaf = stack.pop()
        family = page.children[node]
        if n_done < len(family) and family[n_done] < end:
            stack += [
                (node, n_done + 1, leaf if leaf >= 0 else len(labels)),
                (family[n_done], 0, -1),
            ]
        else:
            leftmost.append(leaf if leaf >= 0 else len(labels))
            labels.append(page.tags[node])
    return OrderedTree(tuple(labels), tuple(leftmost))


def edit_distance(a: OrderedTree, b: OrderedTree) -> int:
    """Return the least number of nodes to delete and insert that turns one tree into the other."""
    distance = [[0] * len(b) for _ in range(len(a))]
    for i in a.keyroots():
        for j in b.keyroots():
            _compare(a, b, i, j, distance)
    return distance[-1][-1]


# Saves 6 % of U-REST: half of the pairs of trees come again (benchmarks.caches).
@lru_cache(maxsize=50_000)
def n_matching(a: OrderedTree, b: OrderedTree) -> int:
    """Return how many nodes the best alignment matches; cached, since pages repeat their trees."""
    return (len(a) + len(b) - edit_distance(a, b)) // 2


def _compare(a: OrderedTree, b: OrderedTree, i: int, j: int, distance: list[list[int]]) -> None:
    """Fill in the distances of the subtrees whose leftmost leaves are those of two keyroots."""
    left, top = a.leftmost[i], b.leftmost[j]
    above = list(range(j - top + 2))
    rows = [above]
    for x in range(left, i + 1):
        row = [above[0] + 1]
        is_whole_x = a.leftmost[x] == left  # the forest so far is one tree
        for y in range(top, j + 1):
            step = min(above[y - top + 1], row[-1]) + 1
            if is_whole_x and b.leftmost[y] == top:
                same = above[y - top] if a.labels[x] == b.labels[y] else step
                distance[x][y] = best = min(step, same)
            else:
                before_both = rows[a.leftmost[x] - left][b.leftmost[y] - top]
                best = min(step, before_both + distance[x][y])
            row.append(best)
        rows.append(row)
        above = row


def n_matching_in_order(a: Sequence[str], b: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, the same count for sequences.

    >>> n_matching_in_order("html body table tr".split(), "html body div table tr".split())
    4
    """
    above = [0] * (len(b) + 1)
    for label in a:
        row = [0]
        for j, other in enumerate(b):
            row.append(above[j] + 1 if label == other else max(above[j + 1], row[-1]))
        above = row
    return above[-1]
