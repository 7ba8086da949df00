"""Propose lists of regions that could be the records of a page.

Paper:      Shen and Karger, "U-REST: An Unsupervised Record Extraction System" (WWW 2007), section
            2: pattern discovery. This takes the place of its clustering.
Notation:   A region is (first, last), siblings and all between them. A candidate is a list of at
            least two regions with text that do not overlap, in document order.
Readings:   A record is one element or a run of adjacent siblings (a term and its description, two
            rows of a table). Candidates that show the same intervals of the page's text are one.
Departures: Regions are put together by keys (tag, class, shape, structure, looks; under one parent
            and over several), by average linkage of sets of paths, by separators, start marks and
            periods; filters without outliers stand beside what they were made from.
Cost:       Linear in the elements for each key; the linkage is taken over at most 40 distinct
            structures of a family, at most 2500 families are looked at, and at most 300 candidates
            are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import sqrt
from statistics import median
from typing import TypeAlias

from clustering.algorithms.records.linkage import linked_groups
from clustering.algorithms.records.page_model import PageModel, Region
from clustering.algorithms.records.runs import (
    Key,
    cut_at_separators,
    groups_by,
    periodic_runs,
    run_from,
    runs_from_marks,
    tokens_of,
)

Regions: TypeAlias = tuple[Region, ...]

MAX_CANDIDATES = 300
MAX_REGIONS = 150_000  # of all candidates together
MIN_CANDIDATES = 4  # that are kept even where they have more regions
MAX_FILTERED = 4000  # regions of a candidate whose untypical ones are looked for
MAX_RUNS_FAMILY = 4000  # children of one parent that are looked at for periods and start marks
MAX_FAMILIES = 2500  # parents whose children are put together
MAX_GROUPS = 40  # classes that are tried as marks over several parents
MAX_LENGTH_RATIO = 4.0  # how many times longer or shorter than the median a record may be


@dataclass(frozen=True, slots=True)
class RecordList:
    """A list of regions and how it came about."""

    regions: Regions
    kind: str  # "key", "over", "linked", "cut", "marked", "period"
    is_filtered: bool = False


class _Candidates:
    """Candidates by the intervals that they show; the first of several equal ones stays.

    With an example, only candidates that hold just this region count, and those of other elements
    differ.
    """

    def __init__(self, page: PageModel, example: Region | None = None) -> None:
        self.page = page
        self.example = example
        self.by_intervals: dict[tuple[tuple[int, int], ...], RecordList] = {}

    def add(self, regions: Iterable[Region], kind: str, *, is_filtered: bool = False) -> None:
        page = self.page
        shown = tuple([region for region in regions if page.length(region) > 0])
        if len(shown) < 2:
            return
        if self.example is None:
            key = tuple([page.interval(region) for region in shown])
        elif self.example in shown:
            key = shown
        else:
            return
        if key not in self.by_intervals:
            self.by_intervals[key] = RecordList(shown, kind, is_filtered)


def find_candidates(page: PageModel, n_most: int = MAX_CANDIDATES) -> list[RecordList]:
    """Return the candidates of a page, the most promising ones where there are too many.

    1. Put the children of each parent together, then elements of several parents.
    2. Keep the most promising, two thirds of what may be returned.
    3. Add what filters make of these.
    """
    candidates = _Candidates(page)
    for family in _families(page):
        _add_family(candidates, [element for element in family if page.ends[element]])
    _add_over_parents(candidates)
    _add_runs_over_parents(candidates)
    plain = _most_promising(page, list(candidates.by_intervals.values()), n_most * 2 // 3)
    for candidate in plain:
        _add_filtered(candidates, candidate)
    filtered = [
        candidate for candidate in candidates.by_intervals.values() if candidate.is_filtered
    ]
    return plain + _most_promising(page, filtered, n_most - len(plain))


def _families(page: PageModel) -> list[list[int]]:
    """Return the children of each parent that has several, of too many those with most text."""
    parents = [parent for parent, family in enumerate(page.children) if len(family) > 1]
    if len(parents) > MAX_FAMILIES:
        largest = sorted(parents, key=lambda parent: -page.length((parent, parent)))[:MAX_FAMILIES]
        parents = sorted(largest)
    return [page.children[parent] for parent in parents]


def find_candidates_with(page: PageModel, example: Region) -> list[RecordList]:
    """Return the candidates that hold a region known as a record; none where nothing is like it."""
    candidates = _Candidates(page, example)
    first, last = example
    parent = page.parents[first]
    if first == last:
        _add_over_parents(candidates)
    else:
        _add_runs_over_parents(candidates)
        runs = _runs_like(page, example)
        candidates.add(runs, "over")
        candidates.add([run for run in runs if page.parents[run[0]] == parent], "marked")
    _add_family(candidates, page.children[parent] if parent >= 0 else [])
    for candidate in list(candidates.by_intervals.values()):
        _add_filtered(candidates, candidate)
    return list(candidates.by_intervals.values())


def _runs_like(page: PageModel, example: Region) -> list[Region]:
    """Return the runs of the tags that an example has, wherever they stand under such parents."""
    first = example[0]
    tags = [page.tags[element] for element in page.siblings(example)]
    own_parent = page.parents[first]
    runs: list[Region] = []
    for parent, family in enumerate(page.children):
        if page.classes[parent] != page.classes[own_parent]:
            continue
        if page.depths[parent] != page.depths[own_parent]:
            continue
        # Beside the example, runs begin in its step, so that it is one of them.
        index = family.index(first) % len(tags) if parent == own_parent else 0
        while index + len(tags) <= len(family):
            run = family[index : index + len(tags)]
            if [page.tags[element] for element in run] == tags:
                runs.append((run[0], run[-1]))
                index += len(tags)
            else:
                index += 1
    return runs


def _most_promising(page: PageModel, candidates: list[RecordList], n_most: int) -> list[RecordList]:
    """Return those with most text times the square root of their regions, in their old order."""
    n_regions = sum(len(candidate.regions) for candidate in candidates)
    if len(candidates) <= n_most and n_regions <= MAX_REGIONS:
        return candidates

    def promise(index: int) -> float:
        regions = candidates[index].regions
        n_shown = sum(page.length(region) for region in regions)
        return n_shown * sqrt(min(len(regions), 10))

    ranked = sorted(range(len(candidates)), key=promise, reverse=True)
    best: list[int] = []
    n_regions = 0
    for index in ranked[:n_most]:
        n_regions += len(candidates[index].regions)
        if n_regions <= MAX_REGIONS or len(best) < MIN_CANDIDATES:
            best.append(index)
    return [candidates[index] for index in sorted(best)]


def keys_of(page: PageModel) -> list[Key]:
    """Return what makes two elements look like each other, from coarse to fine."""
    tags, classes, shapes, looks = page.tags, page.classes, page.shapes, page.looks
    return [
        tags.__getitem__,
        classes.__getitem__,
        lambda element: (classes[element], shapes[element]),
        lambda element: (classes[element], page.structures[element]),
        lambda element: (classes[element], looks[element]),
    ]


def _add_family(candidates: _Candidates, family: list[int]) -> None:
    """Add what one parent's children give."""
    page = candidates.page
    shown = [element for element in family if page.has_text(element)]
    if len(shown) < 2:
        return
    for key in keys_of(page):
        for group in groups_by(shown, key):
            candidates.add(_singles(group), "key")
    for stretch in _stretches(family, page):
        candidates.add(_singles(stretch), "key")
    for group in linked_groups(page, shown):
        candidates.add(_singles(group), "linked")
    if 2 < len(family) <= MAX_RUNS_FAMILY:
        _add_runs(candidates, family)


