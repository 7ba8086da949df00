"""Find where values stand on a page by their texts, for a stylesheet that does not emit nodes.

Readings:   The first node that shows the value and no earlier value of the same attribute; whole
            text nodes before whole elements, parts of texts, attributes and the head, texts that
            run over several nodes.
Departures: It may be another node than the one that the stylesheet took, so it is always shown
            as a guess.
Cost:       A walk over the page for each value.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotation.algorithms.anchors.anchoring import AmbiguousText, find_text
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import PageTexts

MAX_VALUES = 100  # of an attribute that are looked for


def nodes_showing(page: PageTexts, values: Sequence[str]) -> list[str]:
    """Return the XPath of each value's node, each node once; a value that none shows has none."""
    xpaths: list[str] = []
    for value in values[:MAX_VALUES]:
        for candidate in _candidates(page, value):
            if candidate not in xpaths:
                xpaths.append(candidate)
                break
    return xpaths


def _candidates(page: PageTexts, value: str) -> list[str]:
    try:
        return [find_text(page, value).xpath]
    except AmbiguousText as several:
        return several.candidates
    except AnchorProblem:
        return []
