"""Whether two people mean the same node of a page.

An element and the only text in it show the same at the same place: to a reader they are one node. So nodes
that are shown are compared by where their text stands in the displayed text of the page, others by paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.algorithms.anchors.node_paths import select_node
from annotation.algorithms.anchors.page_texts import PageTexts

Place = tuple[int, int] | tuple[str, str]  # a stretch of the page's text, or a path and a text

SAME: Final = "same"
PART: Final = "part"
TEXT: Final = "text"
OTHER: Final = "other"
ABSENCE: Final = "absence"


def compare_marks(page: PageTexts, first: Sequence[Anchor], second: Sequence[Anchor]) -> str:
    """Say how far two people agree about an attribute; no anchors mean that it is not on the page.

    The best of these holds: the same values at the same places, values in the same nodes or that overlap, the
    same texts elsewhere, something else; or only one of them says that it is not there. Raises AnchorProblem.
    """
    if not first or not second:
        return SAME if not first and not second else ABSENCE
    mine, theirs = _values(page, first), _values(page, second)
    if mine == theirs:
        return SAME
    if _nodes(page, first) == _nodes(page, second) or _overlap(mine, theirs):
        return PART
    if sorted(anchor.quote for anchor in first) == sorted(anchor.quote for anchor in second):
        return TEXT
    return OTHER


def _values(page: PageTexts, anchors: Iterable[Anchor]) -> set[Place]:
    """Return where the values stand."""
    return {
        (anchor.xpath, anchor.quote)
        if anchor.position is None
        else (anchor.position, anchor.position + len(anchor.quote))
        for anchor in _resolved(page, anchors)
    }


def _resolved(page: PageTexts, anchors: Iterable[Anchor]) -> list[Anchor]:
    for anchor in anchors:
        select_node(page.tree, anchor.xpath)  # a path that leads nowhere is told, not compared
    return list(anchors)


def _nodes(page: PageTexts, anchors: Iterable[Anchor]) -> set[Place]:
    """Return where the nodes of the values stand."""
    places: set[Place] = set()
    for anchor in anchors:
        node = select_node(page.tree, anchor.xpath)
        span = None if node.name else page.span(node.element, node.number)
        places.add(span or (node.xpath, anchor.end_xpath))
    return places


def _overlap(mine: Iterable[Place], theirs: Iterable[Place]) -> bool:
    """Say whether each value of either person shares some text with one of the other's."""
    one, other = list(mine), list(theirs)
    return all(any(_touch(a, b) for b in other) for a in one) and all(
        any(_touch(a, b) for a in one) for b in other
    )


def _touch(one: Place, other: Place) -> bool:
    if isinstance(one[0], int) and isinstance(other[0], int):
        return bool(one[0] < other[1] and other[0] < one[1])
    return one[0] == other[0]
