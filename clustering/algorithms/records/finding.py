"""Find the records of a list page without a teacher.

Paper:      Shen and Karger, "U-REST" (WWW 2007): discover repetitions, rank them, return the best.
Notation:   A found list has a score and records; a record is a list of adjacent siblings.
Readings:   A page whose best candidate looks like no records at all has none; one record is no list.
Departures: Candidates and ranker are our own (record_candidates, record_ranker); the algorithm as published
            is in urest.
Cost:       Linear in the page but for some dozens of candidates that are looked at closely.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from clustering.algorithms.records.candidates import RecordList, find_candidates
from clustering.algorithms.records.features import alike, mean, region_paths
from clustering.algorithms.records.page_model import PageModel, Region, model_page
from clustering.algorithms.records.ranker import load_ranker
from clustering.dom.paths import element_paths

FURTHER = 0.5  # of the least score, from which lists beside the best one are told
MOST_DROPPED = 2  # regions that are looked at again: a first and a last one
N_COMPARED = 10
USUAL = 0.75  # share of the records that says how all of them begin
ALIKE = 0.8  # share of paths that a dropped region must have with the others, on average
SHARED = 0.5  # of its text that a list may share with a better one to be told beside it


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
    """Return the lists of a page, the best first; none where the page has no list."""
    page = model_page(tree)
    ranker = load_ranker()
    candidates = find_candidates(page)
    ranked = ranker.rank(page, candidates)
    told: list[FoundList] = []
    taken: list[Sequence[Region]] = []
    for score, candidate in ranked:
        if score < (ranker.least * FURTHER if told else ranker.least) or len(told) >= n_best:
            break
        if all(_shared(page, candidate.regions, other) <= SHARED for other in taken):
            regions = _begun_alike(page, _completed(page, candidate, candidates))
            taken.append(regions)
            records = [_elements(page, region) for region in regions]
            told.append(FoundList(min(max(score, 0.0), 1.0), records, page.is_cut))
    return told


def _completed(
    page: PageModel, chosen: RecordList, candidates: Sequence[RecordList]
) -> Sequence[Region]:
    """Return the regions of a list with those that a filter dropped though they are like the others."""
    if not chosen.is_filtered:
        return chosen.regions
    own = set(chosen.regions)
    walked = chosen.regions[:: max(len(chosen.regions) // N_COMPARED, 1)]
    usual = [region_paths(page, region) for region in walked]
    best: Sequence[Region] = chosen.regions
    for candidate in candidates:
        if len(best) < len(candidate.regions) <= len(
            chosen.regions
        ) + MOST_DROPPED and own.issubset(candidate.regions):
            dropped = [
                region_paths(page, region) for region in candidate.regions if region not in own
            ]
            if all(mean([alike(one, other) for other in usual]) >= ALIKE for one in dropped):
                best = candidate.regions
    return best


def _begun_alike(page: PageModel, regions: Sequence[Region]) -> Sequence[Region]:
    """Return the regions without advertisements that stand between records and were taken for parts of them.

    What stands before the tag that nearly all begin with is none of theirs, and where nearly all are single
    elements, neither is an element of another tag behind one.
    """
    tag, n_usual = Counter(page.tags[first] for first, _ in regions).most_common(1)[0]
    if n_usual < USUAL * len(regions):
        return regions
    is_single = sum(first == last for first, last in regions) >= USUAL * len(regions)
    cut: list[Region] = []
    for first, last in regions:
        family = page.siblings((first, last))
        own = [element for element in family if page.tags[element] == tag] or [first]
        cut.append((own[0], own[-1] if is_single else last))
    return cut


def _elements(page: PageModel, region: Region) -> list[_Element]:
    return [page.nodes[element] for element in page.siblings(region)]


def _shared(page: PageModel, one: Sequence[Region], other: Sequence[Region]) -> float:
    """Return which share of the shorter list's text the other shows too."""
    mine = [page.interval(region) for region in one]
    others = [page.interval(region) for region in other]
    common = place = 0
    for start, stop in mine:
        while place < len(others) and others[place][1] <= start:
            place += 1
        ahead = place
        while ahead < len(others) and others[ahead][0] < stop:
            common += min(stop, others[ahead][1]) - max(start, others[ahead][0])
            ahead += 1
    shown = min(
        sum(stop - start for start, stop in mine), sum(stop - start for start, stop in others)
    )
    return common / max(shown, 1)
