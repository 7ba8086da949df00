"""Reduce a page to its attributed paths, the terms below each of them and its pagelets.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for
            Accurate Webpage Clustering" (WWW 2010), section 3 and Table 4; pagelets from Bar-Yossef
            and Rajagopalan, "Template Detection via Data Mining and its Applications" (WWW 2002).
Notation:   x, a path -> its 64-bit hash in `paths`; C(x, p), the bag of terms in the content of x
            on p -> the `spans` of x over the page's `terms`; k, the links that make a child too
            rich for a pagelet -> MIN_RICH; mark, an id or class with its value, if it could be
            found in the page's bytes.
Readings:   A path is written as in Table 4: tags from the root, each with its id and its class.
            Content is that of the whole subtree; several instances are united (they never lie
            within one another, so their bags add up). A term is a run of letters and digits,
            case-folded, without accents; of Chinese, Japanese and Korean each character is one.
            `head`, scripts, styles and comments are left out: a reader does not see them, and the
            path of `title`, present everywhere and full of query terms, would be the one key path
            of every site. A pagelet is an element none of whose children has 3 links or more and
            none of whose ancestors is a pagelet.
Departures: An id or class longer than 100 characters or with both kinds of quotation mark is left
            out of a path. At most 20,000 paths and 200,000 terms of a page are kept.
Cost:       One walk, linear in the page; neighbouring instances of a path share a span, so lists
            are short.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, cast
from urllib.parse import urljoin

import numpy as np
import xxhash
from lxml import etree
from lxml.html import HtmlElement
from numpy.typing import NDArray

from clustering.dom.links import find_base
from clustering.dom.visible import INVISIBLE_TAGS

MIN_RICH = 3  # links of a child that keep its parent from being a pagelet
MAX_VALUE = 100
MAX_PATHS = 20_000
MAX_TERMS = 200_000
NUMBER = 1 << 31  # the bit that tells numbers from words in the hash of a term
SKIPPED_TAGS = INVISIBLE_TAGS | {"head"}

_TERM = re.compile(
    r"[\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]|"
    r"[^\W_\u1100-\u11ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff]+"
)
_ACCENTS = re.compile(r"[\u0300-\u036f]+")
# Such values are the same bytes in every encoding but UTF-16.
_MARK = re.compile(r"[A-Za-z0-9_-]+(?: [A-Za-z0-9_-]+)*")
_MARK_IN_PATH = re.compile(r"\[@(id|class)=(?:'([^']*)'|\"[^\"]*\")\]")
_FINDERS = [(name, etree.XPath(f"//@{name}", smart_strings=False)) for name in ("id", "class")]


@dataclass(frozen=True, slots=True)
class PathPage:
    """A page as hashes: what the algorithm needs of it, some ten kilobytes."""

    paths: NDArray[np.uint64]  # the distinct paths, each after its parent
    parents: NDArray[np.int32]  # the index of each one's parent, -1 for the root
    depths: NDArray[np.uint16]  # the number of steps of each
    steps: str  # the last step of each, one a line
    terms: NDArray[np.uint32]  # of all that is seen, in document order
    spans: NDArray[np.int32]  # rows of (index of a path, first term, end)
    pagelets: NDArray[np.int32]  # rows of (first term, end)
    shingles: NDArray[np.uint64]  # of each pagelet: a hash of its terms and of where its links lead
    marks: NDArray[np.uint64]  # hashes, ascending

    def path_written(self, index: int) -> str:
        """Return a path as in Table 4: `/html/body[@class='dp']/h1`."""
        steps = self.steps.split("\n")
        chain = []
        while index >= 0:
            chain.append(steps[index])
            index = int(self.parents[index])
        return "/" + "/".join(reversed(chain))

    def content(self, index: int) -> NDArray[np.uint32]:
        """Return the terms below all instances of a path, in document order."""
        rows = self.spans[self.spans[:, 0] == index]
        parts = [self.terms[first:end] for _, first, end in rows.tolist()]
        return np.concatenate([self.terms[:0], *parts])


def observe_tree(tree: HtmlElement | None, url: str = "") -> PathPage:
    """Reduce a tree to its paths and terms; without a tree there are none."""
    walk = _PathWalk(base=url if tree is None else find_base(tree, url))
    marks: set[int] = set()
    if tree is not None:
        walk.run(tree)
        marks = _marks_of(tree)
    codes = {term: hash_term(term) for term in set(walk.terms)}
    pagelets = [pagelet for pagelet in walk.pagelets if pagelet.first < pagelet.end]
    return PathPage(
        paths=np.array(walk.paths, dtype=np.uint64),
        parents=np.array(walk.parents, dtype=np.int32),
        depths=np.array(walk.depths, dtype=np.uint16),
        steps="\n".join(walk.steps),
        terms=np.array([codes[term] for term in walk.terms], dtype=np.uint32),
        spans=np.array(walk.flat_spans(), dtype=np.int32).reshape(-1, 3),
        pagelets=np.array(
            [(pagelet.first, pagelet.end) for pagelet in pagelets], dtype=np.int32
        ).reshape(-1, 2),
        shingles=np.array([walk.shingle_of(pagelet) for pagelet in pagelets], dtype=np.uint64),
        marks=np.array(sorted(marks), dtype=np.uint64),
    )


def terms_of(text: str) -> list[str]:
    """Return the terms of a text.

    >>> terms_of("Col du Vent: NÉVÉ-12 “Half” rope_s 東京")
    ['col', 'du', 'vent', 'neve', '12', 'half', 'rope', 's', '東', '京']
    """
    if text.isascii():
        return _TERM.findall(text.lower())
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.casefold()))
    return _TERM.findall(unicodedata.normalize("NFKC", folded))


def hash_term(term: str) -> int:
    """Return 32 bits of which the highest, NUMBER, is set for numbers only."""
    low = xxhash.xxh32_intdigest(term.encode("utf-8", "surrogatepass")) & ~NUMBER
    return int(low | NUMBER if term.isdigit() else low)


def hash_terms(text: str) -> Counter[int]:
    """Return the bag of terms of a text, hashed."""
    return Counter(map(hash_term, terms_of(text)))


def hash_step(parent: int, step: str) -> int:
    """Return the hash of a path from that of its parent, 0 for the root, and its last step."""
    return int(xxhash.xxh64_intdigest(step.encode("utf-8", "surrogatepass"), seed=parent))


def hash_mark(name: str, value: str) -> int:
    return int(xxhash.xxh64_intdigest(f"{name}={value}".encode()))


def step_of(element: HtmlElement) -> str:
    """Return an element's step: its tag, its id, its class."""
    return _write_step(str(element.tag), element.get("id"), element.get("class"))


