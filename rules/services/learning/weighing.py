"""Read one page as annotators and the learner would, to tell whether it is too heavy."""

from __future__ import annotations

from annotation.algorithms.anchors.node_words import outline
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.algorithms.suggestions.spots import SpotIndex
from clustering.algorithms.records.finding import find_records
from clustering.dom.page import parse_page
from rules.algorithms.learning.nodes import walk


def weigh_page(body: bytes, content_type: str) -> int:
    """Return how many nodes of a page can be learnt from, after all that is done with one page."""
    tree = parse_page(body, content_type).tree
    if tree is None:
        return 0
    outline(NumberedPage(read_texts(tree)))
    SpotIndex(tree)
    find_records(tree)
    return len(walk(tree, 0, 0).nodes)
