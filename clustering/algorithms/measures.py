"""Compare a clustering of pages with the types that the pages truly have.

Paper:      Adjusted Rand from Chakrabarti and Mehta, "The Paths More Taken" (WWW 2010), section 5;
            F*, entropy and purity from Crescenzi, Merialdo, Missier, "Clustering Web pages based on
            their structure" (DKE 2005), section 4.1; schema similarity Q from its section 4.3.
Notation:   C_i, a true class -> `type`; Ĉ_j, a computed cluster -> `cluster`; P, R, F, H as in the
            paper; a, b, c, d: pairs together in both, in the first only, in the second only, in
            none.
Readings:   P = |C ∩ Ĉ| / |Ĉ| and R = |C ∩ Ĉ| / |C| by their set definitions (the forms over the
            confusion matrix are exchanged); H sums |Ĉ| / N x H(Ĉ) with one sign, natural logarithm;
            purity takes the largest type of a cluster. Q works on link schemas averaged over pages,
            not on sets of pages.
Departures: A page in no cluster counts as a cluster of its own, but not in the number of clusters:
            leaving pages out must not pay. Where all pages are in one group in both, adjusted Rand
            is 1 (0/0 otherwise).
Cost:       Linear in pages plus the cells of the confusion matrix that are not empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from math import log


@dataclass(frozen=True, slots=True)
class Measures:
    """How well a clustering agrees with the truth."""

    adjusted_rand: float
    f_star: float
    purity: float
    entropy: float
    pair_precision: float
    pair_recall: float
    homogeneity: float
    completeness: float
    n_clusters: int
    n_types: int
    n_pages: int


@dataclass(frozen=True, slots=True)
class Confusion:
    """How many pages of each type are in each cluster, with both margins."""

    e: Mapping[tuple[Hashable, Hashable], int]  # (type, cluster) -> pages
    n_by_type: Mapping[Hashable, int]
    n_by_cluster: Mapping[Hashable, int]
    n: int


class NothingInCommon(ValueError):
    """No page has both a cluster and a type."""


def compare(cluster_by_page: Mapping[str, str | None], type_by_page: Mapping[str, str]) -> Measures:
    """Measure a clustering on the pages that have a cluster and a type. Raises NothingInCommon."""
    pages = sorted(cluster_by_page.keys() & type_by_page.keys())
    if not pages:
        raise NothingInCommon("no page has both a cluster and a type")
    clusters: list[Hashable] = []
    for page in pages:
        cluster = cluster_by_page[page]
        clusters.append(("alone", page) if cluster is None else cluster)
    types = [type_by_page[page] for page in pages]
    table = confusion(types, clusters)
    pair_precision, pair_recall = pair_measures(table)
    homogeneity, completeness = entropy_measures(table)
    return Measures(
        adjusted_rand=adjusted_rand(table),
        f_star=f_star(table),
        purity=purity(table),
        entropy=entropy(table),
        pair_precision=pair_precision,
        pair_recall=pair_recall,
        homogeneity=homogeneity,
        completeness=completeness,
        n_clusters=len({cluster_by_page[page] for page in pages} - {None}),
        n_types=len(table.n_by_type),
        n_pages=table.n,
    )


def confusion(types: Sequence[Hashable], clusters: Sequence[Hashable]) -> Confusion:
    """Count the pages of each type in each cluster."""
    e = Counter(zip(types, clusters, strict=True))
    return Confusion(e, Counter(types), Counter(clusters), len(types))


def adjusted_rand(table: Confusion) -> float:
    """Return 2(ad - bc) / ((b+a)(b+d) + (c+a)(c+d)): 1 for equal groupings, 0 by chance."""
    a, b, c, d = pair_counts(table)
    denominator = (b + a) * (b + d) + (c + a) * (c + d)
    return 2 * (a * d - b * c) / denominator if denominator else 1.0


def pair_counts(table: Confusion) -> tuple[int, int, int, int]:
    """Return the pairs of pages together in both, in the truth, in the clusters, in none."""
    together_in_both = _pairs(table.e.values())
    in_truth_only = _pairs(table.n_by_type.values()) - together_in_both
    in_clusters_only = _pairs(table.n_by_cluster.values()) - together_in_both
    in_none = _pairs([table.n]) - together_in_both - in_truth_only - in_clusters_only
    return together_in_both, in_truth_only, in_clusters_only, in_none


def pair_measures(table: Confusion) -> tuple[float, float]:
    """Return precision and recall on pairs of pages: together in a cluster, and of one type."""
    a, b, c, _ = pair_counts(table)
    precision = a / (a + c) if a + c else 1.0
    recall = a / (a + b) if a + b else 1.0
    return precision, recall


def f_star(table: Confusion) -> float:
    """Return the best F of each type over the clusters, weighted by the types' sizes."""
    best: dict[Hashable, float] = {}
    for (type_, cluster), e in table.e.items():
        # Of P = e / |Ĉ|, R = e / |C|.
        F = 2 * e / (table.n_by_cluster[cluster] + table.n_by_type[type_])
        best[type_] = max(best.get(type_, 0.0), F)
    return sum(F * table.n_by_type[type_] for type_, F in best.items()) / table.n


