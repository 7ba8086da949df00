"""Compute the tables and figure of the paper's monitoring experiments from what happened here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Count, Q, Sum
from django.utils import timezone

from monitoring.algorithms.change_statistics import ChangeTable, change_table
from monitoring.models import Check, Coverage, Proposal, SiteChange
from vertex.core.models import Site, User

MIN_PAGES_OF_DAY = 5  # for the coverage of a day to count
MAX_SITES = 60
CHANGES_PER_SITE = 10  # that are read, on average
MAX_REPAIRS = 30
DECISIONS_PER_SITE = 12  # that are read, on average
BAR_HEIGHT = 100  # of the figure, for a share of 1
FIRST_BAR_X, BAR_STEP = 60, 44
MAX_TOTAL = 1.2  # where the figure ends
SIGNATURE_VARIANTS = (Proposal.Variant.CLUSTER_MATCH, Proposal.Variant.PAGE_MATCH)


class BrokenSite(NamedTuple):
    """A row of Table IV."""

    site: str
    n_clusters: int
    n_broken: int
    url_share: float
    coverage_drop: float
    is_genuine: bool


class ReuseRow(NamedTuple):
    """A site of Figure 5."""

    site: str
    n_rules: int
    n_reused: int
    n_by_signature: int  # of those, the ones that are reused as published
    reused_share: float
    coverage_drop: float
    x: int
    height: float
    sum_y: int

    @property
    def total(self) -> float:
        return self.reused_share + self.coverage_drop


def table_iii(user: User, n_days: int) -> ChangeTable:
    """Return how many sites changed how often, by the drop of the pages that some rule serves."""
    since = timezone.now().date() - timedelta(days=n_days)
    coverage = Coverage.objects.filter(site__in=Site.objects.visible_to(user), day__gte=since)
    rows = coverage.values("site__name", "day").annotate(
        pages=Sum("n_pages"), covered=Sum("n_pages", filter=Q(rule__isnull=False), default=0)
    )
    shares: dict[str, list[float]] = {}
    for row in rows.order_by("site__name", "day"):
        if row["pages"] >= MIN_PAGES_OF_DAY:
            shares.setdefault(row["site__name"], []).append(row["covered"] / row["pages"])
    return change_table(shares)


def table_iv(user: User, n_days: int) -> list[BrokenSite]:
    """Return the sites whose rules broke, those whose coverage fell most first."""
    since = timezone.now() - timedelta(days=n_days)
    changes = SiteChange.objects.visible_to(user).filter(found_at__gte=since)
    changes = changes.select_related("site", "found_by").order_by("-pk")
    changes_by_site: dict[str, list[SiteChange]] = {}
    for change in changes[: MAX_SITES * CHANGES_PER_SITE]:
        changes_by_site.setdefault(change.site.name, []).append(change)
    rows = [_broken_site(site, own) for site, own in changes_by_site.items()]
    return sorted(rows, key=lambda row: (-row.coverage_drop, row.site))[:MAX_SITES]


class DecisionCount(NamedTuple):
    """The proposals of a repair with one decision."""

    n: int
    n_urls: int
    n_by_signature: int = 0


def figure_5(user: User) -> list[ReuseRow]:
    """Return how much of each repaired site could keep its rules: the last repair of each."""
    proposals = Proposal.objects.visible_to(user).exclude(job=None).order_by()
    counts = proposals.values("site__name", "job", "decision")
    by_signature = Q(variant__in=SIGNATURE_VARIANTS)
    counts = counts.annotate(
        n=Count("pk"), urls=Sum("n_urls"), by_signature=Count("pk", filter=by_signature)
    ).order_by("-job")
    last_job_by_site: dict[str, int] = {}
    decisions_by_site: dict[str, dict[str, DecisionCount]] = {}
    for row in counts[: MAX_REPAIRS * DECISIONS_PER_SITE]:
        site, job = row["site__name"], row["job"]
        last_job = last_job_by_site.setdefault(site, job)  # the newest come first
        if job == last_job:
            decisions = decisions_by_site.setdefault(site, {})
            decisions[row["decision"]] = DecisionCount(row["n"], row["urls"], row["by_signature"])
    sites = list(decisions_by_site)[:MAX_REPAIRS]
    drops = _drops(sites)
    sites.sort(key=lambda site: (-drops.get(site, 0.0), site))
    return [
        _reuse_row(index, site, decisions_by_site[site], drops.get(site, 0.0))
        for index, site in enumerate(sites)
    ]


def _broken_site(site: str, changes: Sequence[SiteChange]) -> BrokenSite:
    checks = {change.found_by.pk: change.found_by for change in changes if change.found_by}
    shares = [float(change.evidence.get("shingle_share", 0.0)) for change in changes]
    return BrokenSite(
        site=site,
        n_clusters=max((len(check.clusters) for check in checks.values()), default=len(changes)),
        n_broken=len({change.cluster_id for change in changes}),
        url_share=sum(shares) / len(shares),
        coverage_drop=max((_failed_share(check) for check in checks.values()), default=0.0),
        is_genuine=any(change.end != SiteChange.End.DISMISSED for change in changes),
    )


def _failed_share(check: Check) -> float:
    """Return the share of a check's bellwethers that no longer fit their cluster."""
    n_reachable = 0
    n_failing = 0.0
    for verdict in check.clusters:
        n = verdict.get("n_reachable", 0)
        n_reachable += n
        n_failing += n * verdict.get("shingle_share", 0.0)
    return n_failing / n_reachable if n_reachable else 0.0


def _drops(sites: Sequence[str]) -> dict[str, float]:
    """Return by how much the coverage of each site fell at its last change."""
    changes = SiteChange.objects.filter(site__name__in=sites).order_by("pk")
    return {
        change.site.name: _failed_share(change.found_by)
        for change in changes.select_related("site", "found_by")
        if change.found_by
    }


def _reuse_row(
    index: int, site: str, decisions: Mapping[str, DecisionCount], drop: float
) -> ReuseRow:
    reused = decisions.get(Proposal.Decision.REUSED, DecisionCount(0, 0))
    n_urls = sum(count.n_urls for count in decisions.values())
    share = reused.n_urls / n_urls if n_urls else 0.0
    total = min(share + drop, MAX_TOTAL)
    return ReuseRow(
        site=site,
        n_rules=sum(count.n for count in decisions.values()),
        n_reused=reused.n,
        n_by_signature=reused.n_by_signature,
        reused_share=share,
        coverage_drop=drop,
        x=FIRST_BAR_X + index * BAR_STEP,
        height=round(BAR_HEIGHT * share, 1),
        sum_y=round(BAR_HEIGHT * (MAX_TOTAL - total)),
    )
