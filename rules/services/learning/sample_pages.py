"""The pages that a cluster's rule is learnt from and judged on, as they are stored."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from django.core.exceptions import ValidationError
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.anchors.anchoring import displayed_text
from annotation.algorithms.anchors.node_paths import AnchorProblem, raw_text, select_node
from annotation.algorithms.anchors.page_texts import read_texts
from annotation.models import Annotation, Sample
from clustering.models import Cluster, PageMembership, Snapshot
from clustering.services.pages.stored_trees import read_snapshot, read_tree
from clustering.values.displayed import displayed
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import NO_TREE, STOPPED, TOO_LARGE
from rules.bundle.extraction import extract
from rules.services.learning.tree_cache import WALKS, cached_tree

MAX_UNANNOTATED: Final = 20
MAX_HELD_OUT: Final = 20


class SamplePages(NamedTuple):
    """What there is to learn from; snapshots, the most informative first."""

    annotated: Sequence[Snapshot]
    unannotated: Sequence[Snapshot]
    held_out: Sequence[Snapshot]

    @property
    def samples(self) -> list[Snapshot]:
        return [*self.annotated, *self.unannotated]


def sample_pages_of(cluster: Cluster) -> SamplePages:
    """Return the annotated pages of a cluster, its other samples, and pages that are neither.

    Where no samples were drawn, the first pages by the hash of their addresses serve.
    """
    annotated = _snapshots(_annotated_ids(cluster))
    used_pages = {snapshot.page_id for snapshot in annotated}
    by_rank = Sample.objects.filter(cluster=cluster).order_by("rank")
    drawn = list(by_rank.values_list("snapshot_id", flat=True))
    n_members = MAX_UNANNOTATED + MAX_HELD_OUT + len(used_pages) + len(drawn)
    members = _learnable_members(cluster, n_members)
    unannotated = _of_other_pages(_snapshots(drawn or members), used_pages)[:MAX_UNANNOTATED]
    used_pages |= {snapshot.page_id for snapshot in unannotated}
    held_out = _of_other_pages(_snapshots(members), used_pages)[:MAX_HELD_OUT]
    return SamplePages(annotated, unannotated, held_out)


def _of_other_pages(snapshots: Iterable[Snapshot], pages: Container[int]) -> list[Snapshot]:
    return [snapshot for snapshot in snapshots if snapshot.page_id not in pages]


def _annotated_ids(cluster: Cluster) -> list[int]:
    """Return the snapshots of a cluster that hold annotations, the first annotated first."""
    live = Annotation.objects.of_cluster(cluster).filter(superseded_at__isnull=True)
    ids = live.order_by("pk").values_list("snapshot_id", flat=True)
    return list(dict.fromkeys(ids))


def _learnable_members(cluster: Cluster, n: int) -> list[int]:
    """Return the latest snapshots of some pages of a cluster that can be learnt from."""
    members = PageMembership.objects.of_cluster(cluster).learnable()
    by_hash = members.order_by("page__url_hash")
    return list(by_hash.values_list("page__latest_snapshot_id", flat=True)[:n])


def _snapshots(ids: Iterable[int]) -> list[Snapshot]:
    """Return snapshots in the order of their ids as given."""
    ordered = list(ids)
    snapshot_by_pk = Snapshot.objects.select_related("page").in_bulk(ordered)
    return [snapshot_by_pk[pk] for pk in ordered if pk in snapshot_by_pk]


@dataclass(frozen=True, slots=True)
class ClusterSamples:
    """A cluster's samples with their trees, and as one index of nodes, annotated pages first."""

    pages: SamplePages
    trees: Sequence[_Element | None]  # of all samples, in their order
    annotated_by_snapshot: Mapping[int, AnnotatedPage]  # those that have a tree
    indexed: Samples

    @property
    def annotated(self) -> list[AnnotatedPage]:
        return list(self.annotated_by_snapshot.values())


def read_cluster_samples(pages: SamplePages, *, is_cached: bool) -> ClusterSamples:
    """Return the samples of a cluster with their trees.

    `is_cached` keeps the trees and their nodes for the next time, where it comes soon.
    """
    read = cached_tree if is_cached else read_tree
    annotated_by_snapshot: dict[int, AnnotatedPage] = {}
    trees: list[_Element | None] = []
    unannotated: list[_Element] = []
    for snapshot in pages.annotated:
        page = annotated_page(snapshot, read)
        trees.append(None if page is None else page.tree)
        if page is not None:
            annotated_by_snapshot[snapshot.pk] = page
    for snapshot in pages.unannotated:
        tree = read(snapshot)
        trees.append(tree)
        if tree is not None:
            unannotated.append(tree)
    annotated = list(annotated_by_snapshot.values())
    indexed = read_samples(annotated, unannotated, WALKS if is_cached else None)
    return ClusterSamples(pages, trees, annotated_by_snapshot, indexed)


