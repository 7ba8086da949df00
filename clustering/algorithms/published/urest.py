"""Find records by clustering the subtrees of a page and ranking the clusters, as the paper has it.

Paper:      Shen and Karger, "U-REST: An Unsupervised Record Extraction System" (WWW 2007),
            section 2.
Notation:   phi(T_i, T_j) -> `Phi.margin`; psi(C) -> `Psi.margin`; T -> an element's number in the
            page model.
Readings:   phi's features are similarities within [0, 1]: matching nodes of the best alignment by
            the nodes of the larger tree; the same of the tag paths to the root; the share of the
            (root, child, next child) triplets that both have. Clusters are merged by average
            linkage of phi's margin while it is positive. Contiguity is the share of the text
            between the first record and the last that is in records, content coverage the share of
            the page's. Variation is how unlike the parts of a record are, as records have fields:
            the probability that two parts have different structures, on average over the records;
            the parts are the children of the first element below its root that has several. A leaf,
            and a list of equal items, have none. A cluster has at least two subtrees with text.
Departures: Equal trees on equal paths are one point of several trees. phi is asked only of trees
            with equal root tags, of which the smaller has at least a third of the larger one's
            nodes, and of at most the 100 points that show most; of a tree it sees the first 40
            nodes. Siblings that make one record together are not put together: the paper names them
            and does not say how.
Cost:       At most 100 points, so at most 5,000 alignments.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from itertools import combinations, pairwise
from math import exp
from typing import NamedTuple

from lxml.etree import _Element

from clustering.algorithms.published.tree_edit import (
    OrderedTree,
    n_matching,
    n_matching_in_order,
    tree_of,
)
from clustering.algorithms.records.finding import FoundList
from clustering.algorithms.records.page_model import PageModel, model_page

WEIGHTS = files(__package__) / "weights" / "urest.json"
MAX_POINTS = 100
MAX_NODES = 40  # of a tree that is aligned
NOT_SIMILAR = -1.0  # the margin of a pair that was never compared
MIN_SIZE_RATIO = 1 / 3  # of the smaller tree by the larger one


@dataclass(frozen=True, slots=True)
class LinearMargin:
    """A trained linear SVM."""

    weights: tuple[float, ...]
    bias: float

    def margin(self, features: Iterable[float]) -> float:
        weighted = (
            weight * feature for weight, feature in zip(self.weights, features, strict=True)
        )
        return sum(weighted) + self.bias


@dataclass(frozen=True, slots=True)
class Point:
    """Equal subtrees on equal paths."""

    elements: tuple[int, ...]
    tree: OrderedTree
    path: tuple[str, ...]
    triplets: Counter[tuple[str, str, str]]


class RankedCluster(NamedTuple):
    """The roots of the subtrees of a cluster, and how much they look like a page's records."""

    margin: float
    records: list[_Element]


def extract_records(tree: _Element) -> list[_Element]:
    """Return the roots of a page's records, none where nothing repeats."""
    ranked = rank_clusters(tree)
    return ranked[0].records if ranked else []


def find_lists(tree: _Element, n_best: int = 1) -> list[FoundList]:
    """Return the best clusters as lists, of which each record is one element."""
    return [
        FoundList(1 / (1 + exp(-cluster.margin)), [[record] for record in cluster.records])
        for cluster in rank_clusters(tree)[:n_best]
    ]


def rank_clusters(tree: _Element) -> list[RankedCluster]:
    """Return the clusters of a page's subtrees, that of its records first."""
    page = model_page(tree)
    phi, psi = load_weights()
    ranked = []
    for cluster in cluster_subtrees(decompose(page), phi):
        margin = psi.margin(psi_features(page, cluster))
        ranked.append(RankedCluster(margin, [page.nodes[element] for element in cluster]))
    return sorted(ranked, key=lambda cluster: -cluster.margin)


def decompose(page: PageModel) -> list[Point]:
    """Return a page's subtrees, equal ones together, without its root and empty leaves."""
    paths: list[tuple[str, ...]] = []
    equal: dict[tuple[int, tuple[str, ...]], list[int]] = {}  # by structure and path
    for element, parent in enumerate(page.parents):
        path_above = paths[parent] if parent >= 0 else ()
        paths.append((*path_above, page.tags[element]))
        if parent >= 0 and page.has_text(element):
            equal.setdefault((page.structures[element], paths[element]), []).append(element)
    showing_most = sorted(equal.values(), key=lambda elements: -_shown(page, elements))
    return [
        Point(
            elements=tuple(elements),
            tree=tree_of(page, elements[0], MAX_NODES),
            path=paths[elements[0]],
            triplets=triplets(page, elements[0]),
        )
        for elements in showing_most[:MAX_POINTS]
    ]