# Saves 0.4 % of clustering by all algorithms, KeyClus alone has it: 99.7 % hits
# (benchmarks.caches).
@lru_cache(maxsize=65536)
def _write_step(tag: str, id_: str | None, class_: str | None) -> str:
    step = tag
    for name, value in (("id", _plain(id_)), ("class", _plain(class_))):
        if value:
            step += f"[@{name}={_quoted(value)}]"
    return step


def _plain(value: str | None) -> str:
    """Return a value without superfluous space, blank where it is not written in paths."""
    if value is None or len(value) > MAX_VALUE or ("'" in value and '"' in value):
        return ""
    return " ".join(value.split())


def _quoted(value: str) -> str:
    return f'"{value}"' if "'" in value else f"'{value}'"


def elements_at(tree: HtmlElement, paths: Collection[str]) -> dict[str, list[HtmlElement]]:
    """Return the elements of a tree that stand at each of some written paths, in document order."""
    elements: dict[str, list[HtmlElement]] = {path: [] for path in paths}
    stack = [(tree, "")]
    while stack:
        element, above = stack.pop()
        if not isinstance(element.tag, str) or element.tag in SKIPPED_TAGS:
            continue
        here = f"{above}/{step_of(element)}"
        if here in elements:
            elements[here].append(element)
        if any(path.startswith(f"{here}/") for path in elements):
            stack.extend((child, here) for child in reversed(element))
    return elements


def marks_in(path: str) -> list[tuple[str, str]]:
    """Return the ids and classes of a path that can be looked for in bytes, last step first.

    >>> marks_in("/html/body[@id='b']/h1[@class='big title']")
    [('class', 'big title'), ('id', 'b')]
    """
    values = reversed(_MARK_IN_PATH.findall(path))
    return [(name, value) for name, value in values if _MARK.fullmatch(value)]


def _marks_of(tree: HtmlElement) -> set[int]:
    """Return the hashes of the ids and classes on a page."""
    written = {(name, value) for name, find in _FINDERS for value in cast("list[str]", find(tree))}
    values = {(name, " ".join(value.split())) for name, value in written}
    return {hash_mark(name, value) for name, value in values if _MARK.fullmatch(value)}


class _OpenElement(NamedTuple):
    """An element whose end has not come, with the counts of what stood before it."""

    element: HtmlElement
    path: int  # the index of its path, -1 for one not kept
    n_terms: int
    n_links: int
    n_pagelets: int


