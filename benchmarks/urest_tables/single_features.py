"""Judge each feature of a pair of subtrees alone, as in Table 1 of U-REST."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from statistics import mean
from typing import Final, NamedTuple

import numpy as np
from sklearn.svm import LinearSVC

from benchmarks.records.published import SURE
from benchmarks.train_urest import Measured
from clustering.algorithms.published.tree_edit import (
    OrderedTree,
    n_matching,
    n_matching_in_order,
    tree_of,
)
from clustering.algorithms.published.urest import MAX_NODES, triplets
from clustering.algorithms.records.page_model import PageModel

SEED: Final = 7
N_PAGES: Final = 10
MAX_PAIRS: Final = 1_200  # of a page
Grams = Counter[tuple[str, ...]]


class FeatureFigures(NamedTuple):
    """How well pairs of records are told from other pairs."""

    recall: float
    precision: float
    f: float


class Subtree(NamedTuple):
    """What the features see of a subtree."""

    tree: OrderedTree
    path: tuple[str, ...]
    one_grams: Grams
    two_grams: Grams
    three_grams: Grams


class PagePairs(NamedTuple):
    """The features of pairs of subtrees of a page, and whether both are records."""

    features: dict[str, list[float]]
    are_records: list[bool]


FEATURES: Final[dict[str, Callable[[Subtree, Subtree], float]]] = {
    "tree edit distance": lambda a, b: n_matching(a.tree, b.tree) / max(len(a.tree), len(b.tree)),
    "tree context": lambda a, b: (
        n_matching_in_order(a.path, b.path) / max(len(a.path), len(b.path))
    ),
    "parent, child, child (3-gram)": lambda a, b: _likeness(a.three_grams, b.three_grams),
    "2-gram": lambda a, b: _likeness(a.two_grams, b.two_grams),
    "1-gram": lambda a, b: _likeness(a.one_grams, b.one_grams),
}


def pairs_of_pages(pages: Sequence[Measured]) -> list[PagePairs]:
    """Return the pairs of the first pages whose records are single elements, one page a source."""
    pairs: dict[tuple[str, str], PagePairs] = {}
    for page in _by_kind_in_turn(pages):
        source = (page.labelled.kind, page.labelled.source)
        if source in pairs or len(pairs) == N_PAGES:
            continue
        records = _records_of(page)
        if records:
            pairs[source] = _pairs_of(page.page, records)
    return list(pairs.values())


def _by_kind_in_turn(pages: Sequence[Measured]) -> list[Measured]:
    """Return pages of all kinds in turn, so that no kind has all ten."""
    n_of_kind: Counter[str] = Counter()
    places = []
    for number, page in enumerate(pages):
        places.append((n_of_kind[page.labelled.kind], number))
        n_of_kind[page.labelled.kind] += 1
    return [pages[number] for _, number in sorted(places)]


def _records_of(page: Measured) -> set[int]:
    """Return the elements that are a page's records, none where they are no single elements."""
    right, best = max(zip(page.right, page.candidates, strict=True), key=lambda pair: pair[0])
    is_single = all(first == last for first, last in best.regions)
    return {first for first, _ in best.regions} if right >= SURE and is_single else set()


def _pairs_of(page: PageModel, records: set[int]) -> PagePairs:
    """Return pairs of a record and any other subtree, drawn by chance."""
    shown = [element for element in range(1, len(page)) if page.has_text(element)]
    pairs = [
        (record, element)
        for record in sorted(records)
        for element in shown
        if element != record and not (element in records and element < record)
    ]
    order = np.random.default_rng(SEED).permutation(len(pairs))[:MAX_PAIRS]
    subtree_by_element: dict[int, Subtree] = {}
    features: dict[str, list[float]] = {name: [] for name in FEATURES}
    are_records = []
    for number in order:
        for element in pairs[number]:
            if element not in subtree_by_element:
                subtree_by_element[element] = _subtree(page, element)
        left, right = (subtree_by_element[element] for element in pairs[number])
        for name, measure in FEATURES.items():
            features[name].append(measure(left, right))
        are_records.append(pairs[number][1] in records)
    return PagePairs(features, are_records)


def _subtree(page: PageModel, element: int) -> Subtree:
    path = [page.tags[element]]
    parent = page.parents[element]
    while parent >= 0:
        path.append(page.tags[parent])
        parent = page.parents[parent]
    inside = range(element, min(page.ends[element], element + MAX_NODES))
    return Subtree(
        tree_of(page, element, MAX_NODES),
        tuple(reversed(path)),
        Counter((page.tags[node],) for node in inside),
        Counter(
            (page.tags[node], page.tags[child]) for node in inside for child in page.children[node]
        ),
        Counter({tuple(gram): n for gram, n in triplets(page, element).items()}),
    )


def _likeness(left: Grams, right: Grams) -> float:
    """Return the share of the grams that both trees have."""
    in_either = (left | right).total()
    return (left & right).total() / in_either if in_either else 1.0


def judge(pages: Sequence[PagePairs]) -> dict[str, FeatureFigures]:
    """Return how well each feature alone does on each page after learning from the others."""
    figures = {}
    for name in FEATURES:
        by_page = [_judge_page(name, pages, left_out) for left_out in range(len(pages))]
        figures[name] = FeatureFigures(*(mean(column) for column in zip(*by_page, strict=True)))
    return figures


def _judge_page(name: str, pages: Sequence[PagePairs], left_out: int) -> FeatureFigures:
    others = [page for number, page in enumerate(pages) if number != left_out]
    rows = np.array([[value] for page in others for value in page.features[name]])
    truth = np.array([is_pair for page in others for is_pair in page.are_records])
    svm = LinearSVC(C=1.0, class_weight="balanced", dual=False, random_state=SEED)
    svm.fit(rows, truth)
    judged = pages[left_out]
    given = svm.predict(np.array([[value] for value in judged.features[name]]))
    n_right = sum(
        bool(is_given) and is_pair
        for is_given, is_pair in zip(given, judged.are_records, strict=True)
    )
    n_given, n_true = int(given.sum()), sum(judged.are_records)
    recall = n_right / max(n_true, 1)
    precision = n_right / max(n_given, 1)
    return FeatureFigures(recall, precision, 2 * n_right / max(n_given + n_true, 1))
