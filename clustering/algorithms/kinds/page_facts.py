"""Read from a page what tells, together with other pages, of what kind their cluster is.

Notation:   The content is what stands outside the navigation, header and footer of the page; those
            of an article or a list are content. A repeat is a set of siblings of one tag and class.
            Texts and addresses are known by their hashes, so that thousands of pages are small.
Departures: At most MAX_TEXTS texts, MAX_LINKS links and MAX_REPEATS repeats of a page count.
Cost:       One walk over the elements of the content, besides that of `page_kinds`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from math import log1p
from typing import NamedTuple

import xxhash
from lxml import etree
from lxml.etree import _Element

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.titles.page_kinds import NO_KIND, PageKind, read_kind
from clustering.dom.addresses import BadAddress, join_url, normalise_url
from clustering.dom.visible import INVISIBLE_TAGS

MAX_ELEMENTS = 20_000
MAX_TEXTS, MAX_LINKS, MAX_REPEATS = 1_500, 400, 6
MAX_LINKS_OF_REPEAT = 40
MIN_REPEATED = 4  # siblings
MAX_HEADING_CHARS = 300
MAX_HEADINGS = 4
MAX_MESSAGE_CHARS = 600  # of a page that may be nothing but a message

_SKIPPED = INVISIBLE_TAGS | frozenset({"head", "svg", "select"})
_AROUND = frozenset({"nav", "header", "footer"})
# A header within one of these is the header of a part of the content.
_PARTS = frozenset({"main", "article", "section", "li", "td"})
_PAGER = re.compile(r"pagination|pager|page-numbers", re.IGNORECASE)
_ENDING = re.compile(r"(?:/?index\.html?|\.html?|/)$")
# Siblings of these are running text, or parts of one thing.
_NO_RECORDS = frozenset(
    {"p", "br", "span", "a", "b", "i", "em", "strong", "img", "td", "th", "option"}
)


class Repeat(NamedTuple):
    """Siblings of one tag and class."""

    tag: str
    n: int
    share: float  # of the content's text
    links: tuple[int, ...]  # the first link of each


NO_REPEAT = Repeat("", 0, 0.0, ())


@dataclass(frozen=True, slots=True)
class PageFacts:
    """What tells the kind of a page's cluster."""

    url: str
    status: int = 200
    title: str = ""
    heading: str = ""  # the first h1
    shown: PageKind = NO_KIND
    texts: tuple[int, ...] = ()  # of the content, each up to the next tag
    prose_share: float = 0.0  # of the content's text in paragraphs
    links: tuple[int, ...] = ()  # of the content, where they lead, each once
    repeats: tuple[Repeat, ...] = ()  # those with the most text first
    has_pager: bool = False  # links to the next pages of a list, by their class
    message: str = ""  # title and headings, and the text of a page that has little


def read_facts(page: RawPage, status: int = 200) -> PageFacts:
    """Read what tells the kind of a page's cluster; a page without a tree has only its address."""
    tree = page.tree
    if tree is None:
        return PageFacts(page.url, status)
    walk = _ContentWalk(page.url)
    walk.run(next(tree.iter("body"), tree))
    title = _text_of(next(tree.iter("title"), None))
    message = [title, *map(_text_of, islice(tree.iter("h1", "h2"), MAX_HEADINGS))]
    if walk.n_characters <= MAX_MESSAGE_CHARS:
        message += walk.first_texts
    return PageFacts(
        page.url,
        status,
        title=title,
        heading=_text_of(next(tree.iter("h1"), None)),
        shown=read_kind(page),
        texts=tuple(walk.texts),
        prose_share=round(walk.n_prose / max(walk.n_characters, 1), 3),
        links=tuple(walk.links),
        repeats=tuple(walk.largest_repeats()),
        has_pager=any(_PAGER.search(node.get("class") or "") for node in tree.iter("*")),
        message="\n".join(message),
    )


class _Subtree:
    """What was met below an element so far."""

    __slots__ = ("children", "first_link", "n_characters", "tag")

    def __init__(self, tag: str = "") -> None:
        self.tag = tag
        self.n_characters = 0
        self.first_link: int | None = None
        self.children: dict[tuple[str, str], list[_Subtree]] = {}  # by tag and class


