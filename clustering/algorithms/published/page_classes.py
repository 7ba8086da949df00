"""Describe pages by their links, and group them into the classes that are cheapest to encode.

Paper:      Crescenzi, Merialdo, Missier, "Clustering Web pages based on their structure" (Data &
            Knowledge Engineering 54, 2005), sections 2, 3.1 and 3.2, and the functions that Figure
            5 calls.
Notation:   p, a page as its link collections -> `PageLinks`; pt, a root-to-link path; page schema
            -> its `schema`; C, a page class -> `PageClass`; M, the model -> a list of classes; w,
            the pages fetched for a collection; G_i, pages of equal schema -> `ClassCandidate`; dt,
            c_u, c_p, c_i, c_miss -> constants.
Readings:   A schema of three paths costs 3 c_p (the paper's example prints 1). Each path of the
            class costs c_i in a page that is encoded with it, and c_miss where the page lacks it.
            M_merge is compared with M_new; at equal cost there is a new class, but for pages
            without links, which are one class; the first candidate opens one. A collapsed group has
            the union of the schemas. A collection is heterogeneous where at least two groups are
            left and they hold less than two pages on average.
Departures: Steps carry the attributes that make layout; digits in them count as one digit, since
            ids are numbered. Where all pages are known, an id that stands on few of them names a
            thing (a function of a manual, a heading) and no part of a layout, and is left out of
            the paths: each such page would be a class of its own.
Cost:       Reading a page is linear in its elements; a candidate is compared with each class.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import ceil
from typing import TypeAlias

from lxml.html import HtmlElement

from clustering.algorithms.grouping import RawPage
from clustering.dom.links import FoundLink, find_links
from clustering.dom.page import parse_page
from clustering.dom.paths import walk_paths

DT = 0.2
C_U, C_P, C_I, C_MISS = 1.0, 1.0, 0.8, 1.0
MAX_VALUE = 100  # characters
# An id names a part of the layout where it stands on so many pages and on such a share of them.
MIN_PAGES_OF_ID, MIN_SHARE_OF_ID = 3, 0.01
ROUNDING = 1e-9  # less than any difference of costs, more than their rounding
# The attributes that make layout.
LAYOUT = [
    "id",
    "class",
    "align",
    "valign",
    "bgcolor",
    "width",
    "height",
    "color",
    "face",
    "size",
    "border",
]

Observation: TypeAlias = "Mapping[str, Sequence[str]] | None"  # a page's link collections

_DIGITS = re.compile(r"[0-9]+")
_ID_IN_PATH = re.compile(r"\[@id='((?:(?!\[@id=').)*?)'\](?=\[@|/|$)")  # as `_write_step` writes it


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
class ClassCandidate:
    """Pages of one collection with equal or nearly equal schemas."""

    pages: list[PageLinks]
    schema: frozenset[str]


def select_candidates(w: Sequence[PageLinks], dt: float = DT) -> list[ClassCandidate]:
    """Group pages by schema, and collapse small groups into large ones of nearly the same."""
    # Let H = (G_1, …, G_k) be the pages in w grouped by schema and ordered by cardinality.
    pages: dict[frozenset[str], list[PageLinks]] = {}
    for page in w:
        pages.setdefault(page.schema, []).append(page)
    H = [ClassCandidate(group, schema) for schema, group in pages.items()]
    H.sort(key=lambda G: (-len(G.pages), min(page.url for page in G.pages)))
    i = 0
    while i < len(H):
        for j in range(len(H) - 1, i, -1):  # from right to left
            if dist(H[i].schema, H[j].schema) < dt:
                collapsed = H.pop(j)
                H[i] = ClassCandidate(H[i].pages + collapsed.pages, H[i].schema | collapsed.schema)
        i += 1
    return H


def dist(G_i: AbstractSet[str], G_j: AbstractSet[str]) -> float:
    """Return the share of the paths of two schemas that only one of them has."""
    union = len(G_i | G_j)
    return len(G_i ^ G_j) / union if union else 0.0


def is_heterogeneous(S: Sequence[ClassCandidate]) -> bool:
    """Return whether a collection led to many small groups rather than to a few large ones."""
    return len(S) > 1 and sum(len(C.pages) for C in S) < 2 * len(S)


def update_model(M: list[PageClass], C: ClassCandidate) -> PageClass:
    """Merge a candidate with the class that makes the model cheapest, or open a new one.

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
        if merged - before < least - ROUNDING:
            best, least = other, merged - before
    if best is None:
        best = PageClass(len(M) + 1)
        M.append(best)
    best.add(C.pages)
    return best


def _class_cost(n_pages: int, n_schema: int, n_paths: int) -> float:
    """Return what a class costs without its URLs: its schema, and its pages encoded with it."""
    return C_P * n_schema + n_pages * C_I * n_schema + C_MISS * (n_pages * n_schema - n_paths)


