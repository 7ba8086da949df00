"""Cut the children of one parent into runs that could be records.

Paper:      Shen and Karger, "U-REST: An Unsupervised Record Extraction System" (WWW 2007), section
            2: a record may be a set of adjacent subtrees.
Notation:   A family is the list of the children of one parent, a token a word for what a child
            looks like; a run is a region (first, last).
Readings:   Runs end at a separator without text, before the next start mark, behind an end mark, or
            after a fixed number of children where enough of them repeat at that distance.
Cost:       Linear in the family for each alphabet of tokens and each of at most 14 marks.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from operator import eq
from statistics import median
from typing import TypeAlias

from clustering.algorithms.records.page_model import PageModel, Region

Key: TypeAlias = Callable[[int], object]

MAX_MARKS = 14  # start marks that are tried in a family
PERIODS = (2, 3, 4, 5)
MIN_REPEATING = 0.6  # share of the children that must repeat at a period


def tokens_of(page: PageModel, family: list[int]) -> list[list[object]]:
    """Return the siblings as tokens of several alphabets: tags, classes, shapes, looks, beginnings.

    Alphabets that part the siblings like another one, or not at all, are left out.
    """
    shapes = page.shapes
    tokens_by_alphabet: list[list[object]] = [
        [page.tags[element] for element in family],
        [page.classes[element] for element in family],
        [(page.classes[element], shapes[element]) for element in family],
        [(page.looks[element], page.tags[element]) for element in family],
        [_beginning(page, element) for element in family],
    ]
    different: list[list[object]] = []
    seen_patterns: set[tuple[int, ...]] = set()
    for tokens in tokens_by_alphabet:
        number_by_token: dict[object, int] = {}
        pattern = tuple(
            [number_by_token.setdefault(token, len(number_by_token)) for token in tokens]
        )
        if len(number_by_token) > 1 and pattern not in seen_patterns:
            seen_patterns.add(pattern)
            different.append(tokens)
    return different


def _beginning(page: PageModel, element: int) -> object:
    """Return the looks of the child with the first text, and how many blank ones precede it."""
    for n_blank, child in enumerate(page.children[element][:12]):
        if page.has_text(child):
            return page.tags[element], n_blank, page.looks[child]
    return page.tags[element], -1, -1


def cut_at_separators(page: PageModel, family: list[int]) -> Iterator[list[Region]]:
    """Yield the runs between elements without text, of one kind each, or two line breaks."""
    blank = [element for element in family if not page.has_text(element)]
    kinds = [set(group) for group in groups_by(blank, page.classes.__getitem__)]
    kinds += [set(group) for group in groups_by(blank, page.structures.__getitem__)]
    kinds.append({element for element in blank if page.tags[element] != "br"})
    kinds.append(
        {
            element
            for element, following in pairwise(family)
            if page.tags[element] == page.tags[following] == "br"
            and page.stops[element] == page.starts[following]
        }
    )
    for separators in kinds:
        if separators:
            yield _runs_between(page, family, separators)


def _runs_between(page: PageModel, family: list[int], separators: set[int]) -> list[Region]:
    runs: list[list[int]] = [[]]
    for element in family:
        if element in separators:
            runs.append([])
        else:
            runs[-1].append(element)
    return _trimmed(page, runs)


def _trimmed(page: PageModel, runs: Iterable[list[int]]) -> list[Region]:
    """Return the runs without their blank ends; of a run without text nothing is left."""
    regions: list[Region] = []
    for run in runs:
        with_text = [element for element in run if page.has_text(element)]
        if with_text:
            regions.append((with_text[0], with_text[-1]))
    return regions


def runs_from_marks(
    page: PageModel, family: list[int], tokens: list[object]
) -> Iterator[list[Region]]:
    """Yield runs at every token that could be a mark.

    From each mark to the next, then the same not longer than usual, then from behind each mark to
    the next.
    """
    indices_by_token: dict[object, list[int]] = {}
    for index, token in enumerate(tokens):
        indices_by_token.setdefault(token, []).append(index)
    marks = [indices for indices in indices_by_token.values() if 1 < len(indices) < len(family)]
    marks.sort(key=len, reverse=True)
    for indices in marks[:MAX_MARKS]:
        starting = [family[start:stop] for start, stop in pairwise([*indices, len(family)])]
        lengths = [len(run) for run in starting]
        if max(lengths) == 1:
            continue
        usual_length = int(median(lengths))
        yield _trimmed(page, starting)
        yield _trimmed(page, [run[:usual_length] for run in starting])
        ending = [family[before + 1 : mark + 1] for before, mark in pairwise([-1, *indices])]
        yield _trimmed(page, ending)


def periodic_runs(
    page: PageModel, family: list[int], tokens: list[object]
) -> Iterator[list[Region]]:
    """Yield runs of one length, at each phase, where enough children repeat at that distance."""
    for period in PERIODS:
        n_pairs = len(family) - period
        if n_pairs < period:
            continue
        n_equal = sum(map(eq, tokens, tokens[period:]))
        if n_equal < MIN_REPEATING * n_pairs:
            continue
        for phase in range(period):
            starts = range(phase, len(family) - period + 1, period)
            yield _trimmed(page, [family[start : start + period] for start in starts])


def run_from(page: PageModel, mark: int, group: list[int]) -> Region:
    """Return the run from a mark to before the next one or what holds one, without a blank end."""
    last = mark
    for element in page.children[page.parents[mark]]:
        if element <= mark:
            continue
        next_mark = bisect_left(group, element)
        if next_mark < len(group) and group[next_mark] < page.ends[element]:
            break
        if page.has_text(element):
            last = element
    return mark, last


def groups_by(elements: Iterable[int], key: Key) -> list[list[int]]:
    """Return the elements with equal keys together, where there are at least two of them."""
    group_by_key: dict[object, list[int]] = {}
    for element in elements:
        group_by_key.setdefault(key(element), []).append(element)
    return [group for group in group_by_key.values() if len(group) > 1]
