"""Group pages by the paths that searchers' words point to.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for
            Accurate Webpage Clustering" (WWW 2010), sections 3, 3.1 and 3.4. Paths stand in
            `attributed_paths`, sections 3.2 and 3.3 in `key_paths`, tabs in `tabs`, template
            removal in `template_removal`, the recognition of pages in their bytes in
            `unique_attributes`, the log made from links in `derived_log`.
Notation:   S, the ranked key paths -> `KeyPath`; W, the paths of a page; k, the size of a shingle;
            tau_occ -> `occurrence_threshold`; beta -> `weight_base`; theta -> `recall_weight`; RF
            -> `top`; Q(p), what was searched for p -> `queries`.
Readings:   Two shingles are the same where they hold the same paths in the same order: key paths by
            rank, then others by their hash under the seed. Pages without any path are in no group.
            A page of a known shingle whose open tab was never seen belongs to no group either.
Departures: Without a log, and where no search leads to one of the pages, there is EvidenceMissing:
            path shingles are an algorithm of their own here. Off unless asked for: dependence by
            content (`content_threshold`), clicks as weights (`weighs_clicks`).
Cost:       Linear in the pages' paths, but for a sort of their hashes; `key_paths` has the cost of
            the ranking.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.grouping import (
    Click,
    Clusterer,
    ClusteringInputs,
    EvidenceMissing,
    Grouping,
    Model,
    RawPage,
    grouping_of,
)
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.path_sets import min_hash
from clustering.algorithms.published.attributed_paths import (
    PathPage,
    hash_term,
    observe_tree,
    terms_of,
)
from clustering.algorithms.published.key_paths import (
    MAX_TOP,
    N_TOP,
    OCCURRENCE_THRESHOLD,
    RECALL_WEIGHT,
    WEIGHT_BASE,
    QueryCount,
    matches_of,
    number_paths,
    pick_independent,
    rank_paths,
    score_paths,
    similarity_of_content,
    similarity_of_occurrence,
)
from clustering.algorithms.published.tabs import find_tabs, open_tab
from clustering.algorithms.published.template_removal import own_terms, repeated_pagelets
from clustering.algorithms.published.unique_attributes import (
    find_mark,
    has_steps,
    unique_marks,
)

SHINGLE_SIZE = 1


@dataclass(frozen=True, slots=True)
class KeyPath:
    """A path of S."""

    path: int  # its hash
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class PathProfile:
    """What decides a page's group."""

    rank: Mapping[int, int]  # of each key path, by its hash
    tabs: Sequence[int]  # paths, by their hashes
    k: int = SHINGLE_SIZE
    seed: int = 0


def cluster_pages(
    urls: Sequence[str],
    observations: Sequence[PathPage],
    evidence: ClusteringInputs,
    *,
    k: int = SHINGLE_SIZE,
    recall_weight: float = RECALL_WEIGHT,
    occurrence_threshold: float = OCCURRENCE_THRESHOLD,
    content_threshold: float | None = None,
    weight_base: float = WEIGHT_BASE,
    n_top: int = N_TOP,
    presence_exponent: float = 1.0,
    weighs_clicks: bool = False,
    splits_tabs: bool = True,
    removes_templates: bool = True,
) -> Grouping:
    """Group pages that have the same two-step shingle and the same open tab.

    Raises EvidenceMissing.
    """
    # In the order of the URLs, so that no result depends on the order of the pages.
    order = sorted(range(len(urls)), key=urls.__getitem__)
    pages = [observations[index] for index in order]
    queries = count_queries(
        [urls[index] for index in order], evidence.clicks, weighs_clicks=weighs_clicks
    )
    # Find key paths for the website.
    repeated = repeated_pagelets(pages) if removes_templates else frozenset()
    is_own = {p: own_terms(pages[p], repeated) for p in queries}
    table = number_paths(pages)
    scores = score_paths(pages, table, queries, is_own, presence_exponent)
    numbers = rank_paths(pages, table, scores, recall_weight)[: min(n_top, MAX_TOP)]
    top = table.hashes[numbers].tolist()
    # Remove dependence by picking the best set of independent key paths.
    dependent = similarity_of_occurrence(table.present(top)) >= occurrence_threshold
    if content_threshold is not None:
        matches = (matches_of(pages[p], top, queries[p], is_own[p]) for p in sorted(queries))
        dependent |= similarity_of_content(matches, len(top)) >= content_threshold
    S = [
        KeyPath(
            top[i],
            precision=float(scores.precision[numbers[i]]),
            recall=float(scores.recall[numbers[i]]),
        )
        for i in pick_independent(dependent, weight_base)
    ]
    # Cluster webpages using these independent key paths.
    tabs = find_tabs(pages, top) if splits_tabs else []
    profile = PathProfile({x.path: rank for rank, x in enumerate(S)}, tabs, k, evidence.seed)
    names = [name_page(page, profile) for page in pages]
    present = table.present([*profile.rank, *tabs])
    name_by_page = dict(zip(order, names, strict=True))
    return grouping_of(
        [name_by_page[page] for page in range(len(urls))],
        why=_why(S, tabs, present, len(queries), evidence),
        whys=_whys(pages, names, profile),
        model=_model(pages, names, S, profile, present),
    )


