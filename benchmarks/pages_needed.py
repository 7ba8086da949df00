"""How many pages an editor annotates until the stop sign, and how good the rule is then."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.sampling import draw, observe
from annotation.algorithms.suggestions.declared import read_declared
from annotation.algorithms.suggestions.spots import SpotIndex
from annotation.algorithms.suggestions.suggestion import suggest
from benchmarks.hold_out.sites import clusters as hold_out_clusters
from benchmarks.report import markdown_table
from benchmarks.rule_learning import Judge, LabelledCluster, demo_clusters, swde_clusters
from benchmarks.suggestions import types_of
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.novelty import richest
from rules.algorithms.learning.stopping import SamplePage, SuggestedValues, assess
from rules.algorithms.rule.rule import ClusterRule
from vertex.demo import sites

TITLE = "Pages needed"
N_SAMPLES: Final = 20
MOST_ANNOTATED: Final = 8
N_OTHERS: Final = 5
SURE: Final = 0.5
INTRODUCTION: Final = (
    f"An editor annotates samples of {N_SAMPLES}, each as the truth says, until the stop sign says "
    "that no further page is needed; which page is next is what the panel says. "
    "The editor corrects "
    "nothing on the panel and looks at no other page. F1: mean over attributes, "
    "on all pages of the "
    "cluster that were not annotated. Without suggestions the first page is the sample that labels "
    "most attributes; with them the one for which most is suggested, "
    "and they are hints that the stop "
    "sign heeds. Longest look: processor time to learn and to look at all samples.\n\n"
)


class Told(NamedTuple):
    """What annotating a cluster came to."""

    n_pages: int
    f1: float
    seconds: float  # of the longest look at the panel, learning included


def run(data: Path | None = None) -> str:
    """Return the tables as a section in Markdown."""
    groups = {"demo sites": list(demo_clusters()), "generated sites": list(hold_out_clusters())}
    if data is not None and (data / "swde").is_dir():
        groups["SWDE"] = list(swde_clusters(data / "swde"))
    rows: list[list[object]] = []
    for name, clusters in groups.items():
        results = [
            (annotate(cluster, hints=False), annotate(cluster, hints=True)) for cluster in clusters
        ]
        rows.append(
            _row(f"**{name}, mean**", [one for one, _ in results], [other for _, other in results])
        )
        rows += [
            _row(cluster.name, [first], [other])
            for cluster, (first, other) in zip(clusters, results, strict=True)
        ]
    left_out = "" if "SWDE" in groups else "\n\nSWDE: left out, its pages are not in the folder."
    heads = ["cluster", "pages, without", "F1", "pages, with suggestions", "F1", "longest look"]
    return INTRODUCTION + markdown_table(heads, rows) + left_out


def _row(name: str, without: Sequence[Told], having: Sequence[Told]) -> list[object]:
    each: list[object] = [name]
    for group in (without, having):
        n = len(group)
        each += [
            f"{sum(member.n_pages for member in group) / n:.2f}",
            f"{sum(member.f1 for member in group) / n:.4f}",
        ]
    return [*each, f"{max(one.seconds for one in (*without, *having)):.2f} s"]


def annotate(cluster: LabelledCluster, *, hints: bool) -> Told:
    """Annotate until the stop sign."""
    desk = Desk(cluster, hints=hints)
    annotated = [desk.first()]
    longest = 0.0
    while True:
        began = time.process_time()
        rule = desk.learn(annotated)
        after = desk.next_page(rule, annotated)
        longest = max(longest, time.process_time() - began)
        if after is None or len(annotated) == MOST_ANNOTATED:
            break
        annotated.append(after)
    others = [page for page in desk.judge.pages if page not in annotated]
    scores = desk.judge.f1_by_attribute(rule, others)
    return Told(len(annotated), sum(scores.values()) / max(1, len(scores)), longest)


class Desk:
    """A cluster with its samples, as the panel sees it."""

    def __init__(self, cluster: LabelledCluster, *, hints: bool) -> None:
        self.cluster = cluster
        self.judge = Judge(cluster)
        seen = [observe(tree) for tree in cluster.trees.values()]
        sample = draw(seen, size=N_SAMPLES, prefer_unseen=True)
        self.samples = [self.judge.pages[each.page] for each in sample]
        self.types = types_of(cluster)
        self.hints = self._hints() if hints else {page: {} for page in self.samples}

    @property
    def specs(self) -> list[AttributeType]:
        name = self.cluster.name.split(" ")[0]
        known = sites.load(name).vertical["attributes"] if name in sites.NAMES else []
        mandatory = {each["name"] for each in known if each.get("mandatory")}
        return [
            replace(
                spec, type=self.types.get(spec.name, "text"), is_mandatory=spec.name in mandatory
            )
            for spec in self.cluster.specs
        ]

    def first(self) -> str:
        """Return the sample to begin with."""
        n_seen = [
            sum(bool(hint.values) and hint.confidence >= SURE for hint in self.hints[page].values())
            for page in self.samples
        ]
        best = [page for page, n in zip(self.samples, n_seen, strict=True) if n == max(n_seen)]
        bits = [self.judge.bits[page] for page in best]
        return best[richest(self.judge.columns.index, bits, self.cluster.attributes)]

    def learn(self, annotated: Sequence[str]) -> ClusterRule:
        marked = [self.cluster.annotated(page) for page in annotated]
        others = [self.cluster.trees[page] for page in self.samples if page not in annotated]
        return learn_cluster(marked, others, self.specs)

    def next_page(self, rule: ClusterRule, annotated: Sequence[str]) -> str | None:
        """Return the sample that the panel asks for, None at the stop sign."""
        pages = [
            SamplePage(
                page,
                self.judge.bits[page],
                self._said(page) if page in annotated else None,
                self.hints[page],
            )
            for page in self.samples
        ]
        number = assess(rule, self.judge.columns, pages).next_page
        return None if number is None else self.samples[number]

    def _said(self, page: str) -> dict[str, tuple[str, ...]]:
        truth = self.cluster.truth[page]
        return {name: tuple(truth.get(name, ())) for name in self.cluster.attributes}

    def _hints(self) -> dict[str, dict[str, SuggestedValues]]:
        wanted = [
            AttributeType(name, self.types.get(name, "text"), is_multi=name in self.cluster.multi)
            for name in self.cluster.attributes
        ]
        prints = {page: SpotIndex(self.cluster.trees[page]).page_print for page in self.samples}
        result: dict[str, dict[str, SuggestedValues]] = {}
        for page in self.samples:
            others = [text_print for name, text_print in prints.items() if name != page][:N_OTHERS]
            read = SpotIndex(self.cluster.trees[page], f"https://site.example/{page}", others)
            its = result[page] = {}
            for each in suggest(read, read_declared(self.cluster.trees[page]), wanted):
                its.setdefault(
                    each.attribute,
                    SuggestedValues(tuple(m.text for m in each.marks), each.confidence),
                )
        return result
