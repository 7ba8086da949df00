"""Run a rule on a page: its stylesheet first, then the types of its attributes.

The stylesheet is compiled once and kept. One that was imported or changed by hand runs in a process
that can be stopped, see `rules.bundle.extraction`. It may strip blank text nodes from the tree that
it runs on; then the paths of its values are those in the stripped tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.dom.links import find_base
from clustering.dom.page import PageTooLarge
from clustering.dom.paths import element_paths
from clustering.values.countries import country_of
from clustering.values.dates_by_dateparser import DatesByDateparser
from clustering.values.displayed import displayed
from clustering.values.normalising import IMAGE, READERS, Normalised, PageContext, normalise
from clustering.values.typed_regexes import select
from rules.algorithms.running.confidence import confidence_in
from rules.algorithms.running.nested_lists import align, uneven_fields
from rules.algorithms.running.record_keys import detail_links, with_details, with_keys
from rules.algorithms.running.records import (
    Extracted,
    ExtractedRecord,
    RawRecord,
    RawValue,
    RunnableRule,
)
from rules.algorithms.running.value_looks import oddness_of_values, shown_texts

NO_TREE: Final = "no_tree"
TOO_LARGE: Final = "too_large"
STYLESHEET_FAILED: Final = "stylesheet_failed"
STOPPED: Final = "stopped"
_NO_ACCESS = etree.XSLTAccessControl(  # type: ignore[call-arg]  # the stubs know no arguments
    read_file=False, write_file=False, create_dir=False, read_network=False, write_network=False
)
MAX_VALUES = 10_000  # of one page; a rule that selects more is wrong
MAX_VALUE_CHARS = 1024 * 1024
MOST_QUOTED = 80  # characters of a text that a reason quotes
MAX_MESSAGES = 3  # of a compiler
WORD_BY_TYPE: Final = {
    "price": "a price",
    "number": "a number",
    "rating": "a rating",
    "phone": "a telephone number",
    "zip": "a postal code",
    "date": "a date",
    "url": "an address",
    IMAGE: "the address of an image",
}
_COUNTED_PATH = re.compile(r"((?:/\*\[\d+\])+)(/text\(\)\[\d+\]|/@[^/\[\]]+)?")
_NUMBER = re.compile(r"\d+")


class StylesheetFailed(Exception):
    """A stylesheet could not be compiled, or stopped in the middle of a page."""


def extract_here(
    page: RawPage, rule: RunnableRule, *, nodes: bool = False, votes: bool = True
) -> Extracted:
    """Return the records of a page in this process, which nothing stops; the tree may change."""
    try:
        parsed = page.parsed
    except PageTooLarge as error:
        return Extracted([], TOO_LARGE, str(error))
    if parsed.tree is None:
        return Extracted([], NO_TREE, f"the page has no tree: {parsed.problem}", parsed.problem)
    extracted = extract_tree(
        parsed.tree, page.url, rule, nodes=nodes, votes=votes, encoding=parsed.encoding
    )
    return replace(extracted, problem=parsed.problem) if parsed.problem else extracted


def extract_tree(
    tree: HtmlElement,
    url: str,
    rule: RunnableRule,
    *,
    nodes: bool = False,
    votes: bool = True,
    encoding: str = "utf-8",
) -> Extracted:
    """Return the records of a tree in this process; `encoding` is that of its page.

    Raises ValueError for a rule that somebody wrote: it needs the page's bytes, for a process that
    can be stopped.
    """
    if rule.is_by_hand:
        raise ValueError(f"{rule.name} was written by hand; extract it from the page's bytes")
    context = context_of(tree, url, rule)
    try:
        raw_records = run_stylesheet(rule.stylesheet, tree, nodes=nodes, votes=votes)
    except StylesheetFailed as error:
        return Extracted([], STYLESHEET_FAILED, str(error))
    xpath_by_counted_path: dict[str, str] = {}  # a stylesheet counts elements, people name them
    if nodes:
        xpath_by_counted_path = page_paths(tree, _counted_paths(raw_records))
    records = [record_of(raw, rule, context, xpath_by_counted_path) for raw in raw_records]
    if len(raw_records) == 1 and not raw_records[0].nodes:
        return Extracted(records)  # the page is one record
    details = detail_links([raw.links for raw in raw_records], url)
    records = with_keys(records, rule.attributes, details, url)
    return Extracted(with_details(records, details, find_base(tree, url), encoding))


def context_of(tree: HtmlElement, url: str, rule: RunnableRule) -> PageContext:
    """Return what the page says about its values, as far as the rule's types need it."""
    types = {attribute.type for attribute in rule.attributes}
    base_url = find_base(tree, url) if types & {"url", IMAGE} and url else url
    language = tree.get("lang") or ""
    country = rule.country or country_of(url)
    by_dateparser = DatesByDateparser(language) if "date" in types else None
    return PageContext(base_url, language, country, by_dateparser)


