"""Find the one thing in old pages that tells which of them fail now: a layout that was redesigned.

Notation:   A mark is a path with classes, two paths that follow each other, or two labels that do.
            Balanced accuracy is the mean of the shares of failing and of other pages told rightly.
Readings:   None; the module serves the verdicts.
Departures: With few pages some mark tells any set of them. So the best mark counts only where it
            tells more than the best one does for sets of as many pages drawn by lot.
Cost:       One product of matrices: pages by marks, marks by draws.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
from lxml.html import HtmlElement
from numpy.typing import NDArray

from annotation.algorithms.anchors.page_texts import read_texts
from monitoring.algorithms.page_looks import walk_forms

MIN_ACCURACY: Final = 0.9  # balanced
N_DRAWS: Final = 40
MAX_DRAWS_AS_GOOD: Final = 1
MIN_PAGES: Final = 3  # on both sides
SAME_ACCURACY: Final = 1e-6
MAX_LABEL_CHARS: Final = 40
MAX_MARKS: Final = 4_000  # of a page
MIN_PAGES_OF_LABEL: Final = 2


class Division(NamedTuple):
    """What tells failing pages from the others."""

    name: str
    accuracy: float


def marks_of(tree: HtmlElement) -> list[str]:
    """Return what may tell the layout of a page, what is nearer to a name first."""
    page = read_texts(tree)
    labels = [
        text
        for text in (page.text_of(node) for node in page.nodes if not node.is_in_head)
        if len(text) <= MAX_LABEL_CHARS and not any(letter.isdigit() for letter in text)
    ]
    paths = [path for _, path in walk_forms(tree)]
    marks = [f"“{label}”" for label in labels]
    marks += [f"“{label}”, then “{after}”" for label, after in pairwise(labels)]
    marks += [path.rpartition("/")[2] for path in paths]
    marks += paths
    marks += [f"{path} + {after}" for path, after in pairwise(paths)]
    return list(dict.fromkeys(marks))[:MAX_MARKS]


def find_division(
    marks_by_page: Mapping[str, Sequence[str]], failing: frozenset[str]
) -> Division | None:
    """Return the mark that tells failing pages from the others; None where who fails is chance."""
    pages = sorted(marks_by_page)
    is_failing = np.array([page in failing for page in pages])
    if min(is_failing.sum(), (~is_failing).sum()) < MIN_PAGES:
        return None
    n_by_mark = Counter(mark for page in pages for mark in marks_by_page[page])
    order = dict.fromkeys(mark for page in pages for mark in marks_by_page[page])
    marks = [mark for mark in order if MIN_PAGES_OF_LABEL <= n_by_mark[mark] < len(pages)]
    if not marks:
        return None
    number = {mark: index for index, mark in enumerate(marks)}
    has = np.zeros((len(pages), len(marks)), dtype=np.float32)
    for row, page in enumerate(pages):
        for mark in marks_by_page[page]:
            if mark in number:
                has[row, number[mark]] = 1.0
    accuracies = _accuracies(has, is_failing)
    # Of marks that tell as well, one that the failing pages have, and the nearest to a name.
    is_best = accuracies >= accuracies.max() - SAME_ACCURACY
    on_failing = has[is_failing].mean(axis=0) >= has[~is_failing].mean(axis=0)
    best = int((is_best * (1 + on_failing)).argmax())
    if accuracies[best] < MIN_ACCURACY or _is_chance(has, is_failing, float(accuracies[best])):
        return None
    name = f"pages {'with' if on_failing[best] else 'without'} {marks[best]}"
    return Division(name, float(accuracies[best]))


def layout_told(layout_by_page: Mapping[str, str], failing: frozenset[str]) -> str:
    """Return the layout whose pages fail; nothing if no layout is known or none of them tells."""
    for layout in sorted(set(layout_by_page.values()) - {""}):
        inside = [page in failing for page, name in layout_by_page.items() if name == layout]
        outside = [page in failing for page, name in layout_by_page.items() if name != layout]
        if not inside or not outside:
            continue
        share_inside, share_outside = sum(inside) / len(inside), sum(outside) / len(outside)
        if (share_inside + 1 - share_outside) / 2 >= MIN_ACCURACY:
            return layout
    return ""


def _accuracies(has: NDArray[np.float32], is_failing: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Return how well each mark, or its lack, tells the failing pages."""
    accuracies_with = (1 + has[is_failing].mean(axis=0) - has[~is_failing].mean(axis=0)) / 2
    accuracies: NDArray[np.float32] = np.maximum(accuracies_with, 1 - accuracies_with)
    return accuracies


def _is_chance(has: NDArray[np.float32], is_failing: NDArray[np.bool_], accuracy: float) -> bool:
    """Return whether a mark that tells as well is found for other pages, drawn by lot."""
    chance = np.random.default_rng(len(is_failing))
    n_as_good = 0
    for _ in range(N_DRAWS):
        n_as_good += bool(_accuracies(has, chance.permutation(is_failing)).max() >= accuracy)
    return n_as_good > MAX_DRAWS_AS_GOOD