def count_queries(
    urls: Sequence[str], clicks: Sequence[Click], *, weighs_clicks: bool = False
) -> dict[int, QueryCount]:
    """Return Q(p) of each page that was clicked; a query counts once a page, however it is written.

    Raises EvidenceMissing where there is no search log, or none that leads to one of the pages.
    """
    if not clicks:
        raise EvidenceMissing("key paths need a search log, or links from which one can be derived")
    queries_by_url: defaultdict[str, set[tuple[str, ...]]] = defaultdict(set)
    n_clicks: Counter[str] = Counter()
    for click in clicks:
        terms = tuple(terms_of(click.query))
        if terms and click.clicks > 0:
            queries_by_url[click.url].add(terms)
            n_clicks[click.url] += click.clicks
    queries: dict[int, QueryCount] = {}
    for p, url in enumerate(urls):
        if url in queries_by_url:
            terms_asked_for = (term for query in queries_by_url[url] for term in query)
            queries[p] = QueryCount(
                Counter(map(hash_term, terms_asked_for)),
                weight=float(n_clicks[url]) if weighs_clicks else 1.0,
            )
    if urls and not queries:
        raise EvidenceMissing(
            f"none of the {len(clicks):,} searches leads to one of the {len(urls):,} pages"
        )
    return queries


def name_page(page: PathPage, profile: PathProfile) -> str | None:
    """Return the name of a page's group, None for a page without paths."""
    shingle = two_step_shingle(page, profile)
    if not shingle:
        return None
    name = "-".join(f"{x:016x}" for x in shingle)
    tab = open_tab(page, profile.tabs)
    if tab is None:
        return name
    path, content = tab
    return f"{name}@{path:016x}={content:016x}"


def two_step_shingle(page: PathPage, profile: PathProfile) -> tuple[int, ...]:
    """Return the k top-ranked key paths of a page, filled up with min-hashes of other paths."""
    W = page.paths
    # First the top-ranked key paths present in W.
    key_paths = [x for x in W.tolist() if x in profile.rank]
    shingle = sorted(key_paths, key=profile.rank.__getitem__)[: profile.k]
    if len(shingle) == profile.k:
        return tuple(shingle)
    # If there are fewer than k, the remaining ones by the usual min-hashing.
    other_paths = W[~np.isin(W, np.array(shingle, dtype=np.uint64))]
    return (*shingle, *min_hash(other_paths, profile.k - len(shingle), profile.seed))


def _why(
    S: Sequence[KeyPath],
    tabs: Sequence[int],
    present: NDArray[np.bool_],
    n_queried: int,
    evidence: ClusteringInputs,
) -> str:
    log = "a derived log (the words of links)" if evidence.has_derived_clicks else "the search log"
    n_covered = int(present[:, : len(S)].any(axis=1).sum())
    return (
        f"{len(S)} key paths and {len(tabs)} tab paths found with {log}, "
        f"which asks for {n_queried:,} of {len(present):,} pages; "
        f"{n_covered:,} pages have a key path."
    )


def _whys(
    pages: Sequence[PathPage], names: Sequence[str | None], profile: PathProfile
) -> dict[str, str]:
    """Return a sentence for each group, from a page of it."""
    example = {name: page for name, page in zip(names, pages, strict=True) if name}
    return {name: _why_together(page, profile) for name, page in example.items()}


def _why_together(page: PathPage, profile: PathProfile) -> str:
    parts = []
    for x in two_step_shingle(page, profile):
        chosen_by = "key path" if x in profile.rank else "min-hash"
        parts.append(f"{chosen_by} {_written(x, page)}")
    tab = open_tab(page, profile.tabs)
    if tab is not None:
        parts.append(f"the same open tab at {_written(tab[0], page)}")
    return "; ".join(parts)


