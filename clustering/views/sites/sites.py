"""What is decided about one site: that it ends, that it is exported."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from clustering.forms.sites import DeleteSiteForm
from clustering.services.pages import warc_export
from clustering.services.sites import retention, site_export
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import JobRequest, enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell


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
    return _begin_export(request, site_export.export_request(site=site))


@needs_role(Role.OPERATOR)
@require_POST
def export_warc(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    return _begin_export(request, warc_export.warc_request(site=site))


def _begin_export(request: HttpRequest, wanted: JobRequest) -> HttpResponse:
    """Start an export and show its job, or the one that is at it already."""
    try:
        job = enqueue(wanted, actor=user_of(request))
    except JobExists as error:
        messages.info(request, str(error))
        job = error.job
    return redirect("job", pk=job.pk)
