"""Routes of schedules and their slots, and of thresholds."""

from __future__ import annotations

from dataclasses import asdict
from datetime import time
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from monitoring.algorithms.verdicts import Thresholds
from monitoring.models import Schedule, Slot
from monitoring.services.checks import schedules, thresholds
from vertex.core.api.endpoints import ApiView, AtSite, endpoint
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import caller_of
from vertex.core.api.serializers import Body, ListQuery, Query, RowSerializer, listed
from vertex.core.models import Role, Scope, Site

READ, WRITE = Scope.RECORDS_READ, Scope.SITES_WRITE
TAGS = ["monitoring"]
UNITS = [(str(value), label) for value, label in Schedule.Unit.choices]
REPAIRS = [(str(value), label) for value, label in Schedule.Repair.choices]


class ScheduleRow(RowSerializer):
    class Meta:
        model = Schedule
        fields = (
            "id",
            "site",
            "every",
            "unit",
            "time_zone",
            "window_start",
            "window_end",
            "repair",
            "is_active",
            "next_at",
            "changed_at",
        )

    site = serializers.CharField(source="site.name")
    unit = serializers.CharField(help_text="hours or days.")
    repair = serializers.CharField(
        help_text="After a site change: nothing, propose, accept or alone."
    )


class SlotRow(RowSerializer):
    class Meta:
        model = Slot
        fields = (
            "id",
            "site",
            "at",
            "state",
            "job",
            "check_id",
            "n_missed",
            "why",
            "planned_at",
            "ended_at",
        )

    site = serializers.CharField(source="schedule.site.name")
    state = serializers.CharField(help_text="started, done, failed or skipped.")
    job = serializers.IntegerField(source="job_id", allow_null=True)
    check_id = serializers.IntegerField(source="check_run.id", allow_null=True)
    n_missed = serializers.IntegerField(help_text="Slots before it that nobody was there for.")


class NewSchedule(Body):
    """When a site is checked."""

    every = serializers.IntegerField(
        min_value=1, max_value=366, help_text="At most 24 hours, or 366 days."
    )
    unit = serializers.ChoiceField(choices=UNITS, default="days")
    time_zone = serializers.CharField(
        max_length=50, default="UTC", help_text="Such as Europe/Vienna."
    )
    window_start = serializers.TimeField(
        default=time(0), help_text="Checks lie within these hours."
    )
    window_end = serializers.TimeField(
        default=time(0), help_text="The same as the start: the whole day."
    )
    repair = serializers.ChoiceField(
        choices=REPAIRS,
        default="propose",
        help_text="Where a second person is asked for, accept only proposes; "
        "alone needs an administrator.",
    )
    is_active = serializers.BooleanField(default=True)


class SlotsQuery(ListQuery):
    since = serializers.DateTimeField(required=False)
    until = serializers.DateTimeField(required=False)


class ThresholdsAnswer(serializers.Serializer[Any]):
    """The thresholds of a site."""

    thresholds = serializers.DictField(child=serializers.FloatField())
    usual = serializers.DictField(child=serializers.FloatField())
    explanations = serializers.DictField(child=serializers.CharField())


class HindsightAnswer(serializers.Serializer[Any]):
    """What thresholds would have done with the checks that were made."""

    text = serializers.CharField()
    n_checks = serializers.IntegerField()
    n_changed_then = serializers.IntegerField()
    n_changed_now = serializers.IntegerField()
    others = serializers.ListField(
        child=serializers.DictField(), help_text="Checks that would have ended otherwise."
    )


def _share() -> serializers.FloatField:
    return serializers.FloatField(min_value=0, max_value=1, required=False)


class NewThresholds(Body):
    """Some thresholds, from 0 to 1."""

    pages = _share()
    quorum = _share()
    coverage_drop = _share()
    reachable = _share()
    rules = _share()
    crawl_drop = _share()


class HindsightQuery(Query):
    pages = _share()
    quorum = _share()
    coverage_drop = _share()


