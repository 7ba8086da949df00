"""Run a rule on a page: its stylesheet first, then what the types of the attributes say.

The stylesheet is compiled once and kept. One that was imported or changed by hand runs in a process that can
be stopped, see `rules.bundle.extraction`. It may strip blank text nodes from the tree that it runs on; then
the places of its values are those in the stripped tree.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from clustering.dom.links import find_base
from clustering.dom.page import PageTooLarge, parse_page
from clustering.values.displayed import displayed
from clustering.values.normalising import IMAGE, PageContext, normalise
from clustering.values.typed_regexes import select
from rules.algorithms.running.node_paths_of_output import page_paths
from rules.algorithms.running.record_keys import with_keys
from rules.algorithms.running.records import (
    Extracted,
    ExtractedRecord,
    RawRecord,
    RawValue,
    RunnableRule,
)

NO_TREE: Final = "no_tree"
TOO_LARGE: Final = "too_large"
STYLESHEET_FAILED: Final = "stylesheet_failed"
STOPPED: Final = "stopped"
_NO_ACCESS = etree.XSLTAccessControl(  # type: ignore[call-arg]  # the stubs know no arguments
    read_file=False, write_file=False, create_dir=False, read_network=False, write_network=False
)
MAX_VALUES = 10_000  # of one page; a rule that selects more is wrong
MAX_RAW = 1024 * 1024  # characters of one value


class StylesheetFailed(Exception):
    """A stylesheet could not be compiled, or stopped in the middle of a page."""


def extract_here(
    body: bytes,
    content_type: str,
    url: str,
    rule: RunnableRule,
    *,
    nodes: bool = False,
    votes: bool = True,
) -> Extracted:
    """Return the records of a page's bytes in this process, which nothing stops."""
    try:
        page = parse_page(body, content_type)
    except PageTooLarge as error:
        return Extracted([], TOO_LARGE, str(error))
    if page.tree is None:
        return Extracted([], NO_TREE, f"the page has no tree: {page.problem}", page.problem)
    extracted = extract_tree(page.tree, url, rule, nodes=nodes, votes=votes)
    return extracted if not page.problem else _with_problem(extracted, page.problem)


def extract_tree(
    tree: HtmlElement, url: str, rule: RunnableRule, *, nodes: bool = False, votes: bool = True
) -> Extracted:
    """Return the records of a tree in this process; a rule that somebody wrote is given bytes instead."""
    if rule.is_by_hand:
        raise ValueError(f"{rule.name} was written by hand; extract it from the page's bytes")
    context = context_of(tree, url, rule)
    try:
        raw_records = run_stylesheet(rule.stylesheet, tree, nodes=nodes, votes=votes)
    except StylesheetFailed as error:
        return Extracted([], STYLESHEET_FAILED, str(error))
    places = page_paths(tree, _nodes_in(raw_records)) if nodes else {}
    is_list = len(raw_records) != 1 or bool(raw_records[0].nodes)
    records = [
        record_of(raw, rule, context, places, index if is_list else None)
        for index, raw in enumerate(raw_records)
    ]
    links = [raw.links for raw in raw_records]
    return Extracted(with_keys(records, rule.attributes, links, url) if is_list else records)


def context_of(tree: HtmlElement, url: str, rule: RunnableRule) -> PageContext:
    """Return what the page tells about values, as far as the rule's types ask for it."""
    types = {attribute.type for attribute in rule.attributes}
    base_url = find_base(tree, url) if types & {"url", IMAGE} and url else url
    return PageContext(base_url, tree.get("lang") or "")


@lru_cache(maxsize=256)
def compile_stylesheet(stylesheet: str) -> etree.XSLT:
    """Return the compiled stylesheet; it may read no file and write none.

    Raises StylesheetFailed.
    """
    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(stylesheet.encode(), parser)
        return etree.XSLT(root, regexp=False, access_control=_NO_ACCESS)
    except (etree.XMLSyntaxError, etree.XSLTParseError) as error:
        raise StylesheetFailed(f"the stylesheet cannot be read: {_why(error)}") from None


def _why(error: etree.LxmlError) -> str:
    """Return what a compiler says, with the line where it knows one."""
    said: Any = [entry for entry in error.error_log if entry.message.strip()]  # type: ignore[attr-defined]  # the stubs do not know that a log is read so
    if not said:
        return str(error)
    line = next((f"line {entry.line}: " for entry in said if entry.line > 0), "")
    return line + "; ".join(dict.fromkeys(" ".join(entry.message.split()) for entry in said[:3]))


def run_stylesheet(
    stylesheet: str, tree: _Element, *, nodes: bool = False, votes: bool = True
) -> list[RawRecord]:
    """Return what a stylesheet emits for a tree, which it strips of blank text nodes.

    Raises StylesheetFailed.
    """
    return read_result(transform(stylesheet, tree, nodes=nodes, votes=votes).getroot())