class RuleStopped(ValidationError):
    """A rule that somebody wrote did not end on a page within its limits."""


def extract_snapshot(
    snapshot: Snapshot, rule: RunnableRule, *, nodes: bool = False
) -> Extracted | None:
    """Return what a rule makes of a snapshot's bytes; None where they are gone or hold no tree.

    Raises RuleStopped: a rule that does not end on one page is not tried on the next.
    """
    page = read_snapshot(snapshot)
    if page is None:
        return None
    extracted = extract(page, rule, nodes=nodes)
    refuse_stopped(snapshot, extracted)
    return None if extracted.reason in {NO_TREE, TOO_LARGE} else extracted


def refuse_stopped(snapshot: Snapshot, extracted: Extracted) -> None:
    """Refuse what a stopped rule left. Raises RuleStopped."""
    if extracted.reason == STOPPED:
        raise RuleStopped(
            f"On {snapshot.page.url}: {extracted.detail}. Change the rule so that it ends there."
        )


def annotated_page(
    snapshot: Snapshot, read: Callable[[Snapshot], HtmlElement | None] = read_tree
) -> AnnotatedPage | None:
    """Return a page with its annotations; None where it has no tree."""
    tree = read(snapshot)
    if tree is None:
        return None
    rows = Annotation.objects.live().filter(snapshot=snapshot).select_related("attribute")
    values: dict[str, list[MarkedNode]] = {}
    absent = set()
    for row in rows.filter(attribute__isnull=False).order_by("attribute", "position"):
        name = row.attribute.name if row.attribute else ""
        if row.kind == Annotation.Kind.ABSENT:
            absent.add(name)
        elif row.kind == Annotation.Kind.VALUE:
            marked = replace(_marked_node(row), is_only_here=row.is_only_here)
            values.setdefault(name, []).append(marked)
    records = [row.record for row in rows.filter(kind=Annotation.Kind.RECORD).order_by("position")]
    problem = snapshot.problem if snapshot.problem == Snapshot.Problem.TRUNCATED else ""
    return AnnotatedPage(
        snapshot.page.url, tree, values, frozenset(absent - set(values)), problem, records
    )


def annotated_as_seen(page: AnnotatedPage) -> dict[str, tuple[str, ...]]:
    """Return the annotated values of a page as a reader sees them; none for what is absent."""
    texts = read_texts(page.tree)
    return _annotated_values(
        page, lambda xpath: displayed_text(texts, select_node(page.tree, xpath))
    )


def annotated_as_held(page: AnnotatedPage) -> dict[str, tuple[str, ...]]:
    """Return the annotated values of a page as their nodes hold them; none for what is absent."""
    return _annotated_values(page, lambda xpath: displayed(raw_text(select_node(page.tree, xpath))))


def _annotated_values(
    page: AnnotatedPage, text_at: Callable[[str], str]
) -> dict[str, tuple[str, ...]]:
    values_by_name: dict[str, tuple[str, ...]] = dict.fromkeys(page.absent, ())
    for name, marks in page.values.items():
        values = []
        for mark in marks:
            try:
                values.append(mark.text if mark.text is not None else text_at(mark.node))
            except AnchorProblem:
                continue
        values_by_name[name] = tuple(value for value in values if value)
    return values_by_name


def _marked_node(row: Annotation) -> MarkedNode:
    """Return the node of a value; if that is a part of it, also the value and the text before.

    A value over several nodes is marked at the nearest element around them.
    """
    if row.end_xpath:
        return MarkedNode(_common_element(row.xpath, row.end_xpath), row.text)
    if row.start is None and row.end is None:
        return MarkedNode(row.xpath)
    text_before = ""
    if row.start:
        # The prefix is up to 64 characters of context: it may begin before the node.
        text_before = row.prefix[-row.start :]
    return MarkedNode(row.xpath, row.text, text_before)


def _common_element(first: str, last: str) -> str:
    """Return the path of the nearest element around two nodes.

    >>> _common_element("/html/body/p[1]/text()[1]", "/html/body/p[1]/b/text()")
    '/html/body/p[1]'
    """
    steps = []
    for step, other in zip(first.split("/"), last.split("/"), strict=False):
        if step != other or step.startswith("text()"):
            break
        steps.append(step)
    return "/".join(steps)
