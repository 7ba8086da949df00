"""Explore a small part of a site and describe it as a graph of page classes with the links between them.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data & Knowledge
            Engineering 54, 2005), sections 2 and 3, Figure 5 (Compute-Model).
Notation:   p, a page as its link collections -> `PageLinks`; pt, a root-to-link path; page schema -> its
            `schema`; C, a page class -> `PageClass`; M, the model -> a list of classes; Q, the queue ->
            `_Queue`; lc, a link collection -> `Collection`; w, the pages fetched for one; G_i, pages of
            equal schema -> `Candidate`; n, dt, c_u, c_p, c_i, c_miss -> constants.
Readings:   A schema of three paths costs 3 c_p (the paper's example prints 1). Each path of the class costs
            c_i in a page that is encoded with it, and c_miss where the page lacks it. M_merge is compared
            with M_new; at equal cost there is a new class, but for pages without links, which are one class;
            the first candidate opens one. A collapsed group
            has the union of the schemas. A collection is heterogeneous where at least two groups are left
            and they hold less than two pages on average; its pages feed the queue and are encoded when the
            queue is empty, so that the model covers all visited pages. The links of a class at one path are
            one collection. It is asked again for n more while its pages open classes. The queue is past its
            peak where it has fallen below half of its greatest length.
Departures: Steps carry the attributes that make layout; digits in them count as one digit, since ids are
            numbered. The paper does not say which n links of a collection to take: those whose URLs look
            like the fewest others that were asked for, evenly spread. Links that were passed over when a
            collection at the same path was followed are not followed from another class, so a menu that
            stands on all pages is followed once. At a path that was followed before, links whose URLs look
            like n others are not followed; at a new path one of them is. Stored pages that no link reaches
            are one more collection.
Cost:       Linear in the visited pages times the classes. Classifying a page compares it with each class.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import xxhash

from clustering.algorithms.grouping import Clusterer, Evidence, Grouping, grouping_of
from clustering.dom.addresses import BadAddress, origin_of
from clustering.dom.links import find_links
from clustering.dom.paths import walk_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from lxml.html import HtmlElement

    from clustering.algorithms.grouping import Model, RawPage


N = 3
DT = 0.2
C_U, C_P, C_I, C_MISS = 1.0, 1.0, 0.8, 1.0
PAST_PEAK = 0.5
MAX_VALUE = 100
LAYOUT = ("id", "class", "align", "valign", "bgcolor", "width", "height", "color", "face", "size", "border")

Observation: TypeAlias = "Mapping[str, Sequence[str]] | None"  # a page's link collections
Strategy = Literal["densest_first", "sparsest_first"]
Stop = Literal["empty", "peak"]

_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class PageLinks:
    """A page as the model sees it: the URLs of its links by their root-to-link paths."""

    url: str
    collections: Mapping[str, Sequence[str]]

    @cached_property
    def schema(self) -> frozenset[str]:
        return frozenset(self.collections)

    @cached_property
    def n_urls(self) -> int:
        return sum(map(len, self.collections.values()))


@dataclass
class PageClass:
    """A class of pages; its schema is the union of theirs."""

    number: int
    pages: list[PageLinks] = field(default_factory=list)
    schema: set[str] = field(default_factory=set)
    urls_by_path: dict[str, dict[str, None]] = field(default_factory=dict)
    n_paths: int = 0  # of the pages' schemas together
    n_urls: int = 0

    def add(self, pages: Iterable[PageLinks]) -> None:
        for page in pages:
            self.pages.append(page)
            self.schema |= page.schema
            self.n_paths += len(page.schema)
            self.n_urls += page.n_urls
            for path, urls in page.collections.items():
                self.urls_by_path.setdefault(path, {}).update(dict.fromkeys(urls))

    @property
    def n_links(self) -> int:
        return sum(map(len, self.urls_by_path.values()))


@dataclass
class Candidate:
    """Pages of one collection with equal or nearly equal schemas."""

    pages: list[PageLinks]
    schema: frozenset[str]


@dataclass(frozen=True)
class Collection:
    """The links of a class at one path."""

    owner: PageClass
    path: str


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
    crawl = _Crawl(visit, is_inside, n, dt, _Queue(strategy), max_pages)
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
    queue: _Queue
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


@dataclass
class _Queue:
    """The priority queue of link collections; a priority that fell since is seen when its turn comes."""

    strategy: Strategy
    heap: list[tuple[tuple[bool, float, int], Collection]] = field(default_factory=list)
    known: dict[int, set[str]] = field(default_factory=dict)  # the paths that were in Q, by the class's id
    n_pushed: int = 0
    peak: int = 0
    n_fetched_at_peak: int = 0

    def push(self, lc: Collection) -> None:
        self.known.setdefault(id(lc.owner), set()).add(lc.path)
        self.n_pushed += 1
        heappush(self.heap, (self.rank(lc, self.n_pushed), lc))

    def knows(self, owner: PageClass, path: str) -> bool:
        return path in self.known.get(id(owner), ())

    def pop(self) -> Collection | None:
        """Return the collection of highest priority, None where there is none."""
        while self.heap:
            rank, lc = heappop(self.heap)
            now = self.rank(lc, rank[2])
            if not self.heap or now <= self.heap[0][0]:
                return lc
            heappush(self.heap, (now, lc))
        return None

    def rank(self, lc: Collection, number: int) -> tuple[bool, float, int]:
        """Return the place in the order: collections of singleton classes first, then by density."""
        density = len(lc.owner.urls_by_path[lc.path]) / lc.owner.n_links
        return len(lc.owner.pages) > 1, -density if self.strategy == "densest_first" else density, number

    def note_length(self, n_fetched: int) -> None:
        if len(self.heap) > self.peak:
            self.peak, self.n_fetched_at_peak = len(self.heap), n_fetched

    def is_past_peak(self) -> bool:
        return len(self.heap) < PAST_PEAK * self.peak


def spread(urls: Sequence[str], n: int) -> list[str]:
    """Return n of some URLs, evenly spaced.

    >>> spread("abcdefg", 3)
    ['a', 'd', 'g']
    """
    if len(urls) <= n:
        return list(urls)
    return [urls[i * (len(urls) - 1) // max(n - 1, 1)] for i in range(n)]


@lru_cache(maxsize=65536)
def shape_of(url: str) -> str:
    """Return what URLs of one kind mostly have in common: folders, ending, names of the query.

    >>> shape_of("https://a.example/shop/item-12.html?id=3&page=2")
    'https://a.example/shop/*.html?id&page'
    """
    address, _, query = url.partition("?")
    folder, _, last = address.rstrip("/").rpartition("/")
    ending = "/" if address.endswith("/") else "".join(last.partition(".")[1:])
    names = "&".join(part.partition("=")[0] for part in query.split("&"))
    return _DIGITS.sub("0", f"{folder}/*{ending}") + (f"?{names}" if query else "")


def select_candidates(w: Sequence[PageLinks], dt: float = DT) -> list[Candidate]:
    """Group pages of equal schema and collapse small groups into large ones of nearly the same schema."""
    # Let H = (G_1, …, G_k) be the pages in w grouped by schema and ordered by cardinality.
    pages: dict[frozenset[str], list[PageLinks]] = {}
    for page in w:
        pages.setdefault(page.schema, []).append(page)
    H = [Candidate(group, schema) for schema, group in pages.items()]
    H.sort(key=lambda G: (-len(G.pages), min(page.url for page in G.pages)))
    i = 0
    while i < len(H):
        for j in range(len(H) - 1, i, -1):  # from right to left
            if dist(H[i].schema, H[j].schema) < dt:
                collapsed = H.pop(j)
                H[i] = Candidate(H[i].pages + collapsed.pages, H[i].schema | collapsed.schema)
        i += 1
    return H


def dist(G_i: AbstractSet[str], G_j: AbstractSet[str]) -> float:
    """Return the share of the paths of two schemas that only one of them has."""
    union = len(G_i | G_j)
    return len(G_i ^ G_j) / union if union else 0.0


def is_heterogeneous(S: Sequence[Candidate]) -> bool:
    """Say whether a collection led to many small groups of pages rather than to a few large ones."""
    return len(S) > 1 and sum(len(C.pages) for C in S) < 2 * len(S)


def update_model(M: list[PageClass], C: Candidate) -> PageClass:
    """Merge a candidate with the class that makes the model cheapest, or open a new one; return the class.

    The costs of the classes that stay as they are do not matter, and neither do the URLs.
    """
    n_paths = sum(len(page.schema) for page in C.pages)
    new = _class_cost(len(C.pages), len(C.schema), n_paths)
    best, least = None, new
    for other in M:
        if other.schema.isdisjoint(C.schema):  # merged, they would cost more, unless both are empty
            if not other.schema and not C.schema:
                best = other
            continue
        before = _class_cost(len(other.pages), len(other.schema), other.n_paths)
        n_schema = len(other.schema | C.schema)
        merged = _class_cost(len(other.pages) + len(C.pages), n_schema, other.n_paths + n_paths)
        if merged - before < least - _NOTHING:
            best, least = other, merged - before
    if best is None:
        best = PageClass(len(M) + 1)
        M.append(best)
    best.add(C.pages)
    return best


_NOTHING = 1e-9  # less than any difference of costs, more than their rounding


def _class_cost(n_pages: int, n_schema: int, n_paths: int) -> float:
    """Return what a class costs without its URLs: its schema, and its pages encoded with it."""
    return C_P * n_schema + n_pages * C_I * n_schema + C_MISS * (n_pages * n_schema - n_paths)


def mdl_of_best_update(M: Sequence[PageClass], C: Candidate) -> tuple[int | None, float]:
    """Return what Figure 5 decides: which class to merge with, None for a new one, and the cost."""
    # Consider all M' = (M - {C'}) ∪ {C ∪ C'} for any C' in M.
    M_new = mdl([*((C_.schema, C_.pages) for C_ in M), (C.schema, C.pages)])
    costs: list[float] = []
    for merged in range(len(M)):
        M_ = [
            (C_.schema | C.schema, C_.pages + C.pages) if place == merged else (C_.schema, C_.pages)
            for place, C_ in enumerate(M)
        ]
        costs.append(mdl(M_))
    if not costs or min(costs) >= M_new - _NOTHING:
        without_links = (place for place, C_ in enumerate(M) if not C_.schema and not C.schema)
        return next(without_links, None), M_new
    M_merge = min(costs)
    return next(place for place, cost in enumerate(costs) if cost <= M_merge + _NOTHING), M_merge


def mdl(M: Iterable[tuple[AbstractSet[str], Sequence[PageLinks]]]) -> float:
    """Return the cost of a model, given as (schema, pages), and of all its pages with its help."""
    return sum(schema_cost(schema) + sum(enc(p, schema) for p in pages) for schema, pages in M)


def schema_cost(schema: AbstractSet[str]) -> float:
    """Return enc(C): c_p for each path."""
    return C_P * len(schema)


def enc(p: PageLinks, C: AbstractSet[str]) -> float:
    """Return what a page costs with the help of a class's schema."""
    n_common = len(p.schema & C)
    return C_I * len(C) + C_MISS * (len(C) - n_common) + C_P * (len(p.schema) - n_common) + C_U * p.n_urls