def mdl_of_best_update(M: Sequence[PageClass], C: ClassCandidate) -> tuple[int | None, float]:
    """Return what Figure 5 decides: which class to merge with, None for a new one, and the cost."""
    # Consider all M' = (M - {C'}) ∪ {C ∪ C'} for any C' in M.
    M_new = mdl([*((C_.schema, C_.pages) for C_ in M), (C.schema, C.pages)])
    costs: list[float] = []
    for i, C_ in enumerate(M):
        M_: list[tuple[AbstractSet[str], Sequence[PageLinks]]] = [
            (other.schema, other.pages) for other in M
        ]
        M_[i] = (C_.schema | C.schema, C_.pages + C.pages)
        costs.append(mdl(M_))
    M_merge = min(costs, default=M_new)
    if M_merge >= M_new - ROUNDING:
        without_links = (i for i, C_ in enumerate(M) if not C_.schema and not C.schema)
        return next(without_links, None), M_new
    return next(i for i, cost in enumerate(costs) if cost <= M_merge + ROUNDING), M_merge


def mdl(M: Iterable[tuple[AbstractSet[str], Sequence[PageLinks]]]) -> float:
    """Return the cost of a model, given as (schema, pages), and of all its pages with its help."""
    return sum(schema_cost(schema) + sum(enc(p, schema) for p in pages) for schema, pages in M)


def schema_cost(schema: AbstractSet[str]) -> float:
    """Return enc(C): c_p for each path."""
    return C_P * len(schema)


def enc(p: PageLinks, C: AbstractSet[str]) -> float:
    """Return what a page costs with the help of a class's schema."""
    n_common = len(p.schema & C)
    return (
        C_I * len(C)
        + C_MISS * (len(C) - n_common)
        + C_P * (len(p.schema) - n_common)
        + C_U * p.n_urls
    )


def classify(p: PageLinks, schemas: Mapping[str, AbstractSet[str]]) -> str | None:
    """Return the class that minimises enc(p | C), of equal ones the first; None without classes."""
    return min(schemas, key=lambda name: enc(p, schemas[name]), default=None)


def observe(page: RawPage) -> Observation:
    """Reduce a page to its link collections, None where it has no tree."""
    return None if page.tree is None else find_collections(page.tree, page.url)


def find_collections(tree: HtmlElement, url: str) -> dict[str, list[str]]:
    """Return the URLs of a page's links by their root-to-link paths, each once a path."""
    return collect_links(tree, find_links(tree, url))


def read_collections(
    body: bytes, content_type: str, url: str
) -> tuple[list[str], dict[str, list[str]]] | None:
    """Return the URLs of a page's links in order, and its link collections; None without a tree.

    Raises PageTooLarge.
    """
    page = parse_page(body, content_type)
    if page.tree is None:
        return None
    links = find_links(page.tree, url, page.encoding)
    return [link.url for link in links], collect_links(page.tree, links)


def collect_links(tree: HtmlElement, links: Sequence[FoundLink]) -> dict[str, list[str]]:
    """Return the URLs of links that were found in a tree by their root-to-link paths."""
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


def common_ids(observations: Iterable[Observation]) -> set[str]:
    """Return the ids in a site's paths that stand on enough of its pages to be of the layout."""
    n_pages = 0
    n_by_id: Counter[str] = Counter()
    for collections in observations:
        if collections is not None:
            n_pages += 1
            n_by_id.update({id_ for path in collections for id_ in _ID_IN_PATH.findall(path)})
    least = min(n_pages, max(MIN_PAGES_OF_ID, ceil(MIN_SHARE_OF_ID * n_pages)))
    return {id_ for id_, n in n_by_id.items() if n >= least}


def keep_ids(
    collections: Mapping[str, Sequence[str]], ids: AbstractSet[str]
) -> dict[str, list[str]]:
    """Return a page's link collections with only these ids in their paths; equal paths unite."""
    urls_by_path: dict[str, dict[str, None]] = {}
    for path, urls in collections.items():
        kept_path = _ID_IN_PATH.sub(lambda id_: id_[0] if id_[1] in ids else "", path)
        urls_by_path.setdefault(kept_path, {}).update(dict.fromkeys(urls))
    return {path: list(urls) for path, urls in urls_by_path.items()}


def _step(element: HtmlElement) -> str:
    attributes = element.attrib
    if not len(attributes):
        return str(element.tag)
    return _write_step(str(element.tag), tuple(attributes.get(name) for name in LAYOUT))


# Saves 0.4 % of clustering by all algorithms, the site model alone has it: 99 %
# hits (benchmarks.caches).
@lru_cache(maxsize=65536)
def _write_step(tag: str, values: tuple[str | None, ...]) -> str:
    written = [
        f"[@{name}='{_DIGITS.sub('0', ' '.join(value.split()))}']"
        for name, value in zip(LAYOUT, values, strict=True)
        if value and len(value) <= MAX_VALUE
    ]
    return tag + "".join(written)
