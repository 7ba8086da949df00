"""Name one node of a page by an XPath, and take only XPaths that do no more than that.

An annotation's XPath may come from anybody, and an XPath can run for ever. What is taken is an
absolute path of at most 8,192 characters and 600 steps: `/html/body/div[2]/span[1]`, or `//` once
at its beginning: `//*[@id="price"]/b`. A step is a tag name or `*`, with at most three predicates
`[n]`, `[last()]`, `[@name]` or `[@name="value"]`. It may end in `/text()`, `/text()[n]` or
`/@name`. There are no other axes, functions, operators or unions; the time is linear in the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from lxml import etree
from lxml.etree import _Element

from clustering.dom.paths import element_paths

MAX_XPATH = 8_192  # characters
MAX_STEPS = 600
SHOWN = 200  # characters of an XPath in a message

_ATTRIBUTE_TEST = r"""@[A-Za-z_][A-Za-z0-9_.-]*(?:\s*=\s*(?:'[^']*'|"[^"]*"))?"""
_PREDICATE = rf"\[\s*(?:[1-9][0-9]{{0,6}}|last\(\)|{_ATTRIBUTE_TEST})\s*\]"
_STEP = re.compile(rf"/(?:[A-Za-z_][A-Za-z0-9_.-]*|\*)(?:{_PREDICATE}){{0,3}}+")
_TEXT = re.compile(r"/text\(\)(?:\[\s*([1-9][0-9]{0,6})\s*\])?\Z")
# Attributes are looked up here and not by XPath: `og:title`, `@click` and `:src` are no
# names there.
_ATTRIBUTE = re.compile(r"/@([^\s/\"'<>={}]{1,200})\Z")
_STRING = etree.XPath("string()", smart_strings=False, regexp=False)
_FORM = 'write it like /html/body/div[2]/span[1], //*[@id="x"]/b, …/text()[1] or …/@src'


class AnchorProblem(ValueError):
    """A node or text cannot be found as it was named."""


class BadXPath(AnchorProblem):
    """The XPath is none that names a node."""

    def __init__(self, xpath: str, why: str) -> None:
        super().__init__(f"the XPath {cut(xpath)!r} cannot be used: {why}")


class NoSuchNode(AnchorProblem):
    """There is no node at the XPath."""

    def __init__(self, xpath: str, until: str) -> None:
        hint = "; the page's source has no such tbody: leave it out" if "/tbody" in xpath else ""
        place = (
            f"the page has {cut(until)} and nothing below it that fits"
            if until
            else "not even its root fits"
        )
        super().__init__(f"no node at {cut(xpath)}: {place}{hint}")


class SeveralNodes(AnchorProblem):
    """The XPath selects several nodes."""

    def __init__(self, xpath: str, nodes: list[PageNode]) -> None:
        super().__init__(
            f"{cut(xpath)} selects {len(nodes)} nodes; name one of them: {listed(nodes)}"
        )


@dataclass(frozen=True, slots=True)
class PageNode:
    """A node of a page: an element, its n-th text node or one of its attributes."""

    element: _Element
    number: int | None = None  # n of `text()[n]`
    name: str = ""  # of the attribute

    @property
    def xpath(self) -> str:
        """Return the path with positions that selects the node and nothing else."""
        return element_paths([self.element])[0] + self.step

    @property
    def step(self) -> str:
        """Return what follows the element's path; blank for the element itself."""
        if self.number is not None:
            return f"/text()[{self.number}]"
        return f"/@{self.name}" if self.name else ""


@dataclass(frozen=True, slots=True)
class NodePath:
    """An XPath that was checked, in its parts."""

    steps: tuple[str, ...]  # of the element, the first of them perhaps with `//`
    is_text: bool = False
    number: int | None = None
    name: str = ""


def read_path(xpath: str) -> NodePath:
    """Check an XPath and return its parts. Raises BadXPath."""
    if len(xpath) > MAX_XPATH:
        raise BadXPath(xpath, f"it is longer than {MAX_XPATH:,} characters")
    path = xpath.strip()
    if not path.isprintable():
        raise BadXPath(xpath, "it holds characters that cannot be seen")
    attribute, text = _ATTRIBUTE.search(path), _TEXT.search(path)
    end = attribute or text
    path = path[: end.start()] if end else path
    steps = _read_steps(xpath, path)
    number = int(text[1]) if text and text[1] else None
    return NodePath(steps, text is not None, number, attribute[1] if attribute else "")


def select_nodes(tree: _Element, xpath: str) -> list[PageNode]:
    """Return the nodes that a checked XPath selects, in document order. Raises BadXPath."""
    path = read_path(xpath)
    elements = _select_elements(tree, "".join(path.steps))
    if path.name:
        return [
            PageNode(element, name=path.name) for element in elements if path.name in element.attrib
        ]
    if path.is_text:
        nodes = []
        for element in elements:
            numbers = range(1, count_texts(element) + 1)
            nodes += [PageNode(element, n) for n in numbers if path.number in {None, n}]
        return nodes
    return [PageNode(element) for element in elements]


def select_node(tree: _Element, xpath: str) -> PageNode:
    """Return the one node that an XPath selects. Raises BadXPath, NoSuchNode, SeveralNodes."""
    nodes = select_nodes(tree, xpath)
    if not nodes:
        raise NoSuchNode(xpath, _longest_part(tree, read_path(xpath)))
    if len(nodes) > 1:
        raise SeveralNodes(xpath, nodes)
    return nodes[0]


def raw_text(node: PageNode) -> str:
    """Return a node's text as the source has it; that of an element without its comments."""
    if node.name:
        return str(node.element.get(node.name, ""))
    if node.number is not None:
        return texts_of(node.element)[node.number - 1]
    return str(_STRING(node.element))


def texts_of(element: _Element) -> list[str]:
    """Return the text nodes of an element, as `text()` counts them."""
    return [text for text in (element.text, *(child.tail for child in element)) if text]


def count_texts(element: _Element) -> int:
    return len(texts_of(element))


def listed(nodes: list[PageNode], most: int = 10) -> str:
    """Name some nodes in a message."""
    more = f" and {len(nodes) - most} more" if len(nodes) > most else ""
    return ", ".join(cut(node.xpath) for node in nodes[:most]) + more


def cut(text: str, length: int = SHOWN) -> str:
    """Return a text short enough for a message; the middle goes."""
    half = (length - 1) // 2
    return text if len(text) <= length else f"{text[:half]}…{text[-half:]}"


def _read_steps(xpath: str, path: str) -> tuple[str, ...]:
    """Return the steps of an element's path. Raises BadXPath."""
    if not path.startswith("/"):
        raise BadXPath(xpath, f"it does not begin at the root; {_FORM}")
    place = 1 if path.startswith("//") else 0
    steps = []
    while place < len(path):
        step = _STEP.match(path, place)
        if step is None:
            raise BadXPath(xpath, f"{cut(path[place:], 40)!r} is no step that is taken; {_FORM}")
        steps.append(step[0])
        place = step.end()
    if not 0 < len(steps) <= MAX_STEPS:
        raise BadXPath(xpath, f"it has {len(steps)} steps, {MAX_STEPS} at most")
    if path.startswith("//"):
        steps[0] = f"/{steps[0]}"
    return tuple(steps)


def _select_elements(tree: _Element, path: str) -> list[_Element]:
    try:
        elements: Any = etree.XPath(path, regexp=False)(tree)
    except etree.XPathError as error:
        raise BadXPath(path, str(error)) from None
    return list(elements)


def _longest_part(tree: _Element, path: NodePath) -> str:
    """Return the beginning of a path up to the last step that selects something; blank for none."""
    low, high = 0, len(path.steps)
    while low < high:
        middle = (low + high + 1) // 2
        if _select_elements(tree, "".join(path.steps[:middle])):
            low = middle
        else:
            high = middle - 1
    return "".join(path.steps[:low])
