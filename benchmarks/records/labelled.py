"""Read list pages with known records: test beds, archived search results, old pages, demo lists."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lxml import etree
from lxml.etree import _Element

from benchmarks.records.generated import MARK, made_pages
from benchmarks.records.scoring import Interval, Truth
from clustering.algorithms.records.page_model import PageModel, model_page
from clustering.dom.page import parse_page
from vertex.demo import sites

LISTS = {
    "alpine-shop": {"list", "tag", "brand", "search", "reviews"},
    "town-guide": {"list", "letter", "town", "search"},
    "the-courier": {"section", "author", "tag", "archive", "search"},
    "tinker-board": {"board", "tag", "search", "thread"},
}
EMPTY = {"help", "missing", "login"}
N_OF_A_TYPE = 2  # demo pages of a type
SHARE_FOUND = 0.8  # of the true records that must be found in the text of a page
N_OF_A_SOURCE = 30
N_OF_AN_ENGINE = 16
N_EMPTY_SOURCES = 4  # that generated pages without a list are of
KNOWN_BY_CLASS = (
    ("Newest Questions", "question-summary"),
    ("Tags", "tag-cell"),
    ("Jobs", "-job"),
)


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """A page with its truth; where it is judged, pages of its source were not trained on."""

    kind: str
    source: str
    name: str
    body: bytes
    content_type: str
    truth: Truth

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.body).hexdigest()

    def model(self) -> PageModel:
        tree = parse_page(self.body, self.content_type).tree
        assert tree is not None, self.name
        return model_page(tree)


def read_all(data: Path | None) -> list[LabelledPage]:
    """Return all pages that can be scored."""
    pages = [*demo_lists(), *generated()]
    if data:
        readers = (test_bed, search_results, old_pages, questions)
        pages += [page for reader in readers for page in reader(data)]
    return _few_of_each(pages)


def _few_of_each(pages: list[LabelledPage]) -> list[LabelledPage]:
    """Return the pages without those of which a source has too many of the same look."""
    n_by_source: Counter[tuple[str, str]] = Counter()
    remaining = []
    for page in pages:
        key = (page.kind, page.source)
        n_by_source[key] += 1
        if n_by_source[key] <= N_OF_A_SOURCE:
            remaining.append(page)
    return remaining


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def bare(text: str) -> str:
    return "".join(text.split())


def select(tree: _Element, path: str) -> list[_Element]:
    """Return the elements that an XPath selects. Raises TypeError."""
    nodes = tree.getroottree().xpath(path)
    if not isinstance(nodes, list):
        raise TypeError(path)
    return [node for node in nodes if isinstance(node, etree._Element)]


def tree_of(body: bytes, content_type: str = "") -> tuple[_Element, PageModel] | None:
    tree = parse_page(body, content_type).tree
    return None if tree is None else (tree, model_page(tree))


def test_bed(data: Path) -> Iterator[LabelledPage]:
    """Yield the list pages of record_testbeds; XPaths of an HTML5 tree, so without its tbody."""
    folder = data / "record_testbeds"
    for line in read_lines(folder / "zhao3.truth.jsonl"):
        note = line["note"] or ""
        if not line["exact"] or note not in {
            "",
            "title only",
            "link only",
            "results don't have links",
        }:
            continue
        body = (folder / line["file"]).read_bytes()
        found = tree_of(body)
        if found is None:
            continue
        tree, page = found
        try:
            nodes = select(tree, re.sub(r"/tbody\b", "", line["record_xpath"]))
        except TypeError:
            nodes = []
        records = _in_order(page, line["record_texts_html5lib"])
        if len(nodes) == line["n_truth"] and note == "":
            number_by_node = {node: number for number, node in enumerate(page.nodes)}
            exact = [
                page.interval((number_by_node[node],) * 2)
                for node in nodes
                if node in number_by_node
            ]
            # An element that lxml did not close holds what follows it.
            records = records if len(records) == len(nodes) else exact
        if len(records) >= SHARE_FOUND * line["n_truth"] and len(records) > 1:
            yield LabelledPage(
                "test bed", line["file"], line["file"], body, "", Truth(tuple(records), note == "")
            )


def _in_order(page: PageModel, texts: Iterable[str]) -> list[Interval]:
    """Return where texts stand that follow each other."""
    whole, at, records = page.text, 0, []
    for text in map(bare, texts):
        start = whole.find(text, at) if text else -1
        if start >= 0:
            at = start + len(text)
            records.append((start, at))
    return records


def search_results(data: Path) -> Iterator[LabelledPage]:
    """Yield the archived result pages; a record's core is its title and snippet."""
    folder = data / "aql_serps"
    n_by_engine: Counter[str] = Counter()
    for line in read_lines(folder / "truth.jsonl"):
        n_by_engine[line["engine"]] += 1
        if (
            not line["annotated"]
            or len(line["results"]) < 2
            or n_by_engine[line["engine"]] > N_OF_AN_ENGINE
        ):
            continue
        body = (folder / line["file"]).read_bytes()
        tree = tree_of(body, line["content_type"] or "")
        if tree is None:
            continue
        records = _results(tree[1].text, line["results"])
        if len(records) >= SHARE_FOUND * len(line["results"]):
            content_type = line["content_type"] or ""
            yield LabelledPage(
                "search results",
                line["engine"],
                line["file"],
                body,
                content_type,
                Truth(tuple(records), False),
            )


