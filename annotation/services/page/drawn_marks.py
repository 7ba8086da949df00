"""Where proposed marks are drawn on the page that is annotated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from annotation.algorithms.anchors.anchoring import Anchor, ProposedNode, anchor_proposed
from annotation.algorithms.anchors.node_paths import AnchorProblem, select_node
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.services.page.page_states import drawing_json


class DrawnMark(NamedTuple):
    """A mark as it is found on a page: its anchor, None where it is not there, and where it is drawn."""

    anchor: Anchor | None
    drawing: dict[str, Any]


def draw_mark(page: NumberedPage, mark: ProposedNode) -> DrawnMark:
    """Find a mark on a page; nothing is drawn of one that is not there."""
    try:
        anchor = anchor_proposed(page.texts, mark)
    except AnchorProblem:
        return DrawnMark(None, {})
    drawing = drawing_json(page, anchor)
    if drawing is None:
        return DrawnMark(anchor, {})
    told = {
        "number": drawing["number"],
        "drawn": drawing["text"],
        "endNumber": drawing.get("endNumber"),
    }
    return DrawnMark(anchor, told)


def draw_record(page: NumberedPage, nodes: Sequence[str]) -> dict[str, Any]:
    """Return a record, from its first element to its last, as a mark to accept."""
    told: dict[str, Any] = {
        "xpath": nodes[0],
        "end_xpath": nodes[-1],
        "start": None,
        "end": None,
        "text": "",
    }
    try:
        ends = [
            page.number_of(select_node(page.texts.tree, path).element)
            for path in (nodes[0], nodes[-1])
        ]
    except AnchorProblem:
        return told
    return told | {"number": ends[0], "endNumber": ends[1] if ends[1] != ends[0] else None}