def entropy(table: Confusion) -> float:
    """Return the entropy of the types within each cluster, weighted by the clusters' sizes."""
    total = sum(e * log(e / table.n_by_cluster[cluster]) for (_, cluster), e in table.e.items())
    return -total / table.n + 0.0  # never -0.0


def purity(table: Confusion) -> float:
    """Return the share of pages that are of their cluster's largest type."""
    largest: Counter[Hashable] = Counter()
    for (_, cluster), e in table.e.items():
        largest[cluster] = max(largest[cluster], e)
    return largest.total() / table.n


def entropy_measures(table: Confusion) -> tuple[float, float]:
    """Return homogeneity (clusters hold one type) and completeness (types stay in one cluster)."""
    H_types = _entropy_of(table.n_by_type.values())
    H_clusters = _entropy_of(table.n_by_cluster.values())
    H_clusters_given_types = (
        -sum(e * log(e / table.n_by_type[t]) for (t, _), e in table.e.items()) / table.n
    )
    homogeneity = 1 - entropy(table) / H_types if H_types else 1.0
    completeness = 1 - H_clusters_given_types / H_clusters if H_clusters else 1.0
    return homogeneity, completeness


def schema_quality(
    reference: Sequence[AbstractSet[Hashable]], computed: Sequence[Sequence[AbstractSet[Hashable]]]
) -> tuple[float, float, float]:
    """Return F, RevF and Q of a computed model against a reference model.

    `reference` has a link schema for each class, `computed` the schemas of the pages in each class.
    """
    if not reference or not computed:
        return 0.0, 0.0, 0.0
    sim = [
        [sum(schema_f(page, schema) for page in pages) / len(pages) for pages in computed]
        for schema in reference
    ]
    F = sum(max(row) for row in sim) / len(reference)
    RevF = sum(max(column) for column in zip(*sim, strict=True)) / len(computed)
    return F, RevF, (2 * F * RevF / (F + RevF) if F + RevF else 0.0)


def schema_f(page: AbstractSet[Hashable], schema: AbstractSet[Hashable]) -> float:
    """Return the harmonic mean of the schemas' overlap as precision and recall."""
    if not page and not schema:
        return 1.0
    return 2 * len(page & schema) / (len(page) + len(schema))


def _pairs(sizes: Iterable[int]) -> int:
    return sum(size * (size - 1) // 2 for size in sizes)


def _entropy_of(sizes: Iterable[int]) -> float:
    counts = list(sizes)
    n = sum(counts)
    return -sum(size / n * log(size / n) for size in counts) + 0.0  # never -0.0
