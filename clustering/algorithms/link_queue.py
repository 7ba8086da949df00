"""Decide which links of a site model to follow next.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data & Knowledge
            Engineering 54, 2005), section 3.3: densest-first and sparsest-first.
Notation:   Q, the queue -> `LinkQueue`; lc, a link collection -> `Collection`.
Readings:   The density of a collection is its share of the class's outgoing links; collections of classes
            with one page come first in both strategies. The queue is past its peak where it has fallen below
            half of its greatest length.
Departures: The paper does not say which n links of a collection to take: `spread` takes them evenly.
Cost:       A heap, re-ranked lazily: a collection whose rank changed goes back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Literal

import xxhash

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clustering.algorithms.page_classes import PageClass

PAST_PEAK = 0.5
Strategy = Literal["densest_first", "sparsest_first"]

_DIGITS = re.compile(r"[0-9]+")


@dataclass(frozen=True)
class Collection:
    """The links of a class at one path."""

    owner: PageClass
    path: str


@dataclass
class LinkQueue:
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


def by_hash(urls: Iterable[str]) -> list[str]:
    """Return URLs in an order that tells nothing and is the same each time."""
    return sorted(urls, key=lambda url: (xxhash.xxh64_intdigest(url.encode("utf-8", "surrogatepass")), url))
