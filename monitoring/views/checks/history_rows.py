"""The tables and the figure of the paper's monitoring experiments, over what happened here."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db.models import Count, Q, Sum
from django.utils import timezone

from monitoring.algorithms.change_statistics import ChangeTable, change_table
from monitoring.models import Check, Coverage, Proposal, SiteChange
from vertex.core.models import Site, User

FEWEST_PAGES = 5  # of a day, for its coverage to say anything
MOST_SITES = 60
MOST_REPAIRS = 30
BAR = 100  # height of the figure's bars


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
    reused_share: float
    coverage_drop: float
    x: int
    height: float
    sum_y: int

    @property
    def whole(self) -> float:
        return self.reused_share + self.coverage_drop


def table_iii(user: User, n_days: int) -> ChangeTable:
    """Return how many sites changed how often, by the drop of the pages that some rule serves."""
    rows = (
        _recent(user, n_days)
        .values("site", "day")
        .annotate(
            pages=Sum("n_pages"), covered=Sum("n_pages", filter=Q(rule__isnull=False), default=0)
        )
    )
    shares: dict[str, list[float]] = {}
    for row in rows.order_by("site", "day"):
        if row["pages"] >= FEWEST_PAGES:
            shares.setdefault(row["site"], []).append(row["covered"] / row["pages"])
    return change_table(shares)


def table_iv(user: User, n_days: int) -> list[BrokenSite]:
    """Return the sites whose rules broke, those whose coverage fell most first."""
    since = timezone.now() - timedelta(days=n_days)
    found = SiteChange.objects.visible_to(user).filter(found_at__gte=since)
    changes = found.select_related("site", "found_by").order_by("-pk")[: MOST_SITES * 10]
    by_site: dict[str, list[SiteChange]] = {}
    for change in changes:
        by_site.setdefault(change.site.name, []).append(change)
    rows = [_broken(site, own) for site, own in by_site.items()]
    return sorted(rows, key=lambda row: (-row.coverage_drop, row.site))[:MOST_SITES]


def figure_5(user: User) -> list[ReuseRow]:
    """Return how much of each repaired site could keep its rules: the last repair of each."""
    kept = (
        Proposal.objects.visible_to(user)
        .exclude(job=None)
        .order_by()
        .values("site__name", "job", "decision")
    )
    jobs: dict[tuple[str, int], dict[str, tuple[int, int]]] = {}
    for row in kept.annotate(n=Count("pk"), urls=Sum("n_urls")).order_by("-job")[
        : MOST_REPAIRS * 12
    ]:
        jobs.setdefault((row["site__name"], row["job"]), {})[row["decision"]] = (
            row["n"],
            row["urls"],
        )
    last: dict[str, dict[str, tuple[int, int]]] = {}
    for (site, _), decisions in jobs.items():
        last.setdefault(site, decisions)
    drops = _drops(list(last)[:MOST_REPAIRS])
    told = [
        (site, decisions, drops.get(site, 0.0))
        for site, decisions in list(last.items())[:MOST_REPAIRS]
    ]
    told.sort(key=lambda one: (-one[2], one[0]))
    return [_reuse(place, *one) for place, one in enumerate(told)]


def _recent(user: User, n_days: int):  # type: ignore[no-untyped-def]  # noqa: ANN202 - a queryset of rows
    since = timezone.now().date() - timedelta(days=n_days)
    return Coverage.objects.filter(site__in=Site.objects.visible_to(user), day__gte=since)


def _broken(site: str, changes: Sequence[SiteChange]) -> BrokenSite:
    checks = {change.found_by.pk: change.found_by for change in changes if change.found_by}
    shares = [float(change.evidence.get("shingle_share", 0.0)) for change in changes]
    return BrokenSite(
        site,
        max((len(check.clusters) for check in checks.values()), default=len(changes)),
        len({change.cluster_id for change in changes}),
        sum(shares) / len(shares),
        max((_fallen(check) for check in checks.values()), default=0.0),
        any(change.end != SiteChange.End.DISMISSED for change in changes),
    )


def _fallen(check: Check) -> float:
    """Return the share of a check's bellwethers that no longer fit their cluster."""
    n = sum(told.get("n_reachable", 0) for told in check.clusters)
    fails = sum(
        told.get("n_reachable", 0) * told.get("shingle_share", 0.0) for told in check.clusters
    )
    return fails / n if n else 0.0


def _drops(sites: Sequence[str]) -> dict[str, float]:
    """Return by how much the coverage of each site fell at its last change."""
    rows = (
        SiteChange.objects.filter(site__name__in=sites)
        .select_related("site", "found_by")
        .order_by("pk")
    )
    return {change.site.name: _fallen(change.found_by) for change in rows if change.found_by}


def _reuse(place: int, site: str, decisions: dict[str, tuple[int, int]], drop: float) -> ReuseRow:
    n_rules = sum(n for n, _ in decisions.values())
    n_urls = sum(urls for _, urls in decisions.values())
    n_reused, urls = decisions.get(Proposal.Decision.REUSED, (0, 0))
    share = urls / n_urls if n_urls else 0.0
    whole = min(share + drop, 1.2)
    return ReuseRow(
        site,
        n_rules,
        n_reused,
        share,
        drop,
        60 + place * 44,
        round(BAR * share, 1),
        round(BAR * (1.2 - whole)),
    )
