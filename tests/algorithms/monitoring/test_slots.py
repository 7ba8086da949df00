"""When checks are: spread over the window, once each, right where the clocks change."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.algorithms.slots import (
    SlotPlan,
    count_slots,
    last_slot,
    next_slot,
    offset_of,
    slots_of_day,
)

VIENNA = ZoneInfo("Europe/Vienna")
MIDNIGHT = time(0)


def plan(
    every: int = 1,
    *,
    hourly: bool = False,
    zone: str = "Europe/Vienna",
    start: time = MIDNIGHT,
    end: time = MIDNIGHT,
    offset: float = 0.5,
    phase: int = 0,
) -> SlotPlan:
    return SlotPlan(every, hourly, ZoneInfo(zone), start, end, offset, phase)


def slots(slot_plan: SlotPlan, start: datetime, n: int) -> list[datetime]:
    results = [next_slot(slot_plan, start)]
    while len(results) < n:
        results.append(next_slot(slot_plan, results[-1]))
    return results


def test_a_daily_check_is_at_the_same_local_time_all_year() -> None:
    slot_plan = plan(offset=0.25)
    times = {
        slot.astimezone(VIENNA).time()
        for slot in slots(slot_plan, datetime(2025, 1, 1, tzinfo=UTC), 365)
    }

    assert {time(6)} == times


@pytest.mark.parametrize(
    ("day", "n"), [(date(2025, 3, 30), 23), (date(2025, 10, 26), 25), (date(2025, 6, 1), 24)]
)
def test_hourly_checks_have_as_many_slots_as_the_day_has_hours(day: date, n: int) -> None:
    result = slots_of_day(plan(hourly=True), day)

    assert n == len(result)
    assert {timedelta(hours=1)} == {b - a for a, b in pairwise(result)}


def test_a_time_that_the_clocks_skip_moves_on() -> None:
    slot_plan = plan(start=time(2), end=time(3))

    assert datetime(2025, 3, 30, 1, 30, tzinfo=UTC) == slots_of_day(slot_plan, date(2025, 3, 30))[0]


def test_a_time_that_comes_twice_is_one_slot() -> None:
    slot_plan = plan(start=time(2), end=time(3))

    assert [datetime(2025, 10, 26, 0, 30, tzinfo=UTC)] == slots_of_day(
        slot_plan, date(2025, 10, 26)
    )


def test_windows_go_over_midnight() -> None:
    slot_plan = plan(2, hourly=True, start=time(22), end=time(6), zone="UTC")
    result = slots_of_day(slot_plan, date(2025, 5, 1))

    assert [23, 1, 3, 5] == [each.hour for each in result]
    assert datetime(2025, 5, 2, 1, tzinfo=UTC) == next_slot(
        slot_plan, datetime(2025, 5, 2, 0, tzinfo=UTC)
    )


def test_every_third_day_is_every_third_day() -> None:
    result = slots(plan(3, phase=1, zone="UTC"), datetime(2025, 1, 1, tzinfo=UTC), 5)

    assert {timedelta(days=3)} == {b - a for a, b in pairwise(result)}


def test_a_thousand_sites_fill_a_day_evenly() -> None:
    hours = Counter(int(offset_of(number) * 24) for number in range(1, 1_001))

    assert 24 == len(hours)
    assert max(hours.values()) - min(hours.values()) <= 3


@given(
    every=st.integers(1, 24),
    hourly=st.booleans(),
    start=st.times(),
    end=st.times(),
    offset=st.floats(0, 1, exclude_max=True),
    phase=st.integers(1, 10_000),
    minutes=st.integers(0, 2 * 366 * 24 * 60),
)
def test_next_and_last_agree(
    every: int, *, hourly: bool, start: time, end: time, offset: float, phase: int, minutes: int
) -> None:
    slot_plan = plan(every, hourly=hourly, start=start, end=end, offset=offset, phase=phase)
    now = datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
    following = next_slot(slot_plan, now)

    assert now < following
    assert following == last_slot(slot_plan, following)
    assert last_slot(slot_plan, now) <= now
    assert 0 == count_slots(slot_plan, now + timedelta(microseconds=1), following)
    assert 1 == count_slots(slot_plan, following, following + timedelta(seconds=1))