def classify(p: PageLinks, schemas: Mapping[str, AbstractSet[str]]) -> str | None:
    """Return the class that minimises enc(p | C), of equal ones the first, None without classes."""
    return min(schemas, key=lambda name: enc(p, schemas[name]), default=None)


def observe(page: RawPage) -> Observation:
    """Reduce a page to its link collections, None where it has no tree."""
    return None if page.tree is None else find_collections(page.tree, page.url)


def find_collections(tree: HtmlElement, url: str) -> dict[str, list[str]]:
    """Return the URLs of a page's links by their root-to-link paths, each once a path."""
    links = find_links(tree, url)
    if not links:
        return {}
    path_by_xpath = {"": ""}
    for element, xpath in walk_paths(tree):
        above = path_by_xpath.get(xpath.rpartition("/")[0], "")
        path_by_xpath[xpath] = f"{above}/{_step(element)}"
    urls_by_path: dict[str, dict[str, None]] = {}
    for link in links:
        urls_by_path.setdefault(path_by_xpath[link.xpath], {})[link.url] = None
    return {path: list(urls) for path, urls in urls_by_path.items()}


def _step(element: HtmlElement) -> str:
    attributes = element.attrib
    if not len(attributes):
        return str(element.tag)
    return _write_step(str(element.tag), tuple(attributes.get(name) for name in LAYOUT))


