"""Propose lists of regions that could be the records of a page.

Paper:      Shen and Karger, "U-REST: An Unsupervised Record Extraction System" (WWW 2007), section 2: pattern
            discovery. This takes the place of its clustering.
Notation:   A region is (first, last), siblings and all between them. A candidate is a list of at least two
            regions with text that do not overlap, in document order.
Readings:   A record is one element or a run of adjacent siblings (a term and its description, two rows of a
            table). Candidates that show the same intervals of the page's text are one.
Departures: Regions are put together by keys (tag, class, shape, structure, looks; under one parent and over
            several), by average linkage of sets of paths, by separators, start marks and periods; filters
            without outliers stand beside what they were made from.
Cost:       Linear in the elements for each key; the linkage is taken over at most 40 distinct structures of a
            family, at most 2500 families are looked at, and at most 300 candidates are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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

Regions: TypeAlias = tuple["Region", ...]

MAX_CANDIDATES = 300
MAX_REGIONS, FEWEST = (
    150_000,
    4,
)  # regions of all candidates together, and candidates kept in any case
MAX_FILTERED = 4000  # regions of a candidate whose untypical ones are looked for
MAX_RUNS_FAMILY = 4000  # children of one parent that are looked at for periods and start marks
MAX_FAMILIES = 2500  # parents whose children are put together
MAX_GROUPS = 40  # classes that are tried as marks over several parents
TYPICAL = 4.0  # how many times longer or shorter than the median a record may be


@dataclass(frozen=True, slots=True)
class RecordList:
    """A list of regions and how it came about."""

    regions: Regions
    kind: str  # "key", "over", "linked", "cut", "marked", "period"
    is_filtered: bool = False


class _Found:
    """Candidates by the intervals that they show; the first of several equal ones stays.

    With an example, only candidates that hold just this region count, and those of other elements differ.
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
        if self.example is not None:
            if self.example in shown:
                self.by_intervals.setdefault(shown, RecordList(shown, kind, is_filtered))
            return
        intervals = tuple([page.interval(region) for region in shown])
        if intervals not in self.by_intervals:
            self.by_intervals[intervals] = RecordList(shown, kind, is_filtered)


