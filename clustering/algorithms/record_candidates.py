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
            family, and at most 300 candidates are kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt
from statistics import median
from typing import TYPE_CHECKING, TypeAlias

from clustering.algorithms.path_linkage import linked_groups

if TYPE_CHECKING:
    from clustering.algorithms.record_page import PageModel, Region

Regions: TypeAlias = tuple["Region", ...]
Key: TypeAlias = Callable[[int], object]

MAX_CANDIDATES = 300
MAX_REGIONS, FEWEST = 150_000, 4  # regions of all candidates together, and candidates kept in any case
MAX_FILTERED = 4000  # regions of a candidate whose untypical ones are looked for
MAX_RUNS_FAMILY = 4000  # children of one parent that are looked at for periods and start marks
MAX_GROUPS = 40  # classes that are tried as marks over several parents
MAX_MARKS = 14  # start marks that are tried in a family
PERIODS = (2, 3, 4, 5)
REPEATING = 0.6  # share of the children that must repeat at a period
TYPICAL = 4.0  # how many times longer or shorter than the median a record may be


@dataclass(frozen=True, slots=True)
class Candidate:
    """A list of regions and how it came about."""

    regions: Regions
    kind: str  # "key", "over", "linked", "cut", "marked", "period"
    is_filtered: bool = False


class _Found:
    """Candidates by the intervals that they show; the first of several equal ones stays."""

    def __init__(self, page: PageModel) -> None:
        self.page = page
        self.by_intervals: dict[tuple[tuple[int, int], ...], Candidate] = {}

    def add(self, regions: Iterable[Region], kind: str, *, is_filtered: bool = False) -> None:
        page = self.page
        shown = tuple([region for region in regions if page.length(region) > 0])
        if len(shown) < 2:  # noqa: PLR2004 - one region is no list
            return
        intervals = tuple([page.interval(region) for region in shown])
        if intervals not in self.by_intervals:
            self.by_intervals[intervals] = Candidate(shown, kind, is_filtered)


