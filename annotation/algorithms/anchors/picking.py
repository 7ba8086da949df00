"""Turn a place on a shown page into the anchor of a value, and an anchor into what is drawn.

A shown page numbers its elements from 0 in document order, and the text nodes of an element from 0.
A place in a text node counts the characters of the text as the source has it, blanks and all.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from lxml.etree import _Element

from annotation.algorithms.anchors.anchoring import (
    Anchor,
    anchor_node,
    anchor_part,
    context_around,
    displayed_text,
)
from annotation.algorithms.anchors.node_paths import (
    AnchorProblem,
    PageNode,
    raw_text,
    select_node,
    texts_of,
)
from annotation.algorithms.anchors.page_texts import PageTexts, TextNode
from clustering.values.displayed import displayed


class NoSuchPlace(AnchorProblem):
    """The page has no such element or text node."""


@dataclass(frozen=True, slots=True)
class PickedPlace:
    """A place on a shown page: an element, or a stretch from a text node to the same or another."""

    number: int
    text_node: int | None = None  # None: the whole element
    start: int = 0
    end: int = 0  # in the text node in which the stretch ends
    end_number: int | None = None  # None: it ends in the same element
    end_text_node: int | None = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """Where a value is drawn: on an element, in part of a text of it, or up to another element."""

    number: int
    # Text node, start, end; with an end number the text node of the end.
    text: tuple[int, ...] | None = None
    end_number: int | None = None


class NumberedPage:
    """A page's texts with the numbers of its elements."""

    def __init__(self, texts: PageTexts) -> None:
        self.texts = texts
        self.elements: list[_Element] = list(texts.tree.iter("*"))
        self._numbers: dict[_Element, int] = {}

    def element(self, number: int) -> _Element:
        """Return the element of that number. Raises NoSuchPlace."""
        if not 0 <= number < len(self.elements):
            n_elements = len(self.elements)
            raise NoSuchPlace(
                f"the page has {n_elements:,} elements and none with the number {number}"
            )
        return self.elements[number]

    def number_of(self, element: _Element) -> int:
        if not self._numbers:
            self._numbers = {element: number for number, element in enumerate(self.elements)}
        return self._numbers[element]


def anchor_place(page: NumberedPage, place: PickedPlace) -> Anchor:
    """Return the anchor of a place: the whole element, or the stretch. Raises AnchorProblem."""
    element = page.element(place.number)
    if place.text_node is None:
        return anchor_node(page.texts, PageNode(element).xpath)
    last_element = element if place.end_number is None else page.element(place.end_number)
    last_number = place.text_node if place.end_text_node is None else place.end_text_node
    first, last = _text_node(element, place.text_node), _text_node(last_element, last_number)
    begin = _place_in_page(page.texts, first, place.start)
    return anchor_stretch(page.texts, begin, _place_in_page(page.texts, last, place.end))


def anchor_stretch(page: PageTexts, start: int, end: int) -> Anchor:
    """Return the anchor of a stretch of the page's text, without the blanks at its ends.

    Raises AnchorProblem where it is blank.
    """
    whole = page.whole
    while start < end and whole[start] == " ":
        start += 1
    while start < end and whole[end - 1] == " ":
        end -= 1
    ends = page.nodes_between(start, end) if start < end else None
    if ends is None:
        raise AnchorProblem("no text is selected")
    first, last = ends
    if first is last:
        return _anchor_in(page, first, start, end)
    return Anchor(
        xpath=PageNode(first.element, first.number).xpath,
        end_xpath=PageNode(last.element, last.number).xpath,
        quote=whole[start:end],
        start=start - first.start or None,
        end=None if end == last.end else end - last.start,
        position=start,
        **context_around(page, start, end - start),
    )


def anchor_text(page: PageTexts, element: _Element, start: int, end: int) -> Anchor:
    """Return the anchor of the characters from start to end that an element displays.

    Raises AnchorProblem where these are none.
    """
    node = PageNode(element)
    length = len(displayed_text(page, node))
    if not 0 <= start < end <= length:
        raise AnchorProblem(f"no text is selected: {start} to {end} of {length} characters")
    span = page.span(element)
    if span is None:  # it shows no text of the page, but what an attribute or a field holds
        return anchor_part(page, node, (start, end))
    first_character, _ = span
    return anchor_stretch(page, first_character + start, first_character + end)