def _results(whole: str, results: list[dict[str, Any]]) -> list[Interval]:
    at, records = 0, []
    for result in results:
        title, snippet = bare(result["title"] or ""), bare(result["snippet"] or "")[:40]
        start = whole.find(title, at) if title else -1
        if start < 0:
            continue
        stop = at = start + len(title)
        found = whole.find(snippet, at, at + 400) if snippet else -1
        stop = found + len(snippet) if found >= 0 else stop
        records.append((start, stop))
        at = stop
    return records


def old_pages(data: Path) -> Iterator[LabelledPage]:
    """Yield the pages of the 1990s; a record's core reaches from its first field to its last."""
    folder = data / "wien_kushmerick"
    for line in read_lines(folder / "truth.jsonl")[::2]:
        if not line["records"] or len(line["records"]) < 2:
            continue
        body = (folder / line["file"]).read_bytes()
        records = _marked(
            body,
            [
                [(element["start"], element["end"]) for element in record if element]
                for record in line["records"]
            ],
        )
        if len(records) >= SHARE_FOUND * len(line["records"]):
            source = line["file"].partition("/")[0]
            yield LabelledPage(
                "1990s", source, line["file"], body, "", Truth(tuple(records), False)
            )


def _marked(body: bytes, records: list[list[Interval]]) -> list[Interval]:
    """Return where byte intervals stand in the text, by marks written into the page."""
    places = sorted(
        (at, number) for number, fields in enumerate(records) for field in fields for at in field
    )
    pieces, before = [], 0
    for at, number in places:
        pieces += [body[before:at], b"QZX%05dXZQ" % number]
        before = at
    tree = tree_of(b"".join([*pieces, body[before:]]))
    bounds: dict[int, list[int]] = {}
    for n_marks, mark in enumerate(re.finditer(r"QZX(\d{5})XZQ", tree[1].text if tree else "")):
        bounds.setdefault(int(mark[1]), []).append(mark.start() - 11 * n_marks)
    return sorted({(min(ends), max(ends)) for ends in bounds.values() if min(ends) < max(ends)})


def questions(data: Path) -> Iterator[LabelledPage]:
    """Yield the listings of a site for questions, whose records have a class of their own."""
    for path in sorted((data / "stackoverflow_pageclustering").glob("*.html")):
        name = next((name for start, name in KNOWN_BY_CLASS if path.name.startswith(start)), None)
        tree = tree_of(path.read_bytes()) if name else None
        if tree:
            page = tree[1]
            records = [
                page.interval((number, number))
                for number, node in enumerate(page.nodes)
                if name in (node.get("class") or "").split()
            ]
            if len(records) > 1 and int(re.findall(r"\d+", path.name)[0]) <= 4:
                yield LabelledPage(
                    "listings",
                    "questions",
                    path.name,
                    path.read_bytes(),
                    "",
                    Truth(tuple(records), True),
                )


def demo_lists() -> Iterator[LabelledPage]:
    """Yield lists of the demo sites, and pages of theirs that have none."""
    for name in sites.NAMES:
        for edition in sites.EDITIONS:
            yield from _demo_site(name, edition)


def _demo_site(name: str, edition: str) -> Iterator[LabelledPage]:
    n_by_type: dict[str, int] = {}
    for demo in sites.load(name, edition).pages.values():
        is_list = demo.type in LISTS[name] and len(demo.records) > 1
        is_empty = demo.type in EMPTY and not demo.records
        n_by_type[demo.type] = n_by_type.get(demo.type, 0) + (is_list or is_empty)
        if not (is_list or is_empty) or n_by_type[demo.type] > N_OF_A_TYPE:
            continue
        found = tree_of(demo.body, demo.content_type)
        assert found is not None, demo.path
        tree, page = found
        number_by_node = {node: number for number, node in enumerate(page.nodes)}
        records = []
        for record in demo.records:
            nodes = [number_by_node[select(tree, path)[0]] for path in record.nodes]
            records.append(page.interval((nodes[0], nodes[-1])))
        kind = "demo lists" if is_list else "no list"
        truth = Truth(tuple(records), True)
        yield LabelledPage(
            kind, name, f"{name} {edition} {demo.path}", demo.body, demo.content_type, truth
        )


def generated() -> Iterator[LabelledPage]:
    """Yield generated pages; each layout is a source, judged by rankers that never saw it."""
    for number, (layout, written) in enumerate(made_pages()):
        body, content_type = written.encode(), "text/html; charset=utf-8"
        tree = tree_of(body, content_type)
        assert tree is not None, layout
        page = tree[1]
        elements: dict[str, list[int]] = {}
        for element, node in enumerate(page.nodes):
            if mark := node.get(MARK):
                elements.setdefault(mark, []).append(element)
        records = tuple(
            (page.starts[min(those)], page.stops[max(those)]) for those in elements.values()
        )
        kind, source = (
            ("generated", layout)
            if layout
            else ("no list", f"generated {number % N_EMPTY_SOURCES}")
        )
        yield LabelledPage(
            kind, source, f"generated {layout} {number}", body, content_type, Truth(records, True)
        )
