"""A watched site: its open alerts, clusters and bellwethers over time, checks and coverage."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET

from monitoring.models import Alert, Check, SiteChange
from monitoring.services.checks.check_calendar import KINDS, calendars_of
from monitoring.services.checks.site_states import figures_of
from monitoring.services.stream.stream_figures import streams_of
from monitoring.views.checks import overview_rows, site_rows
from rules.models import Record, Rule
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part

CHECKS_SHOWN = 20
CALENDAR_DAYS = 84


@needs_role(Role.VIEWER)
@require_GET
def site_monitoring(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site.objects.select_related("schedule"), name=name)
    user = user_of(request)
    alerts = Alert.objects.open().filter(site=site).select_related("site", "acknowledged_by")
    grid = site_rows.grid_checks(site)
    changes = SiteChange.objects.filter(site=site).select_related("cluster")
    stale = Record.objects.there().filter(site=site, stale_since__isnull=False)
    context = {
        "site": site,
        "figures": figures_of([site.pk])[site.pk],
        "stream": streams_of([site.pk]).get(site.pk),
        "n_stale": stale.count(),
        "is_to_extract": stale.with_newer_snapshot().exists(),
        "schedule": getattr(site, "schedule", None),
        "n_rules": Rule.objects.published().of_site(site).count(),
        "open_changes": changes.open(),
        "ended_changes": changes.ended()[:10],
        "is_away": alerts.filter(kind=Alert.Kind.UNREACHABLE).exists(),
        "groups": overview_rows.alert_groups(alerts, user, timezone.now()),
        "days": calendars_of([site.pk], CALENDAR_DAYS)[site.pk],
        "kinds": KINDS,
        "grid": grid,
        "clusters": site_rows.cluster_grid(site, grid),
        "page": list_part(
            request, Check.objects.done().filter(site=site), order=["-id"], size=CHECKS_SHOWN
        ),
        "chart": overview_rows.coverage_chart([site.pk], address=reverse("site_changes")),
        "repairs": site_rows.repairs_to_decide(site),
        "can_review": user.has_role(Role.REVIEWER, site),
        "can_operate": user.has_role(Role.OPERATOR, site),
        **site_rows.work_of(site),
    }
    return render(request, "monitoring/checks/site.html", context)


@needs_role(Role.VIEWER)
@require_GET
def bellwethers(request: HttpRequest, name: str) -> HttpResponse:
    """Show the bellwethers of one cluster over the last checks."""
    site = get_object_or_404(Site, name=name)
    cluster = request.GET.get("cluster", "").replace("\0", "")[:61]
    checks = site_rows.grid_checks(site)
    context = {
        "site": site,
        "cluster": cluster,
        "grid": checks,
        "rows": site_rows.page_grid(site, cluster, checks),
    }
    return render(request, "monitoring/checks/bellwethers.html", context)
