"""Find all records of a list from one of them.

Paper:      Shen and Karger, "U-REST" (WWW 2007): the ranking of what repeats, here of what repeats an
            example.
Notation:   The example is a record, a run of adjacent siblings; the answer is a list of such runs that
            contains it, in the page's order.
Readings:   The records of a list are what looks most like records among all lists that hold the example, and
            leaves out nothing beside the example that is as much like it as what is taken.
Departures: The candidates that hold the example are ranked beside the best of the others, since several of
            the features are places among each other.
Cost:       As `find_records`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from lxml.etree import _Element

from clustering.algorithms.records.candidates import (
    RecordList,
    find_candidates,
    find_candidates_with,
)
from clustering.algorithms.records.features import alike, mean, region_paths
from clustering.algorithms.records.linkage import path_set
from clustering.algorithms.records.page_model import PageModel, Region, model_page
from clustering.algorithms.records.ranker import Ranker, complete, load_ranker, preselect

LIKENESS = 0.75  # what being like the example counts beside the score
LEFT_OUT = (
    1.0  # what is taken off where regions like the example are left out, as a share of those taken
)
TOLERANCE = 0.6  # of the likeness of nearly all taken, from which others count as left out
OF_CLASS = 0.25  # of the likeness of two elements
LEAST = 0.4  # likeness below which a region is another thing
MAX_COMPARED = 2000  # regions


def siblings_of(tree: _Element, record: Sequence[_Element]) -> list[list[_Element]]:
    """Return the records of the list that a record stands in, the record alone where nothing is like it."""
    page = model_page(tree)
    number_by_node = {node: number for number, node in enumerate(page.nodes)}
    if not record or any(element not in number_by_node for element in record):
        return [list(record)] if record else []
    example = (number_by_node[record[0]], number_by_node[record[-1]])
    regions = regions_like(page, example, load_ranker())
    return [[page.nodes[element] for element in page.siblings(region)] for region in regions]


def regions_like(page: PageModel, example: Region, ranker: Ranker) -> list[Region]:
    """Return the regions of the list that the example stands in."""
    found = find_candidates_with(page, example)
    compared = _Compared(page, example, found)
    mine = [candidate for candidate in found if compared.is_alike(candidate)]
    if not mine:
        return [example]
    own = {candidate.regions for candidate in mine}
    rivals = [candidate for candidate in find_candidates(page) if candidate.regions not in own]
    kept, rows = preselect(page, mine, None)
    others, other_rows = preselect(
        page, rivals, ranker.quick, max(ranker.n_best - len(kept), ranker.n_best // 4)
    )
    rows = complete(page, [*kept, *others], [*rows, *other_rows])
    scores = [
        ranker.full.score(row) + compared.bonus(candidate)
        for row, candidate in zip(rows, kept, strict=False)
    ]
    return list(kept[max(range(len(kept)), key=scores.__getitem__)].regions)


class _Compared:
    """How much the regions of the candidates are built like the example."""

    def __init__(self, page: PageModel, example: Region, candidates: Sequence[RecordList]) -> None:
        self.page = page
        self.example = example
        self.paths = region_paths(page, example)
        self.form = form_of(page, example)
        self.likeness_by_region: dict[Region, float] = {}
        parent = page.parents[example[0]]
        beside = {
            region
            for candidate in candidates
            for region in candidate.regions[:MAX_COMPARED]
            if page.parents[region[0]] == parent
        }
        self.beside = sorted(beside)[:MAX_COMPARED]

    def likeness(self, region: Region) -> float:
        """Return how much a region is built like the example, from 0 to 1."""
        if region not in self.likeness_by_region:
            self.likeness_by_region[region] = self._compare(region)
        return self.likeness_by_region[region]

    def _compare(self, region: Region) -> float:
        page, ours, theirs = self.page, self.page.siblings(self.example), self.page.siblings(region)
        if len(ours) != len(theirs):
            share = alike(region_paths(page, region), self.paths)
            return share if form_of(page, region) == self.form else 0.0
        return mean(
            [_resemblance(page, one, other) for one, other in zip(ours, theirs, strict=True)]
        )

    def is_alike(self, candidate: RecordList) -> bool:
        """Say whether the regions beside the example are built like it at all."""
        others = [region for region in candidate.regions[:MAX_COMPARED] if region != self.example]
        return mean([self.likeness(region) for region in others]) >= LEAST

    def bonus(self, candidate: RecordList) -> float:
        """Return what a candidate gains by being like the example, less what it loses by leaving some out."""
        taken = candidate.regions[:MAX_COMPARED]
        likenesses = [self.likeness(region) for region in taken]
        least = max(TOLERANCE * sorted(likenesses)[len(likenesses) // 10], LEAST)
        n_odd = len(self._left_out(candidate, least)) + likenesses.count(0.0)
        return LIKENESS * mean(likenesses) - LEFT_OUT * min(n_odd / len(taken), 1.0)

    def _left_out(self, candidate: RecordList, least: float) -> list[Region]:
        """Return the regions beside the example that are like it and share no element with a candidate."""
        firsts = [first for first, _ in candidate.regions]
        ends = [last for _, last in candidate.regions]
        left_out, behind = [], -1
        for first, last in self.beside:
            place = bisect_left(ends, first)
            is_free = first > behind and (place == len(firsts) or firsts[place] > last)
            if is_free and self.likeness((first, last)) >= least:
                left_out.append((first, last))
                behind = last
        return left_out


def _resemblance(page: PageModel, one: int, other: int) -> float:
    paths = alike(path_set(page, one), path_set(page, other))
    ours, theirs = _words(page, one), _words(page, other)
    return (1 - OF_CLASS) * paths + OF_CLASS * len(ours & theirs) / len(ours)


def _words(page: PageModel, element: int) -> frozenset[str]:
    """Return tag and class tokens of an element."""
    return frozenset(page.classes[element].replace(".", " ").split())


def form_of(page: PageModel, region: Region) -> tuple[object, ...]:
    """Return what siblings a region consists of; of a kind among others there may be several or one.

    The rows of a record are as many as those of another, but a term may have one description or three.
    """
    tags = [page.tags[element] for element in page.siblings(region)]
    if len(set(tags)) == 1:
        return tags[0], len(tags)
    return tuple([tag for place, tag in enumerate(tags) if place == 0 or tag != tags[place - 1]])
