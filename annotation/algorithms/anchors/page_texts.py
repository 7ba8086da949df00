"""The text of a page as a reader sees it, and which node each piece of it stands in.

A displayed text has one blank for any white space, none at its ends, and no characters that show
nothing (U+200B, U+FEFF and their kind). Between blocks (`p`, `td`, `br` and so on) there is a blank
also where the source has none. Scripts, styles, templates and comments show nothing.

One walk, linear in the page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element

from clustering.dom.visible import BLOCKS, INVISIBLE_TAGS
from clustering.values.displayed import displayed


def is_within_word(text: str, index: int) -> bool:
    """Return whether the characters on both sides of an index belong to one word."""
    return 0 < index < len(text) and text[index - 1].isalnum() and text[index].isalnum()


@dataclass(frozen=True, slots=True)
class TextNode:
    """A text node that shows something, and where in the page's text it stands."""

    element: _Element
    number: int  # n of `text()[n]` in the element
    start: int
    end: int
    is_in_head: bool


@dataclass(slots=True)
class PageTexts:
    """A page's tree with its displayed text."""

    tree: _Element
    whole: str = ""
    nodes: list[TextNode] = field(default_factory=list)
    # Of each element that shows something: its first text node and the one after its last.
    range_by_element: dict[_Element, tuple[int, int]] = field(default_factory=dict)
    index_by_node: dict[tuple[_Element, int], int] = field(default_factory=dict)

    def text_of(self, node: TextNode) -> str:
        return self.whole[node.start : node.end]

    def span(self, element: _Element, number: int | None = None) -> tuple[int, int] | None:
        """Return where an element's text, or its n-th text node, stands; None if it shows none."""
        if number is not None:
            index = self.index_by_node.get((element, number))
            return None if index is None else (self.nodes[index].start, self.nodes[index].end)
        first, after = self.range_by_element.get(element, (0, 0))
        return (self.nodes[first].start, self.nodes[after - 1].end) if first < after else None

    def nodes_between(self, start: int, end: int) -> tuple[TextNode, TextNode] | None:
        """Return the text nodes in which a stretch begins and ends; None for a blank one."""
        first = bisect_right(self.nodes, start, key=lambda node: node.end)
        last = bisect_left(self.nodes, end, key=lambda node: node.start) - 1
        return (self.nodes[first], self.nodes[last]) if first <= last < len(self.nodes) else None


def read_texts(tree: _Element) -> PageTexts:
    """Return the page's text and its places."""
    walk = _TextWalk(tree)
    walk.run()
    page = walk.page
    page.whole = "".join(walk.parts)
    return page


class _TextWalk:
    """One walk over a tree."""

    def __init__(self, tree: _Element) -> None:
        self.page = PageTexts(tree)
        self.parts: list[str] = []
        self.length = 0
        self.is_apart = False  # a blank is due before the next text
        self.n_texts: dict[_Element, int] = {}  # of each element, those met so far
        self.first: list[int] = []  # of each open element
        self.is_in_head = False

    def run(self) -> None:
        walker = etree.iterwalk(self.page.tree, events=("start", "end", "comment", "pi"))
        for event, node in walker:
            if event == "start":
                if node.tag in INVISIBLE_TAGS:
                    walker.skip_subtree()
                self.enter(node)
            elif event == "end":
                self.leave(node)
            if event != "start" and node is not self.page.tree and node.tail:
                self.add(node.getparent(), node.tail)

    def enter(self, element: _Element) -> None:
        self.first.append(len(self.page.nodes))
        self.is_apart |= element.tag in BLOCKS
        self.is_in_head |= element.tag == "head"
        if element.text and element.tag not in INVISIBLE_TAGS:
            self.add(element, element.text)

    def leave(self, element: _Element) -> None:
        first = self.first.pop()
        self.is_apart |= element.tag in BLOCKS
        if element.tag == "head":
            self.is_in_head = False
        if first < len(self.page.nodes):
            self.page.range_by_element[element] = (first, len(self.page.nodes))

    def add(self, element: _Element, raw: str) -> None:
        number = self.n_texts[element] = self.n_texts.get(element, 0) + 1
        text = displayed(raw)
        if not text:
            self.is_apart |= any(character.isspace() for character in raw)
            return
        if self.length and (self.is_apart or raw[0].isspace()):
            self.parts.append(" ")
            self.length += 1
        start = self.length
        self.parts.append(text)
        self.length += len(text)
        self.is_apart = raw[-1].isspace()
        self.page.index_by_node[element, number] = len(self.page.nodes)
        self.page.nodes.append(TextNode(element, number, start, self.length, self.is_in_head))
