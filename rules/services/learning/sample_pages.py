"""The pages that a cluster's rule is learnt from and judged on, as they are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from django.core.exceptions import ValidationError
from lxml.etree import _Element
from lxml.html import HtmlElement

from annotation.algorithms.anchors.anchoring import displayed_text
from annotation.algorithms.anchors.node_paths import AnchorProblem, raw_text, select_node
from annotation.algorithms.anchors.page_texts import PageTexts, read_texts
from annotation.models import Annotation, Sample
from annotation.services.page.stored_pages import tree_of
from clustering.algorithms.grouping import RawPage
from clustering.models import Cluster, PageMembership, Snapshot
from clustering.values.displayed import displayed
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.running.records import Extracted, RunnableRule
from rules.algorithms.running.run_rule import NO_TREE, STOPPED, TOO_LARGE
from rules.bundle.extraction import extract
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

N_SAMPLES = 20
N_HELD_OUT = 20


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
    annotated = list(_snapshots(_annotated_ids(cluster)))
    pages = {snapshot.page_id for snapshot in annotated}
    drawn = list(
        Sample.objects.filter(cluster=cluster)
        .order_by("rank")
        .values_list("snapshot_id", flat=True)
    )
    others = _whole_members(cluster, N_SAMPLES + N_HELD_OUT + len(pages) + len(drawn))
    unannotated = [
        snapshot for snapshot in _snapshots(drawn or others) if snapshot.page_id not in pages
    ][:N_SAMPLES]
    pages |= {snapshot.page_id for snapshot in unannotated}
    held_out = [snapshot for snapshot in _snapshots(others) if snapshot.page_id not in pages][
        :N_HELD_OUT
    ]
    return SamplePages(annotated, unannotated, held_out)


def _annotated_ids(cluster: Cluster) -> list[int]:
    """Return the snapshots of a cluster that hold annotations, the first annotated first."""
    live = Annotation.objects.of_cluster(cluster).filter(superseded_at__isnull=True)
    ids = live.order_by("pk").values_list("snapshot_id", flat=True)
    return list(dict.fromkeys(ids))


def _whole_members(cluster: Cluster, n: int) -> list[int]:
    """Return the latest snapshots of some pages of a cluster: whole, and no errors."""
    members = PageMembership.objects.of_cluster(cluster).learnable()
    return list(
        members.order_by("page__url_hash").values_list("page__latest_snapshot_id", flat=True)[:n]
    )


def _snapshots(ids: Iterable[int]) -> list[Snapshot]:
    """Return snapshots in the order of their ids as given."""
    wanted = list(ids)
    found = Snapshot.objects.select_related("page").in_bulk(wanted)
    return [found[pk] for pk in wanted if pk in found]


class RuleStopped(ValidationError):
    """A rule that somebody wrote did not end on a page within its limits."""


def extract_snapshot(
    snapshot: Snapshot, rule: RunnableRule, *, nodes: bool = False
) -> Extracted | None:
    """Return what a rule makes of a snapshot's bytes; None where they are gone or hold no tree.

    Raises RuleStopped: a rule that does not end on one page is not tried on the next.
    """
    try:
        body = page_store().read(snapshot.body)
    except (BodyMissing, BodyDamaged):
        return None
    extracted = extract(RawPage(snapshot.page.url, body, snapshot.content_type), rule, nodes=nodes)
    refuse_stopped(snapshot, extracted)
    return None if extracted.reason in {NO_TREE, TOO_LARGE} else extracted


def refuse_stopped(snapshot: Snapshot, extracted: Extracted) -> None:
    """Refuse what a stopped rule left. Raises RuleStopped."""
    if extracted.reason == STOPPED:
        raise RuleStopped(
            f"On {snapshot.page.url}: {extracted.detail}. Change the rule so that it ends there."
        )


def annotated_page(
    snapshot: Snapshot, read: Callable[[Snapshot], HtmlElement | None] = tree_of
) -> AnnotatedPage | None:
    """Return a page with what its editors said of it; None where it has no tree."""
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
            values.setdefault(name, []).append(_marked(row))
    records = [row.record for row in rows.filter(kind=Annotation.Kind.RECORD).order_by("position")]
    problem = snapshot.problem if snapshot.problem == Snapshot.Problem.TRUNCATED else ""
    return AnnotatedPage(
        snapshot.page.url, tree, values, frozenset(absent - set(values)), problem, records
    )


def seen_on(page: AnnotatedPage) -> dict[str, tuple[str, ...]]:
    """Return the values that an editor marked on a page, as a reader sees them; none for what is absent."""
    texts = read_texts(page.tree)
    seen: dict[str, tuple[str, ...]] = dict.fromkeys(page.absent, ())
    for name, marks in page.values.items():
        values = [
            mark.text if mark.text is not None else _seen_at(texts, mark.node) for mark in marks
        ]
        seen[name] = tuple(value for value in values if value)
    return seen


def _seen_at(texts: PageTexts, xpath: str) -> str:
    try:
        return displayed_text(texts, select_node(texts.tree, xpath))
    except AnchorProblem:
        return ""


def said_on(page: AnnotatedPage) -> dict[str, tuple[str, ...]]:
    """Return the values that an editor marked on a page as their nodes hold them; none for what is absent."""
    said: dict[str, tuple[str, ...]] = dict.fromkeys(page.absent, ())
    for name, marks in page.values.items():
        values = [
            mark.text if mark.text is not None else _shown_at(page.tree, mark.node)
            for mark in marks
        ]
        said[name] = tuple(value for value in values if value)
    return said


def _shown_at(tree: _Element, xpath: str) -> str:
    try:
        return displayed(raw_text(select_node(tree, xpath)))
    except AnchorProblem:
        return ""


def _marked(row: Annotation) -> MarkedNode:
    """Return the node of a value, and the value itself where it is a part of what the node shows."""
    if row.end_xpath:
        return MarkedNode(_common_element(row.xpath, row.end_xpath), row.text)
    is_part = row.start is not None or row.end is not None
    before = (
        row.prefix[-row.start :] if row.start else ""
    )  # of the node; the prefix may begin before it
    return MarkedNode(row.xpath, row.text if is_part else None, before)


def _common_element(first: str, last: str) -> str:
    """Return the path of the nearest element around two nodes.

    >>> _common_element("/html/body/p[1]/text()[1]", "/html/body/p[1]/b/text()")
    '/html/body/p[1]'
    """
    steps = []
    for one, other in zip(first.split("/"), last.split("/"), strict=False):
        if one != other or one.startswith("text()"):
            break
        steps.append(one)
    return "/".join(steps)
