"""Add a single positional predicate where no conjunction is precise.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.2, after Algorithm 3.
Notation:   [position()=i] -> `position`.
Readings:   The position counts the nodes that the XPath selects on a page, in document order.
            Positions from the end are tried, too.
Departures: It must not select anything on a page where the attribute was marked absent.
Cost:       The first MAX_POSITION nodes of each annotated page from both ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rules.algorithms.learning.node_index import NodeSet

MAX_POSITION = 10


def learn_position(bits: NodeSet, right: NodeSet, judged: Sequence[NodeSet]) -> int:
    """Return the position at which each page has a right node, 0 where there is none.

    `judged` are the nodes of each page that was annotated for the attribute, be it as absent.
    """
    shared: set[int] | None = None
    n_where_absent = 0  # the most nodes that are selected on a page without the attribute
    for page in judged:
        selected = bits & page
        if not right & page:
            n_where_absent = max(n_where_absent, selected.bit_count())
            continue
        positions = _positions_of(selected, right & page)
        shared = positions if shared is None else shared & positions
    fitting = [position for position in shared or () if abs(position) > n_where_absent]
    return min(fitting, key=lambda position: (abs(position), -position), default=0)


def commonest_position(bits: NodeSet, right: NodeSet, judged: Sequence[NodeSet]) -> int:
    """Return the position at which most pages have a right node, 0 if none has one near an end."""
    n_pages: Counter[int] = Counter()
    for page in judged:
        n_pages.update(_positions_of(bits & page, right & page))
    return min(
        n_pages, key=lambda position: (-n_pages[position], abs(position), -position), default=0
    )


def nth(bits: NodeSet, position: int) -> NodeSet:
    """Return the node at a position as a set, empty where the page has not so many."""
    n = bits.bit_count()
    if n < abs(position):
        return 0
    for _ in range(position - 1 if position > 0 else n + position):
        bits &= bits - 1
    return bits & -bits


def _positions_of(selected: NodeSet, right: NodeSet) -> set[int]:
    """Return the positions of right nodes among the selected ones, from either end."""
    highest = min(selected.bit_count(), MAX_POSITION)
    positions = [*range(1, highest + 1), *range(-highest, 0)]
    return {position for position in positions if nth(selected, position) & right}
