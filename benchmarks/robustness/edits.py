"""Random edits of a page's tree, of kinds that sites undergo without changing what they show."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Final

from lxml import html
from lxml.html import HtmlElement

Edit = Callable[[HtmlElement, random.Random], None]

# Children of these cannot be wrapped or get a neighbour of another tag.
STRICT: Final = frozenset(
    {"html", "head", "table", "tbody", "thead", "tr", "ul", "ol", "dl", "select"}
)


def _elements(tree: HtmlElement) -> list[HtmlElement]:
    body = tree.find("body")
    return [
        element
        for element in (tree if body is None else body).iterdescendants()
        if isinstance(element.tag, str)
    ]


def _replace(old: HtmlElement, new: HtmlElement) -> None:
    parent = old.getparent()
    if parent is not None:
        new.tail, old.tail = old.tail, None
        parent.replace(old, new)


def add_wrapper(tree: HtmlElement, chance: random.Random) -> None:
    """Put an element into a new div."""
    free = [one for one in _elements(tree) if one.getparent().tag not in STRICT]
    if free:
        element = chance.choice(free)
        wrapper = html.Element("div")
        _replace(element, wrapper)
        wrapper.append(element)


def add_class(tree: HtmlElement, chance: random.Random) -> None:
    element = chance.choice(_elements(tree))
    element.set("class", f"{element.get('class', '')} is-{chance.randint(1, 9)}".strip())


def rename_class(tree: HtmlElement, chance: random.Random) -> None:
    """Give a word of a class another name, wherever the page has it."""
    words = sorted({word for one in _elements(tree) for word in one.get("class", "").split()})
    if words:
        old = chance.choice(words)
        for element in _elements(tree):
            named = element.get("class", "").split()
            if old in named:
                element.set(
                    "class", " ".join(f"{old}-new" if word == old else word for word in named)
                )


def insert_sibling(tree: HtmlElement, chance: random.Random) -> None:
    """Put an element of the same tag, with a text of its own, before another one."""
    element = chance.choice(_elements(tree))
    new = html.Element(element.tag)
    new.text = f"New {chance.randint(1, 99)}"
    element.addprevious(new)


def move_block(tree: HtmlElement, chance: random.Random) -> None:
    """Put an element that holds others behind its neighbour."""
    blocks = [
        element for element in _elements(tree) if len(element) and element.getnext() is not None
    ]
    if blocks:
        block = chance.choice(blocks)
        neighbour = block.getnext()
        block_tail, block.tail = block.tail, None
        neighbour.addnext(block)
        block.tail = block_tail


def remove_attribute(tree: HtmlElement, chance: random.Random) -> None:
    bearing = [one for one in _elements(tree) if one.attrib]
    if bearing:
        element = chance.choice(bearing)
        del element.attrib[chance.choice(sorted(map(str, element.attrib)))]


EDITS: Final[Mapping[str, Edit]] = {
    "wrapper added": add_wrapper,
    "class added": add_class,
    "class renamed": rename_class,
    "sibling inserted": insert_sibling,
    "block moved": move_block,
    "attribute removed": remove_attribute,
}
