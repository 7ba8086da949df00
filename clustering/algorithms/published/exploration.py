"""Follow link collections and update the model: the steps of Compute-Model.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data &
            Knowledge Engineering 54, 2005), Figure 5 (Compute-Model), lines 5 to 23.
Notation:   M, the model -> a list of classes; Q, the queue -> `queue`; lc, a link collection ->
            `Collection`; w, the pages fetched for one; S, the candidate classes; n, dt ->
            constants.
Readings:   The pages of a heterogeneous collection feed the queue and wait to be encoded. The links
            of a class at one path are one collection. It is followed again for n more while its
            pages open classes. n is two, the fewest that can show whether a collection is
            homogeneous.
Departures: The paper does not say which n links of a collection to follow: those whose URLs look
            like the fewest others that were fetched, evenly spread. A link that was passed over in
            one collection is not followed from another, so a menu that stands on all pages is
            followed once. At a path that was followed before, links whose URLs look like n others
            are not followed; at a new path one of them is. n pages of a large collection say little
            about the rest: when the queue is empty, more links are followed in proportion to how
            many look alike (`worth_more`), until nothing is lacking.
Cost:       Linear in the visited pages times the classes, and in their links whenever the queue is
            empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from clustering.algorithms.published.link_queue import (
    Collection,
    LinkQueue,
    shape_of,
    worth_more,
)
from clustering.algorithms.published.page_classes import (
    ClassCandidate,
    PageClass,
    PageLinks,
    dist,
    is_heterogeneous,
    select_candidates,
    update_model,
)

N: Final = 2


class NoMoreVisits(Exception):
    """No more pages may be visited: what `visit` raises to end an exploration with what it has."""


class Progress(NamedTuple):
    """How far the exploration is."""

    n_fetched: int
    n_waiting: int  # collections in the queue
    classes: Sequence[PageClass]


@dataclass
class Exploration:
    """The state of Compute-Model: the model so far, the queue, and what was fetched."""

    visit: Callable[[str], PageLinks | None]
    is_inside: Callable[[str], bool]
    n: int
    dt: float
    queue: LinkQueue
    max_pages: int | None
    M: list[PageClass] = field(default_factory=list)  # set of page classes
    # From heterogeneous collections, not yet in M.
    held: list[PageClass] = field(default_factory=list)
    # The page that came for each URL, None where none came.
    fetched: dict[str, PageLinks | None] = field(default_factory=dict)
    arrived: set[str] = field(default_factory=set)  # URLs of the pages that came
    # The collection from which each URL was followed or passed over first.
    collection_by_url: dict[str, Collection] = field(default_factory=dict)
    followed_paths: set[str] = field(default_factory=set)
    n_by_shape: Counter[str] = field(default_factory=Counter)  # of the URLs that were fetched
    n_extra_by_path: Counter[str] = field(default_factory=Counter)  # followed when Q was empty
    has_enough: bool = False

    def progress(self) -> Progress:
        self.queue.note_length(len(self.fetched))
        return Progress(len(self.fetched), len(self.queue.heap), self.M)

    def is_full(self) -> bool:
        return self.has_enough or (
            self.max_pages is not None and len(self.fetched) >= self.max_pages
        )

    def follow(self, lc: Collection) -> None:
        """Fetch at most n pages pointed to by a collection, and update the model with them."""
        urls = self.open_urls(lc)
        self.collection_by_url.update(dict.fromkeys(urls, lc))
        # Fetch at most n pages pointed by lc into a set w.
        w = self.fetch(self.choose_links(lc.path, urls))
        self.followed_paths.add(lc.path)
        if self.add_pages(w) and len(urls) > self.n:
            self.queue.push(lc)

    def open_urls(self, lc: Collection) -> list[str]:
        """Return the links of a collection that may be followed."""
        return [
            url
            for url in lc.owner.urls_by_path.get(lc.path, {})
            if url not in self.fetched
            and self.collection_by_url.get(url, lc) == lc
            and self.is_inside(url)
        ]

    def choose_links(self, path: str | None, urls: Sequence[str]) -> list[str]:
        """Return at most n links whose URLs look like the fewest others that were fetched.

        Without a path (no link leads there) it does not matter how many others they look like.
        """
        n_by_shape = self.n_by_shape.copy()
        shape_by_url = {url: shape_of(url) for url in urls}
        links: list[str] = []
        while shape_by_url and len(links) < self.n:
            url = min(shape_by_url, key=lambda url: n_by_shape[shape_by_url[url]])
            shape = shape_by_url.pop(url)
            is_known = bool(links) or path in self.followed_paths
            if path is not None and is_known and n_by_shape[shape] >= self.n:
                break  # the best of the rest looks like n others
            n_by_shape[shape] += 1
            links.append(url)
        return links

    def follow_more(self) -> bool:
        """Follow links of collections of which few were followed; return whether there were any."""
        paths_by_url: dict[str, set[str]] = {}
        for C in (*self.M, *self.held):
            for path, urls in C.urls_by_path.items():
                for url in urls:
                    paths_by_url.setdefault(url, set()).add(path)
        inside = {
            url: paths
            for url, paths in paths_by_url.items()
            if url in self.fetched or self.is_inside(url)
        }
        n_before = len(self.fetched)
        for links in worth_more(inside, self.fetched.keys(), self.n_extra_by_path, self.n):
            self.add_pages(self.fetch(links))
        return len(self.fetched) > n_before

    def visit_unlinked(self, urls: list[str]) -> bool:
        """Visit up to n pages that no link reaches; return whether they opened a class."""
        return self.add_pages(self.fetch(self.choose_links(None, urls)))

    def fetch(self, urls: Sequence[str]) -> list[PageLinks]:
        """Return the pages that come for some URLs; one that came before does not count again."""
        w = []
        for url in urls:
            if url in self.fetched or self.is_full():
                continue
            try:
                page = self.visit(url)
            except NoMoreVisits:
                self.has_enough = True
                break
            self.fetched[url] = page
            self.n_by_shape[shape_of(url)] += 1
            if page is not None and page.url not in self.arrived:
                self.arrived.add(page.url)
                w.append(page)
        return w

    def add_pages(self, w: list[PageLinks]) -> bool:
        """Update model and queue with fetched pages; return whether they opened a class."""
        # Candidate class selection.
        S = select_candidates(w, self.dt)
        n_before = len(self.M) + len(self.held)
        for C in S:
            # Model update, but for heterogeneous collections.
            owner = self.hold(C) if is_heterogeneous(S) else update_model(self.M, C)
            self.push_collections(owner)
        return len(self.M) + len(self.held) > n_before

    def hold(self, C: ClassCandidate) -> PageClass:
        """Put pages of a heterogeneous collection aside, with others that they resemble."""
        for other in self.held:
            if dist(other.schema, C.schema) < self.dt:
                other.add(C.pages)
                return other
        self.held.append(PageClass(-len(self.held) - 1))
        self.held[-1].add(C.pages)
        return self.held[-1]

    def push_collections(self, owner: PageClass) -> None:
        """Add to Q the new link collections of a class."""
        for path in owner.urls_by_path:
            if not self.queue.knows(owner, path):
                lc = Collection(owner, path)
                if self.open_urls(lc):
                    self.queue.push(lc)

    def encode_held(self) -> None:
        """Update the model with the pages of heterogeneous collections."""
        for C in self.held:
            update_model(self.M, ClassCandidate(C.pages, frozenset(C.schema)))
        self.held = []


class PrintedExploration(Exploration):
    """Follow links as Figure 5 prints it: without departures, the first n of a collection, once."""

    def follow(self, lc: Collection) -> None:
        self.add_pages(self.fetch(self.open_urls(lc)[: self.n]))

    def open_urls(self, lc: Collection) -> list[str]:
        return [
            url
            for url in lc.owner.urls_by_path.get(lc.path, {})
            if url not in self.fetched and self.is_inside(url)
        ]

    def follow_more(self) -> bool:
        return False

    def visit_unlinked(self, urls: list[str]) -> bool:  # noqa: ARG002 - the paper knows no such pages
        return False
