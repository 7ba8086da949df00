"""Site changes: the list of all; one with its evidence, both pages side by side, its repair."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_GET

from clustering.models import PageMembership
from monitoring.models import SiteChange
from monitoring.services.checks.reports import REPAIR_TASKS
from monitoring.services.repair.repairing import pages_to_fetch
from monitoring.services.repair.saved_plans import changes_since
from monitoring.views.checks import change_rows, site_rows
from rules.models import Record
from vertex.core.models import Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of, list_part, words
from vertex.core.views.page_reading import reads_pages

REPAIRS = "repairs"
FILTERS = {
    "": "All",
    "open": "Open",
    REPAIRS: "Repairs to decide",
    "repaired": "Repaired",
    "recovered": "As it was again",
    "dismissed": "Dismissed",
}


@needs_role(Role.VIEWER)
@require_GET
def site_changes(request: HttpRequest) -> HttpResponse:
    """List the site changes, the newest first; those of one day where the address names it."""
    changes = SiteChange.objects.visible_to(user_of(request))
    changes = changes.select_related("site", "cluster", "ended_by")
    shown = choice_of(request, "show", FILTERS)
    query = words(request)
    day = _parse_day(request.GET.get("day", ""))
    if shown == REPAIRS:
        changes = changes.with_waiting_repairs()
    elif shown:
        changes = changes.open() if shown == "open" else changes.filter(end=shown)
    if query:
        changes = changes.filter(site__in=Site.objects.matching(query))
    if day:
        start = timezone.make_aware(datetime.combine(day, datetime.min.time()))
        changes = changes.filter(found_at__gte=start, found_at__lt=start + timedelta(days=1))
    context = {
        "page": list_part(request, changes, order=["-id"]),
        "filters": FILTERS,
        "shown": shown,
        "query": query,
        "day": day,
    }
    return render(request, "monitoring/checks/site_changes.html", context)


@reads_pages
@needs_role(Role.VIEWER)
@require_GET
def site_change(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    related = ("site", "cluster", "found_by", "ended_by")
    change = get_object_or_404(SiteChange.objects.select_related(*related), site__name=name, pk=pk)
    return render(request, "monitoring/checks/site_change.html", context_of(request, change))


def context_of(
    request: HttpRequest, change: SiteChange, proposal_pk: str = ""
) -> dict[str, object]:
    """Return what the page of a change shows; with the number of a repair, of that one."""
    site, user = change.site, user_of(request)
    shown = change_rows.example_of(
        change,
        page=request.GET.get("page", ""),
        proposal_pk=proposal_pk or request.GET.get("proposal", ""),
    )
    proposal, example = shown["proposal"], shown["example"]
    values = example.values if example else []
    may_decide = (
        proposal is not None
        and proposal.state == proposal.State.WAITING
        and user.has_role(Role.REVIEWER, site)
    )
    can_decide = may_decide and proposal.decision == proposal.Decision.PROPOSED
    n_wrong = sum(row.decision in {"elsewhere", "gone"} for row in values)
    outdated = changes_since(proposal) if proposal is not None and can_decide else []
    is_from_archive = change.found_by is not None and bool(change.found_by.source)
    may_fetch = (
        change.ended_at is None and not is_from_archive and user.has_role(Role.OPERATOR, site)
    )
    return {
        "site": site,
        "change": change,
        "evidence": change.evidence,
        "n_members": PageMembership.objects.of_cluster(change.cluster_id).count(),
        "n_records": Record.objects.there().filter(cluster=change.cluster_id).count(),
        "can_decide": can_decide and not outdated,
        "can_annotate_instead": may_decide
        and not outdated
        and (n_wrong > 0 or not proposal.field_test),
        "can_annotate": user.has_role(Role.EDITOR, site),
        "outdated": outdated,
        "can_operate": user.has_role(Role.OPERATOR, site),
        "n_to_fetch": len(pages_to_fetch(site)) if may_fetch else 0,
        "current": next((row.name for row in values if row.xpath and not row.decision), ""),
        "n_wrong": n_wrong,
        **shown,
        **site_rows.work_of(site, REPAIR_TASKS),
    }


def _parse_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
