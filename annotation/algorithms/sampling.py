"""Choose the few pages of a cluster that are worth annotating, in the order to annotate them.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-B, Algorithm 2 and Table I.
Notation:   X_i, an XPath expression -> a column of `incidence`; p_j, a page -> a row; F(X_i), the
            pages that contain it -> `F`; T_i, its contents; F(X_i, t), the pages with content t at
            it; I(X_i), its informativeness -> `informativeness`; w(X_i) = F(X_i) I(X_i) ->
            `weights`; S, the sample; K, its size -> `size`; M, the pages of the cluster.
Readings:   An XPath is the tags from the root to an element, without positions. Its content is the
            element's own text, blanks folded; an element without text has the empty content.
            Several elements of one XPath on a page count once for F(X), and once for each different
            content for F(X, t). As printed the algorithm returns K + 1 pages (`|S| <= K`); it is
            `<` here. Equal gains: the earlier page. `greedy` gives all XPaths the weight 1;
            `random` keeps a page only if it has an unseen XPath.
Departures: `draw` goes on when all XPaths are covered and the sample is not full: unannotated pages
            support a rule, so the cover begins anew over the pages that are left, and their gain is
            told as 0. `prefer_unseen` adds marks to the XPaths: a short text at its XPath (a label)
            or a token of a class (a layout) on at least max(3, 2 %) of the pages. Their weights F
            (1 - F / M) are scaled to the sum of the XPaths' weights. Without them pages that all
            lack an optional attribute may come first. The first sample then is the one that shows
            most of the XPaths and marks which at least half of the samples show: what the only
            annotated page lacks has no rule. The others follow by what that one lacks. Scripts,
            styles and templates are left out. At most MAX_ITEMS contents of a page count.
Cost:       One walk a page; then one product of a sparse matrix and a vector for each page chosen.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import xxhash
from lxml.etree import _Element
from numpy.typing import NDArray
from scipy import sparse

from clustering.dom.visible import INVISIBLE_TAGS

Hashes: TypeAlias = NDArray[np.uint64]
Weights: TypeAlias = NDArray[np.float64]

SAMPLE_SIZE = 20
MAX_ITEMS = 20_000
MAX_LABEL = 60  # characters
MAX_TOKENS = 10  # of one element's class
MIN_MARKED, MIN_MARKED_SHARE = 3, 0.02  # pages that must show a mark
MIN_SHARE_SHOWN = 0.5  # of the samples, which show what the first one should show, too


class UnknownScheme(ValueError):
    """There is no sampling scheme of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name!r} is no sampling scheme; use one of {', '.join(SCHEMES)}")


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A page reduced to what sampling needs: each hash stands there once."""

    paths: Hashes
    contents: Hashes  # a hash of the content at each path
    owners: NDArray[np.uint32]  # of each content, the index of its path
    marks: Hashes  # labels and classes at their paths


class Incidence(NamedTuple):
    """Which page has which XPath, and what each XPath weighs."""

    matrix: sparse.csr_matrix  # pages x XPaths, 1 where the page has it
    weights: Weights


class ChosenSample(NamedTuple):
    """A page of the sample and the weight that it added to the cover."""

    page: int
    gain: float


def weighted_greedy(incidence: Incidence, size: int = SAMPLE_SIZE) -> list[ChosenSample]:
    """Return Algorithm 2's sample: `size` pages or fewer, in order."""
    matrix, w = incidence
    n_pages, n_paths = matrix.shape
    is_left = np.ones(n_pages, dtype=bool)
    uncovered = np.ones(n_paths, dtype=bool)
    S: list[ChosenSample] = []
    while uncovered.any() and len(S) < min(size, n_pages):
        gains = np.where(is_left, matrix @ (w * uncovered), -1.0)
        p = int(gains.argmax())
        if gains[p] <= 0:  # what is left weighs nothing: let it be covered all the same
            n_new = np.where(is_left, matrix @ uncovered.astype(float), -1.0)
            p = int(n_new.argmax())
        S.append(ChosenSample(p, max(0.0, float(gains[p]))))
        is_left[p] = False
        uncovered[_paths_of(matrix, p)] = False
    return S


