"""Explore a small part of a site and describe it as a graph of page classes and their links.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data &
            Knowledge Engineering 54, 2005), sections 2 and 3, Figure 5 (Compute-Model).
Notation:   p, a page as its link collections -> `PageLinks`; pt, a root-to-link path; page schema
            -> its `schema`; C, a page class -> `PageClass`; M, the model -> a list of classes; Q,
            the queue -> `LinkQueue`; lc, a link collection -> `Collection`; w, the pages fetched
            for one; G_i, pages of equal schema -> `ClassCandidate`; n, dt, c_u, c_p, c_i, c_miss ->
            constants.
Readings:   The pages of a heterogeneous collection feed the queue and are encoded when the queue is
            empty, so that the model covers all visited pages. The queue is past its peak where it
            has fallen below half of its greatest length. What classes cost is read in
            `page_classes`.
Departures: Which links are followed is said in `exploration`. Stored pages that no link reaches are
            one more collection.
Cost:       Linear in the visited pages times the classes. Classifying a page compares it with each
            class.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

from clustering.algorithms.grouping import (
    Clusterer,
    ClusteringInputs,
    Grouping,
    Model,
    RawPage,
    grouping_of,
)
from clustering.algorithms.parameters import Parameter
from clustering.algorithms.published.exploration import (
    Exploration,
    N,
    PrintedExploration,
    Progress,
)
from clustering.algorithms.published.link_queue import LinkQueue, Strategy, by_hash
from clustering.algorithms.published.page_classes import (
    DT,
    Observation,
    PageClass,
    PageLinks,
    classify,
    common_ids,
    keep_ids,
    observe,
)
from clustering.dom.addresses import BadAddress, origin_of

Stop = Literal["empty", "peak"]


@dataclass
class SiteModel:
    """The classes found, and how the exploration went."""

    classes: list[PageClass]
    n_fetched: int
    n_fetched_at_peak: int
    stopped: str  # "empty", "peak", "limit"
    strategy: Strategy
    # The URL of the page that came for each URL that was fetched.
    arrived_by_url: dict[str, str] = field(default_factory=dict)

    def class_by_url(self) -> dict[str, int]:
        return {page.url: C.number for C in self.classes for page in C.pages}

    def class_links(self) -> list[tuple[int, int, str, int]]:
        """Return (C_1, C_2, path, number of links) for each class link, from the visited pages."""
        class_by_url = self.class_by_url()
        counts: Counter[tuple[int, int, str]] = Counter()
        for C in self.classes:
            for path, urls in C.urls_by_path.items():
                for url in urls:
                    target = class_by_url.get(self.arrived_by_url.get(url, url))
                    if target is not None:
                        counts[C.number, target, path] += 1
        return [(*link, n_links) for link, n_links in sorted(counts.items())]

    def as_json(self) -> Model:
        """Return the graph as JSON values: classes as nodes, class links as edges."""
        return {
            "strategy": self.strategy,
            "n_fetched": self.n_fetched,
            "n_fetched_at_peak": self.n_fetched_at_peak,
            "stopped": self.stopped,
            "classes": [
                {
                    "name": str(C.number),
                    "schema": sorted(C.schema),
                    "members": [page.url for page in C.pages],
                }
                for C in self.classes
            ],
            "links": [
                {"from": str(source), "to": str(target), "path": path, "n_links": n_links}
                for source, target, path, n_links in self.class_links()
            ],
        }


def compute_model(
    root_urls: Sequence[str],
    fetch: Callable[[str], RawPage | None],
    *,
    is_inside: Callable[[str], bool] | None = None,
    n: int = N,
    dt: float = DT,
    strategy: Strategy = "densest_first",
    stop: Stop = "empty",
    max_pages: int | None = None,
) -> Generator[Progress, None, SiteModel]:
    """Run Compute-Model from some pages of a site; return the model.

    `fetch` returns a page, None where there is none. `is_inside` returns whether a link belongs to
    the site: one of the roots' origins, unless it is given.
    """
    origins = {origin_of(url) for url in root_urls}

    def visit(url: str) -> PageLinks | None:
        page = fetch(url)
        if page is None:
            return None
        collections = observe(page)
        return None if collections is None else PageLinks(page.url, collections)

    return explore(
        root_urls,
        visit,
        is_inside or (lambda url: _origin(url) in origins),
        n=n,
        dt=dt,
        strategy=strategy,
        stop=stop,
        max_pages=max_pages,
    )


def explore(
    roots: Sequence[str],
    visit: Callable[[str], PageLinks | None],
    is_inside: Callable[[str], bool],
    *,
    n: int = N,
    dt: float = DT,
    strategy: Strategy = "densest_first",
    stop: Stop = "empty",
    max_pages: int | None = None,
    skips_alike: bool = True,
    unlinked: Callable[[AbstractSet[str]], list[str]] | None = None,
) -> Generator[Progress, None, SiteModel]:
    """Run Compute-Model on pages as their link collections.

    `visit` returns None for what is no page, and raises NoMoreVisits when no more may be visited.
    Unless it skips links that look alike, it follows them as Figure 5 is printed. `unlinked`
    returns further pages to visit when the queue is empty, given those fetched already.
    """
    exploration = (Exploration if skips_alike else PrintedExploration)(
        visit=visit,
        is_inside=is_inside,
        n=n,
        dt=dt,
        queue=LinkQueue(strategy),
        max_pages=max_pages,
    )
    for root in roots:
        exploration.add_pages(exploration.fetch([root]))
    yield exploration.progress()
    reason = "empty"
    while True:
        if exploration.is_full():
            reason = "limit"
            break
        if stop == "peak" and exploration.queue.is_past_peak():
            reason = "peak"
            break
        # Extract the highest priority link collection lc from Q.
        lc = exploration.queue.pop()
        if lc is not None:
            exploration.follow(lc)
        elif not exploration.follow_more():
            if unlinked is None:
                break
            if not exploration.visit_unlinked(unlinked(exploration.fetched.keys())):
                break
        yield exploration.progress()
    exploration.encode_held()
    yield exploration.progress()
    return SiteModel(
        classes=exploration.M,
        n_fetched=len(exploration.fetched),
        n_fetched_at_peak=exploration.queue.n_fetched_at_peak,
        stopped=reason,
        strategy=strategy,
        arrived_by_url={url: page.url for url, page in exploration.fetched.items() if page},
    )


def finish(exploration: Generator[Progress, None, SiteModel]) -> SiteModel:
    """Run an exploration to its end."""
    while True:
        try:
            next(exploration)
        except StopIteration as end:
            model: SiteModel = end.value
            return model


def cluster_pages(
    urls: Sequence[str],
    observations: Sequence[Observation],
    evidence: ClusteringInputs,
    *,
    n: int = N,
    dt: float = DT,
    strategy: Strategy = "densest_first",
    stop: Stop = "empty",
    skips_alike: bool = True,
) -> Grouping:
    """Explore stored pages from where their crawl began, and classify the others."""
    ids = common_ids(observations)
    page_by_url = {
        url: PageLinks(url, keep_ids(collections, ids))
        for url, collections in zip(urls, observations, strict=True)
        if collections is not None
    }
    exploration = explore(
        _roots(page_by_url, evidence),
        page_by_url.get,
        page_by_url.__contains__,
        n=n,
        dt=dt,
        strategy=strategy,
        stop=stop,
        skips_alike=skips_alike,
        unlinked=partial(_unlinked, page_by_url, by_hash(page_by_url)),
    )
    model = finish(exploration)
    labels = classify_all(urls, page_by_url, model)
    n_classes = "1 class" if len(model.classes) == 1 else f"{len(model.classes):,} classes"
    return grouping_of(
        labels,
        why=f"{n_classes}, found by reading {model.n_fetched:,} of {len(urls):,} pages.",
        whys={
            str(C.number): f"{len(C.pages):,} visited pages with links at {len(C.schema):,} paths"
            for C in model.classes
        },
        model={**model.as_json(), "ids": sorted(ids)},
    )


def classify_all(
    urls: Sequence[str], page_by_url: Mapping[str, PageLinks], model: SiteModel
) -> list[str | None]:
    """Return each page's class: the one found in the exploration, else the cheapest one."""
    class_by_url = model.class_by_url()
    schemas = {str(C.number): frozenset(C.schema) for C in model.classes}
    label_by_schema: dict[frozenset[str], str | None] = {}
    labels: list[str | None] = []
    for url in urls:
        page = page_by_url.get(url)
        if page is None:
            labels.append(None)
        elif url in class_by_url:
            labels.append(str(class_by_url[url]))
        else:
            if page.schema not in label_by_schema:
                label_by_schema[page.schema] = classify(page, schemas)
            labels.append(label_by_schema[page.schema])
    return labels


