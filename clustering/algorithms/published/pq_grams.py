"""Group pages by the small subtrees that they consist of.

Paper:      Augsten, Böhlen, Gamper, "Approximate Matching of Hierarchical Data Using pq-Grams"
            (VLDB 2005); grouped by threshold as in Grigalis and Čenys, "Using XPaths of Inbound
            Links to Cluster Template-Generated Web Pages" (2014), equation 2 and section 4.3, and
            by shingles as in Chakrabarti and Mehta, "The Paths More Taken" (WWW 2010), section 5.
Notation:   p, q -> `P`, `Q`; P^{p,q}(T), the pq-grams of a tree -> `GramProfile`; pqGDist ->
            `pq_gram_distance`; k, the size of a shingle.
Readings:   The tree has p - 1 null nodes above its root, q - 1 on either side of the children of
            each node, q below each leaf; labels are tags. The distance is taken on bags, 1 - 2 |P1
            ∩ P2| / (|P1| + |P2|): as printed, with the union, equal trees would score -1. Grouped
            by threshold are pages whose similarity, 1 - distance, is greater than 0.8, by
            transitive closure. A shingle takes the k distinct pq-grams of least hash, so the counts
            do not matter to it.
Departures: More than 5,000 pages are refused for grouping by threshold; a later page joins the
            group that has the example most like it, if they are similar. Of a page the first 20,000
            elements are looked at.
Cost:       One walk a page. Threshold: quadratic in the distinct bags where they differ. Shingles:
            linear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeAlias

import numpy as np
from lxml.html import HtmlElement
from numpy.typing import NDArray

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    Model,
    RawPage,
    TooManyPages,
    grouping_of,
)
from clustering.algorithms.hashing import mix
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import (
    EXACT_IN_JSON,
    Hashes,
    examples_of,
    hash_text,
    join_similar_fast,
    min_hash,
    name_components,
    nearest_example,
    share_of_both,
    similarity_of,
)

Gram: TypeAlias = tuple[str, ...]

P = 2
Q = 3
THRESHOLD = 0.8
SHINGLE_SIZE = 4
MAX_PAGES = 5_000
MAX_ELEMENTS = 20_000
NULL = "*"


@dataclass(frozen=True, slots=True)
class GramProfile:
    """The pq-grams of a page as a bag."""

    grams: Hashes  # distinct, ascending
    counts: NDArray[np.int32]  # of each

    def as_set(self) -> Hashes:
        """Return the bag as a set: the n-th occurrence of a pq-gram is an element of its own."""
        starts = np.cumsum(self.counts) - self.counts
        nth = np.arange(self.counts.sum()) - np.repeat(starts, self.counts)
        occurrences = np.repeat(self.grams, self.counts) + mix(nth.astype(np.uint64))
        return np.unique(mix(occurrences) & np.uint64(EXACT_IN_JSON))


def cluster_by_threshold(
    _urls: Sequence[str],
    observations: Sequence[GramProfile],
    _evidence: ClusteringInputs,
    *,
    threshold: float = THRESHOLD,
) -> Grouping:
    """Group pages by transitive closure of their similarity. Raises TooManyPages above 5,000."""
    if len(observations) > MAX_PAGES:
        raise TooManyPages(
            f"pq_grams compares pages in pairs: {len(observations):,} pages, "
            f"at most {MAX_PAGES:,}; take a smaller sample, or group by shingles"
        )
    sets = [profile.as_set() for profile in observations]
    names = name_components(sets, join_similar_fast(sets, share_of_both, threshold))
    return grouping_of(
        names,
        why=f"Pages whose pq-grams agree by more than {threshold:.0%}, directly or in a chain.",
        model={
            "threshold": threshold,
            "examples": examples_of(sets, names, share_of_both, threshold),
        },
    )


def cluster_by_shingles(
    _urls: Sequence[str],
    observations: Sequence[GramProfile],
    evidence: ClusteringInputs,
    *,
    k: int = SHINGLE_SIZE,
) -> Grouping:
    """Group pages that have the same k pq-grams of least hash."""
    names = [_shingle(profile, k, evidence.seed) for profile in observations]
    return grouping_of(
        names,
        why=f"Pages with the same shingle of {k} pq-grams.",
        model={"k": k, "seed": evidence.seed, "groups": sorted({name for name in names if name})},
    )


def _shingle(profile: GramProfile, k: int, seed: int) -> str | None:
    return "-".join(f"{gram:013x}" for gram in min_hash(profile.grams, k, seed)) or None


def pq_gram_distance(a: GramProfile, b: GramProfile) -> float:
    """Return pqGDist = 1 - 2 |P1 ∩ P2| / (|P1| + |P2|) of two bags."""
    return 1 - similarity_of(a.as_set(), b.as_set(), share_of_both)


def profile_of(grams: Counter[Gram]) -> GramProfile:
    """Hash a bag of pq-grams."""
    count_by_hash: Counter[int] = Counter()
    for gram, count in grams.items():
        count_by_hash[hash_text("\n".join(gram))] += count
    hashes = sorted(count_by_hash)
    return GramProfile(
        np.array(hashes, dtype=np.uint64),
        np.array([count_by_hash[h] for h in hashes], dtype=np.int32),
    )


def pq_grams(tree: HtmlElement, p: int = P, q: int = Q) -> Counter[Gram]:
    """Return the bag of a tree's pq-grams: p labels down to the anchor, then q of its children."""
    bag: Counter[Gram] = Counter()
    for stem, children in islice(_walk(tree, p), MAX_ELEMENTS):
        if not children:
            bag[(*stem, *[NULL] * q)] += 1
            continue
        padded = [*[NULL] * (q - 1), *children, *[NULL] * (q - 1)]
        for i in range(len(padded) - q + 1):
            bag[(*stem, *padded[i : i + q])] += 1
    return bag