def _singles(elements: Iterable[int]) -> list[Region]:
    return [(element, element) for element in elements]


def _stretches(family: list[int], page: PageModel) -> Iterator[list[int]]:
    """Yield the unbroken stretches of one tag, where they are not the whole family."""
    for _, elements in groupby(family, key=page.tags.__getitem__):
        stretch = list(elements)
        if 1 < len(stretch) < len(family):
            yield stretch


def _add_over_parents(candidates: _Candidates) -> None:
    """Add elements of equal kind wherever they stand: by root path, or by tag and class alone."""
    page = candidates.page
    paths = _root_paths(page)
    shown = [element for element in range(1, len(page)) if page.has_text(element)]
    keys: list[Key] = [
        paths.__getitem__,
        lambda element: (paths[element], page.classes[element]),
        lambda element: (paths[element], page.classes[element], page.shapes[element]),
        lambda element: (paths[element], page.looks[element]),
        lambda element: page.classes[element] if "." in page.classes[element] else element,
    ]
    for key in keys:
        for group in groups_by(shown, key):
            if len({page.parents[element] for element in group}) > 1:
                candidates.add(_singles(_outermost(page, group)), "over")
                candidates.add(_singles(_innermost(page, group)), "over")


def _root_paths(page: PageModel) -> list[int]:
    """Return a number for each element, equal where the tags from the root to it are."""
    number_by_path: dict[tuple[int, str], int] = {}
    paths: list[int] = []
    for element, parent in enumerate(page.parents):
        key = (paths[parent] if parent >= 0 else -1, page.tags[element])
        paths.append(number_by_path.setdefault(key, len(number_by_path)))
    return paths