def greedy(incidence: Incidence, size: int = SAMPLE_SIZE) -> list[ChosenSample]:
    """Return the sample for which all XPaths weigh the same."""
    return weighted_greedy(Incidence(incidence.matrix, np.ones(incidence.matrix.shape[1])), size)


def random_sample(
    incidence: Incidence, size: int = SAMPLE_SIZE, *, seed: int = 0
) -> list[ChosenSample]:
    """Return pages in random order, each with at least one XPath that those before it lack."""
    matrix = incidence.matrix
    order = list(range(matrix.shape[0]))
    random.Random(seed).shuffle(order)  # noqa: S311 - a sample, no secret
    uncovered = np.ones(matrix.shape[1], dtype=bool)
    S: list[ChosenSample] = []
    for p in order:
        paths = _paths_of(matrix, p)
        n_new = int(uncovered[paths].sum())
        if n_new and len(S) < size:
            S.append(ChosenSample(p, float(n_new)))
            uncovered[paths] = False
    return S


SCHEMES: dict[str, Callable[[Incidence, int], list[ChosenSample]]] = {
    "weighted": weighted_greedy,
    "greedy": greedy,
    "random": random_sample,
}


def draw(
    pages: Sequence[SeenPage],
    *,
    size: int = SAMPLE_SIZE,
    scheme: str = "weighted",
    prefer_unseen: bool = False,
) -> list[ChosenSample]:
    """Return `size` pages, or all where there are fewer, in the order in which to annotate them.

    Raises UnknownScheme.
    """
    if scheme not in SCHEMES:
        raise UnknownScheme(scheme)
    incidence = measure(pages, prefer_unseen=prefer_unseen)
    left = np.arange(len(pages))
    drawn: list[ChosenSample] = []
    while len(left) and len(drawn) < size:
        part = Incidence(incidence.matrix[left], incidence.weights)
        # Pages without any XPath.
        next_samples = SCHEMES[scheme](part, size - len(drawn)) or [ChosenSample(0, 0.0)]
        is_first = not drawn
        drawn += [ChosenSample(int(left[p]), gain if is_first else 0.0) for p, gain in next_samples]
        left = np.delete(left, [p for p, _ in next_samples])
    return _richest_first(pages, incidence, drawn) if prefer_unseen else drawn


def _richest_first(
    pages: Sequence[SeenPage], incidence: Incidence, drawn: Sequence[ChosenSample]
) -> list[ChosenSample]:
    """Return the samples: first what shows most of what many show, then by what that one lacks."""
    if not drawn:
        return []
    shown = [np.concatenate([pages[s.page].paths, pages[s.page].marks]) for s in drawn]
    matrix = _matrix_of(shown)
    F = np.asarray(matrix.sum(axis=0)).ravel()
    richest = int(np.argmax(matrix @ np.where(len(drawn) * MIN_SHARE_SHOWN <= F, F, 0.0)))
    others = [*drawn[:richest], *drawn[richest + 1 :]]
    is_lacking = np.ones(incidence.matrix.shape[1], dtype=bool)
    is_lacking[_paths_of(incidence.matrix, drawn[richest].page)] = False
    left = Incidence(
        incidence.matrix[[sample.page for sample in others]][:, is_lacking],
        incidence.weights[is_lacking],
    )
    next_places = [place for place, _ in weighted_greedy(left, len(others))] if others else []
    rest = [place for place in range(len(others)) if place not in next_places]
    return [drawn[richest], *(others[place] for place in [*next_places, *rest])]


def measure(pages: Sequence[SeenPage], *, prefer_unseen: bool = False) -> Incidence:
    """Return which page has which XPath, and the weights w(X) = F(X) I(X)."""
    matrix = _matrix_of([page.paths for page in pages])
    F = np.asarray(matrix.sum(axis=0)).ravel()
    weights = F * informativeness(pages, matrix)
    if not prefer_unseen or not pages:
        return Incidence(matrix, weights)
    marks, mark_weights = _weigh_marks(pages)
    scale = weights.sum() / mark_weights.sum() if mark_weights.sum() else 0.0
    joined = sparse.csr_matrix(sparse.hstack([matrix, marks]))
    return Incidence(joined, np.concatenate([weights, mark_weights * scale]))


