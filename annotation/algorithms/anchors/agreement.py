"""Whether two people mean the same node of a page.

An element and the only text in it show the same at the same place: to a reader they are one node.
So nodes that are shown are compared by where their text stands in the displayed text of the page,
others by paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from annotation.algorithms.anchors.anchoring import Anchor
from annotation.algorithms.anchors.node_paths import select_node
from annotation.algorithms.anchors.page_texts import PageTexts

Stretch = tuple[int, int] | tuple[str, str]  # a part of the page's text, or an XPath and a text

SAME: Final = "same"
PART: Final = "part"
TEXT: Final = "text"
OTHER: Final = "other"
ABSENCE: Final = "absence"


def compare_marks(page: PageTexts, first: Sequence[Anchor], second: Sequence[Anchor]) -> str:
    """Return how far two people agree about an attribute.

    No anchors mean that it is not on the page. The best of these holds: the same values at the same
    places, values in the same nodes or that overlap, the same texts elsewhere, something else; or
    only one of them says that it is not there. Raises AnchorProblem.
    """
    if not first or not second:
        return SAME if not first and not second else ABSENCE
    first_values, second_values = _values(page, first), _values(page, second)
    if first_values == second_values:
        return SAME
    if _nodes(page, first) == _nodes(page, second) or _overlap(first_values, second_values):
        return PART
    if sorted(anchor.quote for anchor in first) == sorted(anchor.quote for anchor in second):
        return TEXT
    return OTHER


def _values(page: PageTexts, anchors: Iterable[Anchor]) -> set[Stretch]:
    """Return where the values stand. Raises AnchorProblem where an XPath leads nowhere."""
    stretches: set[Stretch] = set()
    for anchor in anchors:
        select_node(page.tree, anchor.xpath)
        if anchor.position is None:
            stretches.add((anchor.xpath, anchor.quote))
        else:
            stretches.add((anchor.position, anchor.position + len(anchor.quote)))
    return stretches


def _nodes(page: PageTexts, anchors: Iterable[Anchor]) -> set[Stretch]:
    """Return where the nodes of the values stand."""
    stretches: set[Stretch] = set()
    for anchor in anchors:
        node = select_node(page.tree, anchor.xpath)
        span = None if node.name else page.span(node.element, node.number)
        stretches.add(span or (node.xpath, anchor.end_xpath))
    return stretches


def _overlap(first: Iterable[Stretch], second: Iterable[Stretch]) -> bool:
    """Return whether each value of either person shares some text with one of the other's."""
    return _is_touched(first, second) and _is_touched(second, first)


def _is_touched(stretches: Iterable[Stretch], other_stretches: Iterable[Stretch]) -> bool:
    return all(
        any(_touch(stretch, other_stretch) for other_stretch in other_stretches)
        for stretch in stretches
    )


def _touch(stretch: Stretch, other: Stretch) -> bool:
    if isinstance(stretch[0], int) and isinstance(other[0], int):
        return bool(stretch[0] < other[1] and other[0] < stretch[1])
    return stretch[0] == other[0]
