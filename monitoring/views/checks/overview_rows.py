"""Gather what the overview shows: sites by state with calendars, alerts by cause, all figures."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Min, Q, Sum
from django.urls import reverse
from django.utils import timezone

from annotation.models import Effort
from clustering.models import Page
from monitoring.models import Alert, Check, Coverage, Proposal, Schedule, SiteChange
from monitoring.services.checks.check_calendar import Day, calendars_of, last_days
from monitoring.services.checks.site_states import STATES, SiteFigures, figures_of
from monitoring.services.notices.alerts import RELEASABLE
from monitoring.services.stream.stream_figures import SiteStream, streams_of
from monitoring.views.checks.charts import CoverageChart, DayFigures, draw_coverage
from rules.models import Extraction, Rule
from vertex.core.models import Job, Role, Site, User
from vertex.core.models.sites import SiteQuerySet

Kind = Alert.Kind
ALERTS_SHOWN = 40
CHART_DAYS = 42
MAX_MARKED_CHANGES = 2_000
MAX_REPORTS = 500
CHANGES_SHOWN = 8
REASONS_SHOWN = 12
STATE_ORDER = [
    state.value for state in (Alert.State.OPEN, Alert.State.ACKNOWLEDGED, Alert.State.SNOOZED)
]
RECENT_DAYS = 14
RULE_AGES = (
    (7, "up to a week"),
    (30, "up to a month"),
    (90, "up to 3 months"),
    (365, "up to a year"),
)
CAUSES = {  # of alerts of all kinds, the worst first
    Kind.SITE_CHANGED: "The template of pages is another one: their rules no longer fit",
    Kind.HELD: "Constant values came out different and wait for a check before anybody reads them",
    Kind.IMPLAUSIBLE: "Values of bellwethers are right in form and probably wrong",
    Kind.DRIFT: "Values of the last day's records are not like those of a week ago",
    Kind.COVERAGE: "Less is extracted of what comes in",
    Kind.UNREACHABLE: "Half of the bellwethers or more do not answer",
    Kind.WARNING: "Something looks odd and breaks nothing",
    Kind.OVERDUE: "Checks come to nothing",
}


FILTERS = {"": "All"} | {state.key: state.word for state in STATES}


class ShownAlert(NamedTuple):
    """An open alert with what can be done about it."""

    alert: Alert
    state: str
    href: str
    address: str  # under which it is taken up, snoozed and released
    may_act: bool
    may_release: bool


class AlertGroup(NamedTuple):
    """The open alerts of one cause."""

    kind: str
    word: str
    why: str
    rows: list[ShownAlert]


class ShownQueue(NamedTuple):
    """The jobs of a queue."""

    queue: str
    n_ended: int
    n_failed: int
    n_steps: int
    n_waiting: int


class OverviewSiteRow(NamedTuple):
    """A site of the overview."""

    site: Site
    schedule: Schedule | None
    figures: SiteFigures
    days: Sequence[Day]
    share: float | None  # of the pages that gave a record lately
    n_rules: int
    oldest_rule: datetime | None
    stream: SiteStream | None


def site_rows(sites: Sequence[Site]) -> list[OverviewSiteRow]:
    """Return the rows of some sites, in the same few queries for any number of them."""
    pks = [site.pk for site in sites]
    calendars = calendars_of(pks)
    figures = figures_of(pks)
    schedules = {row.site_id: row for row in Schedule.objects.filter(site__in=pks)}
    shares = _recent_shares(pks)
    rules = _rule_figures(pks)
    streams = streams_of(pks)
    rows = []
    for site in sites:
        n_rules, oldest_rule = rules.get(site.pk, (0, None))
        rows.append(
            OverviewSiteRow(
                site=site,
                schedule=schedules.get(site.pk),
                figures=figures[site.pk],
                days=calendars[site.pk],
                share=shares.get(site.pk),
                n_rules=n_rules,
                oldest_rule=oldest_rule,
                stream=streams.get(site.pk),
            )
        )
    return rows


def _recent_shares(pks: Sequence[int]) -> dict[int, float]:
    """Return the share of each site's pages that gave a record lately, where any came in."""
    since = timezone.now().date() - timedelta(days=RECENT_DAYS)
    recent = Coverage.objects.filter(site__in=pks, day__gte=since).order_by().values("site")
    sums = recent.annotate(pages=Sum("n_pages"), served=Sum("n_served"))
    return {row["site"]: row["served"] / row["pages"] for row in sums if row["pages"]}


def _rule_figures(pks: Sequence[int]) -> dict[int, tuple[int, datetime | None]]:
    """Return how many published rules each site has, and when the oldest was published."""
    published = Rule.objects.published().filter(cluster__site__in=pks)
    rows = published.order_by().values("cluster__site")
    rows = rows.annotate(n=Count("pk"), oldest=Min("published_at"))
    return {row["cluster__site"]: (row["n"], row["oldest"]) for row in rows}


