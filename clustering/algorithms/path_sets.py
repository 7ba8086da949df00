"""Represent pages as sets of hashed features, compare the sets, join what is alike.

Paper:      Buttler, "A Short Survey of Document Structure Similarity Algorithms" (2004), for path
            shingles; Grigalis and Čenys, "Using XPaths of Inbound Links to Cluster
            Template-Generated Web Pages" (2014), sections 3.2 and 3.3, for the distances and for
            merging by union-find.
Notation:   P_1, P_2, two pages as sets -> arrays of distinct hashes, ascending; |P_1 ∩ P_2| ->
            `common`.
Readings:   Sets whose similarity is greater than the threshold belong together, and so does what is
            joined to either (transitive closure). A set without elements is like no other.
            Min-hashing takes the k elements whose hashes under a seed are least.
Departures: Hashes of paths have 52 bits, so that they are exact numbers in JSON wherever it is
            read.
Cost:       `join_similar` compares all pairs; `join_similar_fast` compares a set with those that
            have no component yet, by one sparse product: quadratic only where few sets are alike.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
import xxhash
from lxml.html import HtmlElement
from numpy.typing import NDArray
from scipy.sparse import csr_array

from clustering.algorithms.grouping import Model
from clustering.algorithms.hashing import mix
from clustering.dom.paths import walk_tag_paths

Hashes: TypeAlias = "NDArray[np.uint64]"
# Similarities of one set of `size` elements with others, from what they have in common and their
# sizes.
Similarity: TypeAlias = (
    "Callable[[NDArray[np.float64], int, NDArray[np.float64]], NDArray[np.float64]]"
)

EXACT_IN_JSON = (1 << 52) - 1
N_EXAMPLES = 5
MAX_EXAMPLES = 30  # of a group


def jaccard(
    common: NDArray[np.float64], size: int, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return |P_1 ∩ P_2| / |P_1 ∪ P_2|."""
    return common / (size + sizes - common)


