"""Checks are planned evenly; each slot is taken once, and at most one missed slot is caught up."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import UTC, datetime, time, timedelta

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.db import connection

from clustering.models import Cluster
from monitoring.models import Alert, Check, Schedule, Slot
from monitoring.services.checks.schedules import (
    close_slots,
    make_default_schedules,
    plan_checks,
    save_schedule,
)
from rules.models import Rule
from tests.apps.clustering.api_cast import site_of
from tests.apps.rules.record_cast import rule_of
from vertex.core.models import AuditEntry, Job, Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
MONDAY = datetime(2025, 6, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def scheduled(name: str = "shop") -> Schedule:
    """Return the default schedule of a site with a rule, made on Monday."""
    rule_of(site_of(name))
    make_default_schedules(MONDAY)
    return Schedule.objects.get(site__name=name)


def finish(state: str = Job.State.DONE) -> None:
    """Let all jobs come to an end."""
    Job.objects.update(state=state, leased_until=None, lease="")
    if state == Job.State.DONE:
        Slot.objects.open().update(state=Slot.State.DONE)


def states() -> list[str]:
    return list(Slot.objects.order_by("at").values_list("state", flat=True))


def test_a_site_gets_a_daily_schedule_with_its_first_published_rule() -> None:
    site_of("bare")
    schedule = scheduled()

    assert ["shop"] == list(Schedule.objects.values_list("site__name", flat=True))
    assert (1, "days", True) == (schedule.every, schedule.unit, schedule.is_active)
    assert schedule.next_at is not None
    assert MONDAY < schedule.next_at <= MONDAY + DAY
    assert 0 == make_default_schedules(MONDAY)


def test_a_slot_is_started_when_it_is_due_and_once() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    assert 0 == plan_checks(schedule.next_at - timedelta(seconds=1))
    assert 1 == plan_checks(schedule.next_at)
    assert 0 == plan_checks(schedule.next_at + timedelta(minutes=1))

    slot = Slot.objects.get()
    assert (schedule.next_at, "started", "monitoring.run_checks") == (
        slot.at,
        slot.state,
        slot.job and slot.job.task,
    )


def test_after_days_away_one_missed_slot_is_caught_up() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    back = schedule.next_at + 3 * DAY + timedelta(hours=1)
    assert 1 == plan_checks(back)
    assert 0 == plan_checks(back)

    slot = Slot.objects.get()
    assert (schedule.next_at + 3 * DAY, 3) == (slot.at, slot.n_missed)
    schedule.refresh_from_db()
    assert slot.at + DAY == schedule.next_at


def test_a_clock_moved_on_a_day_and_back_again_takes_each_slot_once() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    plan_checks(schedule.next_at + DAY)
    finish()
    for hours in range(96):
        plan_checks(schedule.next_at + timedelta(hours=hours))
        finish()

    at = list(Slot.objects.order_by("at").values_list("at", flat=True))
    assert [schedule.next_at + n * DAY for n in range(4)][-3:] == at[-3:]
    assert len(at) == len(set(at))


@pytest.mark.parametrize(("day", "hours"), [(30, 23), (29, 24)])
def test_a_day_on_which_the_clocks_change_has_one_slot(day: int, hours: int) -> None:
    schedule = scheduled()
    start = datetime(2025, 3, day - 1, 23, tzinfo=UTC)
    save_schedule(
        site=schedule.site,
        every=1,
        unit="days",
        time_zone="Europe/Vienna",
        window_start=time(2),
        window_end=time(3),
        now=start,
    )
    for quarter in range(4 * hours):
        plan_checks(start + timedelta(minutes=15 * quarter))
        finish()

    assert 1 == Slot.objects.count()


def test_a_check_that_still_runs_is_not_overtaken() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    plan_checks(schedule.next_at)
    plan_checks(schedule.next_at + DAY)

    assert ["started", "skipped"] == states()
    assert "is already" in Slot.objects.get(state="skipped").why


def test_a_site_without_a_rule_is_skipped_with_the_reason() -> None:
    schedule = scheduled()
    Rule.objects.update(state=Rule.State.RETIRED)
    assert schedule.next_at is not None

    assert 0 == plan_checks(schedule.next_at)
    assert "no published rule" in Slot.objects.get().why


def test_a_paused_schedule_and_a_deleted_site_are_left_alone() -> None:
    paused, gone = scheduled(), scheduled("gone")
    Schedule.objects.filter(pk=paused.pk).update(is_active=False)
    Site.objects.filter(pk=gone.site_id).update(deletion_requested_at=MONDAY)

    assert 0 == plan_checks(MONDAY + 2 * DAY)


def test_two_checks_that_come_to_nothing_raise_an_alert() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    for n in range(2):
        plan_checks(schedule.next_at + n * DAY)
        Check.objects.create(
            site=schedule.site, job=Job.objects.latest("pk"), state=Check.State.RUNNING
        )
        Job.objects.update(
            state=Job.State.FAILED, error="The disk is full", leased_until=None, lease=""
        )
        assert 1 == close_slots(schedule.next_at + n * DAY)

    assert ["failed", "failed"] == states()
    assert "The disk is full" in Alert.objects.get(kind=Alert.Kind.OVERDUE).text
    assert not Check.objects.filter(state=Check.State.RUNNING).exists()


def test_what_a_schedule_cannot_be_is_refused() -> None:
    site = site_of()
    usual = {
        "every": 1,
        "unit": "days",
        "time_zone": "UTC",
        "window_start": time(0),
        "window_end": time(0),
    }
    for wrong in (
        {"every": 0},
        {"every": 25, "unit": "hours"},
        {"time_zone": "Mars/Base"},
        {"unit": "moons"},
    ):
        with pytest.raises(ValidationError):
            save_schedule(site=site, **(usual | wrong))  # type: ignore[arg-type]  # on purpose

    assert not Schedule.objects.exists()
    save_schedule(site=site, **usual)  # type: ignore[arg-type]  # of both kinds
    assert "schedule.made" == AuditEntry.objects.latest("pk").action


def test_a_thousand_sites_are_planned_evenly_over_the_day() -> None:
    sites = Site.objects.bulk_create(
        Site(name=f"site-{n}", root_url=f"https://{n}.example/") for n in range(1_000)
    )
    vertical = rule_of(site_of("shop")).vertical
    clusters = Cluster.objects.bulk_create(Cluster(site=site, name="products") for site in sites)
    Rule.objects.bulk_create(
        Rule(
            cluster=cluster,
            version=1,
            vertical=vertical,
            state=Rule.State.PUBLISHED,
            published_at=MONDAY,
        )
        for cluster in clusters
    )
    make_default_schedules(MONDAY)
    planned = Schedule.objects.exclude(site__name="shop").values_list("next_at", flat=True)
    hours = Counter(int((at - MONDAY).total_seconds() // 3600) for at in planned if at)

    assert (24, 1_000) == (len(hours), sum(hours.values()))
    assert max(hours.values()) - min(hours.values()) <= 3


@pytest.mark.django_db(transaction=True)
def test_two_clocks_take_each_slot_once() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    due = schedule.next_at
    barrier, started = threading.Barrier(2), []

    def tick() -> None:
        try:
            barrier.wait()
            started.append(plan_checks(due))
        finally:
            connection.close()

    clocks = [threading.Thread(target=tick) for _ in range(2)]
    for clock in clocks:
        clock.start()
    for clock in clocks:
        clock.join()

    assert [0, 1] == sorted(started)
    assert (1, 1) == (Slot.objects.count(), Job.objects.count())


def test_the_tick_reads_the_clock() -> None:
    schedule = scheduled()
    assert schedule.next_at is not None
    with time_machine.travel(schedule.next_at, tick=False):
        assert 1 == plan_checks()