def _walk(tree: HtmlElement, p: int) -> Iterator[tuple[Gram, list[str]]]:
    """Yield, for each element, the p labels that end with it and the labels of its children."""
    stack: list[tuple[HtmlElement, Gram]] = [(tree, (NULL,) * (p - 1))]
    while stack:
        element, above = stack.pop()
        stem = (*above, str(element.tag))
        children = [child for child in element if isinstance(child.tag, str)]
        yield stem, [str(child.tag) for child in children]
        stack.extend((child, stem[1:]) for child in reversed(children))


def observe(page: RawPage) -> GramProfile:
    """Reduce a page to its bag of pq-grams."""
    return profile_of(Counter() if page.tree is None else pq_grams(page.tree))


def assign(model: Model, profile: GramProfile, _url: str) -> str | None:
    """Return the group of a later page, None where it is like no example or shingle."""
    if "examples" in model:
        return nearest_example(
            model["examples"], profile.as_set(), share_of_both, model["threshold"]
        )
    name = _shingle(profile, model["k"], model["seed"])
    return name if name in model["groups"] else None


SIMILARITY = Parameter(
    name="threshold",
    title="Least similarity",
    kind="number",
    default=THRESHOLD,
    least=0,
    most=1,
    sentence="Pages are joined where a larger share of their pq-grams than that is the same.",
)
K = Parameter(
    name="k",
    title="Size of a shingle k",
    kind="whole number",
    default=SHINGLE_SIZE,
    least=1,
    most=50,
    sentence=(
        "How many pq-grams of least hash two pages must have in common. "
        "More of them make smaller groups."
    ),
)
CLUSTERER = Clusterer(
    "pq_grams",
    "pq-grams",
    observe,
    cluster_by_threshold,
    assign,
    max_pages=MAX_PAGES,
    parameters=[SIMILARITY],
)
BY_SHINGLES = Clusterer(
    "pq_grams_shingles",
    "pq-grams as shingles",
    observe,
    cluster_by_shingles,
    assign,
    sentence="Group pages that have the same few subtrees of least hash.",
    parameters=[K],
)
