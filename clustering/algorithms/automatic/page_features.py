"""Reduce a page to what the default clusterer needs: its tag paths, their contents, its texts in order.

Notation:   A path is the tags from the root to an element, without positions and counts. A token
            path is a path with one token of the element's class, its id, itemprop or meta name.
            Both are features, known by a 64-bit hash; the content of a feature is the sum of the
            hashes of the texts that stand at it.
Departures: Scripts and styles have no text. At most MAX_FEATURES features and MAX_TEXTS texts of a
            page count, so that a hostile page is no larger than an honest one.
Cost:       One walk with a stack, linear in the tree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import xxhash
from lxml.etree import _Element
from numpy.typing import NDArray

from clustering.algorithms.grouping import RawPage
from clustering.dom.visible import INVISIBLE_TAGS

Hashes: TypeAlias = NDArray[np.uint64]

MAX_FEATURES = 6000  # ten times what a page of 100 KB has
MAX_TEXTS = 6000
MAX_LABEL = 60  # characters; what is longer names nothing
MAX_HEADING = 120
MAX_TOKENS = 30  # of one element's class

# What is counted on a page, and by which tags.
COUNTED = {
    "links": ("a",),
    "images": ("img", "svg", "picture"),
    "inputs": ("input", "select", "textarea", "button"),
    "rows": ("tr", "li"),
    "paragraphs": ("p", "br"),
    "names of fields": ("dt", "dd", "th"),
    "headings": ("h1", "h2", "h3", "h4", "h5", "h6"),
    "elements": (),
    "text": (),
    "link text": (),
}

_HEADINGS = frozenset({"title", "h1"})
_FRAME = frozenset({"html", "body", "main", "article"})
_DECLARING_PROPERTIES = frozenset({"og:type", "generator"})
_JSON_TYPE = re.compile(r'"@type"\s*:\s*"(\w{1,40})"')
_MAX_JSON_CHARS = 300_000
_MAX_DECLARED = 50
_NUMBER = re.compile(r"\d+")
_NO_PARENT = -1
_64_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class PageFeatures:
    """What is kept of a page; arrays, so that it is small and quick to pass between processes."""

    features: Hashes  # in the order in which they are first met
    contents: Hashes  # of each feature; 0 where no text stands
    owners: NDArray[np.uint32]  # of each feature, the index of its element's path
    places: NDArray[np.uint32]  # of each text, the index of its path among the features
    texts: Hashes  # in document order; 0 for what is too long to be a label
    steps: str  # of each feature: the index of its parent and its own step, one a line
    labels: str  # the short texts themselves, one a line
    title: str  # the text of the page's title element
    heading: str  # the text of its first h1
    frame: str  # class and id tokens of the elements that hold the page together, one a line
    declared: str  # types and generator that the page declares, one a line
    counts: NDArray[np.float32]  # how much there is of each of COUNTED


def observe(page: RawPage) -> PageFeatures:
    """Reduce a page to its features and texts; a page without a tree has none."""
    walk = _Walk()
    if page.tree is not None:
        walk.run(page.tree)
    return walk.result()


def hash_text(text: str) -> int:
    """Return the 64-bit hash of a text; never 0."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) or 1


def label_of(text: str) -> str:
    """Return a text as a label: blanks folded, the colon at its end removed; empty where it is too long.

    >>> label_of(" Opening  hours: ")
    'Opening hours'
    """
    if len(text) > MAX_LABEL * 3:
        return ""
    folded = " ".join(text.split()).rstrip(" :")
    return folded if len(folded) <= MAX_LABEL else ""


def feature_names(page: PageFeatures) -> Iterator[str]:
    """Yield the features as they are shown: `/html/body/div`, `/html/body/div.price`."""
    names: list[str] = []
    for line in page.steps.split("\n") if page.steps else ():
        parent, _, step = line.partition(" ")
        names.append((names[int(parent)] if parent else "") + step)
        yield names[-1]


def _one_line(text: str) -> str:
    return " ".join(text[:MAX_HEADING].split())


