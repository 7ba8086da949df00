"""Draw a site's checks as a calendar strip: a cell a day, coloured and lettered by its worst."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.utils import timezone

from monitoring.models import Check, Slot

CALENDAR_DAYS = 28


class DayKind(NamedTuple):
    """How a day went."""

    rank: int
    letter: str
    tone: str
    word: str


CHANGED = DayKind(6, "C", "bad", "site changed")
UNREACHABLE = DayKind(5, "U", "warning", "not reached")
UNDECIDED = DayKind(5, "?", "warning", "undecided")
FAILED = DayKind(4, "F", "warning", "check failed")
WARNING = DayKind(3, "W", "warning", "warning")
AS_IT_WAS = DayKind(2, "✓", "good", "as it was")
SKIPPED = DayKind(1, "s", "unknown", "skipped")
NOT_CHECKED = DayKind(0, "·", "none", "not checked")
KINDS = (AS_IT_WAS, CHANGED, UNREACHABLE, UNDECIDED, WARNING, FAILED, SKIPPED, NOT_CHECKED)
VERDICT_KINDS: dict[str, DayKind] = {
    Check.Verdict.AS_IT_WAS: AS_IT_WAS,
    Check.Verdict.CONTENT_CHANGED: AS_IT_WAS,
    Check.Verdict.PARTLY_REDESIGNED: CHANGED,
    Check.Verdict.REDESIGNED: CHANGED,
    Check.Verdict.UNREACHABLE: UNREACHABLE,
    Check.Verdict.UNDECIDED: UNDECIDED,
}
SLOT_KINDS: dict[str, DayKind] = {Slot.State.FAILED: FAILED, Slot.State.SKIPPED: SKIPPED}


class Day(NamedTuple):
    """A day of a site, by its worst check."""

    day: date
    kind: DayKind
    check: int | None  # the check that the cell opens


class CheckCell(NamedTuple):
    """How a cluster or a page was at one check."""

    check: int
    tone: str
    letter: str
    word: str


def last_days(n: int = CALENDAR_DAYS) -> list[date]:
    """Return the days of a calendar, the oldest first."""
    today = timezone.localdate()
    return [today - timedelta(days=days_ago) for days_ago in reversed(range(n))]


def calendars_of(sites: Iterable[int], n: int = CALENDAR_DAYS) -> dict[int, list[Day]]:
    """Return the days of each site, in two queries for all."""
    sites = list(sites)
    days = last_days(n)
    since = timezone.make_aware(datetime.combine(days[0], datetime.min.time()))
    worst: dict[tuple[int, date], Day] = {}
    zone = timezone.get_current_timezone()  # asked for once: there are many checks
    checks = Check.objects.done().filter(site__in=sites, made_at__gte=since).order_by("pk")
    has_warnings = ExpressionWrapper(~Q(warnings=[]), BooleanField())
    columns = ("pk", "site", "made_at", "verdict", "has_warnings")
    rows = checks.annotate(has_warnings=has_warnings).values_list(*columns)
    for pk, site, made_at, verdict, is_warned in rows:
        kind = VERDICT_KINDS[verdict]
        if kind is AS_IT_WAS and is_warned:
            kind = WARNING
        _keep_worst(worst, site, Day(made_at.astimezone(zone).date(), kind, pk))
    slots = Slot.objects.filter(schedule__site__in=sites, at__gte=since, state__in=list(SLOT_KINDS))
    for site, at, state in slots.values_list("schedule__site", "at", "state"):
        _keep_worst(worst, site, Day(at.astimezone(zone).date(), SLOT_KINDS[state], None))
    return {
        site: [worst.get((site, day), Day(day, NOT_CHECKED, None)) for day in days]
        for site in sites
    }


def describe_days(days: Sequence[DayKind]) -> str:
    """Return in words how many days are of each kind."""
    counts = [(kind, sum(day is kind for day in days)) for kind in KINDS]
    return ", ".join(f"{n} {kind.word}" for kind, n in counts if n)


def _keep_worst(worst: dict[tuple[int, date], Day], site: int, day: Day) -> None:
    known = worst.get((site, day.day))
    if known is None or day.kind.rank >= known.kind.rank:
        worst[site, day.day] = day
