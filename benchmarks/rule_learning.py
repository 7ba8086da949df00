"""How well rules are learnt from few annotated pages: the default learner and the published one."""

from __future__ import annotations

import html
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.sampling import draw, observe
from benchmarks.report import markdown_table
from clustering.dom.page import parse_page
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import NodeIndex, number_nodes
from rules.algorithms.learning.nodes import ITSELF, TAIL, IndexedNode
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.rule.xpaths import shown
from vertex.demo import sites

TITLE = "Rule learning"
LEARNERS = ("default", "published")
KS = (1, 2, 3, 4)
N_SAMPLES = 20
SEEDS = (0, 1)
MIN_SWDE_PAGES = 2 * N_SAMPLES  # of a site: rules are judged on pages that were no samples
MOST_ANNOTATED = 8
DETAIL_TYPES = {
    "alpine-shop": ("product", "set"),
    "town-guide": ("listing", "stay"),
    "the-courier": ("article", "opinion"),
    "tinker-board": ("thread", "poll"),
}
HIDDEN = frozenset({"title", "script", "style", "option", "noscript", "textarea"})

Values = dict[str, list[str]]


@dataclass
class LabelledCluster:
    """Pages of one template with what an editor would mark and what a rule should find."""

    name: str
    trees: dict[str, _Element]
    truth: dict[str, Values]
    marks: dict[str, dict[str, list[MarkedNode]]]
    multi: frozenset[str] = field(default_factory=frozenset)

    @property
    def attributes(self) -> list[str]:
        return sorted({name for values in self.truth.values() for name in values})

    @property
    def specs(self) -> list[AttributeType]:
        return [AttributeType(name, is_multi=name in self.multi) for name in self.attributes]

    def annotated(self, page: str) -> AnnotatedPage:
        marks = {name: mark for name, mark in self.marks[page].items() if mark}
        absent = frozenset(name for name in self.attributes if not self.truth[page].get(name))
        return AnnotatedPage(page, self.trees[page], marks, absent)


def run(data: Path | None = None) -> str:
    """Return the tables as a section in Markdown."""
    parts = []
    groups = {"demo sites": list(demo_clusters())}
    if data is not None and (data / "swde").is_dir():
        groups["SWDE"] = list(swde_clusters(data / "swde"))
    if data is not None and (data / "wien_kushmerick").is_dir():
        groups["WIEN"] = list(wien_clusters(data / "wien_kushmerick"))
    for name, clusters in groups.items():
        parts.append(f"## {name}\n\n" + table_of(clusters))
    parts.append(f"## Samples as `draw_samples` chooses them\n\n{DRAWN}\n\n{drawn_table(groups)}")
    parts.append("## As an editor works, demo sites\n\n" + editor_table(groups["demo sites"]))
    if len(groups) == 1:
        parts.append("SWDE and WIEN: left out, their pages are not in the folder.")
    return INTRODUCTION + "\n\n".join(parts)


INTRODUCTION = (
    "Mean F1 over attributes on the pages that were not annotated; "
    f"k annotated of {N_SAMPLES} random "
    f"samples, mean of {len(SEEDS)} draws. Values count as sets. "
    "An attribute that none of the k pages shows "
    "is left out of the mean of that draw, for both learners. "
    "Of SWDE those sites are taken that have at least "
    f"{MIN_SWDE_PAGES} pages; all sites are on the page on unseen sites.\n\n"
)


def table_of(clusters: Sequence[LabelledCluster]) -> str:
    rows: list[list[object]] = []
    sums: dict[tuple[str, int], list[float]] = defaultdict(list)
    for cluster in clusters:
        judge = Judge(cluster)
        for learner in LEARNERS:
            figures = [judge.mean(learner, k) for k in KS]
            rows.append([f"{cluster.name}, {learner}", *(f"{figure:.3f}" for figure in figures)])
            for k, figure in zip(KS, figures, strict=True):
                sums[learner, k].append(figure)
    for learner in LEARNERS:
        means = [sum(sums[learner, k]) / len(sums[learner, k]) for k in KS]
        rows.append([f"**mean, {learner}**", *(f"**{mean:.3f}**" for mean in means)])
    return markdown_table(["cluster, learner", *(f"k = {k}" for k in KS)], rows)


