"""Number the nodes of sample pages once, so that a set of nodes is an integer's bits.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.2: the
            nodes of P+ and P- and those of the unannotated pages.
Notation:   n, the number of nodes; node n is the one that does not exist and has itself as parent.
Readings:   Nodes are elements and text nodes that show something, in document order, page after page.
            Annotated pages come first: sets of their nodes are short integers.
Cost:       One walk over each page. Arrays of n numbers, and one list of nodes a tag, attribute and word.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from lxml import etree

from rules.algorithms.xpaths import label_of, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lxml.etree import _Element
    from numpy.typing import NDArray

Bits: TypeAlias = int
LONGEST_ANCHOR = 60  # characters
_OPENING = 4 * LONGEST_ANCHOR  # raw characters that may hold an element's label

_DIGIT = re.compile(r"\d")

ITSELF, TEXT, TAIL = "element", "text", "tail"
Place: TypeAlias = "tuple[_Element, str]"  # an element, and what of it is meant


@dataclass(slots=True)
class Node:
    """A node as it was met."""

    page: int
    parent: int
    place: Place
    text: str | None  # of a text node
    shown: str = ""  # the text as it is shown
    end: int = 0  # the number after its last descendant
    start_of_text: int = 0  # where its string begins in the page's text
    end_of_text: int = 0
    before: int = -1  # the element before it in its parent
    n_before: int = 0  # elements before it in its parent
    n_children: int = 0  # elements in it


@dataclass
class Universe:
    """All nodes of some pages."""

    nodes: list[Node] = field(default_factory=list)
    page_starts: list[int] = field(default_factory=list)
    page_texts: list[str] = field(default_factory=list)
    nodes_by_tag: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    nodes_by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    nodes_by_attribute: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    nodes_by_token: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    @property
    def n_pages(self) -> int:
        return len(self.page_starts)

    @property
    def n(self) -> int:
        return len(self.nodes)

    def pages_of(self, page: int) -> tuple[int, int]:
        """Return the first node of a page and the one after its last."""
        ends = [*self.page_starts[1:], self.n]
        return self.page_starts[page], ends[page]

    @cached_property
    def page_bits(self) -> list[Bits]:
        """The nodes of each page."""
        return [
            ((1 << last) - (1 << first)) for first, last in (self.pages_of(p) for p in range(self.n_pages))
        ]

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        return self._numbers([node.parent for node in self.nodes], self.n)

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        return self._numbers([node.end for node in self.nodes], self.n)

    @cached_property
    def befores(self) -> NDArray[np.int32]:
        """Per node the element before it in its parent."""
        return self._numbers([node.before for node in self.nodes], self.n)

    @cached_property
    def n_befores(self) -> NDArray[np.int32]:
        """Per node how many elements come before it in its parent."""
        return np.array([*(node.n_before for node in self.nodes), -1], dtype=np.int32)

    @cached_property
    def afters(self) -> NDArray[np.int32]:
        """Per node the element after it in its parent."""
        found = [self.n] * self.n
        next_in: dict[int, int] = {}
        for number in range(self.n - 1, -1, -1):
            node = self.nodes[number]
            if node.parent >= 0:
                found[number] = next_in.get(node.parent, self.n)
                if node.text is None:
                    next_in[node.parent] = number
        return self._numbers(found, self.n)

    @cached_property
    def is_text(self) -> NDArray[np.bool_]:
        return np.array([*(node.text is not None for node in self.nodes), False])

    @cached_property
    def text_lengths(self) -> NDArray[np.int32]:
        """Per node how many characters its own text shows."""
        return np.array([*(len(node.shown) for node in self.nodes), 0], dtype=np.int32)

    @cached_property
    def n_digits(self) -> NDArray[np.int32]:
        """Per node how many digits its own text shows."""
        return np.array([*(len(_DIGIT.findall(node.shown)) for node in self.nodes), 0], dtype=np.int32)

    @cached_property
    def text_before(self) -> NDArray[np.int32]:
        """Per node the nearest text node before it on its page."""
        numbers = np.where(self.is_text, np.arange(self.n + 1), -1)
        before = np.concatenate([[-1], np.maximum.accumulate(numbers)[:-1]])
        starts = self._numbers([self.page_starts[node.page] for node in self.nodes], 0)
        before[before < starts] = self.n
        before[-1] = self.n
        return before.astype(np.int32)

    @cached_property
    def text_after(self) -> NDArray[np.int32]:
        """Per node the nearest text node after all that is in it, on its page."""
        numbers = np.where(self.is_text, np.arange(self.n + 1), self.n)
        following = np.minimum.accumulate(numbers[::-1])[::-1]
        after = following[self.ends]
        last = self._numbers([self.pages_of(page)[1] for page in range(self.n_pages)], 0)
        pages = self._numbers([node.page for node in self.nodes], 0)
        after[after >= last[pages]] = self.n
        after[-1] = self.n
        return after.astype(np.int32)

    @cached_property
    def first_text(self) -> NDArray[np.int32]:
        """Per element the first text node in it; a text node has none."""
        numbers = np.where(self.is_text, np.arange(self.n + 1), self.n)
        following = np.minimum.accumulate(numbers[::-1])[::-1]
        inside = np.where(following < self.ends, following, self.n)
        return np.where(self.is_text, self.n, inside).astype(np.int32)

    @cached_property
    def labels(self) -> list[str]:
        """Per node its text as an anchor; empty where there is none or it is too long for one."""
        labels = (label_of(node.shown) if len(node.shown) <= _OPENING else "" for node in self.nodes)
        return [*(label if len(label) <= LONGEST_ANCHOR else "" for label in labels), ""]

    @cached_property
    def openings(self) -> list[str]:
        """Per text node the beginning of its text, as a label."""
        labels = zip(self.labels, self.nodes, strict=False)
        return [label or label_of(node.shown[:_OPENING]) for label, node in labels]

    @cached_property
    def texts_by_label(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for number, label in enumerate(self.labels):
            if label:
                found[label].append(number)
        return found

    @cached_property
    def texts_by_initial(self) -> dict[str, list[int]]:
        """The text nodes by the first letter of their labels."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, opening in enumerate(self.openings):
            if opening:
                found[opening[0]].append(number)
        return found

    @cached_property
    def elements_by_label(self) -> dict[str, list[int]]:
        """The elements whose whole text is short enough for an anchor, by that text."""
        sums = np.cumsum([0, *(len(node.shown) for node in self.nodes)])
        lengths = sums[self.ends[:-1]] - sums[:-1]
        short = (lengths > 0) & (lengths <= _OPENING) & ~self.is_text[:-1]
        found: dict[str, list[int]] = defaultdict(list)
        for number in np.flatnonzero(short).tolist():
            first = int(self.first_text[number])
            is_alone = len(self.nodes[first].shown) == lengths[number]
            label = self.labels[first] if is_alone else label_of(self.string(number))
            if label and len(label) <= LONGEST_ANCHOR:
                found[label].append(number)
        return found

    @cached_property
    def shown_texts(self) -> list[str]:
        """Per node its whole text as it is shown."""
        return [node.shown or shown(self.string(number)) for number, node in enumerate(self.nodes)]

    def string(self, number: int) -> str:
        """Return a node's string as XPath has it."""
        node = self.nodes[number]
        if node.text is not None:
            return node.text
        return self.page_texts[node.page][node.start_of_text : node.end_of_text]

    def opening(self, number: int) -> str:
        """Return the beginning of a node's text, as a label."""
        if self.nodes[number].text is not None:
            return self.openings[number]
        return label_of(self.string(number).lstrip()[:_OPENING])

    def mask(self, numbers: Iterable[int]) -> NDArray[np.bool_]:
        found = np.zeros(self.n + 1, dtype=np.bool_)
        found[np.array(list(numbers), dtype=np.int64)] = True
        return found

    def lift(self, mask: NDArray[np.bool_], level: int) -> NDArray[np.bool_]:
        """Return the nodes whose ancestor `level` steps up is in the mask."""
        return mask[self._ancestors(level)] if level else mask

    def _ancestors(self, level: int) -> NDArray[np.int32]:
        while len(self._ancestors_by_level) <= level:
            self._ancestors_by_level.append(self.parents[self._ancestors_by_level[-1]])
        return self._ancestors_by_level[level]

    @cached_property
    def _ancestors_by_level(self) -> list[NDArray[np.int32]]:
        return [np.arange(self.n + 1, dtype=np.int32)]

    def _numbers(self, numbers: Sequence[int], last: int) -> NDArray[np.int32]:
        found = np.array([*numbers, last], dtype=np.int32)
        found[found < 0] = self.n
        return found

    @cached_property
    def number_by_place(self) -> dict[Place, int]:
        """The number of each node, by its place in the tree."""
        return {node.place: number for number, node in enumerate(self.nodes)}