class Schedules(ApiView):
    @endpoint("list_schedules", scope=READ, query=ListQuery, answers=listed(ScheduleRow), tags=TAGS)
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List when sites are checked."""
        visible = Schedule.objects.visible_to(caller_of(request))
        return page_of(visible, row=ScheduleRow, request=request, query=query)


class SiteSchedule(AtSite):
    @endpoint(
        "read_schedule", scope=READ, needs=(Role.VIEWER, "there"), answers=ScheduleRow, tags=TAGS
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show when a site is checked; its first published rule gives it a daily schedule."""
        rows = ScheduleRow.read(Schedule.objects.filter(site=subject))
        if not rows:
            raise NotFound(
                f"{subject.name} has no schedule yet; it gets one with its first published rule."
            )
        return rows[0]

    @endpoint(
        "save_schedule",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewSchedule,
        answers=ScheduleRow,
        tags=TAGS,
    )
    def put(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Save when a site is checked and what follows a site change."""
        schedules.save_schedule(site=subject, actor=caller_of(request), **body)
        return ScheduleRow.read(Schedule.objects.filter(site=subject))[0]


class SiteSlots(AtSite):
    @endpoint(
        "list_slots",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=SlotsQuery,
        answers=listed(SlotRow),
        tags=TAGS,
    )
    def get(
        self, request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """List the slots of a site's checks and what came of them, the newest first."""
        slots = Slot.objects.filter(schedule__site=subject)
        if "since" in query:
            slots = slots.filter(at__gte=query["since"])
        if "until" in query:
            slots = slots.filter(at__lt=query["until"])
        return page_of(slots, row=SlotRow, request=request, query=query, newest_first=True)


class SiteThresholdsView(AtSite):
    @endpoint(
        "read_thresholds",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        answers=ThresholdsAnswer,
        tags=TAGS,
    )
    def get(self, _request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Show when a site's clusters count as broken."""
        return _thresholds(subject)

    @endpoint(
        "choose_thresholds",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        takes=NewThresholds,
        answers=ThresholdsAnswer,
        tags=TAGS,
    )
    def patch(
        self, request: Request, *, subject: Site, body: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Choose some thresholds; the others stay."""
        thresholds.choose_thresholds(site=subject, actor=caller_of(request), **body)
        return _thresholds(subject)

    @endpoint(
        "reset_thresholds",
        scope=WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=ThresholdsAnswer,
        tags=TAGS,
    )
    def delete(self, request: Request, *, subject: Site, **_: object) -> dict[str, Any]:
        """Reset a site's thresholds to the defaults."""
        thresholds.reset_thresholds(site=subject, actor=caller_of(request))
        return _thresholds(subject)


class ThresholdsHindsight(AtSite):
    @endpoint(
        "judge_again",
        scope=READ,
        needs=(Role.VIEWER, "there"),
        query=HindsightQuery,
        answers=HindsightAnswer,
        tags=TAGS,
    )
    def get(
        self, _request: Request, *, subject: Site, query: dict[str, Any], **_: object
    ) -> dict[str, Any]:
        """Show what thresholds would have done with the last 200 checks; by default the site's."""
        trial_thresholds = Thresholds(**(asdict(thresholds.thresholds_of(subject)) | query))
        what_if = thresholds.judge_history(subject, trial_thresholds)
        other_verdicts = [
            {"check": other.number, "no_longer": list(other.no_longer), "newly": list(other.newly)}
            for other in what_if.other_verdicts
        ]
        return {
            "text": str(what_if),
            "n_checks": what_if.n_checks,
            "n_changed_then": what_if.n_changed_then,
            "n_changed_now": what_if.n_changed_now,
            "others": other_verdicts,
        }


def _thresholds(site: Site) -> dict[str, Any]:
    return {
        "thresholds": asdict(thresholds.thresholds_of(site)),
        "usual": asdict(Thresholds()),
        "explanations": thresholds.EXPLANATIONS,
    }
