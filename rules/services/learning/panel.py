"""What the rule so far makes of a cluster's samples: shown after each page that somebody annotated.

A value is what the stylesheet extracts, so it is what a run extracts. What is doubtful, and which page to
annotate next, `rules.algorithms.learning.stopping` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lxml.etree import _Element

from annotation.models import Sample, Vertical
from clustering.models import Cluster, Snapshot
from rules.algorithms.learning.novelty import richest
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.learning.stopping import (
    Outlook,
    SampleCell,
    SamplePage,
    SuggestedValues,
    assess,
)
from rules.algorithms.learning.targets import AnnotatedPage
from rules.algorithms.rule.rule import AttributeRule, ClusterRule
from rules.algorithms.running.explaining import explain_xpath
from rules.algorithms.running.records import Extracted
from rules.algorithms.running.run_rule import extract_tree
from rules.models import Rule
from rules.services.learning.learning import keep_draft
from rules.services.learning.sample_pages import annotated_page, said_on, sample_pages_of
from rules.services.learning.schemas import runnable, vertical_of
from rules.services.learning.suggestion_cache import kept_hints, make_hints
from rules.services.learning.tree_cache import WALKS, kept_tree
from vertex.core.models import User

MOST_TOLD = 3  # steps that emptied a node set, of one attribute
MOST_ADDED = 4  # reasons for the next page


@dataclass(frozen=True, slots=True)
class PanelPage:
    """A sample in the panel."""

    snapshot: Snapshot
    rank: int | None  # among the samples; None where it was not drawn
    is_annotated: bool


@dataclass(frozen=True, slots=True)
class PanelCell:
    """An attribute on a sample."""

    page: PanelPage
    cell: SampleCell
    values: tuple[str, ...]  # as the stylesheet extracts them
    step: str = ""  # why the rule finds nothing there

    @property
    def is_wrong(self) -> bool:
        return self.cell.state == "wrong" or self.cell.is_doubted


@dataclass(frozen=True, slots=True)
class PanelRow:
    """An attribute in the panel."""

    name: str
    rule: AttributeRule | None
    cells: tuple[PanelCell, ...]

    @property
    def others(self) -> list[PanelCell]:
        """The cells of samples that nobody annotated."""
        return [one for one in self.cells if not one.page.is_annotated]

    @property
    def n_found(self) -> int:
        return sum(bool(one.values) for one in self.others)

    @property
    def n_absent(self) -> int:
        return sum(not one.values and not one.cell.is_doubted for one in self.others)

    @property
    def wrong(self) -> list[PanelCell]:
        return [one for one in self.cells if one.is_wrong]

    @property
    def tone(self) -> str:
        if any(one.cell.state == "wrong" for one in self.cells):
            return "bad"
        if self.wrong:
            return "warning"
        return "good" if self.n_found else "unknown"

    @property
    def reason(self) -> str:
        """Why there is no rule, blank where there is one."""
        return self.rule.reason if self.rule else "Nothing was learnt of it yet."


@dataclass(frozen=True, slots=True)
class Panel:
    """The rule so far, on all samples of its cluster."""

    cluster: Cluster
    rule: Rule | None
    rows: tuple[PanelRow, ...]
    pages: tuple[PanelPage, ...]
    outlook: Outlook
    next_page: PanelPage | None
    adds: tuple[str, ...]  # what the next page would settle

    @property
    def n_annotated(self) -> int:
        return sum(page.is_annotated for page in self.pages)

    @property
    def n_others(self) -> int:
        return len(self.pages) - self.n_annotated

    @property
    def is_enough(self) -> bool:
        return self.outlook.is_enough


def learn_panel(*, cluster: Cluster, actor: User | None = None) -> Panel:
    """Learn the cluster's rule from all that is annotated by now, keep it as the draft, and look at it.

    Raises JobFailed where the cluster describes no vertical.
    """
    rule, learnt = keep_draft(cluster=cluster, actor=actor)
    hints = kept_hints(learnt.vertical, learnt.pages.samples)
    read = _Read(
        learnt.vertical,
        cluster,
        learnt.pages.samples,
        learnt.trees,
        learnt.marked,
        learnt.samples,
        hints,
    )
    return read.panel(rule, learnt.rule, learnt.extracted)


def panel_of(cluster: Cluster) -> Panel | None:
    """Return what the newest learnt rule of a cluster makes of its samples; None without a vertical."""
    read = _read_cluster(cluster)
    if read is None:
        return None
    learnt = Rule.objects.filter(cluster=cluster).exclude(definition={}).select_related("cluster")
    rule = learnt.order_by("-version").first()
    if rule is None or not read.marked:
        names = [attribute.name for attribute in read.vertical.attributes.live()]
        return read.panel(None, ClusterRule(()), [None] * len(read.snapshots), names)
    ready = runnable(rule)
    extracted = [
        None if tree is None else extract_tree(tree, snapshot.page.url, ready, nodes=True)
        for snapshot, tree in zip(read.snapshots, read.trees, strict=True)
    ]
    return read.panel(rule, ClusterRule.from_json(rule.definition), extracted)


def next_page(cluster: Cluster) -> Sample | None:
    """Return the sample to annotate next, None where no further one is needed or none was drawn."""
    panel = panel_of(cluster)
    if panel is None or panel.next_page is None:
        return None
    return Sample.objects.filter(cluster=cluster, snapshot=panel.next_page.snapshot).first()


def _read_cluster(cluster: Cluster) -> _Read | None:
    vertical = vertical_of(cluster)
    if vertical is None:
        return None
    pages = sample_pages_of(cluster)
    marked = {
        s.pk: page for s in pages.annotated if (page := annotated_page(s, kept_tree)) is not None
    }
    trees: list[_Element | None] = [
        marked[snapshot.pk].tree if snapshot.pk in marked else kept_tree(snapshot)
        for snapshot in pages.samples
    ]
    others = [
        tree
        for s, tree in zip(pages.samples, trees, strict=True)
        if tree is not None and s.pk not in marked
    ]
    samples = read_samples(list(marked.values()), others, WALKS)
    return _Read(
        vertical,
        cluster,
        pages.samples,
        trees,
        marked,
        samples,
        make_hints(vertical, pages.samples),
    )


@dataclass(frozen=True, slots=True)
class _Read:
    """A cluster's samples as they were read."""

    vertical: Vertical
    cluster: Cluster
    snapshots: Sequence[Snapshot]
    trees: Sequence[_Element | None]
    marked: Mapping[int, AnnotatedPage]
    samples: Samples
    hints: Mapping[int, Mapping[str, SuggestedValues]]

    def panel(
        self,
        rule: Rule | None,
        learnt: ClusterRule,
        extracted: Sequence[Extracted | None],
        names: Sequence[str] = (),
    ) -> Panel:
        """Return what a rule makes of the samples."""
        ranks = dict(Sample.objects.filter(cluster=self.cluster).values_list("snapshot", "rank"))
        read = [n for n, tree in enumerate(self.trees) if tree is not None]
        pages = [
            PanelPage(
                self.snapshots[n],
                ranks.get(self.snapshots[n].pk),
                self.snapshots[n].pk in self.marked,
            )
            for n in read
        ]
        asked = self._asked(read, is_list=bool(learnt.boundary))
        outlook = assess(
            _as_lists(learnt) if learnt.boundary else learnt, self.samples.columns, asked
        )
        values = [_values_of(extracted[n]) for n in read]
        rows = tuple(
            PanelRow(one.attribute, one, self._cells(one, outlook, pages, read, values))
            for one in learnt.attributes
        )
        number = outlook.next_page if self.marked else self._first(asked, names)
        after = None if number is None else pages[number]
        adds = outlook.added_by(number)[:MOST_ADDED] if number is not None else []
        return Panel(self.cluster, rule, rows, tuple(pages), outlook, after, tuple(adds))

    def _asked(self, read: Sequence[int], *, is_list: bool) -> list[SamplePage]:
        """Return the samples as `assess` takes them; the index has the annotated ones first.

        What is suggested for a page as a whole says nothing of its records.
        """
        bits = iter(self.samples.index.page_bits)
        by_pk = {pk: next(bits) for pk in self.marked}
        asked = []
        for n in read:
            snapshot = self.snapshots[n]
            page = self.marked.get(snapshot.pk)
            its = by_pk[snapshot.pk] if page is not None else next(bits)
            said = None if page is None else said_on(page)
            hints = {} if is_list else self.hints.get(snapshot.pk, {})
            asked.append(SamplePage(snapshot.page.url, its, said, hints, is_list))
        return asked

    def _cells(
        self,
        rule: AttributeRule,
        outlook: Outlook,
        pages: Sequence[PanelPage],
        read: Sequence[int],
        values: Sequence[Mapping[str, tuple[str, ...]]],
    ) -> tuple[PanelCell, ...]:
        cells = []
        n_told = 0
        for cell in outlook.of_attribute(rule.attribute):
            step = ""
            tree = self.trees[read[cell.page]]
            if cell.state == "missing" and n_told < MOST_TOLD and tree is not None:
                step, n_told = explain_miss(rule, tree), n_told + 1
            its = values[cell.page].get(rule.attribute, ())
            cells.append(PanelCell(pages[cell.page], cell, its, step))
        return tuple(cells)

    def _first(self, asked: Sequence[SamplePage], names: Sequence[str]) -> int | None:
        """Return the sample to begin with: on which most is suggested, then that shows most."""
        if not asked:
            return None
        n_seen = [
            sum(bool(h.values) and h.confidence >= 0.5 for h in page.suggestions.values())
            for page in asked
        ]
        best = [n for n, seen in enumerate(n_seen) if seen == max(n_seen)]
        return best[richest(self.samples.index, [asked[n].bits for n in best], names)]


def explain_miss(rule: AttributeRule, tree: _Element) -> str:
    """Say at which step each of an attribute's XPaths comes to nothing on a page."""
    return "; ".join(explain_xpath(one.path, tree).words for one in rule.alternatives)


def _as_lists(rule: ClusterRule) -> ClusterRule:
    """Return a rule of records as one whose attributes have several values a page."""
    return replace(rule, attributes=tuple(replace(one, is_multi=True) for one in rule.attributes))


def _values_of(extracted: Extracted | None) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for record in extracted.records if extracted else []:
        for name, value in record.values.items():
            found[name] = (*found.get(name, ()), *(value if isinstance(value, list) else [value]))
    return found
