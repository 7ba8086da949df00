"""Find the values beside labels: after "Price:", in the cell next to it, in the same text.

Readings:   A label is a short text that is one of the attribute's names. What follows it up to
            the next text that is a label, or looks like this one (same tag and class, or a colon
            at its end), are its values. A number may stand before the word that says what it
            counts: "12 reviews".
Cost:       One look at each text of the page for each attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.suggestions.names import label_key, meaning_of
from annotation.algorithms.suggestions.spots import MAX_LABEL_CHARS, Spot, SpotIndex
from clustering.values.recognising import find_typed, fits, has_pattern

MAX_TEXTS_BEHIND: Final = 30  # a label that may be its values
MAX_VALUE_CHARS: Final = 400
MIN_TYPED_SHARE: Final = 0.3  # of a text that a value of a type must be
TEMPLATE_SHARE: Final = 0.6  # what a value is worth that other pages show as well
LABEL_TAGS: Final = frozenset(
    {"th", "dt", "label", "b", "strong", "legend", "h3", "h4", "h5", "h6"}
)
COUNTED_TYPES: Final = frozenset({"number", "rating", "text"})
_LABEL_AND_VALUE = re.compile(r"^([^:\d]{2,40}?)\s*[:\uff1a]\s*(\S.*)$")
_COUNT = re.compile(r"^\W*+(\d[\d.,\u202f' ]{0,30}?)\s{1,9}([^\W\d_]+(?:\s[^\W\d_]+)?)\W*$")


class Beside(NamedTuple):
    """Values that a label says, and how sure that is."""

    spots: tuple[Spot, ...]
    label: str
    weight: float


def find_beside(page: SpotIndex, attribute: AttributeType) -> Iterator[Beside]:
    """Yield what stands beside the labels of an attribute."""
    labels = meaning_of(attribute.name).labels
    for number, spot in enumerate(page.spots):
        if attribute.type in COUNTED_TYPES and len(spot.text) <= MAX_LABEL_CHARS:
            yield from _find_count(page, number, labels)
        if len(spot.text) <= MAX_LABEL_CHARS and label_key(spot.text) in labels:
            yield from _find_behind_label(page, number, attribute)
            continue
        match = _LABEL_AND_VALUE.match(spot.text[: MAX_VALUE_CHARS + MAX_LABEL_CHARS])
        if match is None or label_key(match[1]) not in labels:
            continue
        if is_mostly(attribute.type, match[2]):
            value = page.part(spot, match.start(2), min(len(spot.text), match.end(2)))
            yield Beside((_typed_part(page, value, spot, attribute.type),), match[1], 0.75)


def _find_behind_label(page: SpotIndex, number: int, attribute: AttributeType) -> Iterator[Beside]:
    """Yield the values in the texts behind a label."""
    if _is_counting(page, number):
        return
    spots = _values_behind(page, number, attribute)
    if spots:
        label = page.spots[number].text.rstrip(" :")
        share = TEMPLATE_SHARE if page.is_template(spots[0]) else 1.0
        yield Beside(spots, label, _trust(page, number) * share)


def _trust(page: SpotIndex, number: int) -> float:
    """Return how surely a text is a label: by colon, by tag and by whether other pages have it."""
    label = page.spots[number]
    tags = {element.tag for element in _with_parent(label.node.element)}
    is_marked = bool(tags & LABEL_TAGS)
    trust = 0.45 + 0.2 * label.text.rstrip().endswith(":") + 0.15 * is_marked
    if page.other_prints:
        trust += 0.1 if page.is_template_by_index[number] else -0.2
    if page.is_outer(label) or "a" in tags:
        trust -= 0.25
    return trust


def _values_behind(page: SpotIndex, number: int, attribute: AttributeType) -> tuple[Spot, ...]:
    label = page.spots[number]
    behind: list[Spot] = []
    for spot in page.spots[number + 1 : number + 1 + MAX_TEXTS_BEHIND]:
        if _is_label(label, spot) or (behind and _is_elsewhere(label, behind[0], spot)):
            break
        if spot.text.strip(" :,;|·/-\u2013•"):
            behind.append(spot)
    if not behind:
        return ()
    if attribute.is_multi:
        return tuple(spot for spot in behind if len(spot.text) <= MAX_VALUE_CHARS)
    cell = _whole_cell(page, label, behind[0])
    if not is_mostly(attribute.type, cell.text):
        return ()
    return (_typed_part(page, cell, cell, attribute.type),)


def _typed_part(page: SpotIndex, part: Spot, spot: Spot, value_type: str) -> Spot:
    """Return the part of a value that its type's pattern selects, where that is one part of it."""
    if not has_pattern(value_type) or value_type == "rating":
        return part
    stretches = find_typed(value_type, part.text)
    if len(stretches) != 1 or stretches[0] == (0, len(part.text)):
        return part
    offset = part.start or 0
    start, end = stretches[0]
    return page.part(spot, offset + start, offset + end)