DRAWN = "Mean F1 over clusters; the k first samples in the order in which they are to be annotated."


def drawn_table(groups: Mapping[str, Sequence[LabelledCluster]]) -> str:
    """Return the mean F1 of each group with the samples of `draw_samples`."""
    rows = []
    for name, clusters in groups.items():
        judges = [Judge(cluster) for cluster in clusters]
        for learner in LEARNERS:
            means = [sum(j.mean(learner, k, drawn=True) for j in judges) / len(judges) for k in KS]
            rows.append([f"{name}, {learner}", *(f"{mean:.3f}" for mean in means)])
    return markdown_table(["clusters, learner", *(f"k = {k}" for k in KS)], rows)


def editor_table(clusters: Sequence[LabelledCluster]) -> str:
    """Return how many pages to annotate until all other samples are right, and the F1 then."""
    rows: list[list[object]] = []
    for learner in LEARNERS:
        pages_needed = [Judge(cluster).annotate_until_right(learner) for cluster in clusters]
        pages, f1, seconds = (
            sum(column) / len(pages_needed) for column in zip(*pages_needed, strict=True)
        )
        rows.append([learner, f"{pages:.2f}", f"{f1:.4f}", f"{seconds:.2f} s"])
    return (
        "The first page is the first that `draw_samples` chooses; then the first that is wrong.\n\n"
        + markdown_table(
            ["learner", "pages annotated", "F1 on other pages", "seconds a learning"], rows
        )
    )


class Judge:
    """Learns from samples of one cluster, and compares with the truth on its other pages."""

    def __init__(self, cluster: LabelledCluster) -> None:
        self.cluster = cluster
        self.pages = list(cluster.trees)
        index = number_nodes(cluster.trees.values())
        self.columns = Columns(index)
        self.bits = dict(zip(self.pages, index.page_bits, strict=True))

    def draw(self, seed: int) -> list[str]:
        chance = random.Random(f"{self.cluster.name} {seed}")
        return chance.sample(self.pages, min(N_SAMPLES, len(self.pages)))

    def drawn(self) -> list[str]:
        """Return the samples that `draw_samples` chooses, in its order."""
        seen = [observe(tree) for tree in self.cluster.trees.values()]
        return [self.pages[each.page] for each in draw(seen, size=N_SAMPLES, prefer_unseen=True)]

    def learn(self, learner: str, samples: Sequence[str], annotated: Sequence[str]) -> ClusterRule:
        return learn_cluster(
            [self.cluster.annotated(page) for page in annotated],
            [self.cluster.trees[page] for page in samples if page not in annotated],
            self.cluster.specs,
            learner=learner,
        )

    def mean(self, learner: str, k: int, *, drawn: bool = False) -> float:
        """Return the mean F1 over the attributes that the k pages show, and over the draws."""
        figures = []
        for samples in [self.drawn()] if drawn else map(self.draw, SEEDS):
            shown_there = {
                name for page in samples[:k] for name, ms in self.cluster.marks[page].items() if ms
            }
            rule = self.learn(learner, samples, samples[:k])
            others = [page for page in self.pages if page not in samples[:k]]
            scores = self.f1_by_attribute(rule, others)
            figures += [score for name, score in scores.items() if name in shown_there]
        return sum(figures) / max(1, len(figures))

    def f1_by_attribute(self, rule: ClusterRule, pages: Sequence[str]) -> dict[str, float]:
        scores = {}
        for attribute in rule.attributes:
            n_right = n_found = n_wanted = 0
            for page in pages:
                comparison = compared(values_on(self.columns, attribute, self.bits[page]))
                wanted = compared(self.cluster.truth[page].get(attribute.attribute, []))
                n_right += len(comparison & wanted)
                n_found += len(comparison)
                n_wanted += len(wanted)
            scores[attribute.attribute] = (
                2 * n_right / (n_found + n_wanted) if n_found + n_wanted else 1.0
            )
        return scores

    def annotate_until_right(self, learner: str) -> tuple[float, float, float]:
        """Return how many pages that takes, the F1 on the others, and the longest learning."""
        began = time.perf_counter()
        rule, annotated = self.annotate(self.drawn(), learner, MOST_ANNOTATED)
        seconds = (time.perf_counter() - began) / len(annotated)
        scores = self.f1_by_attribute(rule, [page for page in self.pages if page not in annotated])
        return float(len(annotated)), sum(scores.values()) / len(scores), seconds

    def annotate(
        self, samples: Sequence[str], learner: str, most: int
    ) -> tuple[ClusterRule, list[str]]:
        """Annotate the first sample, then the first wrong one, until none is or `most` are done."""
        annotated = list(samples[:1])
        while True:
            rule = self.learn(learner, samples, annotated)
            left = [page for page in samples if page not in annotated]
            wrong = next((page for page in left if self.is_wrong(rule, page)), None)
            if wrong is None or len(annotated) == most:
                return rule, annotated
            annotated.append(wrong)

    def is_wrong(self, rule: ClusterRule, page: str) -> bool:
        truth = self.cluster.truth[page]
        return any(
            compared(values_on(self.columns, attribute, self.bits[page]))
            != compared(truth.get(attribute.attribute, []))
            for attribute in rule.attributes
        )