def number_nodes(trees: Iterable[_Element]) -> Universe:
    """Return the nodes of the pages; give the annotated pages first."""
    universe = Universe()
    for page, tree in enumerate(trees):
        universe.page_starts.append(len(universe.nodes))
        _PageWalk(universe, page).walk(tree)
    return universe


def _as_text(pair: tuple[str | bytes, str | bytes]) -> tuple[str, str]:
    return pair  # type: ignore[return-value]  # lxml gives str here; its types allow for bytes


class _PageWalk:
    """One walk over a page in document order, which adds its nodes."""

    def __init__(self, universe: Universe, page: int) -> None:
        self.universe = universe
        self.page = page
        self.open: list[int] = []  # the elements that the walk is in
        self.last: list[tuple[int, int]] = [(-1, 0)]  # per open element: its last child, and how many
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
        self.universe.page_texts.append("".join(self.texts))

    def add(self, place: Place, text: str | None) -> Node:
        before, n_before = self.last[-1]
        node = Node(self.page, self.open[-1] if self.open else -1, place, text)
        node.before, node.n_before, node.start_of_text = before, n_before, self.length
        self.universe.nodes.append(node)
        return node

    def add_text(self, element: _Element, part: str, text: str | None) -> None:
        if not text:
            return
        if not text.isspace() and (as_shown := shown(text)):
            node = self.add((element, part), text)
            node.shown, node.end = as_shown, len(self.universe.nodes)
        self.texts.append(text)
        self.length += len(text)

    def begin(self, element: _Element) -> None:
        node = self.add((element, ITSELF), None)
        number = len(self.universe.nodes) - 1
        self.last[-1] = (number, node.n_before + 1)
        self.open.append(number)
        self.last.append((-1, 0))
        universe = self.universe
        universe.nodes_by_tag[str(element.tag)].append(number)
        for name, value in map(_as_text, element.items()):
            universe.nodes_by_name[name].append(number)
            universe.nodes_by_attribute[name, value].append(number)
            if name == "class":
                for token in set(value.split()):
                    universe.nodes_by_token[token].append(number)

    def finish(self) -> None:
        node = self.universe.nodes[self.open.pop()]
        node.end, node.end_of_text = len(self.universe.nodes), self.length
        node.n_children = self.last.pop()[1]
