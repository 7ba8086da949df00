"""Find records by comparing runs of adjacent siblings, as MDR does.

Paper:      Liu, Grossman and Zhai, "Mining Data Records in Web Pages" (KDD 2003), compared with in
            Shen and Karger, "U-REST" (WWW 2007), section 3.
Notation:   A generalized node is a run of K adjacent siblings; a data region is a stretch of
            generalized nodes of one length of which each is like the next. Tag strings ->
            `tag_string`.
Readings:   Two generalized nodes are alike where the edit distance of their tag strings, by their
            mean length, is at most 0.3. The region that covers most children wins, the shortest
            nodes among equals. Of a page's regions the one with most text is returned, without
            those inside it.
Departures: MDR-like: tag strings end after 60 tags, and K is at most 5 (10 in the paper), so that a
            page takes seconds at most. A parent with more than 1,000 children is read up to there.
Cost:       For each parent, its children times K times K alignments.
"""

from __future__ import annotations

from functools import lru_cache

from clustering.algorithms.published.tree_edit import n_matching_in_order
from clustering.algorithms.records.page_model import PageModel, Region

MAX_DISTANCE = 0.3
MAX_K = 5
MAX_TAGS = 60
MAX_CHILDREN = 1000


def extract_region(page: PageModel) -> list[Region]:
    """Return the records of the data region with most text, none where nothing repeats."""
    regions = []
    for family in page.children:
        shown = [child for child in family[:MAX_CHILDREN] if page.has_text(child)]
        if len(shown) > 1:
            regions.append(find_region(page, shown))
    return max(
        regions,
        key=lambda records: sum(page.length(record) for record in records),
        default=[],
    )


def find_region(page: PageModel, family: list[int]) -> list[Region]:
    """Return the largest data region among siblings (IdentDRs)."""
    best: list[Region] = []
    n_covered = 0
    for k in range(1, min(MAX_K, len(family) // 2) + 1):
        for start in range(k):
            nodes = [tuple(family[at : at + k]) for at in range(start, len(family) - k + 1, k)]
            for stretch in _stretches(page, nodes):
                if len(stretch) * k > n_covered:
                    n_covered = len(stretch) * k
                    best = [(node[0], node[-1]) for node in stretch]
    return best


def _stretches(page: PageModel, nodes: list[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """Return the stretches of at least two nodes of which each is like the next."""
    strings = [
        tuple(tag for element in node for tag in tag_string(page, element)) for node in nodes
    ]
    stretches = [nodes[:1]]
    for index in range(1, len(nodes)):
        if distance(strings[index - 1], strings[index]) <= MAX_DISTANCE:
            stretches[-1].append(nodes[index])
        else:
            stretches.append([nodes[index]])
    return [stretch for stretch in stretches if len(stretch) > 1]


def tag_string(page: PageModel, element: int) -> tuple[str, ...]:
    """Return the tags of a subtree in document order."""
    return tuple(page.tags[element : min(page.ends[element], element + MAX_TAGS)])


@lru_cache(maxsize=20_000)
def distance(a: tuple[str, ...], b: tuple[str, ...]) -> float:
    """Return the edit distance of two tag strings by their mean length."""
    if a == b:
        return 0.0
    n_edits = len(a) + len(b) - 2 * n_matching_in_order(a, b)
    return n_edits / (len(a) + len(b))
