"""Find nodes of a page by their XPaths, as a browser that shows the numbered page is told them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from lxml.etree import _Element

from annotation.algorithms.anchors.node_paths import AnchorProblem, select_nodes, texts_of
from clustering.dom.frame.rendering import number_elements
from clustering.dom.page import parse_page

BLANKS: Final = " \t\n\r\f\v"  # what browsers leave out of a text that has nothing else


def find_pictured_nodes(
    body: bytes, content_type: str, *, paths: Sequence[str]
) -> list[tuple[int, int | None] | None]:
    """Return of each XPath the element's number, and which of its texts it is, from 0.

    Blank texts do not count. None where the page has no such node. Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    if tree is None:
        return [None] * len(paths)
    number_by_element = {element: number for number, element in enumerate(number_elements(tree))}
    return [_node_at(tree, number_by_element, path) for path in paths]


def _node_at(
    tree: _Element, number_by_element: Mapping[_Element, int], path: str
) -> tuple[int, int | None] | None:
    """Return the first node that an XPath selects; None where there is none."""
    try:
        nodes = select_nodes(tree, path)
    except AnchorProblem:
        return None
    if not nodes:
        return None
    node = nodes[0]
    element_number = number_by_element[node.element]
    if node.number is None:
        return element_number, None
    before = texts_of(node.element)[: node.number - 1]
    return element_number, sum(bool(text.strip(BLANKS)) for text in before)
