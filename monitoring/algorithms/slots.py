"""Compute when a schedule's checks are: spread over its window, the same local times every day.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B: bellwether URLs are crawled "periodically (e.g., daily)".
Notation:   A slot is a time of a check. The offset, from 0 to 1, is a site's own place within its
            window.
Readings:   None.
Departures: Offsets are multiples of the golden ratio, so that the sites that follow each other fill
            a window evenly, whatever their number. Times are those of the clock on the wall: a time
            that the clocks skip in spring moves to the next one there is; of a time that comes
            twice in autumn the first counts, unless checks are hourly. A window may go over
            midnight; one whose ends are equal is the whole day. Every so many hours begins anew in
            each window.
Cost:       Constant.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

MAX_HOURS: Final = 24
GOLDEN: Final = 0x9E3779B97F4A7C15  # 2 ** 64 divided by the golden ratio, made odd
DAY: Final = timedelta(days=1)
MAX_COUNTED_SLOTS: Final = 10_000


class SlotPlan(NamedTuple):
    """How often, and within which hours."""

    every: int
    is_hourly: bool  # in hours, otherwise in days
    zone: ZoneInfo
    start: time
    end: time
    offset: float
    phase: int  # which of several days


def offset_of(number: int) -> float:
    """Return the place of a site within its window.

    >>> [round(offset_of(number), 2) for number in (1, 2, 3, 4)]
    [0.62, 0.24, 0.85, 0.47]
    """
    return (number * GOLDEN % 2**64) / 2**64


def next_slot(plan: SlotPlan, after: datetime) -> datetime:
    """Return the first slot later than a time."""
    day = _day_of(plan, after) - DAY  # its window may still go on
    while True:
        slots = slots_of_day(plan, day)
        index = bisect_right(slots, after)
        if index < len(slots):
            return slots[index]
        day += DAY


def last_slot(plan: SlotPlan, until: datetime) -> datetime:
    """Return the last slot not later than a time."""
    day = _day_of(plan, until) + DAY
    while True:
        slots = slots_of_day(plan, day)
        n_before = bisect_right(slots, until)
        if n_before:
            return slots[n_before - 1]
        day -= DAY


def count_slots(plan: SlotPlan, start: datetime, end: datetime) -> int:
    """Return how many slots there are from a time until before another one; at most 10,000."""
    n_slots = 0
    day = _day_of(plan, start) - DAY
    last = _day_of(plan, end) + DAY
    while day <= last and n_slots < MAX_COUNTED_SLOTS:
        slots = slots_of_day(plan, day)
        n_slots += max(0, bisect_left(slots, end) - bisect_left(slots, start))
        day += DAY
    return n_slots


def slots_of_day(plan: SlotPlan, day: date) -> list[datetime]:
    """Return the slots of the window that begins on a local day, in UTC and in order."""
    if not plan.is_hourly and (day.toordinal() - plan.phase) % plan.every:
        return []
    opens = datetime.combine(day, plan.start)
    length = (datetime.combine(day, plan.end) - opens) % DAY or DAY
    step = timedelta(hours=plan.every) if plan.is_hourly else length
    local = opens + min(step, length) * plan.offset
    slots: set[datetime] = set()
    while local < opens + length:
        slots |= _instants(plan, local)
        local += step
    return sorted(slots)


def _instants(plan: SlotPlan, local: datetime) -> set[datetime]:
    """Return the instants of a local time; two if it comes twice and the plan is hourly."""
    aware = local.replace(microsecond=0, tzinfo=plan.zone)
    first = aware.astimezone(UTC)
    if not plan.is_hourly or plan.every > 1:
        return {first}
    second = aware.replace(fold=1).astimezone(UTC)
    return {first, second} if second > first else {first}


def _day_of(plan: SlotPlan, at: datetime) -> date:
    return at.astimezone(plan.zone).date()
