"""Group pages that have most of their leaf paths in common.

Paper:      Joshi, Agrawal, Krishnapuram, Negi, "A Bag of Paths Model for Measuring Structural
            Similarity in Web Documents" (KDD 2003), as measured by Grigalis and Čenys, "Using
            XPaths of Inbound Links to Cluster Template-Generated Web Pages" (2014), section 3.2,
            equation 3, and section 4.3.
Notation:   xp(P), the paths of a page -> hashes in an array; CPD, the distance of two pages ->
            `common_paths_distance`.
Readings:   A path is the tags from the root to an element without child elements, without
            positions; a page has each once (the text says bag, the equation set). Pages are grouped
            by transitive closure of similarity 1 - CPD > 0.8, the way in which that paper merges.
Departures: More than 10,000 pages are refused. A later page joins the group that has the
            example most like it, if they are similar.
Cost:       Quadratic in the distinct path sets where they differ; near linear where groups are few.
"""

from __future__ import annotations

from collections.abc import Sequence

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    Model,
    RawPage,
    TooManyPages,
    grouping_of,
)
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import (
    Hashes,
    examples_of,
    join_similar_fast,
    leaf_paths,
    name_components,
    nearest_example,
    share_of_larger,
    similarity_of,
)

THRESHOLD = 0.8
MAX_PAGES = 10_000


def cluster_pages(
    _urls: Sequence[str],
    observations: Sequence[Hashes],
    _evidence: ClusteringInputs,
    *,
    threshold: float = THRESHOLD,
) -> Grouping:
    """Group pages by transitive closure of their similarity. Raises TooManyPages above 10,000."""
    if len(observations) > MAX_PAGES:
        raise TooManyPages(
            f"common_paths compares pages in pairs: {len(observations):,} pages, "
            f"at most {MAX_PAGES:,}; take a smaller sample"
        )
    component = join_similar_fast(observations, share_of_larger, threshold)
    names = name_components(observations, component)
    return grouping_of(
        names,
        why=(
            f"Pages with more than {threshold:.0%} of their leaf paths in common, "
            "directly or in a chain."
        ),
        model={
            "threshold": threshold,
            "examples": examples_of(observations, names, share_of_larger, threshold),
        },
    )


def common_paths_distance(a: Hashes, b: Hashes) -> float:
    """Return CPD = 1 - |xp(P_1) ∩ xp(P_2)| / max(|xp(P_1)|, |xp(P_2)|)."""
    return 1 - similarity_of(a, b, share_of_larger)


def observe(page: RawPage) -> Hashes:
    """Reduce a page to its leaf paths."""
    return leaf_paths(page.tree)


def assign(model: Model, paths: Hashes, _url: str) -> str | None:
    """Return the group of a later page, None where no example is similar."""
    return nearest_example(model["examples"], paths, share_of_larger, model["threshold"])


SIMILARITY = Parameter(
    name="threshold",
    title="Least similarity",
    kind="number",
    default=THRESHOLD,
    least=0,
    most=1,
    sentence="Pages are joined where a larger share of their leaf paths than that is the same.",
)
CLUSTERER = Clusterer(
    "common_paths",
    "Common paths",
    observe,
    cluster_pages,
    assign,
    max_pages=MAX_PAGES,
    parameters=[SIMILARITY],
)