class _Pagelet(NamedTuple):
    """A stretch of a page's terms and of its links."""

    first: int
    end: int
    first_link: int
    end_link: int


@dataclass(slots=True)
class _PathWalk:
    """What a walk through a page has found so far."""

    base: str
    paths: list[int] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    terms: list[str] = field(default_factory=list)
    spans: list[list[int]] = field(default_factory=list)  # by path: first, end, first, end
    links: list[str] = field(default_factory=list)
    pagelets: list[_Pagelet] = field(default_factory=list)
    index_by_path: dict[int, int] = field(default_factory=dict)
    # By parent, tag, id and class: saves writing and hashing the step again.
    index_by_key: dict[tuple[object, ...], int] = field(default_factory=dict)
    # Of each open element and of the one around the root: whether a child of it is rich in links.
    has_rich_child: list[bool] = field(default_factory=lambda: [False])

    def run(self, tree: HtmlElement) -> None:
        """Visit all elements in document order, each with what stands behind it."""
        stack: list[HtmlElement | _OpenElement] = [tree]
        open_paths = [-1]
        while stack:
            entry = stack.pop()
            if isinstance(entry, _OpenElement):
                open_paths.pop()
                self._leave(entry)
                self._read(entry.element.tail)
            elif isinstance(entry.tag, str) and entry.tag not in SKIPPED_TAGS:
                opened = self._enter(entry, open_paths[-1])
                open_paths.append(opened.path)
                stack.append(opened)
                stack.extend(reversed(entry))
            else:
                self._read(entry.tail)

    def _enter(self, element: HtmlElement, parent: int) -> _OpenElement:
        opened = _OpenElement(
            element,
            path=self._path_index(element, parent),
            n_terms=len(self.terms),
            n_links=len(self.links),
            n_pagelets=len(self.pagelets),
        )
        if element.tag == "a":
            href = element.get("href")
            if href is not None:
                self.links.append(href)
        self.has_rich_child.append(False)
        self._read(element.text)
        return opened

    def _leave(self, opened: _OpenElement) -> None:
        first, end = opened.n_terms, len(self.terms)
        if not self.has_rich_child.pop():
            # This is a pagelet in place of those below it, unless its parent turns out to be one.
            pagelet = _Pagelet(first, end, opened.n_links, len(self.links))
            self.pagelets[opened.n_pagelets :] = [pagelet]
        self.has_rich_child[-1] |= len(self.links) - opened.n_links >= MIN_RICH
        if opened.path >= 0 and first < end:
            spans = self.spans[opened.path]
            if spans and spans[-1] == first:
                spans[-1] = end
            else:
                spans += (first, end)

    def _path_index(self, element: HtmlElement, parent: int) -> int:
        """Return the index of an element's path, -1 where there are too many."""
        key = (parent, element.tag, element.get("id"), element.get("class"))
        index = self.index_by_key.get(key)
        if index is None:
            index = self.index_by_key[key] = self._new_index(step_of(element), parent)
        return index

    def _new_index(self, step: str, parent: int) -> int:
        is_below_dropped = parent < 0 and bool(self.paths)
        if is_below_dropped or len(self.paths) == MAX_PATHS:
            return -1
        path = hash_step(self.paths[parent] if parent >= 0 else 0, step)
        index = self.index_by_path.setdefault(path, len(self.paths))
        if index == len(self.paths):
            self.paths.append(path)
            self.parents.append(parent)
            self.depths.append(self.depths[parent] + 1 if parent >= 0 else 1)
            self.steps.append(step)
            self.spans.append([])
        return index

    def _read(self, text: str | None) -> None:
        if text and not text.isspace() and len(self.terms) < MAX_TERMS:
            self.terms += terms_of(text)[: MAX_TERMS - len(self.terms)]

    def shingle_of(self, pagelet: _Pagelet) -> int:
        """Return the hash of a pagelet's terms and of the addresses of its links."""
        hrefs = self.links[pagelet.first_link : pagelet.end_link]
        terms = self.terms[pagelet.first : pagelet.end]
        written = "\n".join([" ".join(terms), *map(self._resolve, hrefs)])
        return int(xxhash.xxh64_intdigest(written.encode("utf-8", "surrogatepass")))

    def _resolve(self, href: str) -> str:
        try:
            return urljoin(self.base, href)
        except ValueError:
            return href

    def flat_spans(self) -> list[tuple[int, int, int]]:
        """Return a row of (index of a path, first term, end) for each span."""
        return [
            (index, first, end)
            for index, spans in enumerate(self.spans)
            for first, end in zip(spans[::2], spans[1::2], strict=True)
        ]
