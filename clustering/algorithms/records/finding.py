"""Find the records of a list page without a teacher.

Paper:      Shen and Karger, "U-REST" (WWW 2007): discover repetitions, rank them, return the best.
Notation:   A found list has a score and records; a record is a list of adjacent siblings.
Readings:   A page whose best candidate looks like no records at all has none; one record is no
            list.
Departures: Candidates and ranker are our own (`candidates`, `ranker`); the algorithm as published
            is `published.urest`.
Cost:       Linear in the page but for some dozens of candidates that are looked at closely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from clustering.algorithms.records.candidates import RecordList, find_candidates
from clustering.algorithms.records.features import jaccard, mean, region_paths
from clustering.algorithms.records.page_model import PageModel, Region, model_page
from clustering.algorithms.records.ranker import load_ranker
from clustering.dom.paths import element_paths

FURTHER_LISTS = 0.5  # of the ranker's least score, which lists beside the best one must reach
MAX_DROPPED = 2  # regions that are looked at again: a first and a last one
N_COMPARED = 10
MIN_USUAL = 0.75  # share of the records that says how all of them begin
MIN_LIKENESS = 0.8  # share of paths that a dropped region must have with the others, on average
MIN_OWN_LIKENESS = 0.5  # share of paths that a part of a record has with some record of one element
MAX_SHARED = 0.5  # share of its text that a list may have in common with a better one


@dataclass(frozen=True, slots=True)
class FoundList:
    """A list of records and how much it looks like one."""

    score: float
    records: list[list[_Element]]
    is_cut: bool = False  # the page is so large that not all of it was read

    def paths(self) -> list[list[str]]:
        """Return the XPaths of the records' elements."""
        paths = iter(element_paths([element for record in self.records for element in record]))
        return [[next(paths) for _ in record] for record in self.records]


def find_records(tree: _Element, n_best: int = 1) -> list[FoundList]:
    """Return the lists of a page, the best first; none where the page has no list.

    1. Propose candidates, and rank them.
    2. Leave out what shares too much text with a better list.
    3. Restore like regions that a filter dropped, and cut off advertisements between the records.
    """
    page = model_page(tree)
    ranker = load_ranker()
    candidates = find_candidates(page)
    lists: list[FoundList] = []
    regions_of_lists: list[Sequence[Region]] = []
    for score, candidate in ranker.rank(page, candidates):
        min_score = ranker.least * FURTHER_LISTS if lists else ranker.least
        if score < min_score or len(lists) >= n_best:
            break
        if any(
            _shared_text(page, candidate.regions, better) > MAX_SHARED
            for better in regions_of_lists
        ):
            continue
        regions = _with_dropped(page, candidate, candidates)
        regions = _without_advertisements(page, regions)
        regions_of_lists.append(regions)
        records = [[page.nodes[element] for element in page.siblings(region)] for region in regions]
        lists.append(FoundList(min(max(score, 0.0), 1.0), records, page.is_cut))
    return lists


def _with_dropped(
    page: PageModel, candidate: RecordList, candidates: Sequence[RecordList]
) -> Sequence[Region]:
    """Return the regions of a list with those like them that a filter dropped."""
    if not candidate.is_filtered:
        return candidate.regions
    own = set(candidate.regions)
    step = max(len(candidate.regions) // N_COMPARED, 1)
    paths_of_own = [region_paths(page, region) for region in candidate.regions[::step]]

    def is_like_own(region: Region) -> bool:
        paths = region_paths(page, region)
        return mean([jaccard(paths, own_paths) for own_paths in paths_of_own]) >= MIN_LIKENESS

    best: Sequence[Region] = candidate.regions
    max_regions = len(candidate.regions) + MAX_DROPPED
    for longer in candidates:
        if not len(best) < len(longer.regions) <= max_regions or not own.issubset(longer.regions):
            continue
        if all(is_like_own(region) for region in longer.regions if region not in own):
            best = longer.regions
    return best


def _without_advertisements(page: PageModel, regions: Sequence[Region]) -> Sequence[Region]:
    """Return the regions without advertisements between records that were taken for parts of them.

    What stands before the tag that nearly all begin with is none of theirs, and where nearly all
    are single elements, neither is an element behind one that is of another tag or unlike all
    records.
    """
    usual_tag, n_usual = Counter(page.tags[first] for first, _ in regions).most_common(1)[0]
    if n_usual < MIN_USUAL * len(regions):
        return regions
    single = [(first, last) for first, last in regions if first == last]
    is_single = len(single) >= MIN_USUAL * len(regions)
    cut: list[Region] = []
    for first, last in regions:
        elements = page.siblings((first, last))
        usual = [element for element in elements if page.tags[element] == usual_tag] or [first]
        if is_single and len(usual) > 1:
            usual = [element for element in usual if _is_like(page, element, single)] or usual
        cut.append((usual[0], usual[-1] if is_single else last))
    return cut


def _is_like(page: PageModel, element: int, records: Sequence[Region]) -> bool:
    """Return whether an element has half of the paths that it or a usual record has."""
    step = max(len(records) // N_COMPARED, 1)
    paths = region_paths(page, (element, element))
    likenesses = [jaccard(paths, region_paths(page, record)) for record in records[::step]]
    return max(likenesses) >= MIN_OWN_LIKENESS


def _shared_text(page: PageModel, left: Sequence[Region], right: Sequence[Region]) -> float:
    """Return which share of the shorter list's text the other shows too."""
    left_intervals = [page.interval(region) for region in left]
    right_intervals = [page.interval(region) for region in right]
    n_common = index = 0
    for start, stop in left_intervals:
        while index < len(right_intervals) and right_intervals[index][1] <= start:
            index += 1
        ahead = index
        while ahead < len(right_intervals) and right_intervals[ahead][0] < stop:
            other_start, other_stop = right_intervals[ahead]
            n_common += min(stop, other_stop) - max(start, other_start)
            ahead += 1
    n_left = sum(stop - start for start, stop in left_intervals)
    n_right = sum(stop - start for start, stop in right_intervals)
    return n_common / max(min(n_left, n_right), 1)
