"""Add a single positional predicate where no conjunction is precise.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.2, after
            Algorithm 3.
Notation:   [position()=i] -> `position`.
Readings:   The position counts the nodes that the XPath selects on a page, in document order. Positions from
            the end are tried too.
Departures: It must not select anything on a page where the attribute was marked absent.
Cost:       The first MOST_POSITIONS nodes of each annotated page from both ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules.algorithms.learning.node_index import NodeSet

MOST_POSITIONS = 10


def learn_position(bits: NodeSet, positives: NodeSet, judged: Sequence[NodeSet]) -> int:
    """Return the position at which each page has its positive, 0 where there is none.

    `judged` are the nodes of the pages about which the editor said something.
    """
    shared: set[int] | None = None
    n_longest = 0
    for page in judged:
        selected = bits & page
        if not positives & page:
            n_longest = max(n_longest, selected.bit_count())
            continue
        places = _places(selected, positives & page)
        shared = places if shared is None else shared & places
    fitting = [place for place in shared or () if abs(place) > n_longest]
    return min(fitting, key=lambda place: (abs(place), -place), default=0)


def nth(bits: NodeSet, position: int) -> NodeSet:
    """Return the node at a position as a set, empty where the page has not so many."""
    n = bits.bit_count()
    if n < abs(position):
        return 0
    for _ in range(position - 1 if position > 0 else n + position):
        bits &= bits - 1
    return bits & -bits


def _places(selected: NodeSet, positive: NodeSet) -> set[int]:
    n = selected.bit_count()
    numbers = list(range(1, min(n, MOST_POSITIONS) + 1))
    return {
        place
        for place in [*numbers, *(-number for number in numbers)]
        if nth(selected, place) == positive
    }
