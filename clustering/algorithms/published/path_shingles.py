"""Group pages that have the same few paths of least hash.

Paper:      Buttler, "A Short Survey of Document Structure Similarity Algorithms" (2004), as the
            baseline of Chakrabarti and Mehta, "The Paths More Taken" (WWW 2010), sections 3.1
            and 5.
Notation:   W, the paths of a page; k, the size of a shingle -> `SHINGLE_SIZE`.
Readings:   Path shingles are KeyClus without key paths, so a path is that of KeyClus: the tags from
            the root to any element, each with its id and its class, once a page. A shingle is in
            the order of the hashes. A page of fewer than k paths has all of them as its shingle;
            without paths it is in no group.
Departures: none.
Cost:       One walk a page; linear.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from lxml.html import HtmlElement

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    Model,
    RawPage,
    grouping_of,
)
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import Hashes, min_hash
from clustering.algorithms.published.attributed_paths import (
    MAX_PATHS,
    SKIPPED_TAGS,
    hash_step,
    step_of,
)

SHINGLE_SIZE = 4


def cluster_pages(
    _urls: Sequence[str],
    observations: Sequence[Hashes],
    evidence: ClusteringInputs,
    *,
    k: int = SHINGLE_SIZE,
) -> Grouping:
    """Group pages that have the same shingle."""
    names = [name_of(min_hash(W, k, evidence.seed)) for W in observations]
    return grouping_of(
        names,
        why=f"Pages with the same shingle of {k} paths.",
        model={"k": k, "seed": evidence.seed, "groups": sorted({name for name in names if name})},
    )


def name_of(shingle: Sequence[int]) -> str | None:
    """Return the name of the group of a shingle, None for an empty one."""
    return "-".join(f"{path:016x}" for path in shingle) or None


def attributed_path_set(tree: HtmlElement | None) -> Hashes:
    """Return a page's paths with ids and classes as ascending hashes, at most 20,000."""
    paths: dict[int, None] = {}
    stack = [] if tree is None else [(tree, 0)]
    while stack and len(paths) < MAX_PATHS:
        element, above = stack.pop()
        path = hash_step(above, step_of(element))
        paths[path] = None
        stack.extend(
            (child, path)
            for child in reversed(element)
            if isinstance(child.tag, str) and child.tag not in SKIPPED_TAGS
        )
    return np.array(sorted(paths), dtype=np.uint64)


def observe(page: RawPage) -> Hashes:
    """Reduce a page to its paths."""
    return attributed_path_set(page.tree)


def assign(model: Model, W: Hashes, _url: str) -> str | None:
    """Return the group of a later page, None where its shingle is new."""
    name = name_of(min_hash(W, model["k"], model["seed"]))
    return name if name in model["groups"] else None


K = Parameter(
    name="k",
    title="Size of a shingle k",
    kind="whole number",
    default=SHINGLE_SIZE,
    least=1,
    most=50,
    sentence="How many paths of least hash two pages must have in common. "
    "More of them make smaller groups.",
)
CLUSTERER = Clusterer(
    "path_shingles", "Path shingles", observe, cluster_pages, assign, parameters=[K]
)
