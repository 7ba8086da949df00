"""Find the values that stand beside labels: after "Price:", in the cell next to it, in the same text.

Readings:   A label is a short text that is one of the attribute's names. What follows it up to the next
            text that is a label, or looks like this one (same tag and class, or a colon at its end), are
            its values. A number may stand before the word that says what it counts: "12 reviews".
Cost:       One look at each text of the page for each attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from lxml.etree import _Element

from annotation.algorithms.suggestions.names import label_key, meaning_of
from annotation.algorithms.suggestions.page_index import LONGEST_LABEL, PageIndex, Spot
from annotation.algorithms.suggestions.value_types import find_typed, fits, has_pattern

MOST_VALUES: Final = 30
LONGEST_VALUE: Final = 400
SHARE: Final = 0.3  # of a text that a value of a type must be
LABEL_TAGS: Final = frozenset(
    {"th", "dt", "label", "b", "strong", "legend", "h3", "h4", "h5", "h6"}
)
TEMPLATE: Final = 0.6  # what a value is worth that other pages show as well
COUNTED: Final = frozenset({"number", "rating", "text"})
_SAID = re.compile(r"^([^:\d]{2,40}?)\s*[:\uff1a]\s*(\S.*)$")
_COUNT = re.compile(r"^\W*(\d[\d.,\u202f' ]*?)\s+([^\W\d_]+(?:\s[^\W\d_]+)?)\W*$")


class Beside(NamedTuple):
    """Values that a label says, and how sure that is."""

    spots: tuple[Spot, ...]
    label: str
    weight: float


def find_beside(page: PageIndex, attribute: str, kind: str, *, is_multi: bool) -> Iterator[Beside]:
    """Yield what stands beside the labels of an attribute."""
    labels = meaning_of(attribute).labels
    for number, spot in enumerate(page.spots):
        counted = (
            list(_counted(page, number, spot, labels)) if _may_count(page, number, kind) else []
        )
        yield from counted
        if len(spot.text) <= LONGEST_LABEL and label_key(spot.text) in labels:
            if _is_counting(page, number):
                continue
            if spots := _values_after(page, number, kind, is_multi=is_multi):
                share = TEMPLATE if page.is_template(spots[0]) else 1.0
                yield Beside(spots, spot.text.rstrip(" :"), _trust(page, number, spot) * share)
        elif (
            (said := _SAID.match(spot.text[: LONGEST_VALUE + LONGEST_LABEL]))
            and label_key(said[1]) in labels
            and is_mostly(kind, said[2])
        ):
            part = page.part(spot, said.start(2), min(len(spot.text), said.end(2)))
            yield Beside(_typed(page, part, spot, kind), said[1], 0.75)


def _trust(page: PageIndex, number: int, spot: Spot) -> float:
    """Return how surely a text is a label: it ends in a colon, is marked as one, or is the template's."""
    is_marked = any(one.tag in LABEL_TAGS for one in _two(spot.node.element))
    trust = 0.45 + 0.2 * spot.text.rstrip().endswith(":") + 0.15 * is_marked
    if page.others:
        trust += 0.1 if page.is_template_by_index[number] else -0.2
    if page.is_outer(spot) or any(one.tag == "a" for one in _two(spot.node.element)):
        trust -= 0.25
    return trust


def _values_after(page: PageIndex, number: int, kind: str, *, is_multi: bool) -> tuple[Spot, ...]:
    label = page.spots[number]
    following: list[Spot] = []
    for at in range(number + 1, min(len(page.spots), number + 1 + MOST_VALUES)):
        spot = page.spots[at]
        if _is_label(label, spot) or (following and _is_elsewhere(label, following[0], spot)):
            break
        if not spot.text.strip(" :,;|·/-\u2013•"):
            continue
        following.append(spot)
    if not following:
        return ()
    if is_multi:
        return tuple(spot for spot in following if len(spot.text) <= LONGEST_VALUE)
    whole = _whole_cell(page, label, following)
    return _typed(page, whole, whole, kind) if is_mostly(kind, whole.text) else ()


