"""Plan the checks: a tick starts what is due, each slot once, and at most one that was missed."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from monitoring.algorithms.slots import MOST_HOURS, count_slots, last_slot, next_slot
from monitoring.models import Alert, Check, Schedule, Slot
from monitoring.services.checks.checking import request_checks
from monitoring.services.notices.alerts import settle_alert
from rules.models import Rule
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.people import audit

AT_ONCE = 500  # schedules looked at by one tick
MOST_EVERY = {Schedule.Unit.HOURS: MOST_HOURS, Schedule.Unit.DAYS: 366}
CHOSEN = ("every", "unit", "time_zone", "window_start", "window_end", "repair", "is_active")
SLACK = timedelta(hours=2)  # for days that have an hour more or less
N_FAILED = 2  # slots in a row, after which somebody should look
KEPT_SLOTS = timedelta(days=400)


def make_default_schedules(now: datetime | None = None) -> int:
    """Give each site with a published rule and no schedule a daily one; return how many there were."""
    now = now or timezone.now()
    published = Rule.objects.published().values("cluster__site")
    sites = Site.objects.filter(pk__in=published, schedule=None, deletion_requested_at=None)
    made = [Schedule(site=site, made_at=now, changed_at=now) for site in sites]
    for schedule in made:
        schedule.next_at = next_slot(schedule.plan(), now)
    Schedule.objects.bulk_create(made, ignore_conflicts=True)  # another clock may have been faster
    return len(made)


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
    """Say when a site is checked from now on, and what follows a site change. Raises ValidationError.

    Only an administrator lets repairs come into force where the site asks for a second person.
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
        _refuse_unallowed(site, before["repair"], repair, actor)
        for name, value in values.items():
            setattr(schedule, name, value)
        _refuse_wrong(schedule)
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
    """Change some of what a site's schedule says, or give it one. Raises ValidationError."""
    before = Schedule.objects.filter(site=site).first() or Schedule(site=site)
    told: dict[str, Any] = {name: getattr(before, name) for name in CHOSEN} | changes
    return save_schedule(site=site, actor=actor, **told)


def line_of(schedule: Schedule) -> dict[str, Any]:
    """Return what is told of a schedule in one line."""
    told = {name: getattr(schedule, name) for name in CHOSEN}
    hours = {name: f"{told.pop(name):%H:%M}" for name in ("window_start", "window_end")}
    return {"site": schedule.site.name, **told, **hours, "next_at": schedule.next_at}


def plan_checks(now: datetime | None = None) -> int:
    """Start the checks that are due; return how many were started."""
    now = now or timezone.now()
    make_default_schedules(now)
    _set_back(now)
    due = Schedule.objects.due(now).select_related("site").order_by("next_at", "pk")[:AT_ONCE]
    return sum(_start(schedule, now) for schedule in due)


def close_slots(now: datetime | None = None) -> int:
    """Write down which slots came to nothing, and forget what they left; return how many there were."""
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
    Slot.objects.filter(at__lt=now - KEPT_SLOTS).delete()
    return n_closed


def _refuse_unallowed(site: Site, before: str, repair: str, actor: User | None) -> None:
    is_new = repair == Schedule.Repair.ALONE != before
    if is_new and actor is not None and not actor.has_role(Role.ADMINISTRATOR, site):
        raise ValidationError(
            {
                "repair": "Only an administrator lets a repair pass where a second person is asked for."
            }
        )


def _refuse_wrong(schedule: Schedule) -> None:
    most = (
        MOST_EVERY.get(Schedule.Unit(schedule.unit)) if schedule.unit in Schedule.Unit.values else 1
    )
    if not 1 <= schedule.every <= (most or 1):
        raise ValidationError(
            {"every": f"Must be from 1 to {most} where the unit is {schedule.unit}."}
        )
    schedule.full_clean(
        exclude=["site", "made_by"], validate_unique=False, validate_constraints=False
    )


def _set_back(now: datetime) -> None:
    """Plan anew what waits for longer than its schedule says: the clock was set back."""
    for schedule in Schedule.objects.running().filter(next_at__gt=now + timedelta(days=1) + SLACK):
        planned = next_slot(schedule.plan(), now)
        if schedule.next_at is not None and planned < schedule.next_at:
            Schedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at).update(
                next_at=planned
            )


def _start(schedule: Schedule, now: datetime) -> bool:
    """Take the last slot that is due and let a job check the site; say whether one does."""
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
        return is_new and _ring(slot, schedule.site, now)


def _ring(slot: Slot, site: Site, now: datetime) -> bool:
    """Let a job do a slot's check, or note why none can."""
    try:
        with transaction.atomic():
            job = request_checks(site=site, is_audited=False)
    except (jobs.JobExists, ValidationError) as error:
        why = " ".join(error.messages) if isinstance(error, ValidationError) else str(error)
        slots = Slot.objects.filter(pk=slot.pk)
        slots.update(state=Slot.State.SKIPPED, why=why[:300], ended_at=now)
        return False
    Slot.objects.filter(pk=slot.pk).update(job=job)
    return True


def _settle_overdue(schedule: Schedule, now: datetime) -> None:
    """Raise an alert where the last checks of a site all failed."""
    last = list(Slot.objects.filter(schedule=schedule).order_by("-at")[:N_FAILED])
    if len(last) == N_FAILED and all(slot.state == Slot.State.FAILED for slot in last):
        text = f"the last {N_FAILED} checks came to nothing: {last[0].why}"
        settle_alert(site=schedule.site, kind=Alert.Kind.OVERDUE, text=text, now=now)
