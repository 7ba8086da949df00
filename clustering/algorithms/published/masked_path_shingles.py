"""Group pages whose path shingles share their commonest elements.

Paper:      Chakrabarti and Mehta, "The Paths More Taken" (WWW 2010), section 5, the m/k variant of
            path shingles.
Notation:   k, the size of a shingle -> `SHINGLE_SIZE`; m, the elements that pages must share ->
            `N_SHARED`.
Readings:   A cluster is an m-element subset of shingles. A page whose shingle contains several goes
            to the one that most pages contain, of equally common ones to the least. A page of fewer
            than k paths has all of them as its shingle, and with at most m of them only one subset.
Departures: none.
Cost:       28 subsets of each distinct shingle at 6/8; linear in pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from clustering.algorithms.grouping import Clusterer, ClusteringInputs, Grouping, Model, grouping_of
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import Hashes, min_hash
from clustering.algorithms.published.path_shingles import name_of, observe

SHINGLE_SIZE = 8
N_SHARED = 6


def cluster_pages(
    _urls: Sequence[str],
    observations: Sequence[Hashes],
    evidence: ClusteringInputs,
    *,
    m: int = N_SHARED,
    k: int = SHINGLE_SIZE,
) -> Grouping:
    """Group pages by the commonest m-element subset of their shingles."""
    shingles = [min_hash(W, k, evidence.seed) for W in observations]
    subset_by_shingle = choose_subsets(shingles, m)
    names = [name_of(subset_by_shingle[shingle]) for shingle in shingles]
    sizes = Counter(name for name in names if name)
    return grouping_of(
        names,
        why=f"Pages whose shingles of {k} paths share {min(m, k)}.",
        model={"m": m, "k": k, "seed": evidence.seed, "groups": dict(sorted(sizes.items()))},
    )


def choose_subsets(
    shingles: Iterable[tuple[int, ...]], m: int
) -> Mapping[tuple[int, ...], tuple[int, ...]]:
    """Return the subset of each distinct shingle that most pages contain."""
    sizes = Counter(shingles)
    n_pages: Counter[tuple[int, ...]] = Counter()
    for shingle, size in sizes.items():
        for subset in subsets_of(shingle, m):
            n_pages[subset] += size
    return {
        shingle: min(subsets_of(shingle, m), key=lambda subset: (-n_pages[subset], subset))
        for shingle in sizes
    }


def subsets_of(shingle: tuple[int, ...], m: int) -> list[tuple[int, ...]]:
    """Return the m-element subsets of a shingle, each ascending."""
    return list(combinations(sorted(shingle), min(m, len(shingle))))


def assign(model: Model, W: Hashes, _url: str) -> str | None:
    """Return the largest group whose paths a later page's shingle contains, else None."""
    sizes = model["groups"]
    shingle = min_hash(W, model["k"], model["seed"])
    names = [name_of(subset) for subset in subsets_of(shingle, model["m"])]
    known = [name for name in names if name in sizes and name is not None]
    return min(known, key=lambda name: (-sizes[name], name), default=None)


MAX_SIZE = 12  # of a shingle: 924 subsets of each
K = Parameter(
    name="k",
    title="Size of a shingle k",
    kind="whole number",
    default=SHINGLE_SIZE,
    least=1,
    most=MAX_SIZE,
    sentence="How many paths of least hash a shingle has.",
)
M = Parameter(
    name="m",
    title="Paths to share m",
    kind="whole number",
    default=N_SHARED,
    least=1,
    most=MAX_SIZE,
    sentence="How many paths of their shingles two pages must share; more than k count as k.",
)
CLUSTERER = Clusterer(
    "masked_path_shingles",
    "Masked path shingles",
    observe,
    cluster_pages,
    assign,
    parameters=[K, M],
)