def _model(
    pages: Sequence[PathPage],
    names: Sequence[str | None],
    S: Sequence[KeyPath],
    profile: PathProfile,
    present: NDArray[np.bool_],
) -> Model:
    """Return what `assign` and `name_in_bytes` need.

    `present` has a column for each key path, in the order of S, then one for each tab.
    """
    paths = [*(x.path for x in S), *profile.tabs]
    written = [
        _written(path, pages[int(column.argmax())])
        for path, column in zip(paths, present.T, strict=True)
    ]
    marks = unique_marks(pages, written, present)
    rows: list[Model] = []
    for i, path in enumerate(paths):
        mark = marks[i]
        rows.append(
            {
                "hash": f"{path:016x}",
                "path": written[i],
                "n_pages": int(present[:, i].sum()),
                "mark": list(mark) if mark else None,
            }
        )
    of_key_paths, of_tabs = rows[: len(S)], rows[len(S) :]
    return {
        "k": profile.k,
        "seed": profile.seed,
        "key_paths": [
            row | {"precision": x.precision, "recall": x.recall}
            for row, x in zip(of_key_paths, S, strict=True)
        ],
        "tabs": of_tabs,
        "groups": dict(sorted(Counter(name for name in names if name).items())),
    }


def _written(path: int, page: PathPage) -> str:
    """Return a path of a page as in Table 4, given by its hash."""
    return page.path_written(int(np.flatnonzero(page.paths == np.uint64(path))[0]))


def observe(page: RawPage) -> PathPage:
    """Reduce a page to its paths and terms."""
    return observe_tree(page.tree, page.url)


def assign(model: Model, page: PathPage, _url: str) -> str | None:
    """Return the group of a later page, None where its shingle or its open tab is new."""
    rank = {int(x["hash"], 16): rank for rank, x in enumerate(model["key_paths"])}
    tabs = [int(tab["hash"], 16) for tab in model["tabs"]]
    name = name_page(page, PathProfile(rank, tabs, model["k"], model["seed"]))
    return name if name in model["groups"] else None


def name_in_bytes(model: Model, body: bytes) -> str | None:
    """Return the group by a page's first key path, None where the bytes do not decide."""
    if model["k"] != 1:
        return None
    if any(_has_path(tab, body) is not False for tab in model["tabs"]):
        return None  # the open tab decides, too
    for key_path in model["key_paths"]:
        has_path = _has_path(key_path, body)
        if has_path is None:
            return None
        if has_path:
            name: str = key_path["hash"]
            return name if name in model["groups"] else None
    return None


def _has_path(row: Model, body: bytes) -> bool | None:
    """Return whether a page has a path of the model, None where the bytes leave it in doubt."""
    if row["mark"] is None:
        return None
    name, value = row["mark"]
    has_mark = find_mark(body, name, value)
    if has_mark and not has_steps(body, row["path"]):
        return None
    return has_mark


PARAMETERS = [
    Parameter(
        name="k",
        title="Size of a shingle k",
        kind="whole number",
        default=SHINGLE_SIZE,
        least=1,
        most=50,
        sentence=(
            "How many key paths, the best first, two pages must have in common. More of them make "
            "smaller groups."
        ),
    ),
    Parameter(
        name="occurrence_threshold",
        title="Dependence by occurrence τ",
        kind="number",
        default=OCCURRENCE_THRESHOLD,
        least=0,
        most=1,
        sentence=(
            "Of two paths only the better one is a key path where this share of the pages with the "
            "rarer one has both."
        ),
    ),
    Parameter(
        name="presence_exponent",
        title="Weight of frequent paths a",
        kind="number",
        default=1.0,
        least=0,
        most=10,
        sentence="How much a path gains by being on many pages: "
        "its share of the pages counts to this power.",
    ),
    Parameter(
        name="weight_base",
        title="Base of the weights β",
        kind="number",
        default=WEIGHT_BASE,
        least=0.01,
        most=1,
        sentence=(
            "How much less a path counts than the one before it when independent paths are chosen. "
            "Up to 0.5 the best path always wins; above, several lesser ones may win together."
        ),
    ),
    Parameter(
        name="n_top",
        title="Paths that are looked at",
        kind="whole number",
        default=N_TOP,
        least=1,
        most=MAX_TOP,
        sentence="How many paths that match the queries best may become key paths or tabs.",
    ),
    Parameter(
        name="splits_tabs",
        title="Split by open tab",
        kind="switch",
        default=True,
        sentence=(
            "Pages of one thing with different tabs open, such as reviews and details, are "
            "different groups."
        ),
    ),
]
CLUSTERER = Clusterer(
    "keyclus",
    "KeyClus",
    observe,
    cluster_pages,
    assign,
    needs=frozenset({"clicks"}),
    assign_bytes=name_in_bytes,
    parameters=PARAMETERS,
)
