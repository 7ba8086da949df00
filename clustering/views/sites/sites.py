"""The list of sites, and what is decided about one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.contrib import messages
from django.db.models import Count, Max, Sum
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from clustering.forms.sites import DeleteSiteForm
from clustering.services.sites import retention, site_export
from vertex.core.models import Job, Role, Site
from vertex.core.models.sites import SiteQuerySet
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import both_ways, choice_of, list_part, words
from vertex.core.views.toasts import tell

ORDERS = both_ways(
    {
        "name": ["name"],
        "root": ["root_url", "name"],
        "pages": ["n_pages", "name"],
        "snapshot": ["last_snapshot_at", "name"],
        "added": ["created_at", "name"],
    }
)
FILTERS = {"": "All", "at_work": "At work", "failed": "Last job failed", "empty": "Without pages"}
PROBLEMS = ("failed", "refused")  # what the results of jobs call things that were not taken


class ShownSite(NamedTuple):
    """A site of the list, with the job that goes on and the one that ended last."""

    site: Site
    at_work: Job | None
    last: Job | None
    n_problems: int

    @property
    def problems_told(self) -> str:
        return f"{self.n_problems:,} not taken"


@needs_role(Role.VIEWER)
@require_GET
def sites(request: HttpRequest) -> HttpResponse:
    visible = Site.objects.visible_to(user_of(request))
    query = words(request)
    shown = choice_of(request, "show", FILTERS)
    sort = choice_of(request, "sort", ORDERS, "name")
    part = list_part(request, _narrowed(visible.matching(query), shown), order=ORDERS[sort])
    rows = rows_of(part.rows)
    context = {
        "page": part,
        "rows": rows,
        "query": query,
        "shown": shown,
        "filters": FILTERS,
        "sort": sort,
        "whole": visible.aggregate(n_sites=Count("pk"), n_pages=Coalesce(Sum("n_pages"), 0)),
        "is_live": any(row.at_work for row in rows),
        "can_add": user_of(request).has_role(Role.OPERATOR),
        "can_paste": user_of(request).has_role_anywhere(Role.OPERATOR),
    }
    return render(request, "clustering/sites/sites.html", context)


def _narrowed(listed: SiteQuerySet, shown: str) -> SiteQuerySet:
    if shown == "at_work":
        return listed.filter(pk__in=Job.objects.unfinished().values("site"))
    if shown == "failed":
        return listed.filter(pk__in=Job.objects.failed_last().values("site"))
    return listed.filter(n_pages=0) if shown == "empty" else listed


def rows_of(sites: Sequence[Site]) -> list[ShownSite]:
    """Add to each site its jobs, in three queries for all of them."""
    jobs = Job.objects.filter(site__in=sites)
    at_work = {job.site_id: job for job in jobs.unfinished().order_by("-state", "pk")}
    latest = (
        jobs.finished().values("site").annotate(latest=Max("pk")).values_list("latest", flat=True)
    )
    last = {job.site_id: job for job in Job.objects.filter(pk__in=list(latest))}
    return [
        ShownSite(site, at_work.get(site.pk), last.get(site.pk), n_problems(last.get(site.pk)))
        for site in sites
    ]


def n_problems(job: Job | None) -> int:
    """Return how many things a finished job could not take, as its result counts them."""
    result = job.result if job and isinstance(job.result, dict) else {}
    counts = [result.get(word) for word in PROBLEMS]
    return sum(count for count in counts if isinstance(count, int))


@needs_role(Role.ADMINISTRATOR)
@require_http_methods(["GET", "POST"])
def delete_site(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = DeleteSiteForm(request.POST or None, site=site)
    if request.method == "POST" and form.is_valid():
        try:
            retention.start_deletion(site=site, actor=user_of(request))
        except JobExists as error:
            messages.info(request, str(error))
        else:
            tell(request, f"{site.name} is out of sight; a job deletes its {site.n_pages:,} pages.")
        return redirect("sites")
    status = 400 if form.errors else 200
    return render(
        request, "clustering/sites/delete_site.html", {"site": site, "form": form}, status=status
    )


@needs_role(Role.OPERATOR)
@require_POST
def export_site(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    try:
        job = enqueue(site_export.export_request(site=site), actor=user_of(request))
    except JobExists as error:
        messages.info(request, str(error))
        job = error.job
    return redirect("job", pk=job.pk)
