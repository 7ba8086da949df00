"""Choose which links of a site model to follow next.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data &
            Knowledge Engineering 54, 2005), section 3.3: densest-first and sparsest-first.
Notation:   Q, the queue -> `LinkQueue`; lc, a link collection -> `Collection`.
Readings:   The density of a collection is its share of the class's outgoing links; collections of
            classes with one page come first in both strategies. The queue is past its peak where it
            has fallen below half of its greatest length.
Departures: The paper does not say which n links of a collection to follow: `spread` chooses them
            evenly. Nor what follows an empty queue: `worth_more` finds collections of which few
            links were followed.
Cost:       A heap, re-ranked lazily: a collection whose rank changed goes back.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import ceil, sqrt
from typing import Literal

import xxhash

from clustering.algorithms.published.page_classes import PageClass

SHARE_PAST_PEAK = 0.5
Strategy = Literal["densest_first", "sparsest_first"]

_DIGITS = re.compile(r"[0-9]+")
_OWN_NAME = re.compile(r"(?<=[^/:]/)[^/]*[-_0-9][^/]*")  # of a folder


@dataclass(frozen=True)
class Collection:
    """The links of a class at one path."""

    owner: PageClass
    path: str


@dataclass
class LinkQueue:
    """The priority queue of link collections; a rank that fell is seen when its turn comes."""

    strategy: Strategy
    heap: list[tuple[tuple[bool, float, int], Collection]] = field(default_factory=list)
    # The paths that were in Q, by the id of the class object.
    paths_by_owner: dict[int, set[str]] = field(default_factory=dict)
    n_pushed: int = 0
    peak: int = 0
    n_fetched_at_peak: int = 0

    def push(self, lc: Collection) -> None:
        self.paths_by_owner.setdefault(id(lc.owner), set()).add(lc.path)
        self.n_pushed += 1
        heappush(self.heap, (self.rank(lc, self.n_pushed), lc))

    def knows(self, owner: PageClass, path: str) -> bool:
        return path in self.paths_by_owner.get(id(owner), ())

    def pop(self) -> Collection | None:
        """Return the collection of highest priority, None where there is none."""
        while self.heap:
            (_, _, number), lc = heappop(self.heap)
            rank = self.rank(lc, number)
            if not self.heap or rank <= self.heap[0][0]:
                return lc
            heappush(self.heap, (rank, lc))
        return None

    def rank(self, lc: Collection, number: int) -> tuple[bool, float, int]:
        """Return the sort key: singleton classes first, then by density, then first come."""
        density = len(lc.owner.urls_by_path[lc.path]) / lc.owner.n_links
        return (
            len(lc.owner.pages) > 1,
            -density if self.strategy == "densest_first" else density,
            number,
        )

    def note_length(self, n_fetched: int) -> None:
        if len(self.heap) > self.peak:
            self.peak, self.n_fetched_at_peak = len(self.heap), n_fetched

    def is_past_peak(self) -> bool:
        return len(self.heap) < SHARE_PAST_PEAK * self.peak


def spread(urls: Sequence[str], n: int) -> list[str]:
    """Return n of some URLs, evenly spaced.

    >>> spread("abcdefg", 3)
    ['a', 'd', 'g']
    """
    if len(urls) <= n:
        return list(urls)
    return [urls[i * (len(urls) - 1) // max(n - 1, 1)] for i in range(n)]


def shape_of(url: str) -> str:
    """Return what URLs of one kind mostly have in common: folders, extension, names of the query.

    A folder that looks like a title or a number becomes `*`. A file with a query is the program
    that makes the pages: its name stays. So does a word at the root, where anything stands.

    >>> shape_of("https://a.example/shop/tent-4/item-12.html?id=3&page=2")
    'https://a.example/shop/*/item-0.html?id&page'
    """
    address, _, query = url.partition("?")
    folder, _, last = address.rstrip("/").rpartition("/")
    extension = "/" if address.endswith("/") else "".join(last.partition(".")[1:])
    is_at_root = "/" not in folder.partition("//")[2]
    if not query and is_at_root and last.isalpha():
        return address
    if not query:
        return _OWN_NAME.sub("*", folder) + _DIGITS.sub("0", f"/*{extension}")
    names = "&".join(part.partition("=")[0] for part in query.split("&"))
    program = last if extension.strip("/") else "*"
    return _OWN_NAME.sub("*", folder) + _DIGITS.sub("0", f"/{program}") + f"?{names}"


def by_hash(urls: Iterable[str]) -> list[str]:
    """Return URLs in an order that depends on nothing else and is the same each time."""
    return sorted(
        urls, key=lambda url: (xxhash.xxh64_intdigest(url.encode("utf-8", "surrogatepass")), url)
    )


def worth_more(
    paths_by_url: Mapping[str, AbstractSet[str]],
    fetched: AbstractSet[str],
    n_extra_by_path: Counter[str],
    n: int,
) -> list[list[str]]:
    """Return links to follow, those of one shape together, where few were for how many there are.

    `paths_by_url` has the paths at which each known link stands. `n_extra_by_path` counts the links
    that were returned before, and is kept up to date: no path gives more than it is worth. A shape
    that no more than n links have says little; such links are only returned where few of their
    collection were fetched.
    """
    # Shapes and paths are counted together: no shape is a path.
    n_known, n_fetched = Counter[str](), Counter[str]()
    unfetched_by_shape: dict[str, list[str]] = {}
    for url, paths in paths_by_url.items():
        shape = shape_of(url)
        n_known.update((shape, *paths))
        if url in fetched:
            n_fetched.update((shape, *paths))
        else:
            unfetched_by_shape.setdefault(shape, []).append(url)

    def is_wanted(url: str, *, is_common_shape: bool) -> bool:
        for path in paths_by_url[url]:
            most = n_worth(n_known[path])
            if n_extra_by_path[path] >= most:
                return False
            if not is_common_shape and n_fetched[path] >= most + n:
                return False
        return True

    links_to_follow = []
    for shape, urls in unfetched_by_shape.items():
        n_missing = max(0, n_worth(n_known[shape]) - n_fetched[shape])
        links = []
        for url in spread(urls, n_missing):
            if is_wanted(url, is_common_shape=n_known[shape] > n):
                n_extra_by_path.update(paths_by_url[url])
                links.append(url)
        if links:
            links_to_follow.append(links)
    return links_to_follow


def n_worth(n_links: int) -> int:
    """Return how many of n links that look alike to follow: a tenth, at most the root.

    >>> n_worth(2), n_worth(50), n_worth(200), n_worth(10_000)
    (1, 5, 15, 100)
    """
    return ceil(min(n_links / 10, sqrt(n_links)))
