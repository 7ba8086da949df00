"""Read and remove the marks by which a template says where each value and each record stands.

`vx="price"` marks the element whose displayed text holds the value, `vx="image@src"` the attribute
that is the value, `vx="date+"` the text that follows the element, and all siblings with the same
`vx-record="3"` together are the page's third record. The page that is served has none of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field

import lxml.html
from lxml import etree

MARK = re.compile(r' vx(?:-record)?="[^"]*"')


@dataclass
class Marks:
    """The XPaths of a page's values and records, in document order."""

    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    records: dict[str, RecordMarks] = field(default_factory=dict)


@dataclass
class RecordMarks:
    nodes: list[str] = field(default_factory=list)
    places: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


def strip_marks(html: str) -> str:
    """Return the page as it is served."""
    return MARK.sub("", html)


def read_marks(html: str, encoding: str) -> Marks:
    """Return where a marked page's values and records stand in the tree of its bytes."""
    parser = lxml.html.HTMLParser(encoding=encoding)
    tree = lxml.html.document_fromstring(html.encode(encoding, "xmlcharrefreplace"), parser=parser)
    marks = Marks()
    for element in tree.iter("*"):
        if number := element.get("vx-record"):
            marks.records.setdefault(number, RecordMarks()).nodes.append(_path_of(element))
        if mark := element.get("vx"):
            number = _number_of(element)
            places = marks.records[number].places if number else marks.places
            attribute, place = _read_mark(element, mark)
            places[attribute].append(place)
    return marks


def _read_mark(element: etree._Element, mark: str) -> tuple[str, str]:
    """Return the attribute that a mark names, and the XPath of its value."""
    if mark.endswith("+"):
        return mark[:-1], _text_after(element)
    attribute, _, source = mark.partition("@")
    return attribute, _path_of(element) + (f"/@{source}" if source else "")


def _path_of(element: etree._Element) -> str:
    return element.getroottree().getpath(element)


def _number_of(element: etree._Element) -> str:
    """Return the number of the innermost record around the element; blank outside of all."""
    around = (each.get("vx-record", "") for each in (element, *element.iterancestors()))
    return next((number for number in around if number), "")


def _text_after(element: etree._Element) -> str:
    """Return the XPath of the text node that follows the element."""
    parent = element.getparent()
    assert parent is not None
    before = list(element.itersiblings(preceding=True))
    position = 1 + sum(
        text is not None for text in (parent.text, *(sibling.tail for sibling in before))
    )
    return f"{_path_of(parent)}/text()[{position}]"