def _shown(page: PageModel, elements: Iterable[int]) -> int:
    """Return how many characters some elements show."""
    return sum(page.length((element, element)) for element in elements)


def triplets(page: PageModel, element: int) -> Counter[tuple[str, str, str]]:
    """Return the tri-gram model of a tree: a root, one of its children, the next one."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for root in range(element, min(page.ends[element], element + MAX_NODES)):
        for child, following in pairwise(page.children[root]):
            counts[page.tags[root], page.tags[child], page.tags[following]] += 1
    return counts


def phi_features(a: Point, b: Point) -> tuple[float, float, float]:
    """Return tree edit distance, tree context and tri-gram model as similarities of a pair."""
    in_both = (a.triplets & b.triplets).total()
    in_either = (a.triplets | b.triplets).total()
    return (
        n_matching(a.tree, b.tree) / max(len(a.tree), len(b.tree)),
        n_matching_in_order(a.path, b.path) / max(len(a.path), len(b.path)),
        in_both / in_either if in_either else 1.0,
    )


def are_comparable(a: Point, b: Point) -> bool:
    """Return whether phi is asked at all."""
    small, large = sorted((len(a.tree), len(b.tree)))
    return a.path[-1] == b.path[-1] and small >= MIN_SIZE_RATIO * large


def cluster_subtrees(points: list[Point], phi: LinearMargin) -> list[list[int]]:
    """Merge the closest two clusters while phi says that they are similar enough (HAC)."""
    members = {i: list(point.elements) for i, point in enumerate(points)}
    margins: dict[tuple[int, int], float] = {}
    for i, j in combinations(range(len(points)), 2):
        if are_comparable(points[i], points[j]):
            margins[i, j] = phi.margin(phi_features(points[i], points[j]))
    while margins:
        (i, j), margin = max(margins.items(), key=lambda pair: pair[1])
        if margin <= 0:
            break
        _merge(members, margins, i, j)
    return [sorted(cluster) for cluster in members.values() if len(cluster) > 1]


def _merge(
    members: dict[int, list[int]], margins: dict[tuple[int, int], float], i: int, j: int
) -> None:
    """Merge cluster j into cluster i; pairs that were never compared count as not similar."""
    n_i, n_j = len(members[i]), len(members[j])
    del margins[i, j]
    for k in members:
        if k in {i, j}:
            continue
        to_i = margins.pop((min(i, k), max(i, k)), None)
        to_j = margins.pop((min(j, k), max(j, k)), None)
        if to_i is None and to_j is None:
            continue
        sum_i = n_i * (NOT_SIMILAR if to_i is None else to_i)
        sum_j = n_j * (NOT_SIMILAR if to_j is None else to_j)
        margins[min(i, k), max(i, k)] = (sum_i + sum_j) / (n_i + n_j)
    members[i] += members.pop(j)


def psi_features(page: PageModel, cluster: list[int]) -> tuple[float, float, float]:
    """Return contiguity, content coverage and variation of a cluster."""
    outermost: list[int] = []
    for element in cluster:
        if not outermost or element >= page.ends[outermost[-1]]:
            outermost.append(element)
    shown = _shown(page, outermost)
    between = max(page.stops[element] for element in cluster) - page.starts[cluster[0]]
    variation = [_variation(page, element) for element in cluster]
    return (
        min(shown / max(between, 1), 1.0),
        min(shown / max(page.n_characters, 1), 1.0),
        sum(variation) / len(variation),
    )


def _variation(page: PageModel, element: int) -> float:
    """Return the probability that two of the parts of a record have different structures."""
    parts = page.children[element]
    while len(parts) == 1:
        parts = page.children[parts[0]]
    n_by_structure = Counter(page.structures[part] for part in parts)
    n_equal_pairs = sum(n * (n - 1) for n in n_by_structure.values())
    n_pairs = len(parts) * (len(parts) - 1)
    return 1 - n_equal_pairs / n_pairs if n_pairs else 0.0


def largest_coverage(page: PageModel, clusters: list[list[int]]) -> list[int]:
    """Return the cluster that covers most of the page, the paper's baseline; else nothing."""
    return max(clusters, key=lambda cluster: psi_features(page, cluster)[1], default=[])


def load_weights() -> tuple[LinearMargin, LinearMargin]:
    """Return phi and psi as they were trained."""
    stored = json.loads(WEIGHTS.read_text())
    phi, psi = stored["phi"], stored["psi"]
    return (
        LinearMargin(tuple(phi["weights"]), phi["bias"]),
        LinearMargin(tuple(psi["weights"]), psi["bias"]),
    )
