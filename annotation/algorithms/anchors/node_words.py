"""Describe in words where a node stands and what it holds: its path, its texts, its attributes.

An element is called by its tag with its id or its first two classes: `span.price`. What a node
holds is everything that could be a value: its text, each of its text nodes, its attributes, the
link around it, the picture in it; of a script that holds JSON the names and values; of the head
its meta tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lxml.etree import _Element

from annotation.algorithms.anchors.anchoring import displayed_text
from annotation.algorithms.anchors.node_paths import PageNode, count_texts
from annotation.algorithms.anchors.page_texts import PageTexts
from annotation.algorithms.anchors.picking import NumberedPage
from clustering.values.displayed import displayed

MAX_VALUES = 80
MAX_SNIPPET_CHARS = 80
PICTURES = frozenset({"img", "picture", "svg", "video", "input", "iframe", "object"})
_JSON_PAIR = re.compile(r'"([\w@:.-]{1,60})"\s*:\s*("(?:[^"\\]|\\.){1,500}"|-?\d[\d.]{0,30})')
_UNWANTED = re.compile(r"^(?:on|style$|class$|id$)")


@dataclass(frozen=True, slots=True)
class NodeValue:
    """Something that a node holds, and where."""

    label: str
    xpath: str
    text: str
    start: int | None = None  # where it is a part of the text at the XPath
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """What a reader hears of each element of a page while going through it."""

    parents: list[int]  # the number of each element's parent; -1 for the root
    labels: list[str]
    label_of: list[int]  # of each element, the index of its name among the labels
    texts: dict[int, str]  # what the elements with a text of their own show, shortened
    shown: list[int]  # the numbers of those that show anything


def label_of(element: _Element) -> str:
    """Name an element.

    >>> from lxml.html import fromstring
    >>> label_of(fromstring('<p class="price now big">1</p>'))
    'p.price.now'
    """
    name = element.get("id")
    if name and len(name) <= MAX_SNIPPET_CHARS and " " not in name:
        return f"{element.tag}#{name}"
    return ".".join([str(element.tag), *(element.get("class") or "").split()[:2]])[
        :MAX_SNIPPET_CHARS
    ]


def path_in_words(page: NumberedPage, number: int) -> list[tuple[int, str]]:
    """Return the number and name of each ancestor, the root first, and of the element itself."""
    element = page.element(number)
    line = [element, *element.iterancestors()]
    return [(page.number_of(ancestor), label_of(ancestor)) for ancestor in reversed(line)]


def outline(page: NumberedPage) -> Outline:
    """Return the names, parents and texts of the elements of a page."""
    index_by_label: dict[str, int] = {}
    parents, labels = [], []
    for element in page.elements:
        parent = element.getparent()
        parents.append(-1 if parent is None else page.number_of(parent))
        labels.append(index_by_label.setdefault(label_of(element), len(index_by_label)))
    texts: dict[int, str] = {}
    for text in page.texts.nodes:
        if not text.is_in_head:
            texts.setdefault(page.number_of(text.element), _cut(page.texts.text_of(text)))
    shown = {page.number_of(element) for element in page.texts.range_by_element}
    for number, element in enumerate(page.elements):
        if element.tag in PICTURES:
            shown.add(number)
            texts.setdefault(number, _cut(element.get("alt") or element.get("title") or ""))
    return Outline(parents, list(index_by_label), labels, texts, sorted(shown))


def values_of(page: PageTexts, element: _Element) -> list[NodeValue]:
    """Return what could be a value at a node, its text first."""
    values: list[NodeValue] = []
    for value in _all_values(page, element):
        if value.text and value not in values:
            values.append(value)
        if len(values) >= MAX_VALUES:
            break
    return values


def head_values(page: PageTexts) -> list[NodeValue]:
    """Return what the page says of itself unseen: its title, meta tags, links and JSON-LD."""
    values: list[NodeValue] = []
    for element in page.tree.iter("title", "meta", "link", "script"):
        if element.tag == "script" and "json" not in (element.get("type") or ""):
            continue
        values += _head_values_of(page, element)
        if len(values) >= MAX_VALUES:
            break
    return values[:MAX_VALUES]


def _head_values_of(page: PageTexts, element: _Element) -> list[NodeValue]:
    if element.tag == "script":
        return list(_json_values(page, element))
    if element.tag == "title":
        return [
            NodeValue("title", PageNode(element).xpath, displayed_text(page, PageNode(element)))
        ]
    name = "content" if element.tag == "meta" else "href"
    naming = ("property", "name", "itemprop", "rel")
    title = next((element.get(key) for key in naming if element.get(key)), "")
    if not title or not element.get(name):
        return []
    node = PageNode(element, name=name)
    return [NodeValue(f"{element.tag} {title}", node.xpath, displayed_text(page, node))]


def _all_values(page: PageTexts, element: _Element) -> Iterator[NodeValue]:
    yield NodeValue("text", PageNode(element).xpath, displayed_text(page, PageNode(element)))
    n_texts = count_texts(element)
    for number in range(1, n_texts + 1) if n_texts > 1 or len(element) else ():
        node = PageNode(element, number)
        yield NodeValue(f"text {number}", node.xpath, displayed_text(page, node))
    yield from _attributes_of(page, element, "")
    for inner in element.iter("img", "a", "time", "meta"):
        if inner is not element:
            yield from _attributes_of(page, inner, f"{inner.tag} ")
    for outer in element.iterancestors("a"):
        yield from _attributes_of(page, outer, "a around ")
    if element.tag == "script":
        yield from _json_values(page, element)


def _attributes_of(page: PageTexts, element: _Element, prefix: str) -> Iterator[NodeValue]:
    for name in map(str, element.attrib):
        if not _UNWANTED.match(name):
            node = PageNode(element, name=name)
            yield NodeValue(f"{prefix}@{name}", node.xpath, displayed_text(page, node))


def _json_values(page: PageTexts, script: _Element) -> Iterator[NodeValue]:
    """Yield the names and values of a JSON document whose text stands in it as it is displayed."""
    shown = displayed_text(page, PageNode(script))
    for pair in _JSON_PAIR.finditer(shown):
        start, end = pair.span(2)
        if pair[2].startswith('"'):
            start, end = start + 1, end - 1
            if _decoded(pair[2]) != shown[start:end]:
                continue
        yield NodeValue(f"JSON {pair[1]}", PageNode(script).xpath, shown[start:end], start, end)


def _decoded(literal: str) -> str:
    try:
        return displayed(str(json.loads(literal)))
    except ValueError:
        return ""


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SNIPPET_CHARS else f"{text[: MAX_SNIPPET_CHARS - 1]}…"
