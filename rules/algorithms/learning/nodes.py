"""Number the nodes of one page, and retain the walks over pages that are asked for again.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.2: the nodes of P+ and P- and those of the unannotated pages.
Readings:   As in `node_index`, of which a page is a part.
Cost:       One walk over a page; a page that is known costs nothing at its old place, and a copy
            of its nodes where other pages come before it now.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, TypeAlias, TypeVar

import numpy as np
from lxml import etree
from lxml.etree import _Element
from numpy.typing import NDArray

from rules.algorithms.rule.xpaths import label_of, shown

Numbers: TypeAlias = NDArray[np.int32]

MAX_ANCHOR_CHARS = 60
MAX_OPENING_CHARS = 4 * MAX_ANCHOR_CHARS  # raw characters that may hold an element's label

Key = TypeVar("Key")
Value = TypeVar("Value")

_DIGIT = re.compile(r"\d")

ITSELF, TEXT, TAIL = "element", "text", "tail"  # what of an element a node is


@dataclass(slots=True)
class IndexedNode:
    """An element or a text node as the walk over its page met it."""

    page: int
    parent: int
    element: _Element  # the node itself, or the one that holds the text in lxml
    part: str  # ITSELF, TEXT or TAIL
    text: str | None  # of a text node
    shown: str = ""  # the text as it is shown
    end: int = 0  # the number after its last descendant
    start_of_text: int = 0  # where its string begins in the page's text
    end_of_text: int = 0
    before: int = -1  # the element before it in its parent
    n_before: int = 0  # elements before it in its parent
    n_children: int = 0  # elements in it


@dataclass
class PageNodes:
    """The nodes of one page, as a walk over it found them, numbered from some number on."""

    page: int
    first: int  # the number of its first node
    nodes: list[IndexedNode] = field(default_factory=list)
    text: str = ""
    by_tag: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    by_attribute: dict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )
    by_token: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    known: dict[str, Any] = field(default_factory=dict)  # what does not depend on the numbers

    def renumbered(self, page: int, first: int) -> PageNodes:
        """Return the same nodes as another page that begins with another number."""
        if (page, first) == (self.page, self.first):
            return self
        shift = first - self.first
        return PageNodes(
            page,
            first,
            nodes=[_shifted_node(node, page, shift) for node in self.nodes],
            text=self.text,
            by_tag=_shifted(self.by_tag, shift),
            by_name=_shifted(self.by_name, shift),
            by_attribute=_shifted(self.by_attribute, shift),
            by_token=_shifted(self.by_token, shift),
            known=self.known,
        )

    def once(self, name: str, compute: Callable[[], Value]) -> Value:
        """Return what is known of the page whatever its numbers are; compute it the first time."""
        if name not in self.known:
            self.known[name] = compute()
        value: Value = self.known[name]
        return value

    @property
    def labels(self) -> list[str]:
        """Per node its text as an anchor; empty where there is none or it is too long for one."""
        return self.once("labels", self._labels)

    def _labels(self) -> list[str]:
        labels = []
        for node in self.nodes:
            label = label_of(node.shown) if len(node.shown) <= MAX_OPENING_CHARS else ""
            labels.append(label if len(label) <= MAX_ANCHOR_CHARS else "")
        return labels

    @property
    def openings(self) -> list[str]:
        """Per text node the beginning of its text, as a label."""
        return self.once("openings", self._openings)

    def _openings(self) -> list[str]:
        return [
            label or label_of(node.shown[:MAX_OPENING_CHARS])
            for label, node in zip(self.labels, self.nodes, strict=True)
        ]

    @property
    def parents(self) -> Numbers:
        """Per node its parent, counted from the page's first node; -1 for none."""
        return self.once("parents", lambda: self._from_first([node.parent for node in self.nodes]))

    @property
    def ends(self) -> Numbers:
        return self.once("ends", lambda: self._from_first([node.end for node in self.nodes]))

    @property
    def befores(self) -> Numbers:
        """Per node the element before it in its parent."""
        return self.once("befores", lambda: self._from_first([node.before for node in self.nodes]))

    @property
    def afters(self) -> Numbers:
        """Per node the element after it in its parent."""
        return self.once("afters", self._afters)

    def _afters(self) -> Numbers:
        afters = np.full(len(self.nodes), -1, dtype=np.int32)
        next_in: dict[int, int] = {}  # per parent the element that the walk backwards met last
        for number in range(len(self.nodes) - 1, -1, -1):
            node = self.nodes[number]
            if node.parent < 0:
                continue
            afters[number] = next_in.get(node.parent, -1)
            if node.text is None:
                next_in[node.parent] = number
        return afters

    @property
    def n_befores(self) -> Numbers:
        return self.once("n_befores", lambda: _array([node.n_before for node in self.nodes]))

    @property
    def text_lengths(self) -> Numbers:
        return self.once("text_lengths", lambda: _array([len(node.shown) for node in self.nodes]))

    @property
    def n_digits(self) -> Numbers:
        return self.once(
            "n_digits", lambda: _array([len(_DIGIT.findall(node.shown)) for node in self.nodes])
        )

    @property
    def is_text(self) -> NDArray[np.bool_]:
        return self.once(
            "is_text", lambda: np.array([n.text is not None for n in self.nodes], dtype=np.bool_)
        )

    @property
    def labelled_elements(self) -> list[tuple[int, str]]:
        """The elements whose whole text is short enough for an anchor, numbered from the first."""
        return self.once("labelled_elements", self._labelled_elements)

    def _labelled_elements(self) -> list[tuple[int, str]]:
        length_before = np.cumsum([0, *self.text_lengths])
        lengths = length_before[self.ends] - length_before[:-1]  # of all text in a node
        # Per node the number of the first text node from it on: of an element with text its
        # first one.
        text_numbers = np.where(self.is_text, np.arange(len(self.nodes)), len(self.nodes))
        first_texts = np.minimum.accumulate(text_numbers[::-1])[::-1]
        is_short = (lengths > 0) & (lengths <= MAX_OPENING_CHARS) & ~self.is_text
        labelled = []
        for number in np.flatnonzero(is_short).tolist():
            node, first_text = self.nodes[number], int(first_texts[number])
            if len(self.nodes[first_text].shown) == lengths[number]:  # its only text
                label = self.labels[first_text]
            else:
                label = label_of(self.text[node.start_of_text : node.end_of_text])
            if label and len(label) <= MAX_ANCHOR_CHARS:
                labelled.append((number, label))
        return labelled

    def _from_first(self, numbers: Sequence[int]) -> Numbers:
        """Return numbers of nodes counted from the page's first one; -1 stays."""
        array = _array(numbers)
        return np.where(array < 0, -1, array - self.first).astype(np.int32)