def alert_groups(alerts: Iterable[Alert], user: User, now: datetime) -> list[AlertGroup]:
    """Return open alerts grouped by their cause, the worst cause first, those that wait first."""
    alerts = list(alerts)
    change_by_site = _changes_of(alerts)
    operated = _operated_sites(user)
    rows_by_kind: defaultdict[str, list[ShownAlert]] = defaultdict(list)
    for alert in alerts:
        href = reverse("site_monitoring", args=[alert.site.name])
        if alert.kind == Kind.SITE_CHANGED:
            href = change_by_site.get(alert.site_id, href)
        may_act = operated is None or alert.site_id in operated  # None: all sites
        rows_by_kind[alert.kind].append(
            ShownAlert(
                alert=alert,
                state=alert.state_at(now).value,
                href=href,
                address=_address_of(alert),
                may_act=may_act,
                may_release=may_act and alert.kind in RELEASABLE,
            )
        )
    groups = []
    for kind, why in CAUSES.items():
        rows = sorted(rows_by_kind[kind], key=lambda row: STATE_ORDER.index(row.state))
        if rows:
            groups.append(AlertGroup(kind, kind.label, why, rows))
    return groups


def _address_of(alert: Alert) -> str:
    """Return the address under which an alert is taken up, snoozed and released."""
    acknowledge = reverse("acknowledge_alert", args=[alert.site.name, alert.pk])
    return acknowledge.removesuffix("acknowledge/")


def open_alerts(sites: SiteQuerySet) -> list[Alert]:
    """Return the newest open alerts of some sites."""
    visible = Alert.objects.open().filter(site__in=sites).select_related("site", "acknowledged_by")
    return list(visible.order_by("-id")[:ALERTS_SHOWN])


def _changes_of(alerts: Iterable[Alert]) -> dict[int, str]:
    """Return where the open change of each site is shown; with several, the oldest."""
    sites = [alert.site_id for alert in alerts if alert.kind == Kind.SITE_CHANGED]
    changes = SiteChange.objects.open().filter(site__in=sites).order_by("-pk")
    rows = changes.values_list("site", "site__name", "pk")
    return {site: reverse("site_change", args=[name, pk]) for site, name, pk in rows}


def _operated_sites(user: User) -> set[int] | None:
    """Return the sites that a user operates; None: all."""
    if user.has_role(Role.OPERATOR):
        return None
    roles = Role.OPERATOR.and_higher()
    memberships = user.memberships.filter(role__in=roles, site__isnull=False)
    return set(memberships.values_list("site", flat=True))


def total_figures(sites: SiteQuerySet, now: datetime) -> dict[str, Any]:
    """Return the figures of all sites that a user may see."""
    alerts = Alert.objects.open().filter(site__in=sites).order_by()
    kinds = alerts.values("kind").annotate(n=Count("pk"))
    yesterday = now - timedelta(days=1)
    recent = Check.objects.done().filter(made_at__gte=yesterday).values("site")
    proposals = Proposal.objects.waiting().filter(
        site__in=sites, decision=Proposal.Decision.PROPOSED
    )
    counts = sites.aggregate(
        n_sites=Count("pk"),
        n_watched=Count("pk", filter=Q(pk__in=Schedule.objects.running().values("site"))),
        n_checked=Count("pk", filter=Q(pk__in=recent)),
    )
    return counts | {
        "n_by_kind": {row["kind"]: row["n"] for row in kinds},
        "n_changes": SiteChange.objects.open().filter(site__in=sites).count(),
        "n_proposals": proposals.count(),
    }


def coverage_chart(
    sites: Iterable[int] | SiteQuerySet, *, address: str, n_days: int = CHART_DAYS
) -> CoverageChart:
    """Return coverage and records of some sites day by day, with their site changes as marks."""
    days = last_days(n_days)
    rows = Coverage.objects.filter(site__in=sites, day__gte=days[0]).order_by().values("day")
    sums = rows.annotate(pages=Sum("n_pages"), served=Sum("n_served"), records=Sum("n_records"))
    by_day = {row["day"]: (row["pages"], row["served"], row["records"]) for row in sums}
    figures = []
    for day in days:
        n_pages, n_served, n_records = by_day.get(day, (0, 0, 0))
        figures.append(DayFigures(day, n_pages=n_pages, n_served=n_served, n_records=n_records))
    return draw_coverage(figures, _change_links(sites, days[0], address))


