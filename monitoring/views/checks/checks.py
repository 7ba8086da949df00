"""A check with the tests of each page, and a check that is asked for now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from monitoring.models import Check, CheckedPage
from monitoring.services.checks.checking import check_request
from monitoring.services.checks.thresholds import EXPLANATIONS
from monitoring.views.checks.evidence_rows import evidence_of
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of
from vertex.core.views.toasts import tell

FILTERS = {"": "All"} | {str(value): label for value, label in CheckedPage.Outcome.choices}


class CheckedCluster(NamedTuple):
    """A cluster of a check with its pages."""

    verdict: Mapping[str, Any]
    title: str
    pages: Sequence[CheckedPage]
    change: int | None


@needs_role(Role.VIEWER)
@require_GET
def check(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    shown = get_object_or_404(
        Check.objects.select_related("site", "job", "slot"), site__name=name, pk=pk
    )
    outcome = choice_of(request, "outcome", FILTERS)
    pages = shown.pages.select_related("page", "cluster")
    other_checks = Check.objects.done().filter(site=shown.site)
    context = {
        "site": shown.site,
        "check": shown,
        "clusters": _clusters(shown, list(pages.filter(outcome=outcome) if outcome else pages)),
        "evidence": evidence_of(shown),
        "filters": FILTERS,
        "outcome": outcome,
        "thresholds": [
            (n, EXPLANATIONS.get(n, ""), share) for n, share in shown.thresholds.items()
        ],
        "before": other_checks.filter(pk__lt=pk).order_by("-id").first(),
        "after": other_checks.filter(pk__gt=pk).order_by("id").first(),
    }
    return render(request, "monitoring/checks/check.html", context)


@needs_role(Role.OPERATOR)
@require_POST
def check_site(request: HttpRequest, name: str) -> HttpResponse:
    """Start a check of the site now."""
    site = get_object_or_404(Site, name=name)
    try:
        job = enqueue(check_request(site=site), actor=user_of(request))
    except JobExists as error:
        messages.info(request, str(error))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        stop = reverse("cancel_job", args=[job.pk])
        tell(request, f"A check of {name} waits for a worker.", undo_url=stop)
    return redirect("site_monitoring", name=name)


def _clusters(shown: Check, pages: Sequence[CheckedPage]) -> list[CheckedCluster]:
    """Return the clusters of a check, those that are broken first."""
    by_name: dict[str, list[CheckedPage]] = {}
    for page in pages:
        by_name.setdefault(page.cluster.name, []).append(page)
    titles = {page.cluster.name: page.cluster.title for page in pages}
    changes = dict(shown.changes.values_list("cluster__name", "pk"))
    clusters = []
    for verdict in shown.clusters:
        name = verdict["cluster"]
        clusters.append(
            CheckedCluster(
                verdict=verdict,
                title=titles.get(name, name),
                pages=by_name.get(name, []),
                change=changes.get(name),
            )
        )
    clusters.sort(key=lambda row: (not row.verdict.get("is_broken"), row.verdict["cluster"]))
    return clusters
