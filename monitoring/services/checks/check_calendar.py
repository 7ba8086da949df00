"""The calendar strip of a site: one cell a day, coloured and lettered, the worst of the day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from monitoring.models import Check, Slot

DAYS_SHOWN = 28


class DayKind(NamedTuple):
    """What a day's cell says."""

    rank: int
    letter: str
    tone: str
    word: str


CHANGED = DayKind(6, "C", "bad", "site changed")
UNREACHABLE = DayKind(5, "U", "warning", "not reached")
FAILED = DayKind(4, "F", "warning", "check failed")
WARNING = DayKind(3, "W", "warning", "warning")
AS_IT_WAS = DayKind(2, "✓", "good", "as it was")
SKIPPED = DayKind(1, "s", "unknown", "skipped")
NOT_CHECKED = DayKind(0, "·", "none", "not checked")
KINDS = (AS_IT_WAS, CHANGED, UNREACHABLE, WARNING, FAILED, SKIPPED, NOT_CHECKED)
SLOT_KINDS: dict[str, DayKind] = {Slot.State.FAILED: FAILED, Slot.State.SKIPPED: SKIPPED}


class Day(NamedTuple):
    """One cell of a strip."""

    day: date
    kind: DayKind
    check: int | None  # the check that the cell opens


class Cell(NamedTuple):
    """What one check said of a cluster or a page."""

    check: int
    tone: str
    letter: str
    word: str


def last_days(n: int = DAYS_SHOWN) -> list[date]:
    """Return the days of a strip, the oldest first."""
    today = timezone.localdate()
    return [today - timedelta(days=n - 1 - place) for place in range(n)]


def strips_of(sites: Iterable[int], n: int = DAYS_SHOWN) -> dict[int, list[Day]]:
    """Return the strip of each site, in two queries for all."""
    wanted, days = list(sites), last_days(n)
    since = timezone.make_aware(datetime.combine(days[0], datetime.min.time()))
    worst: dict[tuple[int, date], Day] = {}
    checks = Check.objects.done().filter(site__in=wanted, made_at__gte=since).order_by("pk")
    columns = ("pk", "site", "made_at", "site_changed", "n_pages", "n_reachable", "warnings")
    for pk, site, made_at, changed, n_pages, n_reachable, warnings in checks.values_list(*columns):
        kind = _kind(
            is_changed=changed,
            n_pages=n_pages,
            n_reachable=n_reachable,
            has_warnings=bool(warnings),
        )
        _keep(worst, site, Day(timezone.localdate(made_at), kind, pk))
    slots = Slot.objects.filter(
        schedule__site__in=wanted, at__gte=since, state__in=list(SLOT_KINDS)
    )
    for site, at, state in slots.values_list("schedule__site", "at", "state"):
        _keep(worst, site, Day(timezone.localdate(at), SLOT_KINDS[state], None))
    return {
        site: [worst.get((site, day), Day(day, NOT_CHECKED, None)) for day in days]
        for site in wanted
    }


def told(days: Sequence[DayKind]) -> str:
    """Return a strip in words."""
    counts = [(kind, sum(day is kind for day in days)) for kind in KINDS]
    return ", ".join(f"{n} {kind.word}" for kind, n in counts if n)


def _kind(*, is_changed: bool, n_pages: int, n_reachable: int, has_warnings: bool) -> DayKind:
    if is_changed:
        return CHANGED
    if n_pages and n_reachable * 2 <= n_pages:
        return UNREACHABLE
    return WARNING if has_warnings else AS_IT_WAS


def _keep(worst: dict[tuple[int, date], Day], site: int, day: Day) -> None:
    known = worst.get((site, day.day))
    if known is None or day.kind.rank >= known.kind.rank:
        worst[site, day.day] = day
