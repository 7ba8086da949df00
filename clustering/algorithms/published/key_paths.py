"""Rank a site's paths by how well searchers' words match them, and pick the best independent ones.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for
            Accurate Webpage Clustering" (WWW 2010), sections 3.2 and 3.3: equations 1 and 2,
            Borda's method, H, F, Greedy MWIS.
Notation:   C(x, p), Q(p), M(x, p), the bags of terms of a path's content, of the queries, of both
            -> C, Q, M; EP(x), ER(x), expected precision and recall -> `Scores`; RP, RR, RF, the
            rankings; theta, the weight of positions in RR -> RECALL_WEIGHT; H(x1, x2), similarity
            of occurrence; F(x1, x2), of content; tau_occ -> OCCURRENCE_THRESHOLD; beta, the base of
            the weights -> WEIGHT_BASE.
Readings:   EP(x) = P(x)^a P(Q not empty | x) x the mean of |M| / |C| over the queried pages with x,
            ER likewise with |M| / |Q|; a = 1 is the formula as printed, a > 1 the bias towards
            frequent paths that section 3.3 asks for. All are bags; a query counts once for a page
            however often it was clicked. A path without content has precision 0. Paths of equal
            score share a position in RP and RR (the first of theirs); RF is strict: equal sums go
            by precision, recall, then the path nearer to the root, then its hash. A path that no
            query matches is no key path. F is the mean over the pages on which both paths match
            something: elsewhere it is 0/0. Greedy MWIS picks the same for any beta up to 0.5;
            above, the paper takes another greedy scheme from the literature, whose reference our
            text of it has lost: `greedy_by_degree` is that of Sakai, Togasaki and Yamazaki (2003).
Departures: Clicks may count (off): the means are then weighted by the clicks of each page.
            Occurrence is compared among the first 200 paths at most; the paper needs 100.
Cost:       `score_paths`: terms asked for on a page x its spans, over the queried pages.
            Dependence: pages x 100 x 100 in one matrix product. `greedy_mwis`: nodes x edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.published.attributed_paths import PathPage

Path = TypeVar("Path")

RECALL_WEIGHT = 0.3
OCCURRENCE_THRESHOLD = 0.97
WEIGHT_BASE = 0.5
MAX_GREEDY_BASE = 0.5  # for which Lemma 1 proves Greedy MWIS optimal
N_TOP = 100  # paths of RF that are looked at
MAX_TOP = 200
N_DIGITS = 12  # what the order of a sum may change lies behind them


@dataclass(frozen=True, slots=True)
class QueryCount:
    """What searchers asked for before they went to a page."""

    terms: Mapping[int, int]  # Q(p)
    weight: float = 1.0  # of the page in the means


@dataclass(frozen=True, slots=True)
class Scores:
    """Expected precision and recall of each path, by its number."""

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PathTable:
    """The paths of a site, numbered in the order of their hashes."""

    hashes: NDArray[np.uint64]
    columns: Sequence[NDArray[np.intp]]  # the numbers of each page's paths

    def present(self, paths: Sequence[int]) -> NDArray[np.bool_]:
        """Return which page, by row, has which of some paths, by column.

        The paths are given by their hashes and occur in the table.
        """
        distinct, column_of_path = np.unique(np.array(paths, dtype=np.uint64), return_inverse=True)
        column_by_number = np.full(len(self.hashes), -1)
        column_by_number[np.searchsorted(self.hashes, distinct)] = np.arange(len(distinct))
        present = np.zeros((len(self.columns), len(distinct)), dtype=bool)
        for row, numbers in zip(present, self.columns, strict=True):
            columns = column_by_number[numbers]
            row[columns[columns >= 0]] = True
        return present[:, column_of_path]


def number_paths(pages: Sequence[PathPage]) -> PathTable:
    """Give each path of a site a number."""
    joined = np.concatenate([np.empty(0, dtype=np.uint64), *(page.paths for page in pages)])
    hashes, numbers = np.unique(joined, return_inverse=True)
    ends = np.cumsum([len(page.paths) for page in pages])
    return PathTable(hashes, np.split(numbers, ends)[: len(pages)])


def rank_paths(
    pages: Sequence[PathPage],
    table: PathTable,
    scores: Scores,
    recall_weight: float = RECALL_WEIGHT,
) -> list[int]:
    """Return RF, the numbers of the paths that queries match, best first."""
    depths = np.zeros(len(table.hashes), dtype=np.int64)
    for page, numbers in zip(pages, table.columns, strict=True):
        depths[numbers] = page.depths
    return borda(scores, depths, recall_weight)


def matching(C: Counter[int], Q: Mapping[int, int]) -> Counter[int]:
    """Return M(x, p), the terms that are in the content and in the queries."""
    return C & Counter(Q)


def expected_scores(
    contents: Sequence[Mapping[Path, Counter[int]]],
    queries: Mapping[int, QueryCount],
    a: float = 1.0,
) -> dict[Path, tuple[float, float]]:
    """Return (EP(x), ER(x)) of every path, given C(x, p) of each page and Q(p) of some."""
    scores = {}
    for x in {x for content in contents for x in content}:
        pages = [p for p, content in enumerate(contents) if x in content]
        queried = [p for p in pages if p in queries and queries[p].terms]
        mean_precision = mean_recall = 0.0
        for p in queried:
            C, Q = contents[p][x], queries[p].terms
            n_matching = matching(C, Q).total()
            share = queries[p].weight / sum(queries[q].weight for q in queried)
            mean_precision += share * (n_matching / C.total() if C else 0.0)
            mean_recall += share * n_matching / sum(Q.values())
        factor = (len(pages) / len(contents)) ** a * len(queried) / len(pages)
        scores[x] = (factor * mean_precision, factor * mean_recall)
    return scores


def score_paths(
    pages: Sequence[PathPage],
    table: PathTable,
    queries: Mapping[int, QueryCount],
    own_terms: Mapping[int, NDArray[np.bool_]] | None = None,
    a: float = 1.0,
) -> Scores:
    """Return what `expected_scores` returns, by array operations.

    `own_terms` marks the terms of a queried page that belong to no template.
    """
    n_paths = len(table.hashes)
    numbers = np.concatenate([np.empty(0, np.intp), *table.columns])
    n_by_path = np.bincount(numbers, minlength=n_paths)
    weight, precision, recall, n_queried = (np.zeros(n_paths) for _ in range(4))
    for p in sorted(queries):
        terms, page_weight = queries[p].terms, queries[p].weight
        if not terms:
            continue
        n_content, n_matching = count_terms(pages[p], terms, (own_terms or {}).get(p))
        x = table.columns[p]
        weight[x] += page_weight
        n_queried[x] += 1
        precision[x] += page_weight * n_matching / np.maximum(n_content, 1)
        recall[x] += page_weight * n_matching / sum(terms.values())
    present = n_by_path / max(len(pages), 1)
    factor = present**a * n_queried / np.maximum(n_by_path, 1) / np.where(weight == 0, 1, weight)
    return Scores(
        precision=np.round(factor * precision, N_DIGITS),
        recall=np.round(factor * recall, N_DIGITS),
    )


def count_terms(
    page: PathPage, Q: Mapping[int, int], is_own: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return |C(x, p)| and |M(x, p)| of each path of a page."""
    path, first, end = page.spans.T
    n_paths = len(page.paths)
    if is_own is None:
        is_own = np.ones(len(page.terms), dtype=bool)
    before = np.concatenate([[0], np.cumsum(is_own)])
    n_content = _sum_by_path(path, before[end] - before[first], n_paths)
    n_matching = np.zeros(n_paths, dtype=np.int64)
    for term in np.intersect1d(page.terms[is_own], np.fromiter(Q, np.uint32, len(Q))).tolist():
        positions = np.flatnonzero((page.terms == term) & is_own)
        n_in_span = np.searchsorted(positions, end) - np.searchsorted(positions, first)
        n_matching += np.minimum(_sum_by_path(path, n_in_span, n_paths), Q[term])
    return n_content, n_matching


