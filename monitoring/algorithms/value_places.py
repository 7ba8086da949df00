"""Find the nodes of a page that show a value, in whatever form its type allows.

Notation:   A place is a node that shows a value; its shape is its path without positions, with the
            classes of the nearest elements; its label the text before it, in its own node or in
            the one before.
Readings:   None; the module serves `repair`.
Departures: Places are text nodes, elements that show the value and nothing else, parts of text
            nodes between word boundaries, and attributes that hold an address or a text.
Cost:       One walk over the page, then one look at each text node for each value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.anchors.anchoring import locate
from annotation.algorithms.anchors.node_paths import AnchorProblem, PageNode, select_nodes
from annotation.algorithms.anchors.page_index import PageIndex
from annotation.algorithms.anchors.page_texts import TextNode, is_within_word
from monitoring.algorithms.known_values import (
    ADDRESSES,
    amount_of,
    form_of,
    is_of_type,
    plain,
    typed_form,
)
from monitoring.algorithms.site_change import without_positions

MOST_PLACES: Final = 60  # of one value on one page
NEAR: Final = 0.1  # of a number, that it may have changed by
SMALLEST_NEAR: Final = 20  # smaller numbers have too many others near them
LONGEST_LABEL: Final = 60
MIN_FRAME_LETTERS: Final = 3
MAX_FRAMED_CHARS: Final = 200  # of a text in which a value stands among words
N_CLASSES: Final = 3  # elements whose classes are part of a shape
ADDRESS_ATTRIBUTES: Final = (
    "href",
    "src",
    "data-src",
    "content",
    "poster",
    "data-original",
    "data-image",
)
TEXT_ATTRIBUTES: Final = (
    "content",
    "datetime",
    "value",
    "data-value",
    "title",
    "alt",
    "aria-label",
)
_DIGITS = re.compile(r"\d+")


class ValuePlace(NamedTuple):
    """A node that shows a value."""

    xpath: str
    text: str  # the value as it is written here
    is_whole: bool  # whether the node shows nothing else
    shape: str
    label: str
    tag: str
    position: float  # on the page, from 0 to 1


class ValueFrame(NamedTuple):
    """The words around a value in its text: of "100 days on market" what follows."""

    prefix: str
    suffix: str

    @property
    def is_telling(self) -> bool:
        """Return whether the words tell one kind of value from others."""
        return sum(map(str.isalpha, self.prefix + self.suffix)) >= MIN_FRAME_LETTERS

    def cut(self, text: str) -> str:
        """Return what stands between the words in a text; nothing where they are not its ends.

        >>> ValueFrame("", " days").cut("12 days")
        '12'
        """
        is_framed = text.startswith(self.prefix) and text.endswith(self.suffix)
        if not is_framed or len(text) <= len(self.prefix) + len(self.suffix):
            return ""
        return text[len(self.prefix) : len(text) - len(self.suffix)].strip()


class ValueIndex(PageIndex):
    """A page with its texts, in which values are looked for."""

    def __init__(self, tree: _Element) -> None:
        super().__init__(tree)
        self._shapes: dict[_Element, str] = {}

    def find(self, kind: str, value: str) -> list[ValuePlace]:
        """Return the places of a value of a type, in the order of the kinds of places."""
        place_by_xpath: dict[str, ValuePlace] = {}
        finders: list[Callable[[str, str], Iterator[ValuePlace]]] = [self._addresses]
        if kind not in ADDRESSES:
            finders = [self._wholes, self._elements, self._parts, self._attributes]
        for finder in finders:
            for place in finder(kind, value):
                place_by_xpath.setdefault(place.xpath, place)
                if len(place_by_xpath) >= MOST_PLACES:
                    return list(place_by_xpath.values())
        return list(place_by_xpath.values())

    def find_near(self, value_type: str, value: str) -> list[ValuePlace]:
        """Return the places of the other numbers that a changing value may have become."""
        amount = amount_of(value_type, value)
        if amount is None or abs(amount) < SMALLEST_NEAR:
            return []
        near: list[TextNode] = []
        for other, nodes in self._nodes_by_amount(value_type).items():
            if other != amount and abs(other - amount) <= NEAR * abs(amount):
                near += nodes
        near.sort(key=lambda node: node.start)
        return [
            self._text_place(node, self.texts.text_of(node), is_whole=True)
            for node in near[:MOST_PLACES]
        ]

    def find_framed(self, value_type: str, frames: Collection[ValueFrame]) -> list[ValuePlace]:
        """Return the places of values of a type between words that stood around such values."""
        places = []
        for node in self.nodes:
            text = self.texts.text_of(node)
            for frame in frames:
                value = frame.cut(text)
                if value and is_of_type(value_type, value):
                    places.append(
                        self._text_place(
                            node, value, is_whole=False, prefix=text[: len(frame.prefix)]
                        )
                    )
                    break
        return places[:MOST_PLACES]

    def frame_at(self, xpath: str, value: str) -> ValueFrame | None:
        """Return the words around a value in the node of a path; None where it is not there."""
        try:
            nodes = select_nodes(self.tree, xpath)
        except AnchorProblem:
            return None
        span = self.texts.span(nodes[0].element, nodes[0].number or None) if nodes else None
        text = self.texts.whole[span[0] : span[1]] if span else ""
        stretch = locate(text, value) if text and len(text) <= MAX_FRAMED_CHARS else None
        if stretch is None:
            return None
        start, end = stretch
        return ValueFrame(text[:start], text[end:])

    def place_at(self, xpath: str, text: str) -> ValuePlace | None:
        """Return the place of a node that is known by its path; None where it is not there."""
        try:
            nodes = select_nodes(self.tree, xpath)
        except AnchorProblem:
            return None
        if not nodes:
            return None
        node = nodes[0]
        return self._place(node, text, self._start(node), is_whole=True)

    def place_within(
        self, element: _Element, number: int, stretch: tuple[int, int]
    ) -> ValuePlace | None:
        """Return the place of a stretch of an element's n-th text; None if the page shows none."""
        index = self.texts.index_by_node.get((element, number))
        if index is None:
            return None
        node = self.texts.nodes[index]
        text = self.texts.text_of(node)
        start, end = stretch
        is_whole = stretch == (0, len(text))
        return self._text_place(node, text[start:end], is_whole=is_whole, prefix=text[:start])

    def n_at(self, shape: str, label: str | None) -> int:
        """Return how many texts stand at a shape, behind a label unless that is None."""
        if "|@" in shape:
            return self._n_by_attribute_slot[shape, label]
        whole_shape = shape.removesuffix("|part")
        if label is None:
            return self.n_by_shape[whole_shape]
        return self.n_by_labelled_shape[whole_shape, label]

    @cached_property
    def n_by_labelled_shape(self) -> Counter[tuple[str, str]]:
        """How many text nodes have each shape and label."""
        return Counter((self._shape(node.element), self._label(node)) for node in self.nodes)

    @cached_property
    def n_by_shape(self) -> Counter[str]:
        """How many text nodes have each shape."""
        return Counter(self._shape(node.element) for node in self.nodes)

    @cached_property
    def _n_by_attribute_slot(self) -> Counter[tuple[str, str | None]]:
        """How many attributes with a text have each shape, and each shape with each label."""
        n_by_slot: Counter[tuple[str, str | None]] = Counter()
        for element, name, _ in self._held(tuple({*ADDRESS_ATTRIBUTES, *TEXT_ATTRIBUTES})):
            shape = f"{self._shape(element)}|@{name}"
            n_by_slot[shape, None] += 1
            n_by_slot[shape, _label_of_attribute(element)] += 1
        return n_by_slot

    def _wholes(self, value_type: str, value: str) -> Iterator[ValuePlace]:
        nodes = list(self.nodes_by_form(plain, plain).get(plain(value), ()))
        form = typed_form(value_type, value)
        if form is not None:
            nodes += [
                node for node in self._nodes_of(value_type).get(form, ()) if node not in nodes
            ]
        for node in nodes:
            yield self._text_place(node, self.texts.text_of(node), is_whole=True)

    def _elements(self, _value_type: str, value: str) -> Iterator[ValuePlace]:
        wanted = plain(value)
        seen: set[tuple[int, int]] = set()
        for shown in self.elements:
            if (shown.first, shown.after) in seen:
                continue  # an inner element shows the same texts
            if not len(wanted) <= shown.end - shown.start <= 2 * len(value) + 4:
                continue
            text = self.texts.whole[shown.start : shown.end]
            if plain(text) == wanted:
                seen.add((shown.first, shown.after))
                yield self._place(PageNode(shown.element), text, shown.start, is_whole=True)

    def _parts(self, _kind: str, value: str) -> Iterator[ValuePlace]:
        for node in self.nodes:
            text = self.texts.text_of(node)
            if value not in text or len(text) <= len(value):
                continue
            stretch = locate(text, value)
            if stretch is None:
                continue
            start, end = stretch
            if not is_within_word(text, start) and not is_within_word(text, end):
                yield self._text_place(node, text[start:end], is_whole=False, prefix=text[:start])

    def _attributes(self, _kind: str, value: str) -> Iterator[ValuePlace]:
        for element, name, held in self._held(TEXT_ATTRIBUTES):
            if plain(held) == plain(value):
                yield self._attribute_place(element, name, held)

    def _addresses(self, kind: str, value: str) -> Iterator[ValuePlace]:
        wanted = form_of(kind, value)
        for element, name, held in self._held(ADDRESS_ATTRIBUTES):
            if held == value or form_of(kind, held) == wanted:
                yield self._attribute_place(element, name, held)
        yield from self._wholes("text", value)

    def _held(self, names: tuple[str, ...]) -> Iterator[tuple[_Element, str, str]]:
        for element in self.tree.iter("*"):
            for name in names:
                held = element.get(name)
                if held:
                    yield element, name, str(held)

    def _nodes_by_amount(self, value_type: str) -> Mapping[float, Sequence[TextNode]]:
        return self.nodes_by_form((amount_of, value_type), partial(amount_of, value_type))

    def _nodes_of(self, value_type: str) -> Mapping[Hashable, Sequence[TextNode]]:
        """Return the text nodes that are values of a type, by what they mean."""
        return self.nodes_by_form((typed_form, value_type), partial(typed_form, value_type))

    def _text_place(
        self, node: TextNode, text: str, *, is_whole: bool, prefix: str = ""
    ) -> ValuePlace:
        label = _as_label(prefix) or self._label(node)
        page_node = PageNode(node.element, node.number)
        shape = self._shape(node.element) + ("" if is_whole else "|part")
        return ValuePlace(
            page_node.xpath,
            text,
            is_whole,
            shape,
            label,
            str(node.element.tag),
            self._share(node.start),
        )

    def _attribute_place(self, element: _Element, name: str, text: str) -> ValuePlace:
        page_node = PageNode(element, name=name)
        shape = f"{self._shape(element)}|@{name}"
        label = _label_of_attribute(element)
        start = self._start(PageNode(element))
        return ValuePlace(
            page_node.xpath, text, True, shape, label, str(element.tag), self._share(start)
        )

    def _place(self, node: PageNode, text: str, start: int, *, is_whole: bool) -> ValuePlace:
        first = self.texts.range_by_element.get(node.element, (0, 0))[0]
        at = (
            self.texts.index_by_node.get((node.element, node.number), first)
            if node.number
            else first
        )
        label = self._label(self.texts.nodes[at]) if self.texts.nodes else ""
        shape = self._shape(node.element) + (f"|@{node.name}" if node.name else "")
        return ValuePlace(
            node.xpath, text, is_whole, shape, label, str(node.element.tag), self._share(start)
        )

    def _start(self, node: PageNode) -> int:
        span = self.texts.span(node.element, node.number or None)
        if span:
            return span[0]
        before = node.element.getprevious()
        span = self.texts.span(before) if before is not None else None
        return span[1] if span else 0

    def _share(self, start: int) -> float:
        return start / max(len(self.texts.whole), 1)

    def _shape(self, element: _Element) -> str:
        if element not in self._shapes:
            path = without_positions(self.tree.getroottree().getpath(element))
            classes, node = [], element
            for _ in range(N_CLASSES):
                classes.append(
                    _DIGITS.sub("", str(node.get("itemprop") or node.get("class") or ""))
                )
                parent = node.getparent()
                if parent is None:
                    break
                node = parent
            self._shapes[element] = f"{path} {' '.join(classes)}"
        return self._shapes[element]

    def _label(self, node: TextNode) -> str:
        """Return the text before a text node, if it is short enough to be a label."""
        index = self.texts.index_by_node.get((node.element, node.number), 0)
        return _as_label(self.texts.text_of(self.texts.nodes[index - 1])) if index else ""


def _label_of_attribute(element: _Element) -> str:
    """Return what an element is named by, such as the property of a meta element."""
    return _as_label(
        element.get("property") or element.get("name") or element.get("itemprop") or ""
    )


def _as_label(text: str) -> str:
    return _DIGITS.sub("0", plain(text)) if len(text) <= LONGEST_LABEL else ""
