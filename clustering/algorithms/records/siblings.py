"""Find all records of a list from one of them.

Paper:      Shen and Karger, "U-REST" (WWW 2007): the ranking of what repeats, here of what repeats
            an example.
Notation:   The example is a record, a run of adjacent siblings; the answer is a list of such runs
            that contains it, in the page's order.
Readings:   The records of a list are what looks most like records among all lists that hold the
            example, and leaves out nothing beside the example that is as much like it as what is
            taken.
Departures: The candidates that hold the example are ranked beside the best of the others, since
            several of the features are places among each other.
Cost:       As `find_records`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import groupby

from lxml.etree import _Element

from clustering.algorithms.records.candidates import (
    RecordList,
    find_candidates,
    find_candidates_with,
)
from clustering.algorithms.records.features import jaccard, mean, region_paths
from clustering.algorithms.records.linkage import path_set
from clustering.algorithms.records.page_model import PageModel, Region, model_page
from clustering.algorithms.records.ranker import Ranker, complete, load_ranker, preselect

WEIGHT_OF_LIKENESS = 0.75  # what being like the example counts beside the score
# What is taken off where regions like the example are left out, as a share of those in the list.
WEIGHT_OF_LEFT_OUT = 1.0
LEFT_OUT_TOLERANCE = 0.6  # of the likeness of nearly all, from which others count as left out
WEIGHT_OF_CLASS = 0.25  # in the likeness of two elements
MIN_LIKENESS = 0.4  # a region that is less like the example is another thing
MAX_COMPARED = 2000  # regions


def siblings_of(tree: _Element, record: Sequence[_Element]) -> list[list[_Element]]:
    """Return the records of the list that a record stands in; it alone where nothing is like it."""
    if not record:
        return []
    page = model_page(tree)
    number_by_node = {node: number for number, node in enumerate(page.nodes)}
    if any(element not in number_by_node for element in record):
        return [list(record)]
    example = (number_by_node[record[0]], number_by_node[record[-1]])
    regions = regions_like(page, example, load_ranker())
    return [[page.nodes[element] for element in page.siblings(region)] for region in regions]


def regions_like(page: PageModel, example: Region, ranker: Ranker) -> list[Region]:
    """Return the regions of the list that the example stands in."""
    with_example = find_candidates_with(page, example)
    comparison = _Comparison(page, example, with_example)
    similar = [candidate for candidate in with_example if comparison.is_similar(candidate)]
    if not similar:
        return [example]
    similar_regions = {candidate.regions for candidate in similar}
    rivals = [
        candidate for candidate in find_candidates(page) if candidate.regions not in similar_regions
    ]
    # The rivals are there because features are places among other candidates; only `similar` can
    # win.
    candidates, rows = preselect(page, similar, None)
    n_rivals = max(ranker.n_best - len(candidates), ranker.n_best // 4)
    best_rivals, rival_rows = preselect(page, rivals, ranker.quick, n_rivals)
    full_rows = complete(page, [*candidates, *best_rivals], [*rows, *rival_rows])
    scores = [
        ranker.full.score(row) + comparison.bonus(candidate)
        for row, candidate in zip(full_rows, candidates, strict=False)
    ]
    best = max(range(len(candidates)), key=scores.__getitem__)
    return list(candidates[best].regions)


class _Comparison:
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
        page = self.page
        ours, theirs = page.siblings(self.example), page.siblings(region)
        if len(ours) == len(theirs):
            pairs = zip(ours, theirs, strict=True)
            return mean([_element_likeness(page, left, right) for left, right in pairs])
        if form_of(page, region) != self.form:
            return 0.0
        return jaccard(region_paths(page, region), self.paths)

    def is_similar(self, candidate: RecordList) -> bool:
        """Return whether the regions beside the example are built like it at all."""
        other_regions = [
            region for region in candidate.regions[:MAX_COMPARED] if region != self.example
        ]
        return mean([self.likeness(region) for region in other_regions]) >= MIN_LIKENESS

    def bonus(self, candidate: RecordList) -> float:
        """Return what likeness to the example adds, less what leaving like regions out costs."""
        likenesses = [self.likeness(region) for region in candidate.regions[:MAX_COMPARED]]
        likeness_of_nearly_all = sorted(likenesses)[len(likenesses) // 10]
        min_likeness = max(LEFT_OUT_TOLERANCE * likeness_of_nearly_all, MIN_LIKENESS)
        n_odd = self._count_left_out(candidate, min_likeness) + likenesses.count(0.0)
        odd_share = min(n_odd / len(likenesses), 1.0)
        return WEIGHT_OF_LIKENESS * mean(likenesses) - WEIGHT_OF_LEFT_OUT * odd_share

    def _count_left_out(self, candidate: RecordList, min_likeness: float) -> int:
        """Count the regions beside the example that are like it and not in the candidate."""
        firsts = [first for first, _ in candidate.regions]
        lasts = [last for _, last in candidate.regions]
        n_left_out, last_counted = 0, -1
        for first, last in self.beside:
            if first <= last_counted:
                continue
            index = bisect_left(lasts, first)
            is_free = index == len(firsts) or firsts[index] > last
            if is_free and self.likeness((first, last)) >= min_likeness:
                n_left_out += 1
                last_counted = last
        return n_left_out


def _element_likeness(page: PageModel, left: int, right: int) -> float:
    """Return the likeness of an element to another: of paths, and of the left's tag and classes."""
    path_likeness = jaccard(path_set(page, left), path_set(page, right))
    left_words = _tag_and_classes(page, left)  # never empty
    right_words = _tag_and_classes(page, right)
    class_likeness = len(left_words & right_words) / len(left_words)
    return (1 - WEIGHT_OF_CLASS) * path_likeness + WEIGHT_OF_CLASS * class_likeness


def _tag_and_classes(page: PageModel, element: int) -> frozenset[str]:
    return frozenset(page.classes[element].replace(".", " ").split())


def form_of(page: PageModel, region: Region) -> tuple[object, ...]:
    """Return which tags follow each other in a region, with their number where all are one tag.

    The rows of a record are as many as those of another, but a term may have one description or
    three.
    """
    tags = [page.tags[element] for element in page.siblings(region)]
    if len(set(tags)) == 1:
        return tags[0], len(tags)
    return tuple([tag for tag, _ in groupby(tags)])