def _sum_by_path(
    path: NDArray[np.int32], counts: NDArray[np.intp], n_paths: int
) -> NDArray[np.int64]:
    return np.bincount(path, weights=counts, minlength=n_paths).astype(np.int64)


def matches_of(
    page: PathPage,
    paths: Sequence[int],
    query: QueryCount,
    is_own: NDArray[np.bool_] | None = None,
) -> list[Counter[int]]:
    """Return M(x, p) of some paths of a page, given by their hashes."""
    if is_own is None:
        is_own = np.ones(len(page.terms), dtype=bool)
    index_by_path = {path: index for index, path in enumerate(page.paths.tolist())}
    M = []
    for path in paths:
        spans = page.spans[page.spans[:, 0] == index_by_path.get(path, -1)]
        C: Counter[int] = Counter()
        for _, first, end in spans.tolist():
            C.update(page.terms[first:end][is_own[first:end]].tolist())
        M.append(matching(C, query.terms))
    return M


def borda(
    scores: Scores, depths: NDArray[np.int64], recall_weight: float = RECALL_WEIGHT
) -> list[int]:
    """Return RF: the matching paths by the sum of their positions in RP and, scaled, in RR."""
    total = positions(scores.precision) + recall_weight * positions(scores.recall)
    order = np.lexsort((np.arange(len(total)), depths, -scores.recall, -scores.precision, total))
    return [x for x in order.tolist() if scores.recall[x] > 0]


