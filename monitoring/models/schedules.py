"""When something begins: timetables; a site's schedule of checks, and the times that came of it."""

from __future__ import annotations

from datetime import datetime, time
from typing import Self
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils import timezone

from monitoring.algorithms.slots import MAX_HOURS, SlotPlan, offset_of
from vertex.core.models import Job, Site, User


def check_time_zone(name: str) -> None:
    """Refuse what is no time zone."""
    try:
        ZoneInfo(name)
    except (OSError, ValueError) as error:  # a ZoneInfoNotFoundError is a KeyError
        raise ValidationError(
            f"{name!r} is no time zone; write one such as Europe/Vienna"
        ) from error
    except KeyError:
        raise ValidationError(
            f"{name!r} is no time zone; write one such as Europe/Vienna"
        ) from None


class Timetable(models.Model):
    """How often, and within which hours, something begins."""

    class Unit(models.TextChoices):
        HOURS = "hours", "Hours"
        DAYS = "days", "Days"

    every = models.PositiveSmallIntegerField(default=1)
    unit = models.CharField(max_length=5, choices=Unit, default=Unit.DAYS)
    time_zone = models.CharField(max_length=50, default="UTC", validators=[check_time_zone])
    window_start = models.TimeField(default=time(0))
    window_end = models.TimeField(default=time(0))  # the same as the start: the whole day
    is_active = models.BooleanField(default=True)
    next_at = models.DateTimeField(null=True, blank=True)  # null while it is paused
    made_at = models.DateTimeField(default=timezone.now)
    made_by = models.ForeignKey(
        User, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(condition=Q(every__gte=1), name="%(class)s_every_at_least_one"),
            models.CheckConstraint(
                condition=~Q(unit="hours") | Q(every__lte=MAX_HOURS),
                name="%(class)s_hours_within_a_day",
            ),
        ]
        indexes = [models.Index(fields=["is_active", "next_at"], name="%(class)s_by_time")]

    @property
    def words(self) -> str:
        """Return how often and when, as people say it."""
        unit = self.unit if self.every > 1 else self.unit.removesuffix("s")
        often = f"every {self.every} {unit}" if self.every > 1 else f"every {unit}"
        if self.window_start == self.window_end:
            return often
        return f"{often}, {self.window_start:%H:%M} to {self.window_end:%H:%M} {self.time_zone}"

    def plan_at(self, number: int) -> SlotPlan:
        """Return what the times follow from; what has another number has other times."""
        return SlotPlan(
            self.every,
            self.unit == self.Unit.HOURS,
            ZoneInfo(self.time_zone),
            self.window_start,
            self.window_end,
            offset_of(number),
            number,
        )


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def running(self) -> Self:
        """Return those that are not paused, of sites that stay."""
        return self.filter(is_active=True, site__deletion_requested_at=None)

    def due(self, now: datetime) -> Self:
        return self.running().filter(next_at__lte=now)

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(site__in=Site.objects.visible_to(user))


class Schedule(Timetable):
    """How often and within which hours the bellwethers of a site are checked."""

    class Repair(models.TextChoices):
        NOTHING = "nothing", "Do nothing"
        PROPOSE = "propose", "Propose rules"
        ACCEPT = "accept", "Accept what passes the field test on every page"
        ALONE = "alone", "Accept it also where a second person is asked for"

    site = models.OneToOneField(Site, on_delete=models.CASCADE, related_name="schedule")
    # After a site change.
    repair = models.CharField(max_length=7, choices=Repair, default=Repair.PROPOSE)

    objects = ScheduleQuerySet.as_manager()

    class Meta(Timetable.Meta):
        ordering = ["site"]

    def __str__(self) -> str:
        return self.words

    def plan(self) -> SlotPlan:
        """Return what the times of the checks follow from."""
        return self.plan_at(self.site_id)


class SlotQuerySet(models.QuerySet["Slot"]):
    def open(self) -> Self:
        """Return those whose check is not over."""
        return self.filter(state=Slot.State.STARTED)

    def between(self, start: datetime, end: datetime) -> Self:
        """Return the slots of a calendar, oldest first."""
        return self.filter(at__gte=start, at__lt=end).order_by("at", "pk")

    def visible_to(self, user: User) -> Self:
        """Return those of the sites at which the user has any role."""
        return self.filter(schedule__site__in=Site.objects.visible_to(user))


class Slot(models.Model):
    """A time at which a schedule asked for a check, and what became of it."""

    class State(models.TextChoices):
        STARTED = "started", "Started"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        SKIPPED = "skipped", "Skipped"

    schedule = models.ForeignKey(
        Schedule, on_delete=models.CASCADE, related_name="slots", db_index=False
    )
    at = models.DateTimeField()
    state = models.CharField(max_length=7, choices=State, default=State.STARTED)
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    n_missed = models.PositiveIntegerField(default=0)  # slots before it that nobody was there for
    why = models.CharField(max_length=300, blank=True)  # of skipped and failed
    planned_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(fields=["schedule", "at"], name="slot_once_per_schedule")
        ]
        indexes = [
            models.Index(fields=["at"], name="slot_by_time"),
            models.Index(fields=["state"], condition=Q(state="started"), name="slot_open"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}: {self.state}"
