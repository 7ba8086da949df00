"""The overview of monitoring: open alerts by cause, sites by state, and results over time."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from monitoring.services.checks.check_calendar import KINDS
from monitoring.services.checks.site_states import NEVER_CHECKED, of_state
from monitoring.views.checks import overview_rows
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of, list_part, words

SITES_SHOWN = 25  # each with its calendar


@needs_role(Role.VIEWER)
@require_GET
def monitoring(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    query = words(request)
    shown = choice_of(request, "show", overview_rows.FILTERS)
    visible = Site.objects.visible_to(user)
    sites = of_state(visible.matching(query), shown)
    part = list_part(request, sites, order=["name"], size=SITES_SHOWN)
    now = timezone.now()
    total = overview_rows.total_figures(visible, now)
    alerts = overview_rows.open_alerts(visible)
    context = {
        "page": part,
        "rows": overview_rows.site_rows(part.rows),
        "query": query,
        "shown": shown,
        "filters": overview_rows.FILTERS,
        "total": total,
        "groups": overview_rows.alert_groups(alerts, user, now),
        "n_unchecked": of_state(visible, NEVER_CHECKED.key).count(),
        "n_alerts": sum(total["n_by_kind"].values()),
        "n_alerts_shown": len(alerts),
        "kinds": KINDS,
    }
    return render(request, "monitoring/checks/overview.html", context)


@needs_role(Role.VIEWER)
@require_GET
def coverage_chart(request: HttpRequest) -> HttpResponse:
    """Draw coverage and records of all sites over time, as a part of the overview."""
    sites = Site.objects.visible_to(user_of(request))
    chart = overview_rows.coverage_chart(sites, address=reverse("site_changes"))
    return render(
        request, "monitoring/checks/coverage_chart.html", {"chart": chart, "of": "all sites"}
    )


@needs_role(Role.VIEWER)
@require_GET
def work(request: HttpRequest) -> HttpResponse:
    """Show breakages and repairs, rule ages, failures, throughput and editorial cost."""
    figures = overview_rows.work_figures(user_of(request), timezone.now())
    return render(request, "monitoring/checks/work.html", figures)
