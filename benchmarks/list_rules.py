"""How well rules for the records of lists are learnt from one annotated page."""

from __future__ import annotations

import difflib
import html
import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml.html import HtmlElement

from annotation.algorithms.attribute_types import AttributeType
from benchmarks.report import markdown_table
from benchmarks.rule_learning import texts_at
from clustering.dom.page import parse_page
from rules.algorithms.learning.list_learner import learn_list
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.learning.record_samples import owner_of
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.xpaths import shown
from rules.algorithms.running.records import RunnableRule, without_gaps
from rules.algorithms.running.run_rule import extract_tree
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from vertex.demo import sites

TITLE = "Rules for lists"
BAR = 0.98
LISTS = {
    "alpine-shop": ("list", "tag", "brand", "search", "reviews"),
    "town-guide": ("list", "letter", "town", "search"),
    "the-courier": ("section", "author", "tag", "archive", "search"),
    "tinker-board": ("board", "tag", "search", "thread"),
}
N_UNANNOTATED = 15
N_JUDGED = 12
DROPPED = 0.35  # share of the fields that are taken out of the pages

Values = dict[str, list[str]]


@dataclass
class LabelledRecord:
    """A record with its elements, and where each of its values stands."""

    nodes: list[Any]
    marks: dict[str, list[MarkedNode]]
    values: Values
    unknown: frozenset[str] = frozenset()  # fields of which the truth says nothing


@dataclass
class ListPage:
    tree: HtmlElement
    records: list[LabelledRecord]


@dataclass
class ListCluster:
    """Lists of one template."""

    name: str
    pages: list[ListPage] = field(default_factory=list)
    multi: set[str] = field(default_factory=set)

    @property
    def attributes(self) -> list[str]:
        return sorted(
            {name for page in self.pages for record in page.records for name in record.values}
        )


@dataclass
class Score:
    """Values per field as right, given and wanted, and records that have values of others."""

    fields: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    n_records: int = 0
    n_misaligned: int = 0

    @property
    def f1(self) -> float:
        results = [
            2 * right / (given + wanted)
            for right, given, wanted in self.fields.values()
            if given + wanted
        ]
        return sum(results) / len(results) if results else 0.0


def run(data: Path | None = None) -> str:
    """Learn from one page of each cluster, judge on others, and return the figures."""
    parts = [INTRODUCTION, table_of("Lists of the demo sites", demo_clusters())]
    if data is not None and (data / "wien_kushmerick").is_dir():
        parts.append(table_of("Lists of WIEN", wien_clusters(data / "wien_kushmerick")))
    else:
        parts.append("WIEN: left out, its pages are not in the folder.")
    return "\n\n".join(parts)


INTRODUCTION = (
    "All records of one page are annotated, of the page with the most of them; "
    "values are judged on up to "
    f"{N_JUDGED} other pages, as mean F1 over the fields. "
    "A record is misaligned where it has a value of "
    f"another record. “Fields dropped”: the same pages with {DROPPED:.0%} of the values but "
    "the first taken "
    f"out at random. Wanted: F1 of at least {BAR}, no misaligned record."
)


def table_of(title: str, clusters: Iterable[ListCluster]) -> str:
    rows, means, misaligned = [], defaultdict(list), 0
    for cluster in clusters:
        plain, dropped = judge(cluster)
        scores = (plain, dropped)
        rows.append(
            [cluster.name, plain.n_records, *(cell for one in scores for cell in _cells(one))]
        )
        for number, score in enumerate(scores):
            means[number].append(score.f1)
        misaligned += plain.n_misaligned + dropped.n_misaligned
    header = [
        "lists",
        "records",
        "F1",
        "misaligned",
        "F1, fields dropped",
        "misaligned, fields dropped",
    ]
    results = [sum(mean) / len(mean) for mean in means.values()]
    n_good = sum(mean >= BAR for mean in means[0])
    last = (
        f"Mean F1 {results[0]:.3f}, with fields dropped {results[1]:.3f}; "
        f"{n_good} of {len(rows)} reach {BAR}; "
    )
    return (
        f"## {title}\n\n{markdown_table(header, rows)}\n\n{last}misaligned records: {misaligned}."
    )


def _cells(score: Score) -> list[str]:
    return [f"{score.f1:.3f}", str(score.n_misaligned)]


