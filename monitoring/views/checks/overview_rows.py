"""What the overview shows: sites by health with their calendars, alerts by cause, and the figures of all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Min, OuterRef, Q, Sum
from django.urls import reverse
from django.utils import timezone

from annotation.models import Effort
from clustering.models import Page
from monitoring.models import Alert, Check, Coverage, Proposal, Schedule, SiteChange
from monitoring.services.checks.check_calendar import Day, calendars_of, last_days
from monitoring.services.notices.alerts import RELEASABLE
from monitoring.views.checks.charts import Course, DayFigures, course_of
from rules.models import Extraction, Rule
from vertex.core.models import Job, Role, Site, User
from vertex.core.models.sites import SiteQuerySet

Kind = Alert.Kind
ALERTS_SHOWN = 40
COURSE_DAYS = 42
MOST_MARKS = 2_000
FRESH_DAYS = 14
AGES = ((7, "up to a week"), (30, "up to a month"), (90, "up to 3 months"), (365, "up to a year"))
CAUSES = {
    Kind.SITE_CHANGED: "The template of pages is another one: their rules no longer fit",
    Kind.HELD: "Constant values came out different and wait for a check before anybody reads them",
    Kind.IMPLAUSIBLE: "Values of bellwethers are right in form and probably wrong",
    Kind.DRIFT: "Values of the last day's records are not like those of a week ago",
    Kind.COVERAGE: "Less is extracted of what comes in",
    Kind.UNREACHABLE: "Half of the bellwethers or more do not answer",
    Kind.WARNING: "Something looks odd and breaks nothing",
    Kind.OVERDUE: "Checks come to nothing",
}


class Health(NamedTuple):
    """How a site is."""

    key: str
    word: str
    tone: str


CHANGED = Health("changed", "Changed", "bad")
UNREACHABLE = Health("unreachable", "Unreachable", "warning")
OVERDUE = Health("overdue", "Overdue", "warning")
DOUBTFUL = Health("doubtful", "Look at it", "warning")
UNWATCHED = Health("unwatched", "Not watched", "unknown")
HEALTHY = Health("healthy", "Healthy", "good")
# The first that holds; each with the kinds of its open alerts.
HEALTHS = (
    (CHANGED, (Kind.SITE_CHANGED,)),
    (UNREACHABLE, (Kind.UNREACHABLE,)),
    (OVERDUE, (Kind.OVERDUE,)),
    (DOUBTFUL, (Kind.HELD, Kind.IMPLAUSIBLE, Kind.DRIFT, Kind.COVERAGE, Kind.WARNING)),
)
FILTERS = {"": "All"} | {
    health.key: health.word
    for health in (CHANGED, UNREACHABLE, OVERDUE, DOUBTFUL, UNWATCHED, HEALTHY)
}


class AlertRow(NamedTuple):
    """An open alert with what can be done about it."""

    alert: Alert
    state: str
    href: str
    address: str  # of what is done with it
    may_act: bool
    may_release: bool


class AlertGroup(NamedTuple):
    """The open alerts of one cause."""

    kind: str
    word: str
    why: str
    rows: list[AlertRow]


class OverviewSiteRow(NamedTuple):
    """A site of the overview."""

    site: Site
    schedule: Schedule | None
    health: Health
    days: Sequence[Day]
    last_check: datetime | None
    share: float | None  # of the pages that gave a record lately
    n_rules: int
    oldest_rule: datetime | None


def narrowed(sites: SiteQuerySet, shown: str) -> SiteQuerySet:
    """Return the sites of one health."""
    is_watched = Exists(Schedule.objects.running().filter(site=OuterRef("pk")))
    if shown == UNWATCHED.key:
        return sites.filter(~is_watched)
    alerts = Alert.objects.open().filter(site=OuterRef("pk"))
    if shown == HEALTHY.key:
        return sites.filter(is_watched).exclude(Exists(alerts))
    kinds = next((kinds for health, kinds in HEALTHS if health.key == shown), None)
    return sites.filter(Exists(alerts.filter(kind__in=kinds))) if kinds else sites


def site_rows(sites: Sequence[Site]) -> list[OverviewSiteRow]:
    """Add to each site what is known of it, in the same few queries for any number of sites."""
    pks = [site.pk for site in sites]
    calendars = calendars_of(pks)
    kinds: dict[int, set[str]] = {}
    for site, kind in Alert.objects.open().filter(site__in=pks).values_list("site", "kind"):
        kinds.setdefault(site, set()).add(kind)
    schedules = {one.site_id: one for one in Schedule.objects.filter(site__in=pks)}
    since = timezone.now().date() - timedelta(days=FRESH_DAYS)
    recent = Coverage.objects.filter(site__in=pks, day__gte=since).order_by().values("site")
    shares = {
        row["site"]: row["served"] / row["pages"]
        for row in recent.annotate(pages=Sum("n_pages"), served=Sum("n_served"))
        if row["pages"]
    }
    rules: dict[int, Any] = {
        row["cluster__site"]: row
        for row in Rule.objects.published()
        .filter(cluster__site__in=pks)
        .order_by()
        .values("cluster__site")
        .annotate(n=Count("pk"), oldest=Min("published_at"))
    }
    last = _last_checks(pks)
    return [
        OverviewSiteRow(
            site,
            schedules.get(site.pk),
            _health(kinds.get(site.pk, set()), schedules.get(site.pk)),
            calendars[site.pk],
            last.get(site.pk),
            shares.get(site.pk),
            rules.get(site.pk, {}).get("n", 0),
            rules.get(site.pk, {}).get("oldest"),
        )
        for site in sites
    ]


def _last_checks(pks: Sequence[int]) -> dict[int, datetime]:
    """Return when each site was last checked: by the index on site and number, not over all checks."""
    newest = Check.objects.done().filter(site=OuterRef("pk")).order_by("-pk").values("made_at")[:1]
    rows = Site.objects.filter(pk__in=pks).annotate(last=newest).values_list("pk", "last")
    return {pk: at for pk, at in rows if at is not None}


def _health(kinds: set[str], schedule: Schedule | None) -> Health:
    for health, own in HEALTHS:
        if kinds.intersection(own):
            return health
    return HEALTHY if schedule is not None and schedule.is_active else UNWATCHED


def alert_groups(alerts: Iterable[Alert], user: User, now: datetime) -> list[AlertGroup]:
    """Return open alerts grouped by their cause, the worst cause first, those that wait first."""
    groups: dict[str, list[AlertRow]] = {kind: [] for kind in [*CAUSES, *Kind.values]}
    changes = _changes_of(alerts := list(alerts))
    operated = _operated(user)
    for alert in alerts:
        href = changes.get(alert.site_id) if alert.kind == Kind.SITE_CHANGED else None
        may_act = operated is None or alert.site_id in operated
        groups[alert.kind].append(
            AlertRow(
                alert,
                alert.state_at(now).value,
                href or reverse("site_monitoring", args=[alert.site.name]),
                reverse("acknowledge_alert", args=[alert.site.name, alert.pk]).removesuffix(
                    "acknowledge/"
                ),
                may_act,
                may_act and alert.kind in RELEASABLE,
            )
        )
    order = {
        Alert.State.OPEN.value: 0,
        Alert.State.ACKNOWLEDGED.value: 1,
        Alert.State.SNOOZED.value: 2,
    }
    return [
        AlertGroup(
            kind,
            Kind(kind).label,
            CAUSES.get(Kind(kind), ""),
            sorted(rows, key=lambda row: order[row.state]),
        )
        for kind, rows in groups.items()
        if rows
    ]


def open_alerts(sites: SiteQuerySet) -> list[Alert]:
    """Return the newest open alerts of some sites."""
    visible = Alert.objects.open().filter(site__in=sites).select_related("site", "acknowledged_by")
    return list(visible.order_by("-id")[:ALERTS_SHOWN])


def _changes_of(alerts: Iterable[Alert]) -> dict[int, str]:
    """Return where the open change of each site is shown; with several, the oldest."""
    sites = [alert.site_id for alert in alerts if alert.kind == Kind.SITE_CHANGED]
    rows = (
        SiteChange.objects.open()
        .filter(site__in=sites)
        .order_by("-pk")
        .values_list("site", "site__name", "pk")
    )
    return {site: reverse("site_change", args=[name, pk]) for site, name, pk in rows}


def _operated(user: User) -> set[int] | None:
    """Return the sites that a user operates; None: all."""
    if user.has_role(Role.OPERATOR):
        return None
    enough = Role.OPERATOR.and_higher()
    held = user.memberships.filter(role__in=enough, site__isnull=False)
    return set(held.values_list("site", flat=True))


def whole_figures(sites: SiteQuerySet, now: datetime) -> dict[str, Any]:
    """Return the figures of all sites that a user may see."""
    day = now - timedelta(days=1)
    kinds = (
        Alert.objects.open()
        .filter(site__in=sites)
        .order_by()
        .values("kind")
        .annotate(n=Count("pk"))
    )
    recent = Check.objects.done().filter(made_at__gte=day).values("site")
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


def course(
    sites: Iterable[int] | SiteQuerySet, *, address: str, n_days: int = COURSE_DAYS
) -> Course:
    """Return coverage and records of some sites day by day, with their site changes as marks."""
    days = last_days(n_days)
    rows = Coverage.objects.filter(site__in=sites, day__gte=days[0]).order_by().values("day")
    sums = rows.annotate(pages=Sum("n_pages"), served=Sum("n_served"), records=Sum("n_records"))
    by_day = {row["day"]: (row["pages"], row["served"], row["records"]) for row in sums}
    figures = [DayFigures(day, *by_day.get(day, (0, 0, 0))) for day in days]
    return course_of(figures, _marks(sites, days[0], address))


def _marks(
    sites: Iterable[int] | SiteQuerySet, since: date, address: str
) -> Mapping[date, tuple[str, str]]:
    """Return the days with site changes: what happened, and where it is shown."""
    start = timezone.make_aware(datetime.combine(since, datetime.min.time()))
    found = SiteChange.objects.filter(site__in=sites, found_at__gte=start).order_by("-pk")
    per_day: dict[date, list[tuple[str, int]]] = {}
    for site, pk, at in found.values_list("site__name", "pk", "found_at")[:MOST_MARKS]:
        per_day.setdefault(timezone.localdate(at), []).append((site, pk))
    return {
        day: (f"{own[0][0]} changed", reverse("site_change", args=own[0]))
        if len(own) == 1
        else (f"{len(own)} site changes", f"{address}?day={day}")
        for day, own in per_day.items()
    }


def work_figures(user: User, now: datetime) -> dict[str, Any]:
    """Return what broke and was mended, how old rules are, what failed and why, and how work flows."""
    month, day = now - timedelta(days=30), now - timedelta(days=1)
    changes = SiteChange.objects.visible_to(user)
    ended = changes.ended().filter(ended_at__gte=month)
    reports = list(ended.filter(end=SiteChange.End.REPAIRED).values_list("report", flat=True)[:500])
    extractions = Extraction.objects.filter(site__in=Site.objects.visible_to(user))
    reasons = extractions.filter(n_records=0).exclude(reason="").order_by().values_list("reason")
    jobs = Job.objects.visible_to(user).order_by().values("queue")
    done = jobs.filter(finished_at__gte=day).annotate(
        n=Count("pk"), failed=Count("pk", filter=Q(state=Job.State.FAILED)), steps=Sum("n_done")
    )
    waiting = jobs.unfinished().annotate(n=Count("pk"))  # type: ignore[attr-defined]  # values() keeps the methods
    effort = Effort.objects.filter(site__in=Site.objects.visible_to(user), last_at__gte=month)
    return {
        "n_found": changes.filter(found_at__gte=month).count(),
        "ends": [
            (SiteChange.End(row["end"]).label, row["n"])
            for row in ended.order_by().values("end").annotate(n=Count("pk"))
            if row["end"]
        ],
        "latest": changes.select_related("site", "cluster").order_by("-pk")[:8],
        "hours": _median(
            [one["hours_open"] for one in reports if one.get("hours_open") is not None]
        ),
        "steps": _median([one["n_human_steps"] for one in reports if "n_human_steps" in one]),
        "ages": _ages(user, now),
        "reasons": sorted(reasons.annotate(n=Count("pk")), key=lambda one: -one[1])[:12],
        "queues": _queues(done, waiting),
        "n_visited": Page.objects.filter(
            site__in=Site.objects.visible_to(user), visited_at__gte=day
        ).count(),
        "effort": effort.aggregate(
            seconds=Sum("seconds"),
            keys=Sum("n_keys"),
            clicks=Sum("n_clicks"),
            pages=Count("page", distinct=True),
            sites=Count("site", distinct=True),
        ),
    }


def _queues(
    done: Iterable[Mapping[str, Any]], waiting: Iterable[Mapping[str, Any]]
) -> list[tuple[str, int, int, int, int]]:
    """Return by queue: jobs ended, failed, their steps, and jobs that wait or are at work."""
    ended = {row["queue"]: row for row in done}
    left = {row["queue"]: row["n"] for row in waiting}
    empty: dict[str, Any] = {"n": 0, "failed": 0, "steps": 0}
    return [
        (label, row["n"], row["failed"], row["steps"] or 0, left.get(queue, 0))
        for queue, label in Job.Queue.choices
        for row in [ended.get(queue, empty)]
    ]


def _ages(user: User, now: datetime) -> list[tuple[str, int]]:
    """Return how many published rules are how old."""
    rules = Rule.objects.published().visible_to(user)
    bounds = [(word, now - timedelta(days=days)) for days, word in AGES]
    counts = rules.aggregate(
        **{
            f"n{place}": Count("pk", filter=Q(published_at__gte=at))
            for place, (_, at) in enumerate(bounds)
        },
        whole=Count("pk"),
    )
    younger, told = 0, []
    for place, (word, _) in enumerate(bounds):
        told.append((word, counts[f"n{place}"] - younger))
        younger = counts[f"n{place}"]
    return [*told, ("older", counts["whole"] - younger)] if counts["whole"] else []


def _median(numbers: list[float]) -> float | None:
    numbers.sort()
    return numbers[len(numbers) // 2] if numbers else None