def find_candidates(page: PageModel, n_most: int = MAX_CANDIDATES) -> list[RecordList]:
    """Return the candidates of a page, the most promising first where there are too many."""
    found = _Found(page)
    for family in _families(page):
        _add_family(found, [element for element in family if page.ends[element]])
    _add_over_parents(found)
    _add_runs_over_parents(found)
    plain = _most_promising(page, list(found.by_intervals.values()), n_most * 2 // 3)
    for candidate in plain:
        _add_filtered(found, candidate)
    kept = {id(candidate) for candidate in plain}
    filtered = [
        one for one in found.by_intervals.values() if one.is_filtered and id(one) not in kept
    ]
    return plain + _most_promising(page, filtered, n_most - len(plain))


def _families(page: PageModel) -> list[list[int]]:
    """Return the children of each parent that has several; where there are too many, those with most text."""
    parents = [parent for parent, family in enumerate(page.children) if len(family) > 1]
    if len(parents) > MAX_FAMILIES:
        largest = sorted(parents, key=lambda parent: -page.length((parent, parent)))[:MAX_FAMILIES]
        parents = sorted(largest)
    return [page.children[parent] for parent in parents]


def find_candidates_with(page: PageModel, example: Region) -> list[RecordList]:
    """Return the candidates that hold a region known as a record; none where nothing is like it."""
    found = _Found(page, example)
    first, last = example
    family = page.children[page.parents[first]] if page.parents[first] >= 0 else []
    if first == last:
        _add_over_parents(found)
    else:
        _add_runs_over_parents(found)
        runs_like = _runs_like(page, example)
        found.add(runs_like, "over")
        found.add(
            [run for run in runs_like if page.parents[run[0]] == page.parents[first]], "marked"
        )
    _add_family(found, family)
    for candidate in list(found.by_intervals.values()):
        _add_filtered(found, candidate)
    return list(found.by_intervals.values())


def _runs_like(page: PageModel, example: Region) -> list[Region]:
    """Return the runs of the tags that an example has, wherever they stand under such parents."""
    tags = [page.tags[element] for element in page.siblings(example)]
    parent = page.parents[example[0]]
    runs: list[Region] = []
    for place, family in enumerate(page.children):
        if page.classes[place] != page.classes[parent] or page.depths[place] != page.depths[parent]:
            continue
        at = family.index(example[0]) % len(tags) if place == parent else 0
        while at + len(tags) <= len(family):
            run = family[at : at + len(tags)]
            is_like = [page.tags[element] for element in run] == tags
            runs += [(run[0], run[-1])] if is_like else []
            at += len(tags) if is_like else 1
    return runs


def _most_promising(page: PageModel, candidates: list[RecordList], n_most: int) -> list[RecordList]:
    """Return those that show most, by text times the square root of their number, in their old order."""
    if len(candidates) <= n_most and sum(len(one.regions) for one in candidates) <= MAX_REGIONS:
        return candidates

    def promise(candidate: RecordList) -> float:
        shown = sum(page.length(region) for region in candidate.regions)
        return shown * sqrt(min(len(candidate.regions), 10))

    ranked = sorted(range(len(candidates)), key=lambda number: -promise(candidates[number]))
    kept: list[int] = []
    n_regions = 0
    for number in ranked[:n_most]:
        n_regions += len(candidates[number].regions)
        if n_regions <= MAX_REGIONS or len(kept) < FEWEST:
            kept.append(number)
    return [candidates[number] for number in sorted(kept)]


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


def _add_family(found: _Found, family: list[int]) -> None:
    """Add what one parent's children give."""
    page = found.page
    shown = [element for element in family if page.has_text(element)]
    if len(shown) < 2:
        return
    keys = keys_of(page)
    for key in keys:
        for group in groups_by(shown, key):
            found.add(_singles(group), "key")
    for stretch in _stretches(family, page):
        found.add(_singles(stretch), "key")
    for group in linked_groups(page, shown):
        found.add(_singles(group), "linked")
    if 2 < len(family) <= MAX_RUNS_FAMILY:
        _add_runs(found, family)


def _singles(elements: Iterable[int]) -> list[Region]:
    return [(element, element) for element in elements]


def _stretches(family: list[int], page: PageModel) -> Iterator[list[int]]:
    """Yield the unbroken stretches of one tag, where they are not the whole family."""
    start = 0
    for place in range(1, len(family) + 1):
        if place == len(family) or page.tags[family[place]] != page.tags[family[start]]:
            if 1 < place - start < len(family):
                yield family[start:place]
            start = place


def _add_over_parents(found: _Found) -> None:
    """Add elements of equal kind wherever they stand: with equal root paths, or by tag and class alone."""
    page = found.page
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
                found.add(_singles(_outermost(page, group)), "over")
                found.add(_singles(_innermost(page, group)), "over")


def _root_paths(page: PageModel) -> list[int]:
    """Return a number for each element, equal where the tags from the root to it are."""
    number_by_path: dict[tuple[int, str], int] = {}
    paths: list[int] = []
    for element, parent in enumerate(page.parents):
        key = (paths[parent] if parent >= 0 else -1, page.tags[element])
        paths.append(number_by_path.setdefault(key, len(number_by_path)))
    return paths


def _outermost(page: PageModel, group: list[int]) -> list[int]:
    kept: list[int] = []
    for element in group:
        if not kept or element >= page.ends[kept[-1]]:
            kept.append(element)
    return kept


def _innermost(page: PageModel, group: list[int]) -> list[int]:
    return [
        element
        for place, element in enumerate(group)
        if place + 1 == len(group) or group[place + 1] >= page.ends[element]
    ]


# Runs of siblings.


def _add_runs(found: _Found, family: list[int]) -> None:
    page = found.page
    for runs in cut_at_separators(page, family):
        found.add(runs, "cut")
    for tokens in tokens_of(page, family):
        for runs in runs_from_marks(page, family, tokens):
            found.add(runs, "marked")
    dense = [element for element in family if page.has_text(element)]
    for elements in (family, dense):
        for tokens in tokens_of(page, elements):
            for runs in periodic_runs(page, elements, tokens):
                found.add(runs, "period")


def _add_runs_over_parents(found: _Found) -> None:
    """Add runs that begin with one mark wherever it stands, and end before the next, or what holds one."""
    page = found.page
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
            found.add([run for run in runs if run], "over")


# Filters.


def _add_filtered(found: _Found, candidate: RecordList) -> None:
    """Add the candidate without what is untypical in it."""
    page, regions = found.page, candidate.regions
    if not 2 < len(regions) <= MAX_FILTERED:
        return
    for kept in _filters(page, regions):
        if 1 < len(kept) < len(regions):
            found.add(kept, candidate.kind, is_filtered=True)


def _filters(page: PageModel, regions: Regions) -> Iterator[list[Region]]:
    lengths = [page.length(region) for region in regions]
    usual = median(lengths)
    near = [
        region
        for region, length in zip(regions, lengths, strict=True)
        if usual / TYPICAL <= length <= usual * TYPICAL
    ]
    yield near
    linked = [region for region in regions if page.count("links", region)]
    yield linked
    yield [region for region in near if page.count("links", region)]
    yield [
        region for region, length in zip(regions, lengths, strict=True) if length >= usual / TYPICAL
    ]
    shapes = [_shape(page, region) for region in regions]
    shape, n_usual = Counter(shapes).most_common(1)[0]
    if n_usual >= len(regions) / 2:
        yield [region for region, one in zip(regions, shapes, strict=True) if one == shape]
    yield list(regions[1:])
    yield list(regions[:-1])
    yield list(regions[1:-1])
    # A table's first rows and last rows are often a head and a foot.
    yield _typical_stretch(regions, shapes, shape)


def _shape(page: PageModel, region: Region) -> tuple[object, ...]:
    return page.shapes[region[0]], page.shapes[region[1]]


def _typical_stretch(
    regions: Regions, shapes: list[tuple[object, ...]], shape: object
) -> list[Region]:
    """Return the regions from the first to the last one of the usual shape."""
    places = [place for place, one in enumerate(shapes) if one == shape]
    return list(regions[places[0] : places[-1] + 1])
