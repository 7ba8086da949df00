"""How a site is watched: its schedule, thresholds with what others would do, and channels."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from monitoring.algorithms.verdicts import Thresholds
from monitoring.forms import ChannelForm, ScheduleForm, ThresholdsForm, add_errors
from monitoring.models import Channel, Schedule, Slot
from monitoring.services.checks import schedules, thresholds
from monitoring.services.notices import channels
from monitoring.services.notices.trial_notices import start_trial, trials_of
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell

SLOTS_SHOWN = 8
OTHERS_SHOWN = 20  # clusters of which other thresholds would have thought otherwise
FIELDS = ("every", "unit", "window_start", "window_end", "time_zone", "repair", "is_active")


@needs_role(Role.OPERATOR)
@require_GET
def watching(request: HttpRequest, name: str) -> HttpResponse:
    return _show(request, get_object_or_404(Site, name=name))


@needs_role(Role.OPERATOR)
@require_POST
def save_schedule(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = ScheduleForm(request.POST)
    if form.is_valid():
        try:
            saved = schedules.save_schedule(site=site, actor=user_of(request), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            if saved.is_active:
                tell(request, f"{name} is checked {saved}.")
            else:
                tell(request, f"{name} is not checked any more.")
            return redirect("watching", name=name)
    return _show(request, site, schedule_form=form)


@needs_role(Role.OPERATOR)
@require_POST
def choose_thresholds(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = ThresholdsForm(request.POST)
    if form.is_valid():
        try:
            thresholds.choose_thresholds(site=site, actor=user_of(request), **form.shares())
        except ValidationError as error:
            add_errors(form, error)
        else:
            tell(request, "The thresholds hold from the next check on.")
            return redirect("watching", name=name)
    return _show(request, site, thresholds_form=form)


@needs_role(Role.OPERATOR)
@require_POST
def reset_thresholds(request: HttpRequest, name: str) -> HttpResponse:
    thresholds.reset_thresholds(site=get_object_or_404(Site, name=name), actor=user_of(request))
    tell(request, "The usual thresholds hold again.")
    return redirect("watching", name=name)


@needs_role(Role.OPERATOR)
@require_GET
def what_if_thresholds(request: HttpRequest, name: str) -> HttpResponse:
    """Show what the thresholds in the form would have done with the checks that were made."""
    site = get_object_or_404(Site, name=name)
    form = ThresholdsForm(request.GET)
    if not form.is_valid():
        return render(request, "monitoring/checks/what_if_thresholds.html", {"site": site})
    what_if = thresholds.judge_history(site, Thresholds(**form.shares()))
    context = {"site": site, "what_if": what_if, "verdicts": what_if.other_verdicts[:OTHERS_SHOWN]}
    return render(request, "monitoring/checks/what_if_thresholds.html", context)


@needs_role(Role.OPERATOR)
@require_POST
def add_channel(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = ChannelForm(request.POST)
    if form.is_valid():
        try:
            added = channels.add_channel(site=site, actor=user_of(request), **form.cleaned_data)
        except ValidationError as error:
            add_errors(form, error)
        else:
            if added.kind != Channel.Kind.WEBHOOK:
                tell(request, f"Notices of {name} go to {added.shown}.")
                return redirect("watching", name=name)
            # The secret stands in this answer and nowhere else, not even in the session.
            context = {"site": site, "channel": added, "secret": channels.secret_of(added)}
            return render(request, "monitoring/checks/new_channel.html", context)
    return _show(request, site, channel_form=form)


@needs_role(Role.OPERATOR)
@require_POST
def switch_channel(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    channel = _channel(name, pk)
    channels.switch_channel(
        channel=channel, is_active=not channel.is_active, actor=user_of(request)
    )
    if channel.is_active:
        tell(request, f"{channel.shown} is told again.")
    else:
        tell(request, f"{channel.shown} is told of nothing.")
    return redirect("watching", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def remove_channel(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    channel = _channel(name, pk)
    shown = channel.shown
    channels.remove_channel(channel=channel, actor=user_of(request))
    tell(request, f"{shown} is told of nothing any more.")
    return redirect("watching", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def try_channel(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Request a test notice from a worker; how it went is shown at the channel."""
    channel = _channel(name, pk)
    try:
        start_trial(
            channel=channel, site=get_object_or_404(Site, name=name), actor=user_of(request)
        )
    except JobExists as error:
        messages.info(request, str(error))
    else:
        tell(
            request,
            f"A test notice to {channel.shown} waits for a worker; how it went is shown there.",
        )
    return redirect(f"{reverse('watching', args=[name])}#channels")


def _show(
    request: HttpRequest,
    site: Site,
    *,
    schedule_form: forms.Form | None = None,
    thresholds_form: forms.Form | None = None,
    channel_form: forms.Form | None = None,
) -> HttpResponse:
    schedule = Schedule.objects.filter(site=site).first()
    site_thresholds = thresholds.thresholds_of(site)
    trials = trials_of(site, list(Channel.objects.of_site(site).select_related("made_by", "site")))
    percents = {name: f"{share * 100:g}" for name, share in asdict(site_thresholds).items()}
    has_errors = any((schedule_form, thresholds_form, channel_form))
    context = {
        "site": site,
        "schedule": schedule,
        "slots": Slot.objects.filter(schedule__site=site).select_related("check_run")[:SLOTS_SHOWN],
        "schedule_form": schedule_form or ScheduleForm(initial=_initial(schedule)),
        "thresholds_form": thresholds_form or ThresholdsForm(initial=percents),
        "are_defaults": site_thresholds == Thresholds(),
        "channel_form": channel_form or ChannelForm(),
        "channels": trials,
        "is_trying": any(job is not None and job.finished_at is None for _, job in trials),
        "can_add_channel": Channel.objects.filter(site=site).count() < channels.MAX_CHANNELS,
    }
    return render(
        request, "monitoring/checks/watching.html", context, status=400 if has_errors else 200
    )


def _initial(schedule: Schedule | None) -> dict[str, Any]:
    shown = schedule or Schedule()
    return {name: getattr(shown, name) for name in FIELDS}


def _channel(name: str, pk: int) -> Channel:
    """Return a channel of the site; those of all sites are changed elsewhere."""
    return get_object_or_404(Channel.objects.select_related("site"), site__name=name, pk=pk)
