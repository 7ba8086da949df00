"""Find records by comparing runs of adjacent siblings, as MDR does.

Paper:      Liu, Grossman and Zhai, "Mining Data Records in Web Pages" (KDD 2003), compared with in Shen and
            Karger, "U-REST" (WWW 2007), section 3.
Notation:   A generalized node is a run of K adjacent siblings; a data region is a stretch of generalized
            nodes of one length of which each is like the next. Tag strings -> `tag_string`.
Readings:   Two generalized nodes are alike where the edit distance of their tag strings, by their mean
            length, is at most 0.3. The region that covers most children wins, the shortest nodes among
            equals. Of a page's regions the one with most text is returned, without those inside it.
Departures: MDR-like: tag strings end after 60 tags, and K is at most 5 (10 in the paper), so that a page
            takes seconds at most. A parent with more than 1,000 children is read up to there.
Cost:       For each parent, its children times K times K alignments.
"""

from __future__ import annotations

from functools import lru_cache

from clustering.algorithms.published.tree_edit import n_matching_in_order
from clustering.algorithms.records.page_model import PageModel, Region

MOST_DISTANT = 0.3
MAX_K = 5
MAX_TAGS = 60
MAX_CHILDREN = 1000


def extract_region(page: PageModel) -> list[Region]:
    """Return the records of the data region with most text, none where nothing repeats."""
    regions = [
        region
        for family in page.children
        if len(shown := [one for one in family[:MAX_CHILDREN] if page.has_text(one)]) > 1
        for region in [find_region(page, shown)]
        if region
    ]
    return max(regions, key=lambda records: sum(page.length(one) for one in records), default=[])


def find_region(page: PageModel, family: list[int]) -> list[Region]:
    """Return the largest data region among siblings (IdentDRs)."""
    best: list[Region] = []
    n_covered = 0
    for K in range(1, min(MAX_K, len(family) // 2) + 1):
        for start in range(K):
            nodes = [tuple(family[at : at + K]) for at in range(start, len(family) - K + 1, K)]
            for stretch in _stretches(page, nodes):
                if len(stretch) * K > n_covered:
                    n_covered = len(stretch) * K
                    best = [(node[0], node[-1]) for node in stretch]
    return best


def _stretches(page: PageModel, nodes: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """Return the stretches of at least two nodes of which each is like the next."""
    strings = [
        tuple(tag for element in node for tag in tag_string(page, element)) for node in nodes
    ]
    found: list[list[tuple[int, ...]]] = []
    stretch = nodes[:1]
    for place in range(1, len(nodes)):
        if distance(strings[place - 1], strings[place]) <= MOST_DISTANT:
            stretch.append(nodes[place])
        else:
            found.append(stretch)
            stretch = [nodes[place]]
    return [one for one in [*found, stretch] if len(one) > 1]


def tag_string(page: PageModel, element: int) -> tuple[str, ...]:
    """Return the tags of a subtree in document order."""
    return tuple(page.tags[element : min(page.ends[element], element + MAX_TAGS)])


@lru_cache(maxsize=20_000)
def distance(one: tuple[str, ...], other: tuple[str, ...]) -> float:
    """Return the edit distance of two tag strings by their mean length."""
    if one == other:
        return 0.0
    n_edits = len(one) + len(other) - 2 * n_matching_in_order(one, other)
    return n_edits / (len(one) + len(other))