def compared(values: Sequence[str]) -> set[str]:
    """Return values without their blanks, which nobody sees alike."""
    return {"".join(value.split()) for value in values}


def demo_clusters() -> Iterator[LabelledCluster]:
    for name, types in DETAIL_TYPES.items():
        site = sites.load(name)
        multi = frozenset(
            attribute["name"] for attribute in site.vertical["attributes"] if attribute.get("multi")
        )
        for of_type in types:
            cluster = LabelledCluster(f"{name} {of_type}", {}, {}, {}, multi)
            for page in site.pages.values():
                if (
                    page.type == of_type
                    and (tree := parse_page(page.body, page.content_type).tree) is not None
                ):
                    cluster.trees[page.path] = tree
                    values = {
                        a: v if isinstance(v, list) else [v]
                        for a, v in page.values.items()
                        if v is not None
                    }
                    cluster.truth[page.path] = {a: values.get(a, []) for a in page.values}
                    cluster.marks[page.path] = {
                        a: [MarkedNode(*pair) for pair in zip(page.places[a], texts, strict=True)]
                        for a, texts in values.items()
                    }
            yield cluster


def swde_clusters(folder: Path) -> Iterator[LabelledCluster]:
    """Yield the sites of SWDE that have pages enough besides the samples."""
    for vertical in sorted(
        path for path in folder.iterdir() if path.is_dir() and path.name != "groundtruth"
    ):
        for site in sorted(path for path in vertical.iterdir() if path.is_dir()):
            name = site.name.split("(")[0]
            parsed = {
                path.stem: parse_page(path.read_bytes()).tree for path in sorted(site.glob("*.htm"))
            }
            trees = {page: tree for page, tree in parsed.items() if tree is not None}
            if len(trees) < MIN_SWDE_PAGES:
                continue
            truth = read_swde(folder / "groundtruth" / vertical.name, name, trees)
            attributes = {a for values in truth.values() for a in values}
            multi = {
                a
                for a in attributes
                if sum(len(v.get(a, [])) > 1 for v in truth.values()) > len(trees) / 20
            }
            yield LabelledCluster(name, trees, truth, mark_texts(trees, truth), frozenset(multi))


def read_swde(folder: Path, name: str, trees: Mapping[str, _Element]) -> dict[str, Values]:
    truth: dict[str, Values] = {page: {} for page in trees}
    for path in sorted(folder.glob(f"{name}-*.txt")):
        attribute = path.stem.rsplit("-", 1)[1]
        for line in path.read_text("utf-8-sig").splitlines()[2:]:
            page, _, *values = line.split("\t")
            if page in truth:
                results = [shown(html.unescape(value)) for value in values if value != "<NULL>"]
                truth[page][attribute] = [value for value in results if value]
    return truth


