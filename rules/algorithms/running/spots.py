"""Find nodes of a page by their XPaths, as a browser that shows the numbered page is told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from annotation.algorithms.anchors.node_paths import AnchorProblem, select_nodes, texts_of
from clustering.dom.frame.rendering import number_elements
from clustering.dom.page import parse_page

BLANKS: Final = " \t\n\r\f\v"  # what browsers leave out of a text that has nothing else


def find_spots(
    body: bytes, content_type: str, *, paths: Sequence[str]
) -> list[tuple[int, int | None] | None]:
    """Return the element's number of each XPath, and which of its texts that are not blank it is, from 0.

    None where the page has no such node. Raises PageTooLarge.
    """
    tree = parse_page(body, content_type).tree
    if tree is None:
        return [None] * len(paths)
    number_by_element = {element: number for number, element in enumerate(number_elements(tree))}
    spots: list[tuple[int, int | None] | None] = []
    for path in paths:
        try:
            nodes = select_nodes(tree, path)
        except AnchorProblem:
            nodes = []
        if not nodes:
            spots.append(None)
            continue
        node = nodes[0]
        text = None
        if node.number is not None:
            before = texts_of(node.element)[: node.number - 1]
            text = sum(bool(earlier.strip(BLANKS)) for earlier in before)
        spots.append((number_by_element[node.element], text))
    return spots
