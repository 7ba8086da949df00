"""Schedule the checks: a tick starts what is due, each slot once, at most one that was missed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, time, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from monitoring.algorithms.slots import MAX_HOURS, count_slots, last_slot, next_slot
from monitoring.models import Alert, Check, KeptList, Schedule, Slot
from monitoring.services.checks.checking import check_request
from monitoring.services.notices.alerts import settle_alert
from rules.models import Rule
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.requests import enqueue
from vertex.core.services.people import audit

SCHEDULES_PER_TICK = 500
MAX_EVERY: dict[str, int] = {Schedule.Unit.HOURS: MAX_HOURS, Schedule.Unit.DAYS: 366}
CHOSEN_FIELDS = ("every", "unit", "time_zone", "window_start", "window_end", "repair", "is_active")
CLOCK_CHANGE_SLACK = timedelta(hours=2)  # days with a change of the clock have an hour more or less
MAX_FAILED_SLOTS = 2  # in a row, after which an alert is raised
SLOT_RETENTION = timedelta(days=400)


def make_default_schedules(now: datetime | None = None) -> int:
    """Create a daily schedule for each site with a published rule and none yet; return how many."""
    now = now or timezone.now()
    published = Rule.objects.published().values("cluster__site")
    sites = Site.objects.filter(pk__in=published, schedule=None, deletion_requested_at=None)
    schedules = [Schedule(site=site, made_at=now, changed_at=now) for site in sites]
    for schedule in schedules:
        schedule.next_at = next_slot(schedule.plan(), now)
    # Another clock may have been faster.
    Schedule.objects.bulk_create(schedules, ignore_conflicts=True)
    return len(schedules)


def save_schedule(
    *,
    site: Site,
    every: int,
    unit: str,
    time_zone: str,
    window_start: time,
    window_end: time,
    repair: str = Schedule.Repair.PROPOSE,
    is_active: bool = True,
    actor: User | None = None,
    now: datetime | None = None,
) -> Schedule:
    """Save when a site is checked and what follows a site change. Raises ValidationError.

    Only an administrator lets repairs be published where the site asks for a second person.
    """
    now = now or timezone.now()
    values: dict[str, Any] = {
        "every": every,
        "unit": unit,
        "time_zone": time_zone,
        "window_start": window_start,
        "window_end": window_end,
        "repair": repair,
        "is_active": is_active,
    }
    with transaction.atomic():
        schedule, is_new = Schedule.objects.select_for_update().get_or_create(
            site=site, defaults={"made_by": actor}
        )
        before = {name: str(getattr(schedule, name)) for name in values}
        _check_permission(site, before["repair"], repair, actor)
        for name, value in values.items():
            setattr(schedule, name, value)
        check_timetable(schedule)
        schedule.next_at = next_slot(schedule.plan(), now) if is_active else None
        schedule.changed_at = now
        schedule.save()
        changed = {name: [before[name], str(value)] for name, value in values.items()}
        audit.record(
            actor=actor,
            action="schedule.made" if is_new else "schedule.changed",
            subject=site.name,
            site=site,
            detail={name: pair for name, pair in changed.items() if is_new or pair[0] != pair[1]},
        )
    return schedule


def change_schedule(*, site: Site, actor: User | None = None, **changes: object) -> Schedule:
    """Change some fields of a site's schedule, or create one. Raises ValidationError."""
    before = Schedule.objects.filter(site=site).first() or Schedule(site=site)
    values: dict[str, Any] = {name: getattr(before, name) for name in CHOSEN_FIELDS} | changes
    return save_schedule(site=site, actor=actor, **values)


def schedule_json(schedule: Schedule) -> dict[str, Any]:
    """Return the line that commands write of a schedule."""
    return {
        "site": schedule.site.name,
        "every": schedule.every,
        "unit": schedule.unit,
        "time_zone": schedule.time_zone,
        "repair": schedule.repair,
        "is_active": schedule.is_active,
        "window_start": f"{schedule.window_start:%H:%M}",
        "window_end": f"{schedule.window_end:%H:%M}",
        "next_at": schedule.next_at,
    }


def plan_checks(now: datetime | None = None, *, paused: Collection[int] = ()) -> int:
    """Start the checks that are due, but at paused sites; return how many were started."""
    now = now or timezone.now()
    make_default_schedules(now)
    replan_far_ones(Schedule.objects.running(), now)
    due = (
        Schedule.objects.due(now)
        .exclude(site__in=paused)
        .select_related("site")
        .order_by("next_at", "pk")[:SCHEDULES_PER_TICK]
    )
    return sum(_start(schedule, now) for schedule in due)


