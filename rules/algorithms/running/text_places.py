"""Find where values stand on a page by their texts, for a stylesheet that does not tell the places itself.

Readings:   The first node that shows the value and no earlier value of the same attribute; whole text nodes
            before whole elements, parts of texts, attributes and the head, texts that run over several nodes.
Departures: It may be another node than the one that the stylesheet took, so it is always told as a guess.
Cost:       A walk over the page for each value.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotation.algorithms.anchors.anchoring import AmbiguousText, find_text
from annotation.algorithms.anchors.node_paths import AnchorProblem
from annotation.algorithms.anchors.page_texts import PageTexts

MOST_VALUES = 100  # of an attribute that are looked for


def places_of(page: PageTexts, values: Sequence[str]) -> list[str]:
    """Return the XPath of the node of each value, as far as one shows it, each node once."""
    places: list[str] = []
    for value in values[:MOST_VALUES]:
        place = next((one for one in _candidates(page, value) if one not in places), None)
        if place is not None:
            places.append(place)
    return places


def _candidates(page: PageTexts, value: str) -> list[str]:
    try:
        return [find_text(page, value).xpath]
    except AmbiguousText as several:
        return several.candidates
    except AnchorProblem:
        return []