def transform(
    stylesheet: str, tree: _Element, *, nodes: bool = False, votes: bool = True
) -> etree._XSLTResultTree:
    """Return the result tree of a stylesheet.

    Raises StylesheetFailed.
    """
    compiled = compile_stylesheet(stylesheet)
    provenance = "2" if nodes else "1" if votes else "0"
    try:
        return compiled(tree, provenance=provenance, links="1")
    except etree.XSLTError as error:
        raise StylesheetFailed(f"the stylesheet stops on this page: {error}") from None


def read_result(root: _Element | None) -> list[RawRecord]:
    """Return the records of a result tree: that of one record, or of several within `records`.

    Raises StylesheetFailed.
    """
    if root is None:
        raise StylesheetFailed("the stylesheet emits nothing; it must emit <record> or <records>")
    if root.tag == "record":
        return [_read_record(root)]
    if root.tag != "records":
        raise StylesheetFailed(
            f"the stylesheet emits <{root.tag}>; it must emit <record> or <records>"
        )
    return [_read_record(record) for record in root.iterchildren("record")]


def _read_record(record: _Element) -> RawRecord:
    values: dict[str, list[RawValue]] = {}
    for number, value in enumerate(record.iterchildren("value")):
        if number >= MAX_VALUES:
            raise StylesheetFailed(
                f"the stylesheet emits more than {MAX_VALUES:,} values of a record"
            )
        told = {str(name): str(text) for name, text in value.items()}
        values.setdefault(told.get("name", ""), []).append(_read_value(value, told))
    links = [link.text or "" for link in record.iterchildren("link")]
    return RawRecord(values, (record.get("node") or "").split(), links)


def _read_value(value: _Element, asked: Mapping[str, str]) -> RawValue:
    text = ("".join(map(str, value.itertext())) if len(value) else value.text or "")[:MAX_RAW]
    if "way" not in asked:
        return RawValue(text, asked.get("node", ""))
    try:
        return RawValue(
            text,
            asked.get("node", ""),
            int(asked.get("way", "1")),
            int(asked.get("of", "1")),
            int(asked.get("rivals", "0")),
            int(asked.get("agree", "0")),
        )
    except ValueError as error:
        raise StylesheetFailed(
            f"the way, of, rivals and agree of a value are whole numbers: {error}"
        ) from None


def _nodes_in(records: Sequence[RawRecord]) -> list[str]:
    of_values = [
        value.node for record in records for values in record.values.values() for value in values
    ]
    return [*of_values, *(node for record in records for node in record.nodes)]


def record_of(
    raw: RawRecord,
    rule: RunnableRule,
    context: PageContext,
    places: Mapping[str, str],
    index: int | None,
) -> ExtractedRecord:
    """Apply the attributes' types to the raw values of a record."""
    record = ExtractedRecord(
        {}, {}, {}, [], {}, {}, {}, [places.get(node, node) for node in raw.nodes], index
    )
    for attribute in rule.attributes:
        found = raw.values.get(attribute.name, [])
        if not attribute.is_multi:
            found = found[:1]
        _take_values(record, attribute, found, context)
        if attribute.name in record.values:
            trust = rule.trust.get(attribute.name, 1.0)
            record.confidence[attribute.name] = round(min(map(confidence_of, found)) * trust, 3)
        if places and found:
            its_places = [places.get(value.node, value.node) for value in found]
            record.nodes[attribute.name] = its_places if attribute.is_multi else its_places[0]
    return record


def _take_values(
    record: ExtractedRecord,
    attribute: AttributeType,
    found: Sequence[RawValue],
    context: PageContext,
) -> None:
    name = attribute.name
    texts = [displayed(value.text) for value in found]
    values = [value for value in map(_selected_by(attribute), texts) if value]
    if found:
        record.raw[name] = [value.text for value in found] if attribute.is_multi else found[0].text
    if values:
        record.values[name] = values if attribute.is_multi else values[0]
        normalised = [normalise(attribute.type, value, context) for value in values]
        if any(one is not None for one in normalised):
            record.normalized[name] = normalised if attribute.is_multi else normalised[0]
        return
    record.missing.append(name)
    refused = next((text for text in texts if text), "")
    if refused:
        record.failed[name] = f"the regex {attribute.regex} refuses {refused[:80]!r}"
    elif attribute.is_mandatory:
        what = (
            "the node that the rule selects is blank"
            if found
            else "the rule selects no node on this page"
        )
        record.failed[name] = f"mandatory, but {what}"


def _selected_by(attribute: AttributeType) -> Callable[[str], str | None]:
    return lambda text: select(attribute.regex, text) if attribute.regex else text


def confidence_of(value: RawValue) -> float:
    """Return 1 where one node was selected by all candidates, less where there was a choice.

    >>> confidence_of(RawValue("x")), confidence_of(RawValue("x", n_nodes=2, n_rivals=2, n_agree=1))
    (1.0, 0.425)
    """
    of_choice = 1.0 if value.n_nodes == 1 else 0.5
    of_rivals = (
        1 - 0.3 * (value.n_rivals - value.n_agree) / value.n_rivals if value.n_rivals else 1.0
    )
    return of_choice * of_rivals


def _with_problem(extracted: Extracted, problem: str) -> Extracted:
    return replace(extracted, problem=problem)
