"""Cut the children of one parent into runs that could be records.

Paper:      Shen and Karger, "U-REST: An Unsupervised Record Extraction System" (WWW 2007), section 2: a
            record may be a set of adjacent subtrees.
Notation:   A family is the list of the children of one parent, a token a word for what a child looks like; a
            run is a region (first, last).
Readings:   Runs end at a separator without text, before the next start mark, behind an end mark, or after a
            fixed number of children where enough of them repeat at that distance.
Cost:       Linear in the family for each alphabet of tokens and each of at most 14 marks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from statistics import median
from typing import TypeAlias

from clustering.algorithms.records.page_model import PageModel, Region

Key: TypeAlias = Callable[[int], object]

MAX_MARKS = 14  # start marks that are tried in a family
PERIODS = (2, 3, 4, 5)
REPEATING = 0.6  # share of the children that must repeat at a period


def tokens_of(page: PageModel, family: list[int]) -> list[list[object]]:
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


def cut_at_separators(page: PageModel, family: list[int]) -> Iterator[list[Region]]:
    """Yield the runs between elements without text: each kind of them, and two line breaks in a row."""
    blank = [element for element in family if not page.has_text(element)]
    kinds = [set(group) for group in groups_by(blank, page.classes.__getitem__)]
    kinds += [set(group) for group in groups_by(blank, page.structures.__getitem__)]
    kinds.append({element for element in blank if page.tags[element] != "br"})
    pairs = pairwise(family)
    doubled = {
        one
        for one, other in pairs
        if page.tags[one] == page.tags[other] == "br" and _touch(page, one, other)
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


def runs_from_marks(
    page: PageModel, family: list[int], tokens: list[object]
) -> Iterator[list[Region]]:
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
            family[before + 1 : place + 1]
            for before, place in zip([-1, *places], places, strict=False)
        ]
        yield [region for run in ending for region in _trimmed(page, run)]


def periodic_runs(
    page: PageModel, family: list[int], tokens: list[object]
) -> Iterator[list[Region]]:
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
            yield [
                region
                for start in starts
                for region in _trimmed(page, family[start : start + period])
            ]


def run_from(page: PageModel, mark: int, group: list[int]) -> Region:
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


def groups_by(elements: Iterable[int], key: Key) -> list[list[int]]:
    """Return the elements with equal keys together, where there are at least two of them."""
    by_key: dict[object, list[int]] = {}
    for element in elements:
        by_key.setdefault(key(element), []).append(element)
    return [group for group in by_key.values() if len(group) > 1]