def _outermost(page: PageModel, group: list[int]) -> list[int]:
    outermost: list[int] = []
    for element in group:
        if not outermost or element >= page.ends[outermost[-1]]:
            outermost.append(element)
    return outermost


def _innermost(page: PageModel, group: list[int]) -> list[int]:
    followed = [element for element, after in pairwise(group) if after >= page.ends[element]]
    return [*followed, group[-1]]


# Runs of siblings.


def _add_runs(candidates: _Candidates, family: list[int]) -> None:
    page = candidates.page
    for runs in cut_at_separators(page, family):
        candidates.add(runs, "cut")
    for tokens in tokens_of(page, family):
        for runs in runs_from_marks(page, family, tokens):
            candidates.add(runs, "marked")
    with_text = [element for element in family if page.has_text(element)]
    for elements in (family, with_text):
        for tokens in tokens_of(page, elements):
            for runs in periodic_runs(page, elements, tokens):
                candidates.add(runs, "period")


def _add_runs_over_parents(candidates: _Candidates) -> None:
    """Add runs from one mark, wherever it stands, to before the next or what holds one."""
    page = candidates.page
    shown = [element for element in range(1, len(page)) if page.has_text(element)]
    groups = [
        group
        for group in groups_by(shown, page.classes.__getitem__)
        if len(group) <= MAX_RUNS_FAMILY and len({page.parents[element] for element in group}) > 1
    ]
    groups.sort(key=lambda group: -sum(page.length((element, element)) for element in group))
    for group in groups[:MAX_GROUPS]:
        runs = [run_from(page, mark, group) for mark in group]
        if any(first != last for first, last in runs):
            candidates.add(runs, "over")


# Filters.


def _add_filtered(candidates: _Candidates, candidate: RecordList) -> None:
    """Add the candidate without what is untypical in it."""
    regions = candidate.regions
    if not 2 < len(regions) <= MAX_FILTERED:
        return
    for typical in _filter_regions(candidates.page, regions):
        if 1 < len(typical) < len(regions):
            candidates.add(typical, candidate.kind, is_filtered=True)


def _filter_regions(page: PageModel, regions: Regions) -> Iterator[list[Region]]:
    """Yield the regions without those that are untypical, by one filter after the other."""
    usual_length = median([page.length(region) for region in regions])
    min_length, max_length = usual_length / MAX_LENGTH_RATIO, usual_length * MAX_LENGTH_RATIO
    long_enough = [region for region in regions if page.length(region) >= min_length]
    of_usual_length = [region for region in long_enough if page.length(region) <= max_length]
    yield of_usual_length
    yield [region for region in regions if page.count("links", region)]
    yield [region for region in of_usual_length if page.count("links", region)]
    yield long_enough

    shapes = [(page.shapes[first], page.shapes[last]) for first, last in regions]
    usual_shape, n_usual = Counter(shapes).most_common(1)[0]
    of_usual_shape = [index for index, shape in enumerate(shapes) if shape == usual_shape]
    if n_usual >= len(regions) / 2:
        yield [regions[index] for index in of_usual_shape]
    yield list(regions[1:])
    yield list(regions[:-1])
    yield list(regions[1:-1])
    # A table's first rows and last rows are often a head and a foot.
    yield list(regions[of_usual_shape[0] : of_usual_shape[-1] + 1])
