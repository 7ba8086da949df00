"""Let clusters without a rule be read by the rule of another cluster of their kind, where it fits.

Asked are the clusters of details that describe what a published rule describes. A rule is tried on
some pages of its own cluster and on some of the one without a rule (`running.borrowing`); the one
that reads most is borrowed. What was decided is stored, and decided anew when the published rules
or the clustering are other ones. A person may refuse it; that lasts.
"""

from __future__ import annotations

from collections.abc import Collection
from hashlib import sha256
from typing import Final

import orjson
from django.utils import timezone

from annotation.services.seams import BorrowedReading
from clustering.algorithms.grouping import RawPage
from clustering.dom.page import PageTooLarge
from clustering.models import Cluster, ClusterFigures, Clustering, ClusterKind, PageMembership
from clustering.services.pages.stored_pages import read_pages, stored_pages
from rules.algorithms.running.borrowing import (
    MIN_SHARE_READ,
    NodesByAttribute,
    nodes_by_attribute,
    share_read,
)
from rules.algorithms.running.run_rule import StylesheetFailed, run_stylesheet
from rules.models import BorrowedRule, Rule
from rules.services.learning.schemas import vertical_of
from vertex.core.models import Site, User
from vertex.core.services.people import audit

MAX_PAGES_READ: Final = 10  # of a cluster
MAX_LENDERS: Final = 3  # rules that are tried, those of the largest clusters
MAX_BORROWERS: Final = 200  # clusters that are asked, the largest


def decide_borrowing(site: Site) -> None:
    """Decide for each cluster of details without a rule whose rule reads its pages."""
    clustering = Clustering.objects.current().filter(site=site).first()
    published = Rule.objects.published().of_site(site).select_related("cluster", "vertical")
    rules = {rule.cluster_id: rule for rule in published.order_by("pk")}
    rows = BorrowedRule.objects.of_site(site)
    if clustering is None or not rules:
        rows.filter(is_refused=False).delete()
        return
    decided_for = sha256(
        orjson.dumps([clustering.pk, [rule.pk for rule in rules.values()]])
    ).hexdigest()
    figures = ClusterFigures.objects.filter(clustering=clustering, n_pages__gt=0)
    details = figures.of_kind(ClusterKind.DETAIL).select_related("cluster__site")
    clusters = [figure.cluster for figure in details]
    lenders = _Lenders([rules[cluster.pk] for cluster in clusters if cluster.pk in rules])
    known = {row.cluster_id: row for row in rows}
    borrowers = [cluster for cluster in clusters if cluster.pk not in rules][:MAX_BORROWERS]
    for cluster in borrowers:
        row = known.get(cluster.pk) or BorrowedRule(cluster=cluster)
        if row.decided_for != decided_for and not row.is_refused:
            lenders.decide(row)
            row.decided_for, row.decided_at = decided_for, timezone.now()
            row.save()
    rows.filter(is_refused=False).exclude(cluster__in=borrowers).delete()


class _Lenders:
    """The rules that may be borrowed, with what each reads in its own cluster."""

    def __init__(self, rules: list[Rule]) -> None:
        # One that a person wrote says nothing of its nodes.
        self.rules = [rule for rule in rules if not rule.is_by_hand][:MAX_LENDERS]
        self.read_at_home: dict[int, list[NodesByAttribute]] = {}

    def decide(self, row: BorrowedRule) -> None:
        """Set the rule that reads most of a cluster's pages; none where no rule reads enough."""
        vertical = vertical_of(row.cluster)
        row.rule, row.share_read, row.n_pages_read = None, 0.0, 0
        if vertical is None:
            return
        pages = _pages_of(row.cluster)
        row.n_pages_read = len(pages)
        for rule in self.rules:
            if rule.vertical_id != vertical.pk:
                continue
            if rule.pk not in self.read_at_home:
                home = _pages_of(rule.cluster)
                self.read_at_home[rule.pk] = [_nodes_on(page, rule) for page in home]
            several = frozenset(
                attribute.name for attribute in rule.attributes if attribute.is_multi
            )
            at_borrower = [_nodes_on(page, rule) for page in pages]
            share = share_read(self.read_at_home[rule.pk], at_borrower, several)
            if share > row.share_read:
                row.share_read = share
                row.rule = rule if share >= MIN_SHARE_READ else None


def _pages_of(cluster: Cluster) -> list[RawPage]:
    members = PageMembership.objects.of_cluster(cluster).order_by("page")
    pages = list(members.values_list("page", flat=True)[:MAX_PAGES_READ])
    return list(read_pages(stored_pages(cluster.site, pages)))


def _nodes_on(page: RawPage, rule: Rule) -> NodesByAttribute:
    """Return how many nodes a rule selects on a page; nothing where it cannot run there."""
    try:
        if page.tree is None:
            return {}
        return nodes_by_attribute(run_stylesheet(rule.stylesheet, page.tree))
    except (PageTooLarge, StylesheetFailed):
        return {}


def refuse_borrowed_rule(*, borrowed: BorrowedRule, is_refused: bool, actor: User | None) -> None:
    """Refuse that another cluster's rule reads a cluster's pages, or allow it again."""
    if borrowed.is_refused == is_refused:
        return
    borrowed.is_refused = is_refused
    borrowed.save(update_fields=["is_refused"])
    audit.record(
        actor=actor,
        action="borrowed_rule.refused" if is_refused else "borrowed_rule.allowed",
        subject=str(borrowed.cluster),
        site=borrowed.cluster.site,
        detail={"rule": str(borrowed.rule) if borrowed.rule else None},
    )


def borrowed_readings(clusters: Collection[int]) -> dict[int, BorrowedReading]:
    """Return how much of some clusters others' rules read, where that was tried on their pages."""
    rows = BorrowedRule.objects.filter(
        cluster__in=clusters, n_pages_read__gt=0, is_refused=False
    ).select_related("rule__cluster")
    serving = set(rows.serving().values_list("pk", flat=True))
    readings: dict[int, BorrowedReading] = {}
    for row in rows:
        if row.pk in serving and row.rule is not None:
            readings[row.cluster_id] = BorrowedReading(row.share_read, row.rule.cluster.title)
        elif row.rule is None:
            readings[row.cluster_id] = BorrowedReading(row.share_read, "")
    return readings
