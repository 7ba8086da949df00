"""Work that goes on: its progress, its end, and the ways to stop it and to try again."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.db.models import Count
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from vertex.core.models import Job, Membership, Role, Site, User
from vertex.core.models.jobs import JobQuerySet
from vertex.core.services.jobs import jobs as job_services
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.views.access import check_role, check_role_at, needs_role, user_of
from vertex.core.views.lists import choice_of, list_part, words
from vertex.core.views.page_reading import waits_for_others
from vertex.core.views.toasts import tell
from vertex.core.views.ways_back import way_back

EXPORTS = (  # their jobs leave a file
    "clustering.export_site",
    "clustering.export_warc",
    "rules.export_records",
)
PARAMS_SHOWN = ("entry", "max_pages", "delay", "strategy", "base_url")
# Seconds between two looks, while something is at work and otherwise.
LIVE_EVERY, QUIET_EVERY = (
    2,
    10,
)


@needs_role(Role.VIEWER)
@require_GET
def jobs(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    visible = Job.objects.visible_to(user)
    filters = {
        "state": choice_of(request, "state", Job.State.values),
        "queue": choice_of(request, "queue", Job.Queue.values),
    }
    name = words(request, "site")
    query = words(request)
    listed = visible.matching(query).filter(
        **{field: value for field, value in filters.items() if value}
    )
    if name:
        listed = listed.filter(site__name=name)
    part = list_part(request, listed.select_related("site", "created_by"), order=["-id"])
    context = {
        "page": part,
        "operated": operated_jobs(user, part.rows),
        "query": query,
        "site_name": name,
        "sites": Site.objects.visible_to(user).values_list("name", flat=True)[:200],
        "states": Job.State.choices,
        "queues": Job.Queue.choices,
        "is_live": True,
        "live_every": LIVE_EVERY if any(not job.is_finished for job in part.rows) else QUIET_EVERY,
        "is_narrowed": bool(name or query or any(filters.values())),
        **filters,
    }
    return render(request, "core/jobs/jobs.html", context)


@needs_role(Role.VIEWER)
@require_GET
def work_word(request: HttpRequest) -> HttpResponse:
    """Answer with a word that changes when a site's job begins or ends; open pages ask for it."""
    visible = Job.objects.visible_to(user_of(request))
    name = words(request, "site")
    return _word_of(visible.filter(site__name=name) if name else visible)


@needs_role(Role.VIEWER)
@require_GET
def job_word(request: HttpRequest, pk: int) -> HttpResponse:
    """Answer with a word that changes when one job ends: what tells of the job asks for it."""
    return _word_of(Job.objects.visible_to(user_of(request)).filter(pk=pk))


def _word_of(jobs: JobQuerySet) -> HttpResponse:
    return HttpResponse(
        jobs.progress_word(), content_type="text/plain", headers={"Cache-Control": "no-store"}
    )


@needs_role(Role.VIEWER)
@require_GET
def job(request: HttpRequest, pk: int) -> HttpResponse:
    user = user_of(request)
    visible = Job.objects.visible_to(user).select_related("site", "created_by")
    shown = get_object_or_404(visible, pk=pk)
    code, query = words(request, "code"), words(request)
    refused = shown.refusals.matching(query)
    if code:
        refused = refused.filter(code=code)
    context = {
        "job": shown,
        "site": shown.site,
        "can_operate": may_operate(user, shown),
        "figures": figures_of(shown),
        "params_shown": PARAMS_SHOWN,
        "is_live": not shown.is_finished,
        "live_every": LIVE_EVERY,
        "file": _file_of(shown),
        "codes": shown.refusals.order_by("code").values_list("code").annotate(n=Count("pk")),
        "page": list_part(request, refused, order=["id"]),
        "code": code,
        "query": query,
    }
    return render(request, "core/jobs/job.html", context)


@needs_role(Role.VIEWER)
@require_POST
def cancel_job(request: HttpRequest, pk: int) -> HttpResponse:
    stopped = _operated_job(request, pk)
    if stopped.is_finished:
        messages.info(request, f"{stopped.title} is {stopped.get_state_display().lower()} already.")
        return _back(request, stopped)
    job_services.cancel_job(job=stopped, actor=user_of(request))
    stopped.refresh_from_db()
    word = "cancelled" if stopped.is_finished else "stops at its next step"
    again = reverse("retry_job", args=[pk]) if stopped.is_finished else ""
    tell(request, f"{stopped.title}: {word}.", undo_url=again)
    return _back(request, stopped)


@needs_role(Role.VIEWER)
@require_POST
def retry_job(request: HttpRequest, pk: int) -> HttpResponse:
    failed = _operated_job(request, pk)
    try:
        job_services.retry_job(job=failed, actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
        return redirect("job", pk=error.job.pk)
    tell(
        request,
        f"{failed.title} goes on where it stopped.",
        undo_url=reverse("cancel_job", args=[pk]),
        until_end_of=failed,
    )
    return _back(request, failed)


@waits_for_others
@needs_role(Role.VIEWER)
@require_GET
def job_file(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Hand out the file that an export made."""
    job = _operated_job(request, pk)
    name = _file_of(job)
    if not name:
        raise Http404("The file of this job is not there any more. Export the site again.")
    return FileResponse((settings.EXPORT_DIR / name).open("rb"), as_attachment=True, filename=name)


def operated_jobs(user: User, listed: list[Job]) -> set[int]:
    """Return those of the listed jobs that the user may stop and retry."""
    operated: set[int] = set()
    for role in {job.needed_role for job in listed}:
        is_held = user.has_role(role)
        held = Membership.objects.filter(user=user, role__in=role.and_higher())
        sites = set(held.exclude(site=None).values_list("site_id", flat=True))
        operated |= {
            job.pk
            for job in listed
            if job.needed_role == role and (is_held or job.site_id in sites)
        }
    return operated


def may_operate(user: User, job: Job) -> bool:
    return user.has_role(job.needed_role, job.site)


def figures_of(job: Job) -> list[tuple[str, object]]:
    """Return a job's result as words and values; what is nested is told by its own words."""
    result = job.result if isinstance(job.result, dict) else {}
    figures: list[tuple[str, object]] = []
    for word, value in result.items():
        nested = value.items() if isinstance(value, dict) else [("", value)]
        for nested_word, figure in nested:
            label = f"{word} {nested_word}".strip().replace("_", " ").capitalize()
            figures.append((label, figure))
    return figures


def _file_of(job: Job) -> str:
    """Return the name of the file that an export made, if it is still there."""
    name = (
        job.result.get("file", "") if job.task in EXPORTS and isinstance(job.result, dict) else ""
    )
    return name if name and "/" not in name and (settings.EXPORT_DIR / name).is_file() else ""


def _operated_job(request: HttpRequest, pk: int) -> Job:
    """Return a job that the viewer may stop and retry; 404 or 403 otherwise."""
    user = user_of(request)
    job = get_object_or_404(Job.objects.visible_to(user).select_related("site"), pk=pk)
    if job.site:
        check_role_at(user, job.needed_role, job.site.name)
    else:
        check_role(user, job.needed_role, everywhere=True)
    return job


def _back(request: HttpRequest, job: Job) -> HttpResponse:
    """Return to where the button was pressed."""
    here = way_back(request)
    return redirect(here) if here else redirect("job", pk=job.pk)