def mark_texts(
    trees: Mapping[str, _Element], truth: Mapping[str, Values]
) -> dict[str, dict[str, list[MarkedNode]]]:
    """Mark values where an editor sees them: on the path where most pages show the attribute."""
    index = number_nodes(trees.values())
    places = {page: texts_of_page(index, number) for number, page in enumerate(trees)}
    pages_by_path: dict[str, Counter[str]] = defaultdict(Counter)
    for page, values in truth.items():
        for attribute, texts in values.items():
            pages_by_path[attribute].update(
                {path for t in texts for _, path in places[page].get(t, [])}
            )
    marks: dict[str, dict[str, list[MarkedNode]]] = {}
    for page, values in truth.items():
        marks[page] = {}
        for attribute, texts in values.items():
            n_pages = pages_by_path[attribute]
            shown = [places[page][text] for text in texts if places[page].get(text)]
            nodes = [max(showing, key=lambda place: n_pages[place[1]])[0] for showing in shown]
            marks[page][attribute] = [MarkedNode(xpath_of(node)) for node in nodes]
    return marks


def texts_of_page(index: NodeIndex, page: int) -> dict[str, list[tuple[IndexedNode, str]]]:
    """Return the visible text nodes of a page by their text, with their tag paths."""
    result: dict[str, list[tuple[IndexedNode, str]]] = defaultdict(list)
    first, last = index.nodes_of_page(page)
    for node in index.nodes[first:last]:
        if node.text is not None:
            owner = owner_of(node)
            if owner.tag not in HIDDEN:
                path = "/".join(str(each.tag) for each in [owner, *owner.iterancestors()])
                result[node.shown].append((node, path))
    return result


def owner_of(node: IndexedNode) -> _Element:
    element, part = node.element, node.part
    parent = element.getparent()
    return parent if part == TAIL and parent is not None else element


def xpath_of(node: IndexedNode) -> str:
    """Return the XPath of a text node, or of an element."""
    element, part = node.element, node.part
    owner = owner_of(node)
    path = owner.getroottree().getpath(owner)
    if part == ITSELF:
        return path
    texts: Any = owner.xpath("text()")  # strings that know where they stand
    is_it = [
        text.is_tail and text.getparent() is element if part == TAIL else text.is_text
        for text in texts
    ]
    return f"{path}/text()[{is_it.index(True) + 1}]"


def wien_clusters(folder: Path) -> Iterator[LabelledCluster]:
    """Yield each site's fields as lists: the n-th field of all records of a page."""
    by_site: dict[str, LabelledCluster] = {}
    for line in (folder / "truth.jsonl").read_text("utf-8").splitlines():
        told = json.loads(line)
        tree = parse_page((folder / told["file"]).read_bytes()).tree
        site = told["file"].split("/")[0]
        cluster = by_site.setdefault(site, LabelledCluster(site, {}, {}, {}))
        if tree is not None and told["records"]:
            n_fields = max(len(record) for record in told["records"])
            cluster.multi = cluster.multi | {f"field{number}" for number in range(n_fields)}
            cluster.trees[told["file"]] = tree
            values, marks = find_fields(tree, told["records"])
            cluster.truth[told["file"]], cluster.marks[told["file"]] = values, marks
    yield from (cluster for cluster in by_site.values() if len(cluster.trees) > max(KS))


def find_fields(
    tree: _Element, records: Sequence[Sequence[Mapping[str, object] | None]]
) -> tuple[Values, dict[str, list[MarkedNode]]]:
    """Find the fields in the order in which they stand in the page."""
    fields = [(f, f"field{n}") for record in records for n, f in enumerate(record) if f is not None]
    values: Values = defaultdict(list)
    marks: dict[str, list[MarkedNode]] = defaultdict(list)
    places = [place for node in number_nodes([tree]).nodes for place in texts_at(node)]
    at = 0
    for told, name in sorted(fields, key=lambda each: int(str(each[0]["start"]))):
        text = shown(html.unescape(str(told["text"])))
        result = next((n for n in range(at, len(places)) if text and text in places[n][1]), None)
        if result is not None:
            at = result
            values[name].append(text)
            marks[name].append(MarkedNode(places[result][0], text))
    return dict(values), dict(marks)


def texts_at(node: IndexedNode) -> Iterator[tuple[str, str]]:
    """Yield the XPaths and texts of a node: its own, or its addresses."""
    if node.text is not None:
        yield xpath_of(node), node.shown
    else:
        for name in ("href", "src"):
            if value := node.element.get(name):
                yield f"{xpath_of(node)}/@{name}", shown(value)