def _change_links(
    sites: Iterable[int] | SiteQuerySet, since: date, address: str
) -> Mapping[date, tuple[str, str]]:
    """Return the days with site changes: what happened, and where it is shown."""
    start = timezone.make_aware(datetime.combine(since, datetime.min.time()))
    changes = SiteChange.objects.filter(site__in=sites, found_at__gte=start).order_by("-pk")
    rows = changes.values_list("site__name", "pk", "found_at")[:MAX_MARKED_CHANGES]
    changes_by_day: defaultdict[date, list[tuple[str, int]]] = defaultdict(list)
    for site, pk, found_at in rows:
        changes_by_day[timezone.localdate(found_at)].append((site, pk))
    links = {}
    for day, changes_of_day in changes_by_day.items():
        if len(changes_of_day) == 1:
            site, pk = changes_of_day[0]
            links[day] = (f"{site} changed", reverse("site_change", args=[site, pk]))
        else:
            links[day] = (f"{len(changes_of_day)} site changes", f"{address}?day={day}")
    return links


def work_figures(user: User, now: datetime) -> dict[str, Any]:
    """Return what broke and was repaired, rules' ages, what failed and why, and how work flows."""
    last_month, yesterday = now - timedelta(days=30), now - timedelta(days=1)
    sites = Site.objects.visible_to(user)
    changes = SiteChange.objects.visible_to(user)
    ended = changes.ended().filter(ended_at__gte=last_month)
    repaired = ended.filter(end=SiteChange.End.REPAIRED)
    reports = list(repaired.values_list("report", flat=True)[:MAX_REPORTS])
    hours_open = [report.get("hours_open") for report in reports]
    without_record = Extraction.objects.filter(site__in=sites, n_records=0).exclude(reason="")
    reasons = without_record.order_by().values_list("reason").annotate(n=Count("pk"))
    effort = Effort.objects.filter(site__in=sites, last_at__gte=last_month)
    return {
        "n_found": changes.filter(found_at__gte=last_month).count(),
        "ends": [
            (SiteChange.End(row["end"]).label, row["n"])
            for row in ended.order_by().values("end").annotate(n=Count("pk"))
            if row["end"]
        ],
        "latest": changes.select_related("site", "cluster").order_by("-pk")[:CHANGES_SHOWN],
        "hours": _median([hours for hours in hours_open if hours is not None]),
        "steps": _median(
            [report["n_human_steps"] for report in reports if "n_human_steps" in report]
        ),
        "ages": _rules_by_age(user, now),
        "reasons": sorted(reasons, key=lambda row: -row[1])[:REASONS_SHOWN],
        "queues": _queues(user, yesterday),
        "n_visited": Page.objects.filter(site__in=sites, visited_at__gte=yesterday).count(),
        "effort": effort.aggregate(
            seconds=Sum("seconds"),
            keys=Sum("n_keys"),
            clicks=Sum("n_clicks"),
            pages=Count("page", distinct=True),
            sites=Count("site", distinct=True),
        ),
    }


def _queues(user: User, since: datetime) -> list[ShownQueue]:
    """Return each queue's jobs: ended ones since a time, and those that wait or are at work."""
    jobs = Job.objects.visible_to(user).order_by().values("queue")
    ended = jobs.filter(finished_at__gte=since).annotate(
        n=Count("pk"), failed=Count("pk", filter=Q(state=Job.State.FAILED)), steps=Sum("n_done")
    )
    ended_by_queue = {row["queue"]: row for row in ended}
    waiting = jobs.unfinished().annotate(n=Count("pk"))  # type: ignore[attr-defined]  # values() keeps the methods
    n_waiting_by_queue = {row["queue"]: row["n"] for row in waiting}
    rows = []
    for queue, label in Job.Queue.choices:
        row = ended_by_queue.get(queue, {"n": 0, "failed": 0, "steps": 0})
        rows.append(
            ShownQueue(
                queue=label,
                n_ended=row["n"],
                n_failed=row["failed"],
                n_steps=row["steps"] or 0,
                n_waiting=n_waiting_by_queue.get(queue, 0),
            )
        )
    return rows


def _rules_by_age(user: User, now: datetime) -> list[tuple[str, int]]:
    """Return how many published rules are how old; nothing where there is none."""
    rules = Rule.objects.published().visible_to(user)
    counts = rules.aggregate(
        n_rules=Count("pk"),
        **{
            f"within_{days}": Count("pk", filter=Q(published_at__gte=now - timedelta(days=days)))
            for days, _ in RULE_AGES
        },
    )
    if not counts["n_rules"]:
        return []
    rows = []
    n_younger = 0
    for days, word in RULE_AGES:
        n_within = counts[f"within_{days}"]
        rows.append((word, n_within - n_younger))
        n_younger = n_within
    return [*rows, ("older", counts["n_rules"] - n_younger)]


def _median(numbers: list[float]) -> float | None:
    """Return the upper median of some numbers; None of none."""
    return sorted(numbers)[len(numbers) // 2] if numbers else None
