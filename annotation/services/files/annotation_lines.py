"""Lines of annotations as files have them: what each may hold, and what it means on its page."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from lxml.etree import _Element

from annotation.algorithms.anchors.anchoring import anchor_node, find_text
from annotation.algorithms.anchors.node_paths import AnchorProblem, cut, read_path, select_node
from annotation.algorithms.anchors.page_texts import PageTexts
from annotation.services.annotations.annotated_values import AnnotatedValue
from clustering.dom.addresses import BadAddress, normalise_url
from clustering.dom.paths import element_paths
from vertex.core.services.files.files import BadLine

MAX_ELEMENTS = 1_000  # of one record
TEXT_KEYS = ("url", "attribute", "xpath", "end_xpath", "text")


@dataclass(frozen=True, slots=True)
class AnnotationLine:
    """A line that can be understood; whether it fits its page is another question."""

    number: int
    url: str  # normalised
    attribute: str = ""  # blank: the boundary of a record
    xpath: str = ""
    end_xpath: str = ""
    text: str = ""
    is_absent: bool = False
    is_only_here: bool = False
    record: tuple[str, ...] = ()
    given_url: str = ""  # as the file writes it


def read_line(number: int, entry: dict[str, Any]) -> AnnotationLine | BadLine:
    """Return an entry of a file as a line; unknown keys are ignored."""
    problem = _problem_of(entry)
    if problem:
        return BadLine(problem)
    texts = {name: entry.get(name) or "" for name in TEXT_KEYS}
    try:
        given_url = texts["url"]
        texts["url"] = normalise_url(given_url)
        for xpath in (texts["xpath"], texts["end_xpath"], *(entry.get("record") or ())):
            if xpath:
                read_path(xpath)
    except (BadAddress, AnchorProblem) as error:
        return BadLine(str(error))
    record = tuple(entry.get("record") or ())
    return AnnotationLine(
        number,
        **texts,
        is_absent=entry.get("absent") is True,
        is_only_here=entry.get("only_here") is True,
        record=record,
        given_url=given_url,
    )


def _problem_of(entry: dict[str, Any]) -> str:
    """Return what is wrong with an entry; blank where nothing is."""
    for name in TEXT_KEYS:
        if not isinstance(entry.get(name), str | None):
            return f'"{name}" is {cut(repr(entry[name]), 40)}, but must be a text'
    for name in ("absent", "only_here"):
        if not isinstance(entry.get(name), bool | None):
            return f'"{name}" is {cut(repr(entry[name]), 40)}, but must be true or false'
    if entry.get("record") is not None and not _is_record(entry["record"]):
        return f'"record" must be a list of 1 to {MAX_ELEMENTS:,} XPaths'
    return _what_is_missing(entry)


def _what_is_missing(entry: dict[str, Any]) -> str:
    """Return what an entry of the right types lacks or has too much; blank where it is complete."""
    is_value = bool(entry.get("xpath") or (entry.get("text") or "").strip())
    is_boundary = bool(entry.get("record")) and not is_value and not entry.get("absent")
    if not entry.get("url"):
        return '"url" is missing'
    if not entry.get("attribute") and not is_boundary:
        return '"attribute" is missing, and so is a "record" alone'
    if entry.get("absent") and is_value:
        return 'it says "absent" and gives a value as well; leave one of them out'
    if entry.get("attribute") and not entry.get("absent") and not is_value:
        return 'it has none of "xpath", "text" and "absent"'
    return ""


def _is_record(record: object) -> bool:
    return (
        isinstance(record, list)
        and 0 < len(record) <= MAX_ELEMENTS
        and all(isinstance(xpath, str) and xpath for xpath in record)
    )


def annotated_value(page: PageTexts, line: AnnotationLine) -> AnnotatedValue:
    """Return what a line means on its page. Raises AnchorProblem."""
    elements = [_element_at(page, xpath) for xpath in line.record]
    record = tuple(element_paths(elements))
    if not line.attribute:
        _check_adjacent(elements)
    if line.is_absent or not line.attribute:
        return AnnotatedValue(record=record)
    if line.xpath:
        anchor = anchor_node(page, line.xpath, line.text, line.end_xpath)
    else:
        anchor = find_text(page, line.text)
    if elements and not _is_within(select_node(page.tree, anchor.xpath).element, elements):
        raise AnchorProblem(
            f"{cut(anchor.xpath)} is not in the record {', '.join(map(cut, record[:3]))}"
        )
    return AnnotatedValue(anchor, record, line.is_only_here)


def _element_at(page: PageTexts, xpath: str) -> _Element:
    node = select_node(page.tree, xpath)
    if node.step:
        raise AnchorProblem(f"{cut(xpath)} is no element; a record is made of elements")
    return node.element


def _check_adjacent(elements: list[_Element]) -> None:
    """Refuse a record that is no run of adjacent siblings."""
    for element, following in pairwise(elements):
        if next(element.itersiblings("*"), None) is not following:
            raise AnchorProblem(
                "the elements of the record are no adjacent siblings in their order"
            )


def _is_within(element: _Element, elements: list[_Element]) -> bool:
    return any(ancestor in elements for ancestor in (element, *element.iterancestors()))