def drawing_of(page: NumberedPage, anchor: Anchor) -> Drawing:
    """Return where an anchor's value is drawn. Raises AnchorProblem if the page lacks its node."""
    node = select_node(page.texts.tree, anchor.xpath)
    number = page.number_of(node.element)
    span = None if node.name else page.texts.span(node.element, node.number)
    is_whole = anchor.start is None and anchor.end is None and not anchor.end_xpath
    if span is None or (is_whole and node.number is None):
        return Drawing(number)
    stretch = _stretch_of(page.texts, anchor, span)
    ends = page.texts.nodes_between(*stretch)
    if ends is None:
        return Drawing(number)
    first, last = ends
    start, _ = raw_stretch(_raw(first), stretch[0] - first.start, stretch[0] - first.start + 1)
    _, end = raw_stretch(_raw(last), 0, stretch[1] - last.start)
    text = (first.number - 1, start, end)
    begins, ends_in = page.number_of(first.element), page.number_of(last.element)
    return (
        Drawing(begins, text)
        if first is last
        else Drawing(begins, (*text, last.number - 1), ends_in)
    )


def _raw(text: TextNode) -> str:
    return raw_text(PageNode(text.element, text.number))


def raw_stretch(raw: str, start: int, end: int) -> tuple[int, int]:
    r"""Return a stretch of a displayed text as a stretch of its source.

    >>> raw_stretch("\n  25,00\xa0EUR", 6, 9)
    (9, 12)
    """
    places = _places_in(raw)
    first = places[start] if start < len(places) else len(raw)
    after = places[end - 1] + 1 if 0 < end <= len(places) else len(raw)
    return first, after


def shown_place(raw: str, offset: int) -> int:
    r"""Return how many displayed characters stand before a place of the source.

    >>> shown_place("\n  25,00 EUR", 9)
    6
    """
    return bisect_left(_places_in(raw), offset)


def _places_in(raw: str) -> list[int]:
    """Return for each character of the displayed text where it stands in the source."""
    places: list[int] = []
    blank = None
    for place, character in enumerate(raw):
        if character.isspace():
            blank = place if blank is None else blank
        elif displayed(character):
            if blank is not None and places:
                places.append(blank)
            places.append(place)
            blank = None
    return places


def _text_node(element: _Element, index: int) -> PageNode:
    if not 0 <= index < len(texts_of(element)):
        raise NoSuchPlace(f"{element.tag} has no text node {index}")
    return PageNode(element, index + 1)


def _place_in_page(page: PageTexts, node: PageNode, offset: int) -> int:
    """Return where a place of a text node stands in the page's text."""
    span = page.span(node.element, node.number)
    if span is None:
        return _next_start(page, node)
    return min(span[0] + shown_place(raw_text(node), offset), span[1])


def _next_start(page: PageTexts, node: PageNode) -> int:
    """Return where the text after a text node that shows nothing begins."""
    order = {element: number for number, element in enumerate(page.tree.iter("*"))}
    here = (order[node.element], node.number or 0)
    following: Sequence[TextNode] = [
        text_node for text_node in page.nodes if (order[text_node.element], text_node.number) > here
    ]
    return following[0].start if following else len(page.whole)


def _anchor_in(page: PageTexts, text: TextNode, start: int, end: int) -> Anchor:
    """Return the anchor of a stretch within a text node: its element if that shows nothing else."""
    if (text.start, text.end) == (start, end) and page.span(text.element) == (start, end):
        return anchor_node(page, PageNode(text.element).xpath)
    node = PageNode(text.element, text.number)
    return anchor_part(page, node, (start - text.start, end - text.start))


def _stretch_of(page: PageTexts, anchor: Anchor, span: tuple[int, int]) -> tuple[int, int]:
    """Return where an anchor's value stands in the page's text."""
    start = span[0] + (anchor.start or 0)
    if not anchor.end_xpath:
        return start, span[1] if anchor.end is None else span[0] + anchor.end
    last = select_node(page.tree, anchor.end_xpath)
    end_span = page.span(last.element, last.number) or span
    return start, end_span[1] if anchor.end is None else end_span[0] + anchor.end