def is_mostly(value_type: str, text: str) -> bool:
    """Return whether a text is a value of the type, or hardly more than one."""
    if not has_pattern(value_type) or value_type == "url":
        return fits(value_type, text)
    stretches = find_typed(value_type, text)
    if any(end - start >= MIN_TYPED_SHARE * len(text) for start, end in stretches):
        return True
    is_short = len(text) <= MAX_LABEL_CHARS
    return value_type in {"price", "rating"} and fits(value_type, text) and is_short


def _is_label(label: Spot, other: Spot) -> bool:
    """Return whether a text is the next label: it ends in a colon or looks like the first one."""
    if other.text.rstrip().endswith(":") and len(other.text) <= MAX_LABEL_CHARS:
        return True
    element, other_element = label.node.element, other.node.element
    is_marked = element.tag in LABEL_TAGS or bool(element.get("class"))
    return (
        is_marked
        and label.node.number is None
        and element.tag == other_element.tag
        and element.get("class") == other_element.get("class")
    )


def _is_elsewhere(label: Spot, first: Spot, other: Spot) -> bool:
    """Return whether a text stands no longer in what the label and its first value share."""
    shared = _nearest_shared(label.node.element, first.node.element)
    element = other.node.element
    if shared is None or shared not in {element, *element.iterancestors()}:
        return True
    is_wide = shared.tag in {"body", "main", "article", "section"}
    return is_wide and _child_of(shared, first.node.element) is not _child_of(shared, element)


def _nearest_shared(element: _Element, other: _Element) -> _Element | None:
    """Return the innermost element in which both stand; an element stands in itself."""
    around = {element, *element.iterancestors()}
    return next((e for e in [other, *other.iterancestors()] if e in around), None)


def _child_of(parent: _Element | None, element: _Element) -> _Element | None:
    """Return the child of a parent in which an element stands."""
    line = [element, *element.iterancestors()]
    return next((e for e in line if e.getparent() is parent), None)


def _whole_cell(page: SpotIndex, label: Spot, first: Spot) -> Spot:
    """Return the first value: its text node, or the cell around it if that shows a little more."""
    shared = _nearest_shared(label.node.element, first.node.element)
    cell = _child_of(shared, first.node.element)
    if cell is None or cell is label.node.element:
        return first
    if cell.tag not in {"td", "dd", "span", "div", "p"}:
        return first
    whole = page.spot_of(cell)
    if whole.text == first.text or label.text in whole.text:
        return first
    return whole if len(whole.text) <= 2 * len(first.text) + 8 else first


def _find_count(page: SpotIndex, number: int, labels: frozenset[str]) -> Iterator[Beside]:
    """Yield the number before the word that says what it counts, in one text or in two."""
    spot = page.spots[number]
    match = _COUNT.match(spot.text)
    if match and label_key(match[2]) in labels:
        yield Beside((page.part(spot, match.start(1), match.end(1)),), match[2], 0.6)
        return
    if number + 1 == len(page.spots):
        return
    word = page.spots[number + 1].text
    if label_key(word) in labels and _is_counting(page, number + 1):
        yield Beside((spot,), word, 0.6)


def _is_counting(page: SpotIndex, number: int) -> bool:
    """Return whether a text is the word behind a number: "followers" in `<b>12</b> followers`."""
    if number == 0:
        return False
    spot, before = page.spots[number], page.spots[number - 1]
    if spot.text.rstrip().endswith(":"):
        return False
    if find_typed("number", before.text) != [(0, len(before.text))]:
        return False
    shared = _nearest_shared(before.node.element, spot.node.element)
    if shared is None:
        return False
    return len(page.spot_of(shared).text) <= len(before.text) + len(spot.text) + 2


def _with_parent(element: _Element) -> list[_Element]:
    parent = element.getparent()
    return [element] if parent is None else [element, parent]