def judge(cluster: ListCluster) -> tuple[Score, Score]:
    """Learn from the page with most records; judge others as they are and with fields dropped."""
    names = cluster.attributes
    sample = max(cluster.pages[:6], key=lambda page: len(page.records))
    others = [page for page in cluster.pages if page is not sample]
    marks: dict[str, list[MarkedNode]] = defaultdict(list)
    for record in sample.records:
        for name, mark in record.marks.items():
            marks[name] += mark
    annotated = AnnotatedPage(
        "sample", sample.tree, dict(marks), records=[one.nodes for one in sample.records]
    )
    samples = read_samples([annotated], [page.tree for page in others[:N_UNANNOTATED]])
    rule = learn_list(
        samples, [AttributeType(name, is_multi=name in cluster.multi) for name in names]
    )
    types = [AttributeType(name, is_multi=name in cluster.multi) for name in names]
    ready = RunnableRule(cluster.name, 1, stylesheet_of(rule), types)
    plain, dropped = Score(), Score()
    chance = random.Random(cluster.name)
    for page in others[-N_JUDGED:]:
        add(plain, page, ready)
        add(dropped, without_some(page, chance), ready)
    return plain, dropped


def add(score: Score, page: ListPage, rule: RunnableRule) -> None:
    """Add to a score what a rule makes of a page."""
    results = [
        _values(without_gaps(record.raw))
        for record in extract_tree(page.tree, "https://list.example/", rule).records
    ]
    names = [attribute.name for attribute in rule.attributes]
    of_page: dict[str, set[str]] = defaultdict(set)
    for labelled in page.records:
        for name, some in labelled.values.items():
            of_page[name] |= set(map(_squeezed, some))
    for record, got in _aligned(page.records, results):
        score.n_records += record is not None
        is_misaligned = False
        for name in names:
            if record is not None and name in record.unknown:
                continue
            wanted = (
                set()
                if record is None
                else {_squeezed(each) for each in record.values.get(name, [])}
            )
            given = {_squeezed(each) for each in got.get(name, [])}
            counts = score.fields[name]
            counts[0] += len(wanted & given)
            counts[1] += len(given)
            counts[2] += len(wanted)
            is_misaligned |= bool((given - wanted) & of_page[name])
        score.n_misaligned += is_misaligned


def _aligned(
    records: Sequence[LabelledRecord], found: Sequence[Values]
) -> Iterator[tuple[LabelledRecord | None, Values]]:
    """Yield known records with found ones; where the numbers differ, equal ones in order."""
    if len(records) == len(found):
        yield from zip(records, found, strict=True)
        return
    known = [_first_of(record.values) for record in records]
    results = [_first_of(values) for values in found]
    partner = {}
    for block in difflib.SequenceMatcher(
        None, known, results, autojunk=False
    ).get_matching_blocks():
        partner.update({block.a + n: block.b + n for n in range(block.size)})
    for number, record in enumerate(records):
        yield record, found[partner[number]] if number in partner else {}
    result = set(partner.values())
    yield from ((None, values) for number, values in enumerate(found) if number not in result)