def _array(numbers: Sequence[int]) -> Numbers:
    return np.array(numbers, dtype=np.int32)


def _shifted(table: dict[Key, list[int]], shift: int) -> dict[Key, list[int]]:
    return {key: [number + shift for number in numbers] for key, numbers in table.items()}


def _shifted_node(node: IndexedNode, page: int, shift: int) -> IndexedNode:
    return replace(
        node,
        page=page,
        parent=node.parent + shift if node.parent >= 0 else -1,
        end=node.end + shift,
        before=node.before + shift if node.before >= 0 else -1,
    )


class Walks:
    """The walks over some trees, kept for the next index of one; the trees must not change."""

    def __init__(self, max_nodes: int) -> None:
        self._max_nodes = max_nodes
        self._by_tree: dict[_Element, PageNodes] = {}  # the one asked for the longest ago first
        self._lock = Lock()

    def nodes_of(self, tree: _Element, page: int, first: int) -> PageNodes:
        with self._lock:
            known = self._by_tree.pop(tree, None)
        nodes = known.renumbered(page, first) if known else walk(tree, page, first)
        with self._lock:
            self._by_tree[tree] = nodes
            n_retained = sum(len(walked.nodes) for walked in self._by_tree.values())
            while n_retained > self._max_nodes:
                oldest = next(iter(self._by_tree))
                n_retained -= len(self._by_tree.pop(oldest).nodes)
        return nodes


def walk(tree: _Element, page: int, first: int) -> PageNodes:
    """Return the nodes of a page, numbered from `first` on."""
    nodes = PageNodes(page, first)
    _PageWalk(nodes).walk(tree)
    return nodes


def _as_text(pair: tuple[str | bytes, str | bytes]) -> tuple[str, str]:
    return pair  # type: ignore[return-value]  # lxml gives str here; its types allow for bytes


class _PageWalk:
    """One walk over a page in document order, which adds its nodes."""

    def __init__(self, page: PageNodes) -> None:
        self.page = page
        self.nodes = page.nodes
        self.open: list[int] = []  # the elements that the walk is in
        # Of the page and each open element, its last child so far (-1: none), and how many it has.
        self.last_children: list[tuple[int, int]] = [(-1, 0)]
        self.texts: list[str] = []
        self.length = 0

    def walk(self, tree: _Element) -> None:
        for event, element in etree.iterwalk(tree, events=("start", "end", "comment", "pi")):
            if event == "start":
                self.begin(element)
                self.add_text(element, TEXT, element.text)
                continue
            if event == "end":
                self.finish()
            if element is not tree:
                self.add_text(element, TAIL, element.tail)
        self.page.text = "".join(self.texts)

    def add(self, element: _Element, part: str, text: str | None) -> IndexedNode:
        before, n_before = self.last_children[-1]
        parent = self.open[-1] if self.open else -1
        node = IndexedNode(self.page.page, parent, element, part, text)
        node.before, node.n_before, node.start_of_text = before, n_before, self.length
        self.nodes.append(node)
        return node

    def add_text(self, element: _Element, part: str, text: str | None) -> None:
        if not text:
            return
        shown_text = "" if text.isspace() else shown(text)
        if shown_text:
            node = self.add(element, part, text)
            node.shown, node.end = shown_text, self.page.first + len(self.nodes)
        self.texts.append(text)
        self.length += len(text)

    def begin(self, element: _Element) -> None:
        """Add an element, open it as its parent's last child, and index what it is found by."""
        page = self.page
        node = self.add(element, ITSELF, None)
        number = page.first + len(self.nodes) - 1
        self.last_children[-1] = (number, node.n_before + 1)
        self.open.append(number)
        self.last_children.append((-1, 0))
        page.by_tag[str(element.tag)].append(number)
        for name, value in map(_as_text, element.items()):
            page.by_name[name].append(number)
            page.by_attribute[name, value].append(number)
            if name == "class":
                for token in set(value.split()):
                    page.by_token[token].append(number)

    def finish(self) -> None:
        node = self.nodes[self.open.pop() - self.page.first]
        node.end, node.end_of_text = self.page.first + len(self.nodes), self.length
        _, node.n_children = self.last_children.pop()