def check_timetable(timetable: Schedule | KeptList) -> None:
    """Raise ValidationError where it cannot be so."""
    max_every = MAX_EVERY.get(timetable.unit, 1)
    if not 1 <= timetable.every <= max_every:
        raise ValidationError(
            {"every": f"Must be from 1 to {max_every} where the unit is {timetable.unit}."}
        )
    timetable.full_clean(
        exclude=["site", "made_by"], validate_unique=False, validate_constraints=False
    )


def replan_far_ones(timetables: QuerySet[Schedule] | QuerySet[KeptList], now: datetime) -> None:
    """Plan anew what waits for longer than its timetable asks for: the clock was set back."""
    for timetable in timetables.filter(next_at__gt=now + timedelta(days=1) + CLOCK_CHANGE_SLACK):
        planned = next_slot(timetable.plan(), now)
        if timetable.next_at is not None and planned < timetable.next_at:
            as_seen = timetables.filter(pk=timetable.pk, next_at=timetable.next_at)
            as_seen.update(next_at=planned)


def close_slots(now: datetime | None = None) -> int:
    """Mark the slots whose job ended without a check as failed; return how many.

    What their checks left is deleted, as are slots of long ago.
    """
    now = now or timezone.now()
    ended = ~Q(job__state__in=[Job.State.DUE, Job.State.RUNNING])
    left = Slot.objects.open().filter(Q(job=None) | ended).select_related("job", "schedule__site")
    n_closed = 0
    for slot in left:
        why = slot.job.error if slot.job else "its job was dropped"
        closed = Slot.objects.open().filter(pk=slot.pk, job=slot.job)
        if closed.update(
            state=Slot.State.FAILED, why=(why or "it was cancelled")[:300], ended_at=now
        ):
            n_closed += 1
            _settle_overdue(slot.schedule, now)
    Check.objects.filter(state=Check.State.RUNNING).filter(Q(job=None) | ended).delete()
    Slot.objects.filter(at__lt=now - SLOT_RETENTION).delete()
    return n_closed


def _check_permission(site: Site, before: str, repair: str, actor: User | None) -> None:
    """Raise ValidationError where somebody else than an administrator lets repairs pass alone."""
    if repair != Schedule.Repair.ALONE or before == Schedule.Repair.ALONE or actor is None:
        return
    if not actor.has_role(Role.ADMINISTRATOR, site):
        raise ValidationError(
            {
                "repair": "Only an administrator lets a repair pass where a second "
                "person is asked for."
            }
        )


def _start(schedule: Schedule, now: datetime) -> bool:
    """Take the last slot that is due and request its check; return whether there is a job."""
    plan, planned = schedule.plan(), schedule.next_at
    if planned is None:
        return False
    at = max(planned, last_slot(plan, now))
    with transaction.atomic():
        as_seen = Schedule.objects.running().filter(pk=schedule.pk, next_at=planned)
        if not as_seen.update(next_at=next_slot(plan, now)):
            return False  # another clock was faster
        n_missed = count_slots(plan, planned, at)
        slot, is_new = Slot.objects.get_or_create(
            schedule=schedule, at=at, defaults={"n_missed": n_missed, "planned_at": now}
        )
        return is_new and _request_check(slot, schedule.site, now)


def _request_check(slot: Slot, site: Site, now: datetime) -> bool:
    """Request a slot's check; where that cannot be, mark the slot as skipped and return False."""
    try:
        with transaction.atomic():
            job = enqueue(check_request(site=site, is_audited=False))
    except (jobs.JobExists, ValidationError) as error:
        why = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        slots = Slot.objects.filter(pk=slot.pk)
        slots.update(state=Slot.State.SKIPPED, why=why[:300], ended_at=now)
        return False
    Slot.objects.filter(pk=slot.pk).update(job=job)
    return True


def _settle_overdue(schedule: Schedule, now: datetime) -> None:
    """Raise an alert where the last checks of a site all failed."""
    last = list(Slot.objects.filter(schedule=schedule).order_by("-at")[:MAX_FAILED_SLOTS])
    if len(last) == MAX_FAILED_SLOTS and all(slot.state == Slot.State.FAILED for slot in last):
        text = f"the last {MAX_FAILED_SLOTS} checks came to nothing: {last[0].why}"
        settle_alert(site=schedule.site, kind=Alert.Kind.OVERDUE, text=text, now=now)
