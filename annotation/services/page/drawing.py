"""Where annotated and proposed values are drawn on the page that is annotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from annotation.algorithms.anchors.anchoring import Anchor, ProposedNode, anchor_proposed
from annotation.algorithms.anchors.node_paths import AnchorProblem, select_node
from annotation.algorithms.anchors.picking import NumberedPage, drawing_of


class DrawnMark(NamedTuple):
    """A proposed value on a page: its anchor, None where it is not there, and its drawing."""

    anchor: Anchor | None
    drawing: dict[str, Any]


def anchor_drawing(page: NumberedPage, anchor: Anchor) -> dict[str, Any]:
    """Return where an anchor is drawn. Raises AnchorProblem where it is not on the page."""
    drawing = drawing_of(page, anchor)
    document: dict[str, Any] = {"number": drawing.number, "text": drawing.text}
    if drawing.end_number is not None:
        document["endNumber"] = drawing.end_number
    return document


def record_ends(page: NumberedPage, record: Sequence[str]) -> tuple[int, int]:
    """Return the numbers of a record's first and last element.

    Raises AnchorProblem where they are not on the page.
    """
    tree = page.texts.tree
    first, last = (select_node(tree, xpath).element for xpath in (record[0], record[-1]))
    return page.number_of(first), page.number_of(last)


def record_drawing(page: NumberedPage, record: Sequence[str]) -> dict[str, Any] | None:
    """Return where a record is drawn; None where it is not on the page."""
    try:
        first, last = record_ends(page, record)
    except AnchorProblem:
        return None
    drawing: dict[str, Any] = {"number": first, "text": None}
    if first != last:
        drawing["endNumber"] = last
    return drawing


def draw_mark(page: NumberedPage, mark: ProposedNode) -> DrawnMark:
    """Find a proposed value on a page; nothing is drawn of one that is not there."""
    try:
        anchor = anchor_proposed(page.texts, mark)
    except AnchorProblem:
        return DrawnMark(None, {})
    try:
        drawing = anchor_drawing(page, anchor)
    except AnchorProblem:
        return DrawnMark(anchor, {})
    document = {
        "number": drawing["number"],
        "drawn": drawing["text"],
        "endNumber": drawing.get("endNumber"),
    }
    return DrawnMark(anchor, document)


def draw_record(page: NumberedPage, nodes: Sequence[str]) -> dict[str, Any]:
    """Return a proposed record, from its first element to its last, with where it is drawn."""
    document = ProposedNode(nodes[0], end_xpath=nodes[-1]).as_json()
    try:
        first, last = record_ends(page, nodes)
    except AnchorProblem:
        return document
    return document | {"number": first, "endNumber": last if last != first else None}