def positions(score: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each score's position from 1, the highest first; equal scores share theirs.

    >>> positions(np.array([0.5, 0.9, 0.5, 0.1])).tolist()
    [2.0, 1.0, 2.0, 4.0]
    """
    return np.searchsorted(np.sort(-score), -score, side="left").astype(np.float64) + 1


def similarity_of_occurrence(present: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return H of every two paths, from a row for each page and a column for each path."""
    counts = present.astype(np.float32)
    both = counts.T @ counts
    n_pages = both.diagonal()
    smaller = np.maximum(np.minimum.outer(n_pages, n_pages), 1.0)
    H: NDArray[np.float64] = np.divide(both, smaller, dtype=np.float64)
    return H


def similarity_of_content(
    matches: Iterable[Sequence[Counter[int]]], n_paths: int
) -> NDArray[np.float64]:
    """Return F of every two paths, from M(x, p) of each path for each page."""
    total, n_pages = np.zeros((n_paths, n_paths)), np.zeros((n_paths, n_paths))
    for M in matches:
        terms = sorted(set().union(*M))
        rows = [[M_x[term] for term in terms] for M_x in M]
        counts = np.array(rows, dtype=float).reshape(n_paths, -1)
        smaller = np.minimum.outer(counts.sum(axis=1), counts.sum(axis=1))
        shared = sum((np.minimum.outer(n, n) for n in counts.T), start=np.zeros_like(total))
        total += np.divide(shared, smaller, out=np.zeros_like(total), where=smaller > 0)
        n_pages += smaller > 0
    return total / np.maximum(n_pages, 1)


def greedy_mwis(
    weights: Sequence[float | Fraction], edges: AbstractSet[tuple[int, int]]
) -> list[int]:
    """Run Algorithm Greedy MWIS: return an independent set of the graph's nodes, heaviest first."""
    F = set(range(len(weights)))
    S: list[int] = []
    while F:
        # Pick the top-ranked feasible node.
        new = max(F, key=lambda i: (weights[i], -i))
        # Update the result set and the feasible set.
        S.append(new)
        F -= {new} | {i for i in F if (new, i) in edges or (i, new) in edges}
    return S


def rank_weights(n: int, beta: float = WEIGHT_BASE) -> list[float]:
    """Return w_i = beta^RF(i) of the first n ranks."""
    return [beta**rank for rank in range(1, n + 1)]


def greedy_by_degree(
    weights: Sequence[float | Fraction], edges: AbstractSet[tuple[int, int]]
) -> list[int]:
    """Return an independent set by the scheme for weights on which Greedy MWIS is not optimal.

    Each step picks the feasible node whose weight is greatest for the number of nodes that go with
    it. The nodes are returned heaviest first.
    """
    neighbours: list[set[int]] = [set() for _ in weights]
    for i, j in edges:
        neighbours[i].add(j)
        neighbours[j].add(i)
    F = set(range(len(weights)))
    S: list[int] = []
    while F:
        new = max(F, key=lambda i: (weights[i] / (1 + len(neighbours[i] & F)), -i))
        S.append(new)
        F -= {new} | neighbours[new]
    return sorted(S, key=lambda i: (-weights[i], i))


def pick_independent(dependent: NDArray[np.bool_], beta: float = WEIGHT_BASE) -> list[int]:
    """Return the ranks from 0 of the best independent paths; `dependent` is by rank."""
    edges = {(i, j) for i, j in np.argwhere(np.triu(dependent, 1)).tolist()}
    weights = rank_weights(len(dependent), beta)
    if beta <= MAX_GREEDY_BASE:
        return greedy_mwis(weights, edges)
    return greedy_by_degree(weights, edges)
