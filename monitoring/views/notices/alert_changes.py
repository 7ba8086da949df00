"""What people do with alerts: take up, snooze, release."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from monitoring.models import Alert
from monitoring.services.notices import alerts
from monitoring.views.checks import overview_rows
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell
from vertex.core.views.ways_back import way_back

HOURS = {"1": 1, "24": 24, "168": 168}
DEFAULT_HOURS = 24


@needs_role(Role.OPERATOR)
@require_POST
def acknowledge_alert(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    alerts.acknowledge(alert=_alert(name, pk), actor=user_of(request))
    return _answer(request, f"You look after it: nobody else is told of the alert of {name}.")


@needs_role(Role.OPERATOR)
@require_POST
def snooze_alert(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    hours = HOURS.get(request.POST.get("hours", ""), DEFAULT_HOURS)
    until = timezone.now() + timedelta(hours=hours)
    try:
        alerts.snooze(alert=_alert(name, pk), until=until, actor=user_of(request))
    except ValidationError as error:
        return _answer(request, " ".join(error.messages), is_refused=True)
    until_text = timezone.localtime(until).strftime("%-d %b, %H:%M")
    return _answer(request, f"The alert of {name} keeps quiet until {until_text}.")


@needs_role(Role.OPERATOR)
@require_POST
def release_alert(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    try:
        alerts.release(alert=_alert(name, pk), actor=user_of(request))
    except ValidationError as error:
        return _answer(request, " ".join(error.messages), is_refused=True)
    return _answer(request, f"The alert of {name} is over; values held back for it pass.")


def _alert(name: str, pk: int) -> Alert:
    return get_object_or_404(Alert.objects.select_related("site"), site__name=name, pk=pk)


def _answer(request: HttpRequest, text: str, *, is_refused: bool = False) -> HttpResponse:
    """Draw the alerts anew where only they were asked for, otherwise go back to the page."""
    if request.headers.get("HX-Request") == "true":
        user = user_of(request)
        shown = overview_rows.open_alerts(Site.objects.visible_to(user))
        site = request.POST.get("site")
        if site:
            shown = [alert for alert in shown if alert.site.name == site]
        groups = overview_rows.alert_groups(shown, user, timezone.now())
        context = {"groups": groups, "message": text, "is_refused": is_refused, "only": site}
        return render(request, "monitoring/notices/alerts.html", context)
    if is_refused:
        messages.error(request, text)
    else:
        tell(request, text)
    return redirect(way_back(request) or "monitoring")