def share_of_larger(
    common: NDArray[np.float64], size: int, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return |P_1 ∩ P_2| / max(|P_1|, |P_2|)."""
    return common / np.maximum(size, sizes)


def share_of_both(
    common: NDArray[np.float64], size: int, sizes: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return 2 |P_1 ∩ P_2| / (|P_1| + |P_2|)."""
    return 2 * common / (size + sizes)


def similarity_of(a: Hashes, b: Hashes, similarity: Similarity) -> float:
    """Return the similarity of two sets, 0 where one is empty."""
    if not len(a) or not len(b):
        return 0.0
    common = np.array([len(np.intersect1d(a, b, assume_unique=True))], dtype=np.float64)
    return float(similarity(common, len(a), np.array([len(b)], dtype=np.float64))[0])


def join_similar(sets: Sequence[Hashes], similarity: Similarity, threshold: float) -> list[int]:
    """Return the component of each set by union-find: the number of its first member."""
    parent = list(range(len(sets)))

    def find(i: int) -> int:
        while parent[i] != i:
            parent[i] = i = parent[parent[i]]
        return i

    for i, j in combinations(range(len(sets)), 2):
        if similarity_of(sets[i], sets[j], similarity) > threshold:
            i_root, j_root = find(i), find(j)
            parent[max(i_root, j_root)] = min(i_root, j_root)
    return [find(i) for i in range(len(sets))]


def join_similar_fast(
    sets: Sequence[Hashes], similarity: Similarity, threshold: float
) -> list[int]:
    """Return what `join_similar` returns; equal sets are compared once, joined ones no more."""
    first_by_bytes: dict[bytes, int] = {}
    first = list(range(len(sets)))  # of the sets equal to each; an empty set is like no other
    for i, s in enumerate(sets):
        if len(s):
            first[i] = first_by_bytes.setdefault(s.tobytes(), i)
    distinct = list(first_by_bytes.values())
    components = _components([sets[i] for i in distinct], similarity, threshold)
    component_of = {
        i: distinct[component] for i, component in zip(distinct, components, strict=True)
    }
    return [component_of.get(i, i) for i in first]


def _components(sets: Sequence[Hashes], similarity: Similarity, threshold: float) -> list[int]:
    """Return each set's component by its first member; no set is empty, no two are equal."""
    component = [-1] * len(sets)
    incidence = _incidence(sets)
    sizes = np.array([len(s) for s in sets], dtype=np.float64)
    remaining = np.arange(len(sets))
    dense = np.zeros(incidence.shape[1])
    columns = np.split(incidence.indices, incidence.indptr[1:-1]) if len(sets) else []
    while len(remaining):
        frontier = [int(remaining[0])]
        start = frontier[0]
        component[start] = start
        remaining, incidence = remaining[1:], incidence[1:]
        while frontier and len(remaining):
            i = frontier.pop()
            dense[columns[i]] = 1.0
            alike = similarity(incidence @ dense, int(sizes[i]), sizes[remaining]) > threshold
            dense[columns[i]] = 0.0
            if alike.any():
                joined = remaining[alike].tolist()
                frontier += joined
                for j in joined:
                    component[j] = start
                remaining, incidence = remaining[~alike], incidence[~alike]
    return component


def _incidence(sets: Sequence[Hashes]) -> csr_array:
    """Return a row for each set and a column for each element."""
    elements, columns = np.unique(
        np.concatenate([*sets, np.empty(0, dtype=np.uint64)]), return_inverse=True
    )
    ends = np.cumsum([0, *(len(s) for s in sets)])
    return csr_array((np.ones(len(columns)), columns, ends), shape=(len(sets), len(elements)))


def all_paths(tree: HtmlElement | None) -> Hashes:
    """Return the tag paths of all elements of a page."""
    if tree is None:
        return hash_paths([])
    return hash_paths(path for _, path in walk_tag_paths(tree))


def leaf_paths(tree: HtmlElement | None) -> Hashes:
    """Return the tag paths of the elements that have no child elements."""
    if tree is None:
        return hash_paths([])
    return hash_paths(path for element, path in walk_tag_paths(tree) if not _has_elements(element))


def _has_elements(element: HtmlElement) -> bool:
    return any(isinstance(child.tag, str) for child in element)


def hash_paths(paths: Iterable[str]) -> Hashes:
    """Return the distinct hashes of paths, ascending."""
    hashes = [hash_text(path) for path in set(paths)]
    return np.unique(np.array(hashes, dtype=np.uint64))


def hash_text(text: str) -> int:
    return int(xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass")) & EXACT_IN_JSON)


def min_hash(elements: Hashes, k: int, seed: int) -> tuple[int, ...]:
    """Return the k elements whose hashes under the seed are least, in the order of the hashes."""
    hashes = mix(elements ^ np.uint64(xxhash.xxh64_intdigest(b"", seed=seed)))
    if k < len(hashes):
        least = np.argpartition(hashes, k - 1)[:k]
        elements, hashes = elements[least], hashes[least]
    return tuple(elements[np.lexsort((elements, hashes))].tolist())


def name_components(sets: Sequence[Hashes], component: Sequence[int]) -> list[str | None]:
    """Name each set's component by its least member, None for an empty set."""
    digests = [xxhash.xxh64_hexdigest(s.tobytes()) for s in sets]
    least: dict[int, str] = {}
    for c, digest in zip(component, digests, strict=True):
        least[c] = min(least.get(c, digest), digest)
    return [least[c] if len(s) else None for c, s in zip(component, sets, strict=True)]


def examples_of(
    sets: Sequence[Hashes],
    names: Sequence[str | None],
    similarity: Similarity,
    threshold: float,
) -> Model:
    """Return examples of each group as lists of numbers, the commonest sets first.

    They are the five commonest, and each further set that is like none of these: pages that belong
    together in a chain only are like a few of the group. At most MAX_EXAMPLES of a group.
    """
    sets_by_name: defaultdict[str, Counter[bytes]] = defaultdict(Counter)
    for s, name in zip(sets, names, strict=True):
        if name is not None:
            sets_by_name[name][s.tobytes()] += 1
    examples: Model = {}
    for name, counts in sorted(sets_by_name.items()):
        commonest = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        group_examples: list[Hashes] = []
        for packed, _ in commonest:
            if len(group_examples) == MAX_EXAMPLES:
                break
            s = np.frombuffer(packed, dtype=np.uint64)
            is_like_one = any(
                similarity_of(example, s, similarity) > threshold for example in group_examples
            )
            if len(group_examples) < N_EXAMPLES or not is_like_one:
                group_examples.append(s)
        examples[name] = [example.tolist() for example in group_examples]
    return examples


def nearest_example(
    examples: Model, s: Hashes, similarity: Similarity, threshold: float
) -> str | None:
    """Return the group with the example most like a set, None where none is like it."""
    best: tuple[float, str] | None = None
    for name, group in examples.items():
        for example in group:
            likeness = similarity_of(np.array(example, dtype=np.uint64), s, similarity)
            if likeness > threshold and (best is None or (likeness, name) > best):
                best = likeness, name
    return best[1] if best else None