# Saves 6 % of extracting 80 pages by two rules: it is compiled once a rule (benchmarks.caches).
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
    """Return the first messages of a compiler, with the line where it knows one."""
    log: Any = error.error_log  # the stubs do not know that a log is read by iterating over it
    entries = [entry for entry in log if entry.message.strip()]
    if not entries:
        return str(error)
    line = next((f"line {entry.line}: " for entry in entries if entry.line > 0), "")
    messages = [" ".join(entry.message.split()) for entry in entries[:MAX_MESSAGES]]
    return line + "; ".join(dict.fromkeys(messages))


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
    provenance = "1" if votes else "0"
    if nodes:
        provenance = "2"
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


def _read_record(element: _Element) -> RawRecord:
    """Return a <record>: values by attribute, nodes and links. Raises StylesheetFailed."""
    values: dict[str, list[RawValue]] = {}
    for number, value in enumerate(element.iterchildren("value")):
        if number >= MAX_VALUES:
            raise StylesheetFailed(
                f"the stylesheet emits more than {MAX_VALUES:,} values of a record"
            )
        values.setdefault(value.get("name") or "", []).append(_read_value(value))
    links = [link.text or "" for link in element.iterchildren("link")]
    return RawRecord(values, (element.get("node") or "").split(), links)


def _read_value(element: _Element) -> RawValue:
    """Return a <value>: its text and, where the stylesheet gives them, its node and the vote on it.

    Raises StylesheetFailed.
    """
    text = "".join(map(str, element.itertext()))[:MAX_VALUE_CHARS]
    attributes = {str(name): str(value) for name, value in element.items()}
    node = attributes.get("node", "")
    try:
        item = int(attributes.get("item", "0"))
        if "way" not in attributes:  # without a vote
            return RawValue(text, node, item=item)
        return RawValue(
            text,
            node,
            item=item,
            way=int(attributes["way"]),
            n_nodes=int(attributes.get("of", "1")),
            n_rivals=int(attributes.get("rivals", "0")),
            n_agree=int(attributes.get("agree", "0")),
        )
    except ValueError as error:
        raise StylesheetFailed(
            f"the way, of, rivals, agree and item of a value are whole numbers: {error}"
        ) from None


def record_of(
    raw: RawRecord,
    rule: RunnableRule,
    context: PageContext,
    path_by_counted: Mapping[str, str],
) -> ExtractedRecord:
    """Apply the types of the rule's attributes to the raw values of a record."""
    record = ExtractedRecord(
        values={},
        raw={},
        normalized={},
        missing=[],
        failed={},
        confidence={},
        record_nodes=[path_by_counted.get(node, node) for node in raw.nodes],
    )
    aligned = align(raw, rule.attributes)
    for attribute in rule.attributes:
        raw_values = aligned.get(attribute.name, raw.values.get(attribute.name, []))
        if not attribute.is_multi:
            raw_values = raw_values[:1]
        _add_values(record, attribute, raw_values, context)
        if attribute.name in record.values:
            shown = shown_texts(
                record.values[attribute.name], record.normalized.get(attribute.name)
            )
            confidence = confidence_in(
                [value for value in raw_values if value is not None],
                is_multi=attribute.is_multi,
                trust=rule.trust.get(attribute.name, 0.0),
                oddness=oddness_of_values(rule.looks.get(attribute.name), shown),
                rank=rule.ranks.get(attribute.name),
            )
            record.confidence[attribute.name] = round(confidence, 3)
        if path_by_counted and raw_values:
            paths = [
                None if value is None else path_by_counted.get(value.node, value.node)
                for value in raw_values
            ]
            record.nodes[attribute.name] = paths if attribute.is_multi else paths[0] or ""
    for name, problem in uneven_fields(raw, rule.attributes).items():
        record.problems.setdefault(name, problem)
    return record


