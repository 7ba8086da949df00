"""Number the elements of a page and count what stands in any run of siblings at one look.

Notation:   The text of a page is one string without white space. An element i has the interval
            [starts[i], stops[i]) of it, and the elements i .. ends[i] - 1 are itself and what is
            below it. A region is (first, last), two siblings; all between them belongs to it.
Readings:   What a browser does not show (scripts, templates, the lists of choices of a form) has no
            text and no children here.
Departures: Of a page, the first 150,000 elements are read; `is_cut` tells that there are more.
Cost:       One walk. The counts of a region are differences of two running sums.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from lxml.etree import _Element

from clustering.dom.visible import HEADINGS, INVISIBLE_TAGS

Region: TypeAlias = tuple[int, int]

# A record shows no text of these either: a picture, the choices of a form, another document.
_TEXTLESS = "head iframe object svg math select textarea canvas video audio"
TEXTLESS_TAGS = INVISIBLE_TAGS | frozenset(_TEXTLESS.split())
BOLD = HEADINGS | {"b", "strong", "th"}
FIELDS = frozenset({"input", "select", "textarea", "button"})
BREAKS = frozenset({"br", "hr"})
_LOOKS = "align valign bgcolor width size color border cellspacing colspan"
LOOKS_ATTRIBUTES = tuple(_LOOKS.split())
MAX_ELEMENTS = 150_000  # what stands behind them is not looked at
TEXT_SUMS = ("linked", "bold", "digits", "chunks", "money")
ELEMENT_SUMS = ("links", "images", "fields", "headings", "breaks")

_DIGITS = re.compile(r"\d")
_MONEY = re.compile(r"[$€£¥₹]|\b(?:usd|eur|gbp)\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True)
class PageModel:
    """The elements of a page in document order, by number."""

    nodes: list[_Element] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    depths: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    stops: list[int] = field(default_factory=list)
    classes: list[str] = field(default_factory=list)  # tag and class, digits folded
    looks: list[int] = field(default_factory=list)  # tag and presentational attributes
    structures: list[int] = field(default_factory=list)  # equal where the trees of tags are equal
    shapes: list[int] = field(default_factory=list)  # equal where the tags of the children are
    chunks: list[str] = field(default_factory=list)  # the text, piece by piece
    chunk_starts: list[int] = field(default_factory=list)
    text_before: dict[str, list[int]] = field(
        default_factory=lambda: {name: [] for name in TEXT_SUMS}
    )
    text_after: dict[str, list[int]] = field(
        default_factory=lambda: {name: [] for name in TEXT_SUMS}
    )
    n_before: dict[str, list[int]] = field(
        default_factory=lambda: {name: [0] for name in ELEMENT_SUMS}
    )
    n_characters: int = 0

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def is_cut(self) -> bool:
        return len(self.nodes) >= MAX_ELEMENTS

    @property
    def text(self) -> str:
        return "".join(self.chunks)

    def text_at(self, start: int, stop: int) -> str:
        """Return a piece of the text."""
        index = max(bisect_right(self.chunk_starts, start) - 1, 0)
        pieces = []
        while index < len(self.chunks) and self.chunk_starts[index] < stop:
            chunk_start = self.chunk_starts[index]
            pieces.append(self.chunks[index][max(start - chunk_start, 0) : stop - chunk_start])
            index += 1
        return "".join(pieces)

    def length(self, region: Region) -> int:
        """Return how many characters a region shows."""
        return self.stops[region[1]] - self.starts[region[0]]

    def interval(self, region: Region) -> tuple[int, int]:
        return self.starts[region[0]], self.stops[region[1]]

    def n_text(self, name: str, region: Region) -> int:
        """Return how many characters (or chunks) of a kind a region has."""
        return self.text_after[name][region[1]] - self.text_before[name][region[0]]

    def n_elements(self, region: Region) -> int:
        return self.ends[region[1]] - region[0]

    def count(self, name: str, region: Region) -> int:
        """Return how many elements of a kind a region has."""
        sums = self.n_before[name]
        return sums[self.ends[region[1]]] - sums[region[0]]

    def has_text(self, element: int) -> bool:
        return self.stops[element] > self.starts[element]

    def siblings(self, region: Region) -> list[int]:
        """Return the elements that a region consists of."""
        first, last = region
        if first == last:
            return [first]
        family = self.children[self.parents[first]]
        return family[bisect_left(family, first) : bisect_right(family, last)]


class _Reader:
    """The walk through a tree and what it has counted so far."""

    def __init__(self) -> None:
        self.page = PageModel()
        self.n_linked_in = 0  # how many links we are within
        self.n_bold_in = 0
        self.sums = dict.fromkeys(TEXT_SUMS, 0)
        self.number_by_key: dict[object, int] = {}
        before, after = self.page.text_before, self.page.text_after
        self.columns = [(name, before[name], after[name]) for name in TEXT_SUMS]
        self.n_before = list(self.page.n_before.values())

    def intern(self, key: object) -> int:
        return self.number_by_key.setdefault(key, len(self.number_by_key))

    def read_text(self, text: str | None) -> None:
        if not text:
            return
        bare = "".join(text.split())
        if not bare:
            return
        page, sums = self.page, self.sums
        page.chunks.append(bare)
        page.chunk_starts.append(page.n_characters)
        page.n_characters += len(bare)
        sums["chunks"] += 1
        sums["digits"] += len(_DIGITS.findall(bare))
        sums["money"] += _MONEY.search(bare) is not None
        sums["linked"] += len(bare) * (self.n_linked_in > 0)
        sums["bold"] += len(bare) * (self.n_bold_in > 0)

    def enter(self, node: _Element, parent: int) -> int:
        page = self.page
        tag, number = str(node.tag), len(page.nodes)
        page.nodes.append(node)
        page.tags.append(tag)
        page.parents.append(parent)
        page.depths.append(page.depths[parent] + 1 if parent >= 0 else 0)
        page.children.append([])
        page.ends.append(0)
        page.starts.append(page.n_characters)
        page.stops.append(0)
        page.structures.append(0)
        page.shapes.append(0)
        if parent >= 0:
            page.children[parent].append(number)
        self._read_attributes(node, tag)
        self._count(node, tag)
        return number

    def leave(self, number: int) -> None:
        page = self.page
        page.ends[number] = len(page.nodes)
        page.stops[number] = page.n_characters
        for name, _, after in self.columns:
            after[number] = self.sums[name]
        tag, family = page.tags[number], page.children[number]
        self.n_linked_in -= tag == "a"
        self.n_bold_in -= tag in BOLD
        page.structures[number] = self.intern((tag, *[page.structures[child] for child in family]))
        region = (number, number)
        traits = (
            page.n_text("linked", region) > 0,
            page.has_text(number),
            page.count("images", region) > 0,
        )
        page.shapes[number] = self.intern(
            (tag, frozenset(page.tags[child] for child in family), traits)
        )

    def _read_attributes(self, node: _Element, tag: str) -> None:
        attributes = node.attrib
        name = str(attributes.get("class", "")) if attributes else ""
        self.page.classes.append(f"{tag}.{_NUMBER.sub('0', name)}" if name else tag)
        looks: tuple[str, ...] = ()
        if attributes:
            looks = tuple(str(attributes.get(attribute, "")) for attribute in LOOKS_ATTRIBUTES)
        self.page.looks.append(self.intern((tag, "looks", looks)))

    def _count(self, node: _Element, tag: str) -> None:
        is_link = tag == "a" and "href" in node.attrib
        # In the order of ELEMENT_SUMS.
        is_of_kind = (is_link, tag == "img", tag in FIELDS, tag in HEADINGS, tag in BREAKS)
        for sums, is_counted in zip(self.n_before, is_of_kind, strict=True):
            sums.append(sums[-1] + is_counted)
        for name, before, after in self.columns:
            before.append(self.sums[name])
            after.append(0)
        self.n_linked_in += tag == "a"
        self.n_bold_in += tag in BOLD


def model_page(tree: _Element) -> PageModel:
    """Return the elements of a page with their intervals and running sums."""
    reader = _Reader()
    stack: list[tuple[Iterator[_Element], int]] = []  # the children still to read, and their parent

    def open_element(node: _Element, parent: int) -> None:
        number = reader.enter(node, parent)
        if node.tag in TEXTLESS_TAGS:
            stack.append((iter(()), number))
        else:
            reader.read_text(node.text)
            stack.append((iter(node), number))

    open_element(tree, -1)
    while stack:
        children, number = stack[-1]
        node = next(children, None) if len(reader.page) < MAX_ELEMENTS else None
        if node is None:
            reader.leave(number)
            stack.pop()
            if stack:
                reader.read_text(reader.page.nodes[number].tail)
            continue
        is_comment = not isinstance(node.tag, str)
        if is_comment:
            reader.read_text(node.tail)
        else:
            open_element(node, number)
    return reader.page