@lru_cache(maxsize=65536)
def _write_step(tag: str, values: tuple[str | None, ...]) -> str:
    written = [
        f"[@{name}='{_DIGITS.sub('0', ' '.join(value.split()))}']"
        for name, value in zip(LAYOUT, values, strict=True)
        if value and len(value) <= MAX_VALUE
    ]
    return tag + "".join(written)


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
        unreached=partial(_unlinked, page_by_url, _by_hash(page_by_url)),
    )
    model = finish(exploration)
    labels = classify_all(urls, page_by_url, model)
    return grouping_of(
        labels,
        why=f"{len(model.classes):,} classes, found by reading {model.n_fetched:,} of {len(urls):,} pages.",
        whys={str(C.number): _why(C) for C in model.classes},
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


def _by_hash(urls: Iterable[str]) -> list[str]:
    return sorted(urls, key=lambda url: (xxhash.xxh64_intdigest(url.encode("utf-8", "surrogatepass")), url))


def _unlinked(
    page_by_url: Mapping[str, PageLinks], ordered: Sequence[str], asked: AbstractSet[str]
) -> list[str]:
    """Return the stored pages to which no visited page links."""
    linked = {url for source in asked for urls in page_by_url[source].collections.values() for url in urls}
    return [url for url in ordered if url not in asked and url not in linked]


def _why(C: PageClass) -> str:
    return f"{len(C.pages):,} visited pages with links at {len(C.schema):,} paths"


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