class _ContentWalk:
    """The walk through a page's content and what it has met."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.n_characters = self.n_prose = 0
        self.texts: list[int] = []
        self.first_texts: list[str] = []
        self.links: dict[int, None] = {}
        self.repeats: list[list[_Subtree]] = []
        self.open_subtrees = [_Subtree()]
        self.n_paragraphs = self.n_parts = 0  # that are open

    def run(self, body: _Element) -> None:
        """Visit the content in document order; siblings are complete when their parent ends."""
        walk = etree.iterwalk(body, events=("start", "end"))
        skipped: _Element | None = None
        n_elements = 0
        for event, node in walk:
            is_element = type(node.tag) is str
            if event == "start":
                n_elements += 1
                if is_element and (n_elements > MAX_ELEMENTS or self.is_skipped(node)):
                    walk.skip_subtree()
                    skipped = node
                elif is_element:
                    self.open(node)
                continue
            if node is skipped:
                skipped = None
            elif is_element:
                self.close(node)
            if node is not body:
                self.add_text(node.tail)

    def is_skipped(self, node: _Element) -> bool:
        if node.tag in _SKIPPED:
            return True
        is_around = node.tag in _AROUND or node.get("role") == "navigation"
        return is_around and self.n_parts == 0

    def open(self, node: _Element) -> None:
        tag = str(node.tag)
        self.open_subtrees.append(_Subtree(tag))
        self.n_paragraphs += tag == "p"
        self.n_parts += tag in _PARTS
        if tag == "a":
            self.add_link(node.get("href") or "")
        self.add_text(node.text)

    def close(self, node: _Element) -> None:
        closed = self.open_subtrees.pop()
        self.n_paragraphs -= closed.tag == "p"
        self.n_parts -= closed.tag in _PARTS
        self.repeats += [like for like in closed.children.values() if len(like) >= MIN_REPEATED]
        closed.children = {}
        if closed.tag not in _NO_RECORDS and closed.n_characters:
            key = (closed.tag, (node.get("class") or "").split(" ")[0])
            self.open_subtrees[-1].children.setdefault(key, []).append(closed)

    def add_text(self, text: str | None) -> None:
        words = (text or "").split()
        if not words:
            return
        plain = " ".join(words)
        length = len(plain)
        if self.n_characters <= MAX_MESSAGE_CHARS:
            self.first_texts.append(plain)
        self.n_characters += length
        if self.n_paragraphs:
            self.n_prose += length
        for subtree in self.open_subtrees:
            subtree.n_characters += length
        if len(self.texts) < MAX_TEXTS:
            self.texts.append(_hash(plain))

    def add_link(self, href: str) -> None:
        if not href or href.startswith("#") or len(self.links) >= MAX_LINKS:
            return
        try:
            url = normalise_url(join_url(self.url, href))
        except BadAddress:
            return
        link = address_hash(url)
        self.links.setdefault(link)
        for subtree in self.open_subtrees:
            if subtree.first_link is None:
                subtree.first_link = link

    def largest_repeats(self) -> Iterator[Repeat]:
        """Yield the repeats with the most text, of two alike the one of more siblings first."""
        sizes = [sum(subtree.n_characters for subtree in like) for like in self.repeats]
        ordered = sorted(
            zip(self.repeats, sizes, strict=True), key=lambda pair: -pair[1] * log1p(len(pair[0]))
        )
        for like, n_characters in ordered[:MAX_REPEATS]:
            links = dict.fromkeys(
                subtree.first_link for subtree in like if subtree.first_link is not None
            )
            yield Repeat(
                tag=like[0].tag,
                n=len(like),
                share=round(n_characters / max(self.n_characters, 1), 3),
                links=tuple(links)[:MAX_LINKS_OF_REPEAT],
            )


def address_hash(url: str) -> int:
    """Return a hash of an address without what often differs between two addresses of one page.

    >>> address_hash("http://a.b/x/index.html") == address_hash("https://a.b/x/")
    True
    """
    return _hash(_ENDING.sub("", url.partition("#")[0].partition("://")[2]))


def _hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


def _text_of(element: _Element | None) -> str:
    if element is None:
        return ""
    text = "".join(map(str, element.itertext(with_tail=False)))
    return " ".join(text.split())[:MAX_HEADING_CHARS]