def _add_values(
    record: ExtractedRecord,
    attribute: AttributeType,
    raw_values: Sequence[RawValue | None],
    context: PageContext,
) -> None:
    """Add an attribute's values to a record, or what is missing of it, and why that is wrong."""
    name = attribute.name
    if raw_values:
        raw_texts = [None if value is None else value.text for value in raw_values]
        record.raw[name] = raw_texts if attribute.is_multi else raw_texts[0] or ""
    texts = ["" if value is None else displayed(value.text) for value in raw_values]
    shown: list[str | None] = [_selected(attribute, text) or None for text in texts]
    if not attribute.list_name:
        shown = [value for value in shown if value]
    values = [value for value in shown if value]
    if values:
        record.values[name] = shown if attribute.is_multi else values[0]
        normalised = [
            None if value is None else normalise(attribute.type, value, context) for value in shown
        ]
        if any(value is not None for value in normalised):
            record.normalized[name] = normalised if attribute.is_multi else normalised[0]
        problem = _problem_of(attribute, shown, normalised)
        if problem:
            record.problems[name] = problem
        return

    record.missing.append(name)
    refused = next((text for text in texts if text), "")
    if refused:
        record.failed[name] = f"the regex {attribute.regex} refuses {refused[:MOST_QUOTED]!r}"
    elif attribute.is_mandatory and raw_values:
        record.failed[name] = "mandatory, but the node that the rule selects is blank"
    elif attribute.is_mandatory:
        record.failed[name] = "mandatory, but the rule selects no node on this page"


def _problem_of(
    attribute: AttributeType, values: Sequence[str | None], normalised: Sequence[Normalised | None]
) -> str:
    """Return why values could not be read as their type, blank where all were or none need be."""
    if attribute.type not in READERS:
        return ""
    unread = [
        value
        for value, read in zip(values, normalised, strict=True)
        if value is not None and read is None
    ]
    if not unread:
        return ""
    others = f", nor can {len(unread) - 1} more" if len(unread) > 1 else ""
    kind = WORD_BY_TYPE.get(attribute.type, attribute.type)
    return f"{unread[0][:MOST_QUOTED]!r} cannot be read as {kind}{others}"


def _selected(attribute: AttributeType, text: str) -> str | None:
    """Return the part of a text that the attribute's regex selects, or None; all without regex."""
    return select(attribute.regex, text) if attribute.regex else text


def _counted_paths(records: Iterable[RawRecord]) -> Iterator[str]:
    """Yield where records and their values stand, as the stylesheet counts."""
    for record in records:
        for values in record.values.values():
            yield from (value.node for value in values)
        yield from record.nodes


def page_paths(tree: _Element, counted_paths: Iterable[str]) -> dict[str, str]:
    """Return XPaths as people write them, by the paths that a stylesheet emits.

    A stylesheet counts elements, as in `/*[1]/*[2]/text()[1]`; the same node is
    `/html/body/text()[1]`. Left out are paths of another form, and those that the tree lacks.
    """
    element_by_steps: dict[str, _Element] = {}
    children_by_element: dict[_Element, list[_Element]] = {}
    known: list[tuple[str, str, str]] = []  # the path, its element's steps, the text or attribute
    for path in dict.fromkeys(counted_paths):
        match = _COUNTED_PATH.fullmatch(path)
        if match is None:
            continue
        steps, last_step = match[1], match[2] or ""
        element = element_by_steps.get(steps)
        if element is None:
            element = _element_at(tree, steps, children_by_element)
        if element is not None:
            element_by_steps[steps] = element
            known.append((path, steps, last_step))
    paths = element_paths(list(element_by_steps.values()))
    path_by_steps = dict(zip(element_by_steps, paths, strict=True))
    return {path: path_by_steps[steps] + last_step for path, steps, last_step in known}


def _element_at(
    tree: _Element, steps: str, children_by_element: dict[_Element, list[_Element]]
) -> _Element | None:
    """Return the element at a counted path; the children of elements on its way are remembered."""
    element = tree.getroottree().getroot()
    first, *numbers = map(int, _NUMBER.findall(steps))
    if first != 1:
        return None
    for number in numbers:
        children = children_by_element.get(element)
        if children is None:
            children = [child for child in element if isinstance(child.tag, str)]
            children_by_element[element] = children
        if not 1 <= number <= len(children):
            return None
        element = children[number - 1]
    return element