def _typed(page: PageIndex, part: Spot, spot: Spot, kind: str) -> tuple[Spot, ...]:
    """Return the part of a value that its type's pattern selects, where that is one part of it."""
    places = find_typed(kind, part.text) if has_pattern(kind) and kind != "rating" else []
    if len(places) == 1 and places[0] != (0, len(part.text)):
        offset = part.start or 0
        return (page.part(spot, offset + places[0][0], offset + places[0][1]),)
    return (part,)


def is_mostly(kind: str, text: str) -> bool:
    """Say whether a text is a value of the type, or hardly more than one."""
    if not has_pattern(kind) or kind == "url":
        return fits(kind, text)
    places = find_typed(kind, text)
    return any(end - start >= SHARE * len(text) for start, end in places) or (
        kind in {"price", "rating"} and fits(kind, text) and len(text) <= LONGEST_LABEL
    )


def _is_label(label: Spot, other: Spot) -> bool:
    """Say whether a text is the next label: it looks like the first one."""
    one, two = label.node.element, other.node.element
    is_alike = (
        one.tag == two.tag and one.get("class") == two.get("class") and label.node.number is None
    )
    is_marked = one.tag in LABEL_TAGS or bool(one.get("class"))
    ends = other.text.rstrip().endswith(":") and len(other.text) <= LONGEST_LABEL
    return ends or (is_alike and is_marked)


def _is_elsewhere(label: Spot, first: Spot, other: Spot) -> bool:
    """Say whether a text stands no longer in what the label and its first value share."""
    shared = _nearest_shared(label.node.element, first.node.element)
    element = other.node.element
    if shared is None or shared not in {element, *element.iterancestors()}:
        return True
    is_wide = shared.tag in {"body", "main", "article", "section"}
    return is_wide and _child_of(shared, first.node.element) is not _child_of(shared, element)


def _nearest_shared(one: _Element, other: _Element) -> _Element | None:
    around = {one, *one.iterancestors()}
    return next((e for e in [other, *other.iterancestors()] if e in around), None)


def _child_of(parent: _Element | None, element: _Element) -> _Element | None:
    chain = [element, *element.iterancestors()]
    return next((e for e in chain if e.getparent() is parent), None)


def _whole_cell(page: PageIndex, label: Spot, following: list[Spot]) -> Spot:
    """Return the first value: its text node, or the cell around it where that shows a little more."""
    first = following[0]
    cell = _child_of(_nearest_shared(label.node.element, first.node.element), first.node.element)
    if cell is None or cell is label.node.element:
        return first
    whole = page.spot_of(cell)
    is_cell = (
        cell.tag in {"td", "dd", "span", "div", "p"} and len(whole.text) <= 2 * len(first.text) + 8
    )
    return whole if whole.text != first.text and is_cell and label.text not in whole.text else first


def _may_count(page: PageIndex, number: int, kind: str) -> bool:
    return kind in COUNTED and len(page.spots[number].text) <= LONGEST_LABEL


def _is_counting(page: PageIndex, number: int) -> bool:
    """Say whether a text is the word behind a number: "followers" in `<b>12</b> followers`."""
    spot, before = page.spots[number], page.spots[number - 1] if number else None
    if (
        before is None
        or spot.text.rstrip().endswith(":")
        or find_typed("number", before.text) != [(0, len(before.text))]
    ):
        return False
    shared = _nearest_shared(before.node.element, spot.node.element)
    return (
        shared is not None
        and len(page.spot_of(shared).text) <= len(before.text) + len(spot.text) + 2
    )


def _counted(page: PageIndex, number: int, spot: Spot, labels: frozenset[str]) -> Iterator[Beside]:
    """Yield the number before the word that says what it counts, in one text or in two."""
    if (found := _COUNT.match(spot.text)) and label_key(found[2]) in labels:
        yield Beside((page.part(spot, found.start(1), found.end(1)),), found[2], 0.6)
        return
    following = page.spots[number + 1].text if number + 1 < len(page.spots) else ""
    if label_key(following) in labels and _is_counting(page, number + 1):
        yield Beside((spot,), following, 0.6)


def _two(element: _Element) -> list[_Element]:
    parent = element.getparent()
    return [element] if parent is None else [element, parent]
