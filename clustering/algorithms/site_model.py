"""Explore a small part of a site and describe it as a graph of page classes with the links between them.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data & Knowledge
            Engineering 54, 2005), sections 2 and 3, Figure 5 (Compute-Model).
Notation:   p, a page as its link collections -> `PageLinks`; pt, a root-to-link path; page schema -> its
            `schema`; C, a page class -> `PageClass`; M, the model -> a list of classes; Q, the queue ->
            `LinkQueue`; lc, a link collection -> `Collection`; w, the pages fetched for one; G_i, pages of
            equal schema -> `Candidate`; n, dt, c_u, c_p, c_i, c_miss -> constants.
Readings:   The pages of a heterogeneous collection feed the queue and are encoded when the queue is empty, so
            that the model covers all visited pages. The links of a class at one path are one collection. It
            is asked again for n more while its pages open classes. The queue is past its peak where it has
            fallen below half of its greatest length. What classes cost is read in `page_classes`.
Departures: The paper does not say which n links of a collection to take: those whose URLs look
            like the fewest others that were asked for, evenly spread. Links that were passed over when a
            collection at the same path was followed are not followed from another class, so a menu that
            stands on all pages is followed once. At a path that was followed before, links whose URLs look
            like n others are not followed; at a new path one of them is. Stored pages that no link reaches
            are one more collection.
Cost:       Linear in the visited pages times the classes. Classifying a page compares it with each class.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from clustering.algorithms.grouping import Clusterer, Evidence, Grouping, grouping_of
from clustering.algorithms.link_queue import Collection, LinkQueue, Strategy, by_hash, shape_of, spread
from clustering.algorithms.page_classes import (
    DT,
    Candidate,
    Observation,
    PageClass,
    PageLinks,
    classify,
    dist,
    is_heterogeneous,
    observe,
    select_candidates,
    update_model,
)
from clustering.dom.addresses import BadAddress, origin_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from clustering.algorithms.grouping import Model, RawPage


N = 3

Stop = Literal["empty", "peak"]


class Progress(NamedTuple):
    """How far the exploration is."""

    n_fetched: int
    n_waiting: int  # collections in the queue
    classes: Sequence[PageClass]


@dataclass
class SiteModel:
    """The classes found, and how the exploration went."""

    classes: list[PageClass]
    n_fetched: int
    n_fetched_at_peak: int
    stopped: str  # "empty", "peak", "limit"
    strategy: Strategy
    page_by_url: dict[str, str] = field(default_factory=dict)  # asked URL -> URL of the page that came

    def class_by_url(self) -> dict[str, int]:
        return {page.url: C.number for C in self.classes for page in C.pages}

    def class_links(self) -> list[tuple[int, int, str, int]]:
        """Return (C_1, C_2, path, number of links) for each class link, from the visited pages."""
        class_by_url = self.class_by_url()
        counts: Counter[tuple[int, int, str]] = Counter()
        for C in self.classes:
            for path, urls in C.urls_by_path.items():
                targets = (class_by_url.get(self.page_by_url.get(url, url)) for url in urls)
                counts.update((C.number, target, path) for target in targets if target is not None)
        return [(*link, n_links) for link, n_links in sorted(counts.items())]

    def as_json(self) -> Model:
        """Return the graph as JSON values: classes as nodes, class links as edges."""
        return {
            "strategy": self.strategy,
            "n_fetched": self.n_fetched,
            "n_fetched_at_peak": self.n_fetched_at_peak,
            "stopped": self.stopped,
            "classes": [
                {"name": str(C.number), "schema": sorted(C.schema), "members": [page.url for page in C.pages]}
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
    """Run Compute-Model from some pages of a site, asking for others by `fetch`; return the model.

    `is_inside` says which links belong to the site: those of the roots' origins, unless it is given.
    """
    origins = {origin_of(url) for url in root_urls}

    def visit(url: str) -> PageLinks | None:
        page = fetch(url)
        collections = observe(page) if page else None
        return PageLinks(page.url, collections) if page and collections is not None else None

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
    unreached: Callable[[AbstractSet[str]], list[str]] | None = None,
) -> Generator[Progress, None, SiteModel]:
    """Run Compute-Model on pages as their link collections.

    `unreached` returns further pages to look at when the queue is empty, without those asked for already.
    """
    crawl = _Crawl(visit, is_inside, n, dt, LinkQueue(strategy), max_pages)
    for root in roots:
        crawl.take(crawl.fetch([root]))
    yield crawl.progress()
    reason = "empty"
    while True:
        if crawl.is_full():
            reason = "limit"
            break
        if stop == "peak" and crawl.queue.is_past_peak():
            reason = "peak"
            break
        # Extract the highest priority link collection lc from Q.
        lc = crawl.queue.pop()
        if lc is not None:
            crawl.follow(lc)
        elif not (unreached and crawl.look_at(unreached(crawl.asked.keys()))):
            break
        yield crawl.progress()
    crawl.encode_held()
    yield crawl.progress()
    page_by_url = {url: page.url for url, page in crawl.asked.items() if page}
    return SiteModel(crawl.M, len(crawl.asked), crawl.queue.n_fetched_at_peak, reason, strategy, page_by_url)


def finish(exploration: Generator[Progress, None, SiteModel]) -> SiteModel:
    """Run an exploration to its end."""
    while True:
        try:
            next(exploration)
        except StopIteration as end:
            model: SiteModel = end.value
            return model


@dataclass
class _Crawl:
    """The state of Compute-Model."""

    visit: Callable[[str], PageLinks | None]
    is_inside: Callable[[str], bool]
    n: int
    dt: float
    queue: LinkQueue
    max_pages: int | None
    M: list[PageClass] = field(default_factory=list)  # set of page classes
    held: list[PageClass] = field(default_factory=list)  # from heterogeneous collections, not yet in M
    asked: dict[str, PageLinks | None] = field(default_factory=dict)
    arrived: set[str] = field(default_factory=set)
    passed: dict[tuple[str, str], PageClass] = field(
        default_factory=dict
    )  # by path and URL: who saw it first
    followed: set[str] = field(default_factory=set)  # paths
    shapes: Counter[str] = field(default_factory=Counter)  # of the URLs asked for

    def progress(self) -> Progress:
        self.queue.note_length(len(self.asked))
        return Progress(len(self.asked), len(self.queue.heap), self.M)

    def is_full(self) -> bool:
        return self.max_pages is not None and len(self.asked) >= self.max_pages

    def follow(self, lc: Collection) -> None:
        """Fetch at most n pages pointed to by a collection, and update the model with them."""
        urls = self.open_urls(lc)
        self.passed.update(dict.fromkeys([(lc.path, url) for url in urls], lc.owner))
        # Fetch at most n pages pointed by lc into a set w.
        w = self.fetch(self.choose(lc.path, urls))
        self.followed.add(lc.path)
        if self.take(w) and len(urls) > self.n:
            self.queue.push(lc)

    def open_urls(self, lc: Collection) -> list[str]:
        """Return the links of a collection that may be followed."""
        return [
            url
            for url in lc.owner.urls_by_path.get(lc.path, {})
            if url not in self.asked
            and self.passed.get((lc.path, url), lc.owner) is lc.owner
            and self.is_inside(url)
        ]

    def choose(self, path: str | None, urls: Sequence[str]) -> list[str]:
        """Return at most n links whose URLs look as few others that were followed, evenly spread.

        Without a path (no link leads there) it does not matter how many others they look like.
        """
        seen = self.shapes.copy()
        left = dict(zip(spread(urls, len(urls)), map(shape_of, spread(urls, len(urls))), strict=True))
        chosen: list[str] = []
        while left and len(chosen) < self.n:
            url = min(left, key=lambda url: seen[left[url]])
            shape = left.pop(url)
            if path is not None and seen[shape] >= self.n and (chosen or path in self.followed):
                break
            seen[shape] += 1
            chosen.append(url)
        return chosen

    def look_at(self, urls: list[str]) -> bool:
        """Take up to n pages that no link reaches; say whether there were any and they brought news."""
        return self.take(self.fetch(self.choose(None, urls)))

    def fetch(self, urls: Sequence[str]) -> list[PageLinks]:
        """Return the pages that come for some URLs; one that came before does not count again."""
        w = []
        for url in urls:
            if url in self.asked or self.is_full():
                continue
            self.shapes[shape_of(url)] += 1
            page = self.asked[url] = self.visit(url)
            if page is not None and page.url not in self.arrived:
                self.arrived.add(page.url)
                w.append(page)
        return w

    def take(self, w: list[PageLinks]) -> bool:
        """Update model and queue with fetched pages; say whether more of their kind may bring news."""
        # Candidate class selection.
        S = select_candidates(w, self.dt)
        n_before = len(self.M) + len(self.held)
        for C in S:
            # Model update, but for heterogeneous collections.
            self.feed(self.hold(C) if is_heterogeneous(S) else update_model(self.M, C))
        return len(self.M) + len(self.held) > n_before

    def hold(self, C: Candidate) -> PageClass:
        """Keep pages of a heterogeneous collection for later, with others that they resemble."""
        for other in self.held:
            if dist(other.schema, C.schema) < self.dt:
                other.add(C.pages)
                return other
        self.held.append(PageClass(-len(self.held) - 1))
        self.held[-1].add(C.pages)
        return self.held[-1]

    def feed(self, owner: PageClass) -> None:
        """Add to Q the new link collections of a class."""
        for path in owner.urls_by_path:
            if not self.queue.knows(owner, path):
                lc = Collection(owner, path)
                if self.open_urls(lc):
                    self.queue.push(lc)

    def encode_held(self) -> None:
        """Update the model with the pages of heterogeneous collections."""
        for C in self.held:
            update_model(self.M, Candidate(C.pages, frozenset(C.schema)))
        self.held = []


def cluster_pages(
    urls: Sequence[str],
    observations: Sequence[Observation],
    evidence: Evidence,
    *,
    n: int = N,
    dt: float = DT,
    strategy: Strategy = "densest_first",
    stop: Stop = "empty",
) -> Grouping:
    """Explore stored pages from where their crawl began, and classify those that were not visited."""
    page_by_url = {
        url: PageLinks(url, collections)
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
        unreached=partial(_unlinked, page_by_url, by_hash(page_by_url)),
    )
    model = finish(exploration)
    labels = classify_all(urls, page_by_url, model)
    return grouping_of(
        labels,
        why=f"{len(model.classes):,} classes, found by reading {model.n_fetched:,} of {len(urls):,} pages.",
        whys={
            str(C.number): f"{len(C.pages):,} visited pages with links at {len(C.schema):,} paths"
            for C in model.classes
        },
        model=model.as_json(),
    )


def classify_all(
    urls: Sequence[str], page_by_url: Mapping[str, PageLinks], model: SiteModel
) -> list[str | None]:
    """Return the class of each page: where the exploration put it, else the one that encodes it best."""
    known = model.class_by_url()
    schemas = {str(C.number): frozenset(C.schema) for C in model.classes}
    by_schema: dict[frozenset[str], str | None] = {}
    labels: list[str | None] = []
    for url in urls:
        page = page_by_url.get(url)
        if page is None:
            labels.append(None)
        elif url in known:
            labels.append(str(known[url]))
        else:
            if page.schema not in by_schema:
                by_schema[page.schema] = classify(page, schemas)
            labels.append(by_schema[page.schema])
    return labels


def _roots(page_by_url: Mapping[str, PageLinks], evidence: Evidence) -> list[str]:
    """Return where the crawl began, else the shortest URL."""
    if evidence.links and evidence.links[0].source in page_by_url:
        return [evidence.links[0].source]
    return [min(page_by_url, key=lambda url: (len(url), url))] if page_by_url else []


def _unlinked(
    page_by_url: Mapping[str, PageLinks], ordered: Sequence[str], asked: AbstractSet[str]
) -> list[str]:
    """Return the stored pages to which no visited page links."""
    linked = {url for source in asked for urls in page_by_url[source].collections.values() for url in urls}
    return [url for url in ordered if url not in asked and url not in linked]


def _origin(url: str) -> str:
    try:
        return origin_of(url)
    except BadAddress:
        return ""


def assign(model: Model, collections: Observation, url: str) -> str | None:
    """Return the class that encodes a later page best, None for a page without a tree."""
    if collections is None:
        return None
    schemas = {C["name"]: frozenset(C["schema"]) for C in model["classes"]}
    return classify(PageLinks(url, collections), schemas)


CLUSTERER = Clusterer("site_model", "Site model", observe, cluster_pages, assign)