def _roots(page_by_url: Mapping[str, PageLinks], evidence: ClusteringInputs) -> list[str]:
    """Return where the crawl began, else the shortest URL; nothing where there are no pages."""
    if evidence.links and evidence.links[0].source in page_by_url:
        return [evidence.links[0].source]
    return [min(page_by_url, key=lambda url: (len(url), url))] if page_by_url else []


def _unlinked(
    page_by_url: Mapping[str, PageLinks], ordered: Sequence[str], fetched: AbstractSet[str]
) -> list[str]:
    """Return the stored pages to which no visited page links."""
    linked: set[str] = set()
    for source in fetched:
        linked.update(*page_by_url[source].collections.values())
    return [url for url in ordered if url not in fetched and url not in linked]


def _origin(url: str) -> str:
    try:
        return origin_of(url)
    except BadAddress:
        return ""


def assign(model: Model, collections: Observation, url: str) -> str | None:
    """Return the class that encodes a later page best, None for a page without a tree."""
    if collections is None:
        return None
    if "ids" in model:  # older models have all
        collections = keep_ids(collections, set(model["ids"]))
    schemas = {C["name"]: frozenset(C["schema"]) for C in model["classes"]}
    return classify(PageLinks(url, collections), schemas)


PARAMETERS = [
    Parameter(
        name="dt",
        title="Distance of schemas dt",
        kind="number",
        default=DT,
        least=0,
        most=1,
        sentence=(
            "Pages behind one list of links are of one class where a smaller share of their link "
            "paths than that is different."
        ),
    ),
    Parameter(
        name="n",
        title="Pages of a collection n",
        kind="whole number",
        default=N,
        least=1,
        most=100,
        sentence="How many pages behind one list of links are read at a time.",
    ),
    Parameter(
        name="strategy",
        title="Order of the queue",
        kind="choice",
        default="densest_first",
        choices=get_args(Strategy),
        sentence="Whether the lists with the largest or the smallest share of a class's "
        "links come first.",
    ),
    Parameter(
        name="stop",
        title="Stop",
        kind="choice",
        default="empty",
        choices=get_args(Stop),
        sentence=(
            "At the empty queue, or past its peak: when half of the lists that waited at "
            "most are left. "
            "The peak reads fewer pages and may miss rare classes."
        ),
    ),
    Parameter(
        name="skips_alike",
        title="Skip links that look alike",
        kind="switch",
        default=True,
        sentence=(
            "Links whose addresses look like others that were followed are passed over, and more "
            "of large lists are followed. Off: the first n of each list, as the paper's Figure 5 "
            "is printed."
        ),
    ),
]
CLUSTERER = Clusterer(
    "site_model", "Site model", observe, cluster_pages, assign, parameters=PARAMETERS
)
