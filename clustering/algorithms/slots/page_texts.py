"""Read the texts of a page with the elements they stand in.

Readings:   Scripts, styles, the head and what people fill in are no texts of a page.
Cost:       One walk over the page without recursion, and at most MAX_TEXTS texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from lxml.etree import _Element

from clustering.dom.paths import element_paths
from clustering.dom.visible import INVISIBLE_TAGS
from clustering.values.displayed import displayed

MAX_TEXTS: Final = 6_000  # of a page; the rest of it is not looked at
MAX_ELEMENTS: Final = 60_000  # of a page, those without texts included
IMAGE_TAG: Final = "img"
MAX_NAMES: Final = 8  # classes of one element
MAX_NAME_CHARS: Final = 60

_TEXTLESS_TAGS: Final = INVISIBLE_TAGS | {"head", "select", "option", "textarea"}
_ROWS: Final = frozenset({"tr", "li", "dd", "p"})
# Their classes speak of the page, not of a place.
_UNNAMED_TAGS: Final = frozenset({"html", "body"})
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class TextElement:
    """An element on the way to a text."""

    element: _Element
    parent: int  # its number among the page's elements; -1 for none
    tag: str
    names: tuple[str, ...]  # `#id` and `.class`, digits folded
    row: int  # the nearest element that is a row; -1 for none


@dataclass(frozen=True, slots=True)
class ReadText:
    """A text node that shows something."""

    page: int
    owner: int  # the number of the element that holds it
    element: _Element  # the same
    nth: int  # of its text nodes, from 1, as XPath counts them
    text: str  # as it is displayed

    @property
    def xpath(self) -> str:
        """Return the path of the text node."""
        return f"{element_paths([self.element])[0]}/text()[{self.nth}]"


@dataclass(slots=True)
class TextPage:
    """The texts of one page in their order, and the elements they stand in."""

    elements: list[TextElement] = field(default_factory=list)
    texts: list[ReadText] = field(default_factory=list)


# What is below an element: child elements with the number of their parent, and texts.
Content: TypeAlias = list[tuple[_Element, int] | ReadText]
ContentReader: TypeAlias = Callable[[_Element, int, int], Content]


def read_texts(tree: _Element, page: int = 0) -> TextPage:
    """Return the texts of a page; `page` is its number among the pages looked at."""
    return _read(tree, page, _content)


def read_images(tree: _Element, page: int = 0) -> TextPage:
    """Return the images of a page as `read_texts` returns texts; their text is their address."""
    return _read(tree, page, _children_or_image)


def _read(tree: _Element, page: int, content_of: ContentReader) -> TextPage:
    result = TextPage()
    # What is still to come, the next last: an element with the number of its parent, or a text.
    stack: list[tuple[_Element, int] | ReadText] = [(tree, -1)]
    while stack and len(result.elements) < MAX_ELEMENTS and len(result.texts) < MAX_TEXTS:
        item = stack.pop()
        if isinstance(item, ReadText):
            result.texts.append(item)
            continue
        element, parent = item
        if element.tag in _TEXTLESS_TAGS:
            continue
        number = len(result.elements)
        result.elements.append(_text_element(element, parent, number, result))
        stack.extend(reversed(content_of(element, number, page)))
    return result


def _text_element(element: _Element, parent: int, number: int, page: TextPage) -> TextElement:
    tag = str(element.tag)
    row_above = page.elements[parent].row if parent >= 0 else -1
    row = number if tag in _ROWS else row_above
    names = () if tag in _UNNAMED_TAGS else _names_of(element)
    return TextElement(element, parent, tag, names, row)


def _names_of(element: _Element) -> tuple[str, ...]:
    """Return the id and the classes of an element as `#id` and `.class`, digits folded."""
    identifier, classes = element.get("id"), element.get("class")
    names = [f"#{identifier}"] if identifier else []
    if classes:
        names += [f".{name}" for name in classes.split(maxsplit=MAX_NAMES)[:MAX_NAMES]]
    return tuple(_DIGITS.sub("0", name[:MAX_NAME_CHARS]) for name in names)


def _children_or_image(element: _Element, number: int, page: int) -> Content:
    if element.tag != IMAGE_TAG:
        return [(child, number) for child in element if isinstance(child.tag, str)]
    address = (element.get("src") or "").strip()
    return [ReadText(page, number, element, 1, address)] if address else []


def _content(element: _Element, number: int, page: int) -> Content:
    """Return the child elements and the texts of an element in their order."""
    content: Content = []
    n_text_nodes = 0

    def add_text(raw: str | None) -> None:
        nonlocal n_text_nodes
        if not raw:
            return
        n_text_nodes += 1
        text = displayed(raw)
        if text:
            content.append(ReadText(page, number, element, n_text_nodes, text))

    add_text(element.text)
    for child in element:
        if isinstance(child.tag, str):
            content.append((child, number))
        add_text(child.tail)  # of a comment, too
    return content
