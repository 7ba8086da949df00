"""Count the nodes that two ordered, labelled trees have in common.

Paper:      Shen and Karger, "U-REST" (WWW 2007), section 2, features 1 and 2 of phi; the distance is that
            of Zhang and Shasha (1989).
Notation:   A tree is its labels in postorder and, for each node, its leftmost leaf, as Zhang and Shasha
            have it.
Readings:   The score is the count of matching nodes of the best alignment, a similarity. Inserting and
            deleting cost 1, and a node is never given another label, so that matches = (|A| + |B| -
            distance) / 2.
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


def tree_of(page: PageModel, element: int, n_most: int = 10**9) -> OrderedTree:
    """Return the tree of tags of an element, of its first nodes where there are more than `n_most`."""
    end = min(page.ends[element], element + n_most)
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


def edit_distance(one: OrderedTree, other: OrderedTree) -> int:
    """Return the least number of nodes to delete and insert that turns one tree into the other."""
    distance = [[0] * len(other) for _ in range(len(one))]
    for i in one.keyroots():
        for j in other.keyroots():
            _compare(one, other, i, j, distance)
    return distance[-1][-1]


@lru_cache(maxsize=50_000)
def n_matching(one: OrderedTree, other: OrderedTree) -> int:
    """Return how many nodes the best alignment matches; pages repeat their trees, so answers are kept."""
    return (len(one) + len(other) - edit_distance(one, other)) // 2


def _compare(
    one: OrderedTree, other: OrderedTree, i: int, j: int, distance: list[list[int]]
) -> None:
    """Fill in the distances of the subtrees whose leftmost leaves are those of two keyroots."""
    left, top = one.leftmost[i], other.leftmost[j]
    before = list(range(j - top + 2))
    rows = [before]
    for x in range(left, i + 1):
        row = [before[0] + 1]
        whole_x = one.leftmost[x] == left
        for y in range(top, j + 1):
            step = min(before[y - top + 1], row[-1]) + 1
            if whole_x and other.leftmost[y] == top:
                same = before[y - top] if one.labels[x] == other.labels[y] else step
                distance[x][y] = best = min(step, same)
            else:
                best = min(
                    step, rows[one.leftmost[x] - left][other.leftmost[y] - top] + distance[x][y]
                )
            row.append(best)
        rows.append(row)
        before = row


def n_matching_in_order(one: Sequence[str], other: Sequence[str]) -> int:
    """Return the length of the longest common subsequence, the same count for sequences.

    >>> n_matching_in_order("html body table tr".split(), "html body div table tr".split())
    4
    """
    before = [0] * (len(other) + 1)
    for label in one:
        row = [0]
        for place, opposite in enumerate(other):
            row.append(before[place] + 1 if label == opposite else max(before[place + 1], row[-1]))
        before = row
    return before[-1]
