"""What is read of a page in a limited child: its outline, the values of a node, suggestions.

All of it takes the bytes of a page and plain values, returns plain values, and knows no Django.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotation.algorithms.anchors.node_paths import PageNode
from annotation.algorithms.anchors.node_words import head_values, outline, path_in_words, values_of
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.algorithms.anchors.picking import NumberedPage
from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.algorithms.suggestions.spots import PagePrint, SpotIndex
from annotation.algorithms.suggestions.suggestion import Suggestion, suggest
from annotation.services.page.drawing import draw_mark
from clustering.algorithms.published.attributed_paths import elements_at
from clustering.algorithms.records.finding import find_records
from clustering.dom.page import parse_page


def read_outline(body: bytes, content_type: str) -> dict[str, Any]:
    """Return the names, parents and texts of a page's elements; nothing of an empty page."""
    page = _numbered(body, content_type)
    return asdict(outline(page)) if page is not None else {}


def read_node(body: bytes, content_type: str, number: int | None) -> dict[str, Any]:
    """Return the values of an element and where it stands; without a number those of the head.

    Nothing where the page has no such element.
    """
    page = _numbered(body, content_type)
    if page is None:
        return {}
    if number is None:
        return {"values": [asdict(value) for value in head_values(page.texts)], "path": []}
    if number >= len(page.elements):
        return {}
    values = values_of(page.texts, page.element(number))
    return {"values": [asdict(value) for value in values], "path": path_in_words(page, number)}


def read_heading(body: bytes, content_type: str) -> str:
    """Return the heading that names what a page is about, blank where none does."""
    tree = parse_page(body, content_type).tree
    heading = SpotIndex(tree).heading if tree is not None else None
    return heading.text if heading is not None else ""


def read_print(body: bytes, content_type: str, url: str) -> tuple[list[tuple[str, str]], list[str]]:
    """Return the parts of a page's PagePrint; none of an empty page."""
    tree = parse_page(body, content_type).tree
    if tree is None:
        return [], []
    page_print = SpotIndex(tree, url).page_print
    return list(page_print.texts), list(page_print.labels)


def read_suggestions(
    body: bytes,
    content_type: str,
    *,
    url: str,
    prints: Sequence[tuple[Sequence[tuple[str, str]], Sequence[str]]],
    key_paths: Sequence[str],
    attributes: Sequence[Mapping[str, Any]],
    known: Mapping[str, Sequence[tuple[str, str, float]]],
) -> list[dict[str, Any]]:
    """Return the suggestions for a page as JSON, the marks of each with where they are drawn."""
    page = _numbered(body, content_type)
    if page is None:
        return []
    tree = page.texts.tree
    elements_by_path = elements_at(tree, key_paths)
    other_prints = []
    for texts, labels in prints:
        texts_by_kind = frozenset((kind, text) for kind, text in texts)
        other_prints.append(PagePrint(texts_by_kind, frozenset(labels)))
    on_key_paths = [elements for elements in elements_by_path.values() if elements]
    index = SpotIndex(tree, url, other_prints, on_key_paths)
    types = [AttributeType.from_json(attribute) for attribute in attributes]
    values = {name: [KnownValue(*value) for value in known[name]] for name in known}
    suggestions = suggest(index, read_declared(tree), types, values)
    return [_drawn(page, suggestion) for suggestion in suggestions]


def read_best_list(body: bytes, content_type: str) -> dict[str, Any]:
    """Return the list of a page: its score, the XPaths of each record and where it is drawn.

    Nothing where the page has none.
    """
    page = _numbered(body, content_type)
    lists = find_records(page.texts.tree) if page is not None else []
    if page is None or not lists:
        return {}
    best = lists[0]
    return {
        "score": best.score,
        "xpaths": [PageNode(element).xpath for record in best.records for element in record],
        "marks": [
            {
                "number": page.number_of(record[0]),
                "endNumber": page.number_of(record[-1]),
                "text": "",
            }
            for record in best.records
        ],
    }


def _numbered(body: bytes, content_type: str) -> NumberedPage | None:
    tree = parse_page(body, content_type).tree
    return None if tree is None else NumberedPage(read_texts(tree))


def _drawn(page: NumberedPage, suggestion: Suggestion) -> dict[str, Any]:
    marks = [mark.as_json() | draw_mark(page, mark).drawing for mark in suggestion.marks]
    return suggestion.as_json() | {"marks": marks}
