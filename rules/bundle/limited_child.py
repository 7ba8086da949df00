"""What a limited child does for `limits` and `extraction`: read pages by the rules of people."""

from __future__ import annotations

import signal
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

import orjson
from lxml import etree
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import PageTooLarge, parse_page
from clustering.dom.paths import element_paths
from rules.algorithms.by_hand.sandbox import StylesheetRefused, check_xpath, read_stylesheet
from rules.algorithms.running.matching import clusters_from_json, match_page
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.run_rule import StylesheetFailed, extract_here, transform
from rules.algorithms.running.value_looks import ValueLooks

MAX_NODES = 1_000  # that an XPath may select on a page
MAX_TEXT_CHARS = 64 * 1024  # of a node


def answer_within(question: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """Return what `answer_question` does, or end the process if it takes longer; 0 is no limit."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    answer = answer_question(question)
    signal.setitimer(signal.ITIMER_PROF, 0)
    return answer


def answer_question(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was found, or why it was refused or stopped."""
    run: Callable[[Mapping[str, Any], RawPage], object] = _RUNS[question["kind"]]
    try:
        return {"found": [run(question, page) for page in unpacked(question["pages"])]}
    except StylesheetRefused as refused:
        return {"refused": str(refused)}
    except (MemoryError, RecursionError):
        return {"stopped": "it needs more memory than it may have"}
    except (etree.XPathError, etree.XSLTError) as error:
        return {"stopped": f"it fails while it runs: {error}"}


def _run_xpath(question: Mapping[str, Any], page: RawPage) -> list[tuple[str, str]]:
    tree = _tree_of(page)
    if tree is None:
        return []
    nodes = check_xpath(question["text"])(tree)
    if not isinstance(nodes, list):
        raise StylesheetRefused(
            f"{question['text']!r} gives a {type(nodes).__name__.lstrip('_')}, not nodes"
        )
    return [_path_and_text(node) for node in nodes[:MAX_NODES]]


def _tree_of(page: RawPage) -> HtmlElement | None:
    try:
        return parse_page(page.body, page.content_type).tree
    except PageTooLarge as error:
        raise StylesheetRefused(f"a page is too large: {error}") from None


def _path_and_text(node: Any) -> tuple[str, str]:  # XPath selects elements, texts and attributes
    """Return the path of a node and its text."""
    if isinstance(node, str):
        owner: _Element = node.getparent()  # type: ignore[attr-defined]  # lxml's string knows its parent
        return _path_of_string(node, owner), node[:MAX_TEXT_CHARS]
    return element_paths([node])[0], str(node.xpath("string()"))[:MAX_TEXT_CHARS]


def _path_of_string(node: Any, owner: _Element) -> str:  # lxml's string
    if node.is_attribute:
        return f"{element_paths([owner])[0]}/@{node.attrname}"
    element = owner.getparent() if node.is_tail else owner
    if element is None:
        return ""
    number = 1 + len(list(_texts_before(owner, element))) if node.is_tail else 1
    return f"{element_paths([element])[0]}/text()[{number}]"


def _texts_before(sibling: _Element, parent: _Element) -> Iterator[str]:
    """Yield the text nodes of the parent that come before the tail of one of its children."""
    if parent.text:
        yield parent.text
    for child in sibling.itersiblings(preceding=True):
        if child.tail:
            yield child.tail


def _run_stylesheet(question: Mapping[str, Any], page: RawPage) -> str:
    tree = _tree_of(page)
    if tree is None:
        return b64encode(b"<record/>").decode()
    stylesheet = b64decode(question["text"]).decode("utf-8", "replace")
    try:
        result = transform(stylesheet, tree, nodes=question["provenance"])
    except StylesheetFailed as error:
        raise StylesheetRefused(str(error)) from None
    return b64encode(bytes(result)).decode()


def _extract(question: Mapping[str, Any], page: RawPage) -> dict[str, Any]:
    """Return the records of a page by a rule that somebody wrote."""
    form = question["rule"]
    attributes = [AttributeType.from_json(entry) for entry in form["attributes"]]
    looks = {name: ValueLooks.from_json(of_name) for name, of_name in form["looks"].items()}
    rule = RunnableRule(**form | {"attributes": attributes, "is_by_hand": False, "looks": looks})
    _check(rule.stylesheet)
    return asdict(extract_here(page, rule, nodes=question["nodes"], votes=question["votes"]))


# Saves 2.7 ms for each page but a stylesheet's first.
@lru_cache(maxsize=64)
def _check(stylesheet: str) -> None:
    """Check a stylesheet by the sandbox, once. Raises StylesheetRefused."""
    read_stylesheet(stylesheet.encode())


def match_in_child(
    body: bytes, content_type: str, url: str, inbound_xpath: str, clusters: bytes
) -> dict[str, Any]:
    """Return as JSON which of a site's clusters, which are JSON too, a page belongs to."""
    page = RawPage(url, body, content_type, inbound_xpath)
    return asdict(match_page(page, clusters_from_json(orjson.loads(clusters))))


_RUNS: dict[str, Callable[[Mapping[str, Any], RawPage], object]] = {
    "xpath": _run_xpath,
    "xslt": _run_stylesheet,
    "extract": _extract,
}


def packed(pages: Sequence[RawPage]) -> list[tuple[str, str, str]]:
    """Return pages as JSON values: the address, the bytes in base64, the content type."""
    return [(page.url, b64encode(page.body).decode(), page.content_type) for page in pages]


def unpacked(pages: Iterable[Sequence[str]]) -> Iterator[RawPage]:
    """Yield the pages that were packed."""
    for url, body, content_type in pages:
        yield RawPage(url, b64decode(body), content_type)
