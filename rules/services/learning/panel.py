"""What the rule so far makes of a cluster's samples: shown after each page that somebody annotated.

A value is what the stylesheet extracts, so it is what a run extracts. What is doubtful, and which
page to annotate next, is decided by `rules.algorithms.learning.stopping`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lxml.etree import _Element

from annotation.models import Sample
from clustering.models import Cluster, Snapshot
from rules.algorithms.learning.novelty import richest
from rules.algorithms.learning.stopping import (
    Outlook,
    SampleCell,
    SamplePage,
    assess,
)
from rules.algorithms.rule.rule import AttributeRule, ClusterRule
from rules.algorithms.running.explaining import explain_xpath
from rules.algorithms.running.records import Extracted, texts_of
from rules.algorithms.running.run_rule import extract_tree
from rules.models import Rule
from rules.services.learning.learning import learn_samples, save_draft
from rules.services.learning.sample_pages import (
    ClusterSamples,
    annotated_as_held,
    read_cluster_samples,
    sample_pages_of,
)
from rules.services.learning.schemas import runnable, vertical_of
from rules.services.learning.suggestion_cache import (
    SuggestionsByName,
    cached_suggestions,
    suggest_for_samples,
)
from vertex.core.models import User

MAX_EXPLAINED_MISSES: Final = 3  # of one attribute
MAX_REASONS: Final = 4  # for the next page
MIN_CONFIDENCE: Final = 0.5  # of a suggestion that counts


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
    assessed: SampleCell
    values: tuple[str, ...]  # as the stylesheet extracts them
    step: str = ""  # why the rule finds nothing there

    @property
    def is_wrong(self) -> bool:
        return self.assessed.state == "wrong" or self.assessed.is_doubted


@dataclass(frozen=True, slots=True)
class PanelRow:
    """An attribute in the panel."""

    name: str
    rule: AttributeRule | None
    cells: tuple[PanelCell, ...]

    @property
    def others(self) -> list[PanelCell]:
        """The cells of samples that nobody annotated."""
        return [cell for cell in self.cells if not cell.page.is_annotated]

    @property
    def n_found(self) -> int:
        return sum(bool(cell.values) for cell in self.others)

    @property
    def n_absent(self) -> int:
        return sum(not cell.values and not cell.assessed.is_doubted for cell in self.others)

    @property
    def wrong(self) -> list[PanelCell]:
        return [cell for cell in self.cells if cell.is_wrong]

    @property
    def tone(self) -> str:
        if any(cell.assessed.state == "wrong" for cell in self.cells):
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
    adds: tuple[str, ...]  # what the next page would decide

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
    """Learn the cluster's rule from all annotations, save it as draft, assess it on the samples.

    Raises JobFailed where the cluster describes no vertical.
    """
    learnt = learn_samples(cluster, is_cached=True)
    rule = save_draft(learnt=learnt, actor=actor)
    suggestions = cached_suggestions(learnt.vertical, learnt.samples.pages.samples)
    read = _ReadCluster(cluster, learnt.samples, suggestions)
    return read.panel(rule, learnt.rule, learnt.extracted)


def panel_of(cluster: Cluster) -> Panel | None:
    """Return what a cluster's newest learnt rule makes of its samples; None without a vertical.

    Without a rule or annotations the panel has no rows: it says with which sample to begin.
    """
    vertical = vertical_of(cluster)
    if vertical is None:
        return None
    samples = read_cluster_samples(sample_pages_of(cluster), is_cached=True)
    snapshots = samples.pages.samples
    read = _ReadCluster(cluster, samples, suggest_for_samples(vertical, snapshots))
    learnt = Rule.objects.filter(cluster=cluster).exclude(definition={}).select_related("cluster")
    rule = learnt.order_by("-version").first()
    if rule is None or not samples.annotated:
        names = [attribute.name for attribute in vertical.attributes.live()]
        nothing_learnt, nothing_extracted = ClusterRule(()), [None] * len(snapshots)
        return read.panel(None, nothing_learnt, nothing_extracted, sought=names)
    runnable_rule = runnable(rule)
    extracted = [
        None if tree is None else extract_tree(tree, snapshot.page.url, runnable_rule, nodes=True)
        for snapshot, tree in zip(snapshots, samples.trees, strict=True)
    ]
    return read.panel(rule, ClusterRule.from_json(rule.definition), extracted)


def next_page(cluster: Cluster) -> Sample | None:
    """Return the sample to annotate next, None where no further one is needed or none was drawn."""
    panel = panel_of(cluster)
    if panel is None or panel.next_page is None:
        return None
    return Sample.objects.filter(cluster=cluster, snapshot=panel.next_page.snapshot).first()


@dataclass(frozen=True, slots=True)
class _ReadSample:
    """A sample that has a tree, with what the rule extracts from it."""

    page: PanelPage
    tree: _Element
    values: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class _ReadCluster:
    """A cluster's samples as they were read, with suggestions by snapshot."""

    cluster: Cluster
    samples: ClusterSamples
    suggestions: Mapping[int, SuggestionsByName]

    def panel(
        self,
        rule: Rule | None,
        learnt: ClusterRule,
        extracted: Sequence[Extracted | None],
        *,
        sought: Sequence[str] = (),
    ) -> Panel:
        """Return what a rule makes of the samples.

        Where nothing is annotated, the attributes `sought` help to choose the sample to begin with.
        """
        read = self._read_samples(extracted)
        is_list = learnt.boundary is not None
        pages = self._pages_to_assess(read, is_list=is_list)
        outlook = assess(
            _as_lists(learnt) if is_list else learnt, self.samples.indexed.columns, pages
        )
        has_annotated = bool(self.samples.annotated)
        number = outlook.next_page if has_annotated else self._first_page(pages, sought)
        return Panel(
            cluster=self.cluster,
            rule=rule,
            rows=tuple(
                PanelRow(of_attribute.attribute, of_attribute, _cells(of_attribute, outlook, read))
                for of_attribute in learnt.attributes
            ),
            pages=tuple(sample.page for sample in read),
            outlook=outlook,
            next_page=None if number is None else read[number].page,
            adds=() if number is None else tuple(outlook.added_by(number)[:MAX_REASONS]),
        )

    def _read_samples(self, extracted: Sequence[Extracted | None]) -> list[_ReadSample]:
        """Return the samples that have a tree: those that the index has, in its order."""
        ranks = dict(Sample.objects.filter(cluster=self.cluster).values_list("snapshot", "rank"))
        annotated = self.samples.annotated_by_snapshot
        read = []
        for snapshot, tree, of_snapshot in zip(
            self.samples.pages.samples, self.samples.trees, extracted, strict=True
        ):
            if tree is not None:
                page = PanelPage(snapshot, ranks.get(snapshot.pk), snapshot.pk in annotated)
                read.append(_ReadSample(page, tree, _values_of(of_snapshot)))
        return read

    def _pages_to_assess(self, read: Sequence[_ReadSample], *, is_list: bool) -> list[SamplePage]:
        pages = []
        for sample, bits in zip(read, self.samples.indexed.index.page_bits, strict=True):
            snapshot = sample.page.snapshot
            annotated = self.samples.annotated_by_snapshot.get(snapshot.pk)
            pages.append(
                SamplePage(
                    url=snapshot.page.url,
                    bits=bits,
                    annotated=None if annotated is None else annotated_as_held(annotated),
                    # What is suggested for a page as a whole is none of its records'.
                    suggestions={} if is_list else self.suggestions.get(snapshot.pk, {}),
                    is_list=is_list,
                )
            )
        return pages

    def _first_page(self, pages: Sequence[SamplePage], sought: Sequence[str]) -> int | None:
        """Return the sample to begin with: on which most is suggested, then that shows most."""
        if not pages:
            return None
        n_suggested = [
            sum(
                bool(suggestion.values) and suggestion.confidence >= MIN_CONFIDENCE
                for suggestion in page.suggestions.values()
            )
            for page in pages
        ]
        best = [number for number, n in enumerate(n_suggested) if n == max(n_suggested)]
        index = self.samples.indexed.index
        return best[richest(index, [pages[number].bits for number in best], sought)]