class _Walk:
    """One walk over a tree."""

    def __init__(self) -> None:
        self.index_by_step: dict[tuple[int, str], int] = {}
        self.indices_by_element: dict[tuple[object, ...], tuple[int, ...]] = {}
        self.hashes: list[int] = []
        self.contents: list[int] = []
        self.owners: list[int] = []
        self.steps: list[str] = []
        self.places: list[int] = []
        self.texts: list[int] = []
        self.label_by_hash: dict[int, str] = {}
        self.title = self.heading = ""
        self.frame: dict[str, None] = {}
        self.declared: dict[str, None] = {}
        self.n_by_tag: Counter[str] = Counter()
        self.n_text_chars = self.n_link_chars = 0

    def run(self, tree: _Element) -> None:
        """Visit elements and texts in document order; what follows an element comes when it is left."""
        known = self.indices_by_element  # a local name: this loop is what observing a page costs
        above: list[tuple[_Element | None, tuple[int, ...]]] = [(None, (_NO_PARENT,))]
        for node in tree.iter():
            parent = None if node is tree else node.getparent()
            while above[-1][0] is not parent:
                self.leave(above)
            around = above[-1][1]
            tag = node.tag
            indices: tuple[int, ...] = ()
            if around and type(tag) is str:  # no comment, and not within a script
                self.n_by_tag[tag] += 1
                get = node.get
                key = (around[0], tag, get("class"), get("id"), get("itemprop"))
                indices = known.get(key)  # type: ignore[assignment]  # None is replaced at once
                if indices is None or tag == "meta":
                    indices = known[key] = self.number(node, *key)
                if tag in INVISIBLE_TAGS:
                    indices = ()
                elif indices and node.text and (text := node.text.strip()):
                    self.add_text(text, indices)
                    if tag == "a":
                        self.n_link_chars += len(text)
                if tag in _HEADINGS:
                    self.note_heading(tag, node)
                elif tag == "script" and get("type") == "application/ld+json":
                    self.note_types(_JSON_TYPE.findall((node.text or "")[:_MAX_JSON_CHARS]))
            above.append((node, indices))
        while len(above) > 1:
            self.leave(above)

    def leave(self, above: list[tuple[_Element | None, tuple[int, ...]]]) -> None:
        """Leave the last element; the text behind it stands at the one around it."""
        element = above.pop()[0]
        around = above[-1][1]
        if len(above) > 1 and around and element is not None and element.tail:
            text = element.tail.strip()
            if text:
                self.add_text(text, around)

    def number(
        self,
        element: _Element,
        parent: int,
        tag: str,
        class_: str | None,
        id_: str | None,
        prop: str | None,
    ) -> tuple[int, ...]:
        """Return the numbers of the features of a new kind of element; none with too many."""
        if len(self.hashes) >= MAX_FEATURES:
            return ()
        if tag == "meta":
            prop = element.get("name") or element.get("property")
            if prop in _DECLARING_PROPERTIES:
                self.note_types([f"{prop} {_one_line(element.get('content') or '')}"])
        elif element.get("itemtype"):
            self.note_types([_one_line(element.get("itemtype") or "")])
        path = self.index_of(parent, "/" + tag)
        tokens = [f".{token}" for token in dict.fromkeys((class_ or "").split()[:MAX_TOKENS])]
        tokens += [f"#{_one_line(id_)}"] if id_ else []
        tokens += [f"@{_one_line(prop)}"] if prop else []
        if tag in _FRAME:
            self.frame.update((tag + _NUMBER.sub("#", token), None) for token in tokens)
        return (path, *[self.index_of(path, token) for token in tokens])

    def index_of(self, parent: int, step: str) -> int:
        key = (parent, step)
        index = self.index_by_step.get(key)
        if index is None:
            index = self.index_by_step[key] = len(self.hashes)
            has_parent = parent != _NO_PARENT
            self.hashes.append(hash_text(f"{self.hashes[parent] if has_parent else ''}{step}"))
            self.contents.append(0)
            self.owners.append(index if step[0] == "/" else parent)
            self.steps.append(f"{parent if has_parent else ''} {step}")
        return index

    def add_text(self, text: str, indices: tuple[int, ...]) -> None:
        self.n_text_chars += len(text)
        label = label_of(text)
        hashed = hash_text(label or text)
        for index in indices:
            self.contents[index] += hashed
        if len(self.texts) < MAX_TEXTS:
            self.places.append(indices[0])
            self.texts.append(hashed if label else 0)
            if label:
                self.label_by_hash[hashed] = label

    def note_types(self, types: Iterable[str]) -> None:
        for declared in types:
            if len(self.declared) < _MAX_DECLARED:
                self.declared[declared] = None

    def note_heading(self, tag: str, element: _Element) -> None:
        if tag == "title":
            self.title = self.title or " ".join((element.text or "").split())[:MAX_HEADING]
        elif not self.heading:
            text = "".join(map(str, element.itertext(with_tail=False)))
            self.heading = " ".join(text.split())[:MAX_HEADING]

    def result(self) -> PageFeatures:
        return PageFeatures(
            np.array(self.hashes, dtype=np.uint64),
            np.array([content & _64_BITS for content in self.contents], dtype=np.uint64),
            np.array(self.owners, dtype=np.uint32),
            np.array(self.places, dtype=np.uint32),
            np.array(self.texts, dtype=np.uint64),
            "\n".join(self.steps),
            "\n".join(self.label_by_hash.values()),
            self.title,
            self.heading,
            "\n".join(self.frame),
            "\n".join(self.declared),
            self.count(),
        )

    def count(self) -> NDArray[np.float32]:
        """Return how much there is of each of COUNTED."""
        n = {name: sum(self.n_by_tag[tag] for tag in tags) for name, tags in COUNTED.items()}
        n |= {
            "elements": self.n_by_tag.total(),
            "text": self.n_text_chars,
            "link text": self.n_link_chars,
        }
        return np.array(list(n.values()), np.float32)