def _first_of(values: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    return tuple(_squeezed(values[name][0]) for name in sorted(values) if values[name])[:1]


def _values(raw: Mapping[str, str | list[str]]) -> Values:
    return {name: [value] if isinstance(value, str) else value for name, value in raw.items()}


def _squeezed(text: str) -> str:
    return "".join(shown(text).split())


def without_some(page: ListPage, chance: random.Random) -> ListPage:
    """Return a page without some values: elements that hold nothing else go, cells become empty."""
    tree = deepcopy(page.tree)
    records, doomed = [], []
    for record in page.records:
        remaining = dict(record.values)
        owners = {
            name: [_owner(tree, mark) for mark in marks] for name, marks in record.marks.items()
        }
        for name in sorted(owners)[1:]:
            is_alone = all(
                other == name
                or not (set(owners[name]) & set(entry.iterancestors()) or entry in owners[name])
                for other, some in owners.items()
                for entry in some
            )
            roots = set(_selected(tree, record.nodes))
            is_part = all(
                owner not in roots and roots & set(owner.iterancestors()) for owner in owners[name]
            )
            if is_alone and is_part and chance.random() < DROPPED:
                doomed += owners[name]
                del remaining[name]
        records.append(LabelledRecord(record.nodes, {}, remaining, record.unknown))
    for element in doomed:
        if element.tag in {"td", "th"}:
            element[:], element.text = [], None
        elif element.getparent() is not None:
            element.drop_tree()
    return ListPage(tree, records)


def _owner(tree: HtmlElement, mark: MarkedNode) -> Any:
    nodes: Any = tree.xpath(str(mark.node))
    return owner_of(nodes[0])


def _selected(tree: HtmlElement, paths: Iterable[Any]) -> list[Any]:
    results: list[Any] = []
    for path in paths:
        nodes: Any = tree.xpath(path)
        results += nodes[:1]
    return results


def demo_clusters() -> Iterator[ListCluster]:
    """Yield the lists of the demo sites."""
    for name in sites.NAMES:
        for edition in ("1", "2"):
            for kind in LISTS[name]:
                cluster = ListCluster(f"{name} {edition}, {kind}")
                demos = [
                    page for page in sites.load(name, edition).pages.values() if page.type == kind
                ]
                for demo in demos:
                    tree = parse_page(demo.body, demo.content_type).tree
                    if tree is not None and len(demo.records) > 1:
                        cluster.pages.append(
                            ListPage(tree, [_demo_record(one) for one in demo.records])
                        )
                cluster.multi = {
                    attribute
                    for demo in demos
                    for record in demo.records
                    for attribute, value in record.values.items()
                    if isinstance(value, list)
                }
                if len(cluster.pages) > 1:
                    yield cluster


def _demo_record(record: sites.Record) -> LabelledRecord:
    values = {
        name: list(value) if isinstance(value, list) else [str(value)]
        for name, value in record.values.items()
        if value not in (None, [])
    }
    marks = {
        name: [
            MarkedNode(path, text) for path, text in zip(record.places[name], texts, strict=False)
        ]
        for name, texts in values.items()
    }
    return LabelledRecord(list(record.nodes), marks, values)


def wien_clusters(folder: Path) -> Iterator[ListCluster]:
    """Yield the sites of the 1990s whose records an editor can draw."""
    by_site: dict[str, ListCluster] = {}
    for line in (folder / "truth.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        tree = parse_page((folder / told["file"]).read_bytes()).tree
        cluster = by_site.setdefault(
            told["file"].split("/")[0], ListCluster(told["file"].split("/")[0])
        )
        if tree is not None and len(told["records"] or ()) > 1:
            records = wien_records(tree, told["records"])
            if records:
                cluster.pages.append(ListPage(tree, records))
    yield from (cluster for cluster in by_site.values() if len(cluster.pages) > 1)


def wien_records(
    tree: HtmlElement, told: Sequence[Sequence[Mapping[str, Any] | None]]
) -> list[LabelledRecord]:
    """Return the records of a page with their fields where they stand, in the order of the page."""
    places = [place for node in number_nodes([tree]).nodes for place in texts_at(node)]
    fields = [
        (element["start"], element["text"], number, f"field{n}")
        for number, record in enumerate(told)
        for n, element in enumerate(record)
        if element is not None
    ]
    marks: list[dict[str, list[MarkedNode]]] = [defaultdict(list) for _ in told]
    values: list[Values] = [defaultdict(list) for _ in told]
    at = behind = 0
    for _, written, number, name in sorted(fields):
        text = shown(html.unescape(written))
        result = _next_with(text, places, at, behind)
        if result is not None:
            at, behind = result
            values[number][name].append(text)
            marks[number][name].append(MarkedNode(places[at][0], text))
    width = max(map(len, told))
    records = []
    for number, nodes in enumerate(runs_of(tree, marks)):
        unknown = frozenset(f"field{n}" for n in range(width)) - set(values[number])
        if nodes:
            records.append(
                LabelledRecord(nodes, dict(marks[number]), dict(values[number]), unknown)
            )
    return records


def _next_with(
    text: str, places: Sequence[tuple[str, str]], at: int, behind: int
) -> tuple[int, int] | None:
    """Return the next place with a text, and where the text ends there."""
    for number in range(at, len(places)) if text else ():
        start = places[number][1].find(text, behind if number == at else 0)
        if start >= 0:
            return number, start + len(text)
    return None


def runs_of(
    tree: HtmlElement, marks: Sequence[Mapping[str, Sequence[MarkedNode]]]
) -> list[list[str]]:
    """Return each record's elements as an editor draws them: from its first field to its last."""
    owned: list[list[Any]] = []
    for record in marks:
        nodes: list[Any] = [tree.xpath(str(mark.node)) for some in record.values() for mark in some]
        owned.append([node[0] for node in nodes if node])
    number_of: dict[Any, set[int]] = defaultdict(set)
    for number, nodes in enumerate(owned):
        for node in nodes:
            for element in (owner_of(node), *owner_of(node).iterancestors()):
                number_of[element].add(number)
    shared = [
        next(
            (e for e in (owner_of(n), *owner_of(n).iterancestors()) if len(number_of[e]) > 1), None
        )
        for nodes in owned
        for n in nodes[:1]
    ]
    if not shared or None in shared:
        return [[] for _ in owned]
    parent: Any = Counter(shared).most_common(1)[0][0]
    children = list(parent.iterchildren("*"))
    return [[tree.getroottree().getpath(each) for each in _run(children, nodes)] for nodes in owned]


def _run(children: Sequence[Any], nodes: Sequence[Any]) -> list[Any]:
    """Return the children from the first to the last that hold a node, or stand before it."""
    numbers = []
    for node in nodes:
        around = {owner_of(node), *owner_of(node).iterancestors()}
        before = node.getparent() if getattr(node, "is_tail", False) else None
        numbers += [n for n, child in enumerate(children) if child in around or child is before][:1]
    return list(children[min(numbers) : max(numbers) + 1]) if numbers else []
