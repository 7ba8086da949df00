"""Number the nodes of sample pages once, so that a set of nodes is an integer's bits.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.2: the nodes of P+ and P- and those of the unannotated pages.
Notation:   n, the number of nodes; node n is the one that does not exist and has itself as parent.
Readings:   Nodes are elements and text nodes that show something, in document order, page after
            page. Annotated pages come first: sets of their nodes are short integers.
Cost:       One walk over each page. Arrays of n numbers, and one list of nodes a tag, attribute
            and word.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np
from lxml.etree import _Element
from numpy.typing import NDArray

from rules.algorithms.learning.nodes import (
    MAX_OPENING_CHARS,
    IndexedNode,
    PageNodes,
    Walks,
    walk,
)
from rules.algorithms.rule.rule import TEXT_TARGET
from rules.algorithms.rule.xpaths import label_of, shown

NodeSet: TypeAlias = int


@dataclass
class NodeIndex:
    """All nodes of some pages."""

    nodes: list[IndexedNode] = field(default_factory=list)
    page_starts: list[int] = field(default_factory=list)
    page_texts: list[str] = field(default_factory=list)
    nodes_by_tag: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    nodes_by_name: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    nodes_by_attribute: dict[tuple[str, str], list[int]] = field(
        default_factory=lambda: defaultdict(list)
    )
    nodes_by_token: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    pages: list[PageNodes] = field(default_factory=list)

    def add(self, page: PageNodes) -> None:
        """Append a page; its numbers begin where those of the others end."""
        self.page_starts.append(page.first)
        self.page_texts.append(page.text)
        self.nodes += page.nodes
        self.pages.append(page)
        _join(self.nodes_by_tag, page.by_tag)
        _join(self.nodes_by_name, page.by_name)
        _join(self.nodes_by_attribute, page.by_attribute)
        _join(self.nodes_by_token, page.by_token)

    @property
    def n_pages(self) -> int:
        return len(self.page_starts)

    @property
    def n(self) -> int:
        return len(self.nodes)

    def nodes_of_page(self, page: int) -> tuple[int, int]:
        """Return the first node of a page and the one after its last."""
        ends = [*self.page_starts[1:], self.n]
        return self.page_starts[page], ends[page]

    @cached_property
    def page_bits(self) -> list[NodeSet]:
        """The nodes of each page."""
        bits = []
        for page in range(self.n_pages):
            first, end = self.nodes_of_page(page)
            bits.append((1 << end) - (1 << first))
        return bits

    @cached_property
    def parents(self) -> NDArray[np.int32]:
        return self._from_pages([page.parents for page in self.pages])

    @cached_property
    def ends(self) -> NDArray[np.int32]:
        return self._from_pages([page.ends for page in self.pages])

    @cached_property
    def befores(self) -> NDArray[np.int32]:
        """Per node the element before it in its parent."""
        return self._from_pages([page.befores for page in self.pages])

    @cached_property
    def n_befores(self) -> NDArray[np.int32]:
        """Per node how many elements come before it in its parent."""
        return _joined([page.n_befores for page in self.pages], -1)

    @cached_property
    def afters(self) -> NDArray[np.int32]:
        """Per node the element after it in its parent."""
        return self._from_pages([page.afters for page in self.pages])

    @cached_property
    def is_text(self) -> NDArray[np.bool_]:
        return np.concatenate([*(page.is_text for page in self.pages), [False]]).astype(np.bool_)

    @cached_property
    def text_lengths(self) -> NDArray[np.int32]:
        """Per node how many characters its own text shows."""
        return _joined([page.text_lengths for page in self.pages], 0)

    @cached_property
    def n_digits(self) -> NDArray[np.int32]:
        """Per node how many digits its own text shows."""
        return _joined([page.n_digits for page in self.pages], 0)

    @cached_property
    def _page_numbers(self) -> NDArray[np.int32]:
        """Per node its page."""
        lengths = [len(page.nodes) for page in self.pages]
        return _joined([np.repeat(np.arange(self.n_pages, dtype=np.int32), lengths)], 0)

    @cached_property
    def text_before(self) -> NDArray[np.int32]:
        """Per node the nearest text node before it on its page."""
        numbers = np.where(self.is_text, np.arange(self.n + 1), -1)
        before = np.concatenate([[-1], np.maximum.accumulate(numbers)[:-1]])
        starts = np.array([*self.page_starts, 0])[self._page_numbers]
        before[before < starts] = self.n
        before[-1] = self.n
        return before.astype(np.int32)

    @cached_property
    def text_after(self) -> NDArray[np.int32]:
        """Per node the nearest text node after all that is in it, on its page."""
        numbers = np.where(self.is_text, np.arange(self.n + 1), self.n)
        following = np.minimum.accumulate(numbers[::-1])[::-1]
        after = following[self.ends]
        last = np.array([*self.page_starts[1:], self.n])
        after[after >= last[self._page_numbers]] = self.n
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
        return [*(label for page in self.pages for label in page.labels), ""]

    @cached_property
    def openings(self) -> list[str]:
        """Per text node the beginning of its text, as a label."""
        return [opening for page in self.pages for opening in page.openings]

    @cached_property
    def texts_by_label(self) -> dict[str, list[int]]:
        texts: dict[str, list[int]] = defaultdict(list)
        for number, label in enumerate(self.labels):
            if label:
                texts[label].append(number)
        return texts

    @cached_property
    def texts_by_initial(self) -> dict[str, list[int]]:
        """The text nodes by the first letter of their labels."""
        texts: dict[str, list[int]] = defaultdict(list)
        for number, opening in enumerate(self.openings):
            if opening:
                texts[opening[0]].append(number)
        return texts

    @cached_property
    def elements_by_label(self) -> dict[str, list[int]]:
        """The elements whose whole text is short enough for an anchor, by that text."""
        elements: dict[str, list[int]] = defaultdict(list)
        for page in self.pages:
            for number, label in page.labelled_elements:
                elements[label].append(page.first + number)
        return elements

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

    def shown_of(self, number: int, target: str) -> str:
        """Return what a target shows: a node's text, or the value of an attribute."""
        node = self.nodes[number]
        if target.startswith("@"):
            return shown(str(node.element.get(target[1:]) or ""))
        return node.shown or shown(self.string(number))

    def nodes_showing(self, page: int, target: str, text: str) -> list[int]:
        """Return the targets of a kind on a page that show a text."""
        known = self._nodes_by_text.get((page, target))
        if known is None:
            known = self._nodes_by_text[page, target] = self._read_texts(page, target)
        return known.get(text, [])

    @cached_property
    def _nodes_by_text(self) -> dict[tuple[int, str], dict[str, list[int]]]:
        return {}

    def _read_texts(self, page: int, target: str) -> dict[str, list[int]]:
        nodes_by_text: dict[str, list[int]] = defaultdict(list)
        for number in range(*self.nodes_of_page(page)):
            if (self.nodes[number].text is not None) == (target == TEXT_TARGET):
                nodes_by_text[self.shown_of(number, target)].append(number)
        return nodes_by_text

    def opening(self, number: int) -> str:
        """Return the beginning of a node's text, as a label."""
        if self.nodes[number].text is not None:
            return self.openings[number]
        return label_of(self.string(number).lstrip()[:MAX_OPENING_CHARS])

    def mask(self, numbers: Iterable[int]) -> NDArray[np.bool_]:
        mask = np.zeros(self.n + 1, dtype=np.bool_)
        mask[np.array(list(numbers), dtype=np.int64)] = True
        return mask

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

    def _from_pages(self, of_pages: Sequence[NDArray[np.int32]]) -> NDArray[np.int32]:
        """Return numbers that are counted within pages as numbers of the index; n for none."""
        shifted = [
            np.where(numbers < 0, self.n, numbers + first)
            for numbers, first in zip(of_pages, self.page_starts, strict=True)
        ]
        return _joined(shifted, self.n)

    @cached_property
    def number_by_part(self) -> dict[tuple[_Element, str], int]:
        """The number of each node, by its element and what of it the node is."""
        return {(node.element, node.part): number for number, node in enumerate(self.nodes)}


def _joined(of_pages: Sequence[NDArray[np.int32]], last: int) -> NDArray[np.int32]:
    return np.concatenate([*of_pages, [last]]).astype(np.int32)


Key = TypeVar("Key")


def _join(table: dict[Key, list[int]], other: dict[Key, list[int]]) -> None:
    for key, numbers in other.items():
        table.setdefault(key, []).extend(numbers)


def number_nodes(trees: Iterable[_Element], walks: Walks | None = None) -> NodeIndex:
    """Return the nodes of the pages; give the annotated pages first."""
    index = NodeIndex()
    nodes_of = walk if walks is None else walks.nodes_of
    for page, tree in enumerate(trees):
        index.add(nodes_of(tree, page, index.n))
    return index