def informativeness(pages: Sequence[SeenPage], matrix: sparse.csr_matrix) -> Weights:
    """Return I(X) = 1 - sum over t in T of F(X, t) / (M |T|) of each column of the matrix."""
    n_paths = matrix.shape[1]
    if not n_paths:
        return np.zeros(0)
    places = [start + page.owners for start, page in zip(matrix.indptr[:-1], pages, strict=True)]
    column = matrix.indices[np.concatenate(places)]
    sum_F = np.bincount(column, minlength=n_paths)
    # Column and content in one number, sorted: ten times faster than `np.unique`.
    n_bits = np.uint64(64 - n_paths.bit_length())
    contents = np.concatenate([page.contents for page in pages]) & (
        (np.uint64(1) << n_bits) - np.uint64(1)
    )
    pairs = np.sort((column.astype(np.uint64) << n_bits) | contents)
    distinct = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    n_T = np.bincount((distinct >> n_bits).astype(np.int64), minlength=n_paths)
    informative: Weights = 1.0 - sum_F / (len(pages) * np.maximum(n_T, 1))
    return informative


def observe(tree: _Element | None) -> SeenPage:
    """Reduce a page to its paths, their contents and marks; a page without a tree has none."""
    index_by_path: dict[int, int] = {}
    pairs: dict[tuple[int, int], None] = {}
    marks: dict[int, None] = {}
    for path, text, tokens in _walk(tree) if tree is not None else ():
        owner = index_by_path.setdefault(path, len(index_by_path))
        pairs[owner, _hash(text) if text else 0] = None
        if 0 < len(text) <= MAX_LABEL:
            marks[_hash(f"{path} {text}")] = None
        for token in tokens:
            marks[_hash(f"{path}.{token}")] = None
        if len(pairs) >= MAX_ITEMS or len(marks) >= MAX_ITEMS:
            break
    return SeenPage(
        paths=np.fromiter(index_by_path, dtype=np.uint64, count=len(index_by_path)),
        contents=np.array([content for _, content in pairs], dtype=np.uint64),
        owners=np.array([owner for owner, _ in pairs], dtype=np.uint32),
        marks=np.fromiter(marks, dtype=np.uint64, count=len(marks)),
    )


def _walk(tree: _Element) -> Iterator[tuple[int, str, list[str]]]:
    """Yield each element's path as a hash, own text and tokens of its class, in document order."""
    step_hashes: dict[tuple[int, str], int] = {}
    stack: list[tuple[_Element, int]] = [(tree, 0)]
    while stack:
        element, parent = stack.pop()
        tag = element.tag
        if not isinstance(tag, str) or tag in INVISIBLE_TAGS:
            continue
        path = step_hashes.get((parent, tag))
        if path is None:
            path = step_hashes[parent, tag] = _hash(f"{parent}/{tag}")
        texts = [element.text or "", *(child.tail or "" for child in element)]
        classes = element.get("class")
        yield (
            path,
            " ".join("".join(texts).split()),
            classes.split()[:MAX_TOKENS] if classes else [],
        )
        stack.extend((child, path) for child in reversed(element))


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass"))


def _matrix_of(sets: Sequence[Hashes]) -> sparse.csr_matrix:
    """Return the sets as rows of a matrix; its columns are in the order of the hashes."""
    ends = np.cumsum([0, *(len(hashes) for hashes in sets)])
    every = np.concatenate(sets) if sets else np.zeros(0, dtype=np.uint64)
    columns, places = np.unique(every, return_inverse=True)
    return sparse.csr_matrix((np.ones(len(every)), places, ends), shape=(len(sets), len(columns)))


def _weigh_marks(pages: Sequence[SeenPage]) -> tuple[sparse.csr_matrix, Weights]:
    """Return the marks that enough pages show, as a matrix, and what each weighs."""
    matrix = _matrix_of([page.marks for page in pages])
    F = np.asarray(matrix.sum(axis=0)).ravel()
    M = len(pages)
    is_kept = max(MIN_MARKED, MIN_MARKED_SHARE * M) <= F
    return matrix[:, is_kept], (F * (1 - F / M))[is_kept]


def _paths_of(matrix: sparse.csr_matrix, page: int) -> NDArray[np.int32]:
    paths: NDArray[np.int32] = matrix.indices[matrix.indptr[page] : matrix.indptr[page + 1]]
    return paths