def find_candidates(page: PageModel, n_most: int = MAX_CANDIDATES) -> list[Candidate]:
    """Return the candidates of a page, the most promising first where there are too many."""
    found = _Found(page)
    for family in page.children:
        if len(family) > 1:
            _add_family(found, [element for element in family if page.ends[element]])
    _add_over_parents(found)
    _add_runs_over_parents(found)
    plain = _most_promising(page, list(found.by_intervals.values()), n_most * 2 // 3)
    for candidate in plain:
        _add_filtered(found, candidate)
    kept = {id(candidate) for candidate in plain}
    filtered = [one for one in found.by_intervals.values() if one.is_filtered and id(one) not in kept]
    return plain + _most_promising(page, filtered, n_most - len(plain))


def _most_promising(page: PageModel, candidates: list[Candidate], n_most: int) -> list[Candidate]:
    """Return those that show most, by text times the square root of their number, in their old order."""
    if len(candidates) <= n_most and sum(len(one.regions) for one in candidates) <= MAX_REGIONS:
        return candidates

    def promise(candidate: Candidate) -> float:
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
    if len(shown) < 2:  # noqa: PLR2004
        return
    keys = keys_of(page)
    for key in keys:
        for group in groups_by(shown, key):
            found.add(_singles(group), "key")
    for stretch in _stretches(family, page):
        found.add(_singles(stretch), "key")
    for group in linked_groups(page, shown):
        found.add(_singles(group), "linked")
    if 2 < len(family) <= MAX_RUNS_FAMILY:  # noqa: PLR2004 - a run needs a third sibling
        _add_runs(found, family)


def groups_by(elements: Iterable[int], key: Key) -> list[list[int]]:
    """Return the elements with equal keys together, where there are at least two of them."""
    by_key: dict[object, list[int]] = {}
    for element in elements:
        by_key.setdefault(key(element), []).append(element)
    return [group for group in by_key.values() if len(group) > 1]


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
    for runs in _cut_at_separators(page, family):
        found.add(runs, "cut")
    for tokens in _tokens(page, family):
        for runs in _runs_from_marks(page, family, tokens):
            found.add(runs, "marked")
    dense = [element for element in family if page.has_text(element)]
    for elements in (family, dense):
        for tokens in _tokens(page, elements):
            for runs in _periodic(page, elements, tokens):
                found.add(runs, "period")


def _tokens(page: PageModel, family: list[int]) -> list[list[object]]:
    """Return the siblings as words of several alphabets: tags, classes, shapes, and how they begin."""
    shapes = page.shapes
    alphabets: list[list[object]] = [
        [page.tags[element] for element in family],
        [page.classes[element] for element in family],
        [(page.classes[element], shapes[element]) for element in family],
        [(page.looks[element], page.tags[element]) for element in family],
        [_beginning(page, element) for element in family],
    ]
    different: list[list[object]] = []
    seen: set[tuple[int, ...]] = set()
    for words in alphabets:
        numbers: dict[object, int] = {}
        pattern = tuple([numbers.setdefault(word, len(numbers)) for word in words])
        if len(numbers) > 1 and pattern not in seen:
            seen.add(pattern)
            different.append(words)
    return different


def _beginning(page: PageModel, element: int) -> object:
    """Return on which child's looks the first text of an element stands, and behind how many blank ones."""
    family = page.children[element][:12]
    place = next((place for place, child in enumerate(family) if page.has_text(child)), -1)
    return page.tags[element], place, page.looks[family[place]] if place >= 0 else -1


def _cut_at_separators(page: PageModel, family: list[int]) -> Iterator[list[Region]]:
    """Yield the runs between elements without text: each kind of them, and two line breaks in a row."""
    blank = [element for element in family if not page.has_text(element)]
    kinds = [set(group) for group in groups_by(blank, page.classes.__getitem__)]
    kinds += [set(group) for group in groups_by(blank, page.structures.__getitem__)]
    kinds.append({element for element in blank if page.tags[element] != "br"})
    pairs = pairwise(family)
    doubled = {
        one for one, other in pairs if page.tags[one] == page.tags[other] == "br" and _touch(page, one, other)
    }
    for separators in [*kinds, doubled]:
        if separators:
            yield _runs_between(page, family, separators)


def _touch(page: PageModel, one: int, other: int) -> bool:
    return page.stops[one] == page.starts[other]


def _runs_between(page: PageModel, family: list[int], separators: set[int]) -> list[Region]:
    runs: list[Region] = []
    run: list[int] = []
    for element in [*family, -1]:
        if element == -1 or element in separators:
            runs += _trimmed(page, run)
            run = []
        else:
            run.append(element)
    return runs


def _trimmed(page: PageModel, run: list[int]) -> list[Region]:
    """Return the run without its blank ends, if anything is left."""
    first, last = 0, len(run) - 1
    while first <= last and not page.has_text(run[first]):
        first += 1
    while last >= first and not page.has_text(run[last]):
        last -= 1
    return [(run[first], run[last])] if first <= last else []


def _runs_from_marks(page: PageModel, family: list[int], tokens: list[object]) -> Iterator[list[Region]]:
    """Yield the runs from each start mark to the next, for every token that could be one."""
    places_by_token: dict[object, list[int]] = {}
    for place, token in enumerate(tokens):
        places_by_token.setdefault(token, []).append(place)
    marks = [places for places in places_by_token.values() if 1 < len(places) < len(family)]
    marks.sort(key=len, reverse=True)
    for places in marks[:MAX_MARKS]:
        bounds = [*places, len(family)]
        sizes = [after - place for place, after in zip(places, bounds[1:], strict=True)]
        usual = int(median(sizes))
        if max(sizes) == 1:
            continue
        whole = [family[place:after] for place, after in zip(places, bounds[1:], strict=True)]
        yield [region for run in whole for region in _trimmed(page, run)]
        yield [region for run in whole for region in _trimmed(page, run[: max(usual, 1)])]
        ending = [
            family[before + 1 : place + 1] for before, place in zip([-1, *places], places, strict=False)
        ]
        yield [region for run in ending for region in _trimmed(page, run)]


def _periodic(page: PageModel, family: list[int], tokens: list[object]) -> Iterator[list[Region]]:
    """Yield the runs of fixed length, at each phase, where enough children repeat at that distance."""
    for period in PERIODS:
        n_pairs = len(family) - period
        if n_pairs < period:
            continue
        n_equal = sum(one == other for one, other in zip(tokens, tokens[period:], strict=False))
        if n_equal < REPEATING * n_pairs:
            continue
        for phase in range(period):
            starts = range(phase, len(family) - period + 1, period)
            yield [region for start in starts for region in _trimmed(page, family[start : start + period])]


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
        runs = [_run_from(page, mark, group) for mark in group]
        if any(first != last for first, last in runs):
            found.add([run for run in runs if run], "over")


def _run_from(page: PageModel, mark: int, group: list[int]) -> Region:
    """Return the run from a mark to the next one, without what holds one and without a blank end."""
    last = mark
    for element in page.children[page.parents[mark]]:
        if element <= mark:
            continue
        place = bisect_left(group, element)
        if place < len(group) and group[place] < page.ends[element]:
            break
        if page.has_text(element):
            last = element
    return mark, last


# Filters.


def _add_filtered(found: _Found, candidate: Candidate) -> None:
    """Add the candidate without what is untypical in it."""
    page, regions = found.page, candidate.regions
    if not 2 < len(regions) <= MAX_FILTERED:  # noqa: PLR2004 - of two, none is the untypical one
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
    yield [region for region, length in zip(regions, lengths, strict=True) if length >= usual / TYPICAL]
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


def _typical_stretch(regions: Regions, shapes: list[tuple[object, ...]], shape: object) -> list[Region]:
    """Return the regions from the first to the last one of the usual shape."""
    places = [place for place, one in enumerate(shapes) if one == shape]
    return list(regions[places[0] : places[-1] + 1])