def _cells(
    rule: AttributeRule, outlook: Outlook, read: Sequence[_ReadSample]
) -> tuple[PanelCell, ...]:
    """Return an attribute's cells; only its first misses are explained, which costs most."""
    cells = []
    n_explained = 0
    for assessed in outlook.of_attribute(rule.attribute):
        sample = read[assessed.page]
        step = ""
        if assessed.state == "missing" and n_explained < MAX_EXPLAINED_MISSES:
            step = explain_miss(rule, sample.tree)
            n_explained += 1
        values = sample.values.get(rule.attribute, ())
        cells.append(PanelCell(sample.page, assessed, values, step))
    return tuple(cells)


def explain_miss(rule: AttributeRule, tree: _Element) -> str:
    """Return at which step each of an attribute's XPaths comes to nothing on a page."""
    return "; ".join(
        explain_xpath(alternative.path, tree).words for alternative in rule.alternatives
    )


def _as_lists(rule: ClusterRule) -> ClusterRule:
    """Return a rule of records as one whose attributes have several values a page."""
    attributes = tuple(replace(attribute, is_multi=True) for attribute in rule.attributes)
    return replace(rule, attributes=attributes)


def _values_of(extracted: Extracted | None) -> dict[str, tuple[str, ...]]:
    """Return the values of all records of a page."""
    values_by_name: dict[str, tuple[str, ...]] = {}
    for record in extracted.records if extracted else []:
        for name, value in record.values.items():
            values_by_name[name] = (*values_by_name.get(name, ()), *texts_of(value))
    return values_by_name
