"""The list of sites, one site's way through the pipeline, adding or importing one, its settings."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods

from annotation.models import Assignment
from annotation.services.verticals.verticals import assign_vertical
from clustering.forms.sites import propose_name
from clustering.models import SearchClick, SiteFetching
from clustering.services.crawl import crawling
from clustering.services.sites import sites as sites_service
from clustering.services.sites.site_fetching import fetching_of
from clustering.views.clusters.cluster_rows import site_clusters
from clustering.views.clusters.doubt_rows import doubt_card
from monitoring.views.checks.site_rows import site_checks
from rules.views.records.records import site_records
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.files.uploads import UploadTooLarge
from vertex.core.services.jobs.requests import enqueue
from vertex.core.storage import DiskFull
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of, list_part, words
from vertex.core.views.toasts import tell, tell_of_job
from vertex.forms import AddSiteForm, ImportSiteForm, SettingsForm
from vertex.site_import import upload_site
from vertex.views import site_list
from vertex.views.next_steps import facts_of, next_step

JOBS_SHOWN = REFUSALS_SHOWN = 6
NOT_POSTED = (None, False, "")  # what a form leaves out


@require_GET
def favicon(request: HttpRequest) -> HttpResponse:
    """Lead to the icon, for browsers that ask for it where it used to be."""
    return redirect(static("core/favicon.svg"), permanent=False)


@require_GET
def home(request: HttpRequest) -> HttpResponse:
    """Lead to the list of sites."""
    return redirect("sites")


@needs_role(Role.VIEWER)
@require_GET
def sites(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    visible = Site.objects.visible_to(user)
    query = words(request)
    shown = choice_of(request, "show", site_list.FILTERS)
    sort = choice_of(request, "sort", site_list.ORDERS, "name")
    listed = site_list.narrowed(visible.matching(query), shown)
    part = list_part(request, listed, order=site_list.ORDERS[sort])
    rows = site_list.site_rows(part.rows, user)
    context = {
        "page": part,
        "rows": rows,
        "query": query,
        "shown": shown,
        "filters": site_list.FILTERS,
        "sort": sort,
        "whole": site_list.total_figures(visible),
        "is_live": any(row.at_work for row in rows),
        "can_add": user.has_role(Role.OPERATOR),
        "can_paste": user.has_role_anywhere(Role.OPERATOR),
    }
    return render(request, "vertex/sites.html", context)


@needs_role(Role.VIEWER)
@require_GET
def site(request: HttpRequest, name: str) -> HttpResponse:
    shown = get_object_or_404(Site, name=name)
    user = user_of(request)
    latest_jobs = list(shown.jobs.order_by("-pk")[:JOBS_SHOWN])
    at_work = next((job for job in latest_jobs if job.state == Job.State.RUNNING), None)
    last = next((job for job in latest_jobs if job.is_finished), None)
    last_failed = last if last and last.state == Job.State.FAILED else None
    fetching = fetching_of(shown)
    clusters = site_clusters(shown)
    facts = facts_of([shown], user)[shown.pk]
    context = {
        "site": shown,
        "assignment": Assignment.objects.defaults()
        .filter(site=shown)
        .select_related("vertical")
        .first(),
        "at_work": at_work or next((job for job in latest_jobs if not job.is_finished), None),
        "last_failed": last_failed,
        "is_log_in_why": _is_log_in_why(last_failed, fetching),
        "jobs": latest_jobs,
        "refusals": shown.refusals.order_by("-pk")[:REFUSALS_SHOWN],
        "fetching": fetching,
        "has_search_log": SearchClick.objects.filter(site=shown).exists(),
        "facts": facts,
        "next": next_step(facts),
        "is_live": any(not job.is_finished for job in latest_jobs),
        "can_operate": user.has_role(Role.OPERATOR, shown),
        "can_delete": user.has_role(Role.ADMINISTRATOR, shown),
        **clusters,
        **doubt_card(request, shown, clusters["clustering"]),
        **site_records(shown),
        **site_checks(shown),
    }
    return render(request, "vertex/site.html", context)


def _is_log_in_why(failed: Job | None, fetching: SiteFetching) -> bool:
    """Return whether the last job failed because nobody is logged in, and for nothing else."""
    problem = fetching.log_in_problem
    return failed is not None and bool(problem) and problem in failed.error


@needs_role(Role.OPERATOR, everywhere=True)
@require_http_methods(["GET", "POST"])
def add_site(request: HttpRequest) -> HttpResponse:
    form = AddSiteForm(request.POST or None, initial=_proposed(request))
    if request.method == "POST" and form.is_valid():
        try:
            added, job = _add(form, user_of(request))
        except sites_service.SiteExists as error:
            form.add_error("name", str(error))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _to_site(request, added, job)
    status = 400 if form.errors else 200
    context = {"form": form, "can_import": user_of(request).has_role(Role.ADMINISTRATOR)}
    return render(request, "vertex/add_site.html", context, status=status)


@transaction.atomic
def _add(form: AddSiteForm, actor: User) -> tuple[Site, Job | None]:
    """Add the site, say what it speaks of and, if wished, let it be crawled."""
    entered = form.cleaned_data
    added = sites_service.add_site(name=entered["name"], root_url=entered["root_url"], actor=actor)
    if entered.get("vertical"):
        assign_vertical(site=added, vertical=entered["vertical"], actor=actor)
    if not entered["crawls_at_once"]:
        return added, None
    return added, enqueue(
        crawling.crawl_request(site=added, max_pages=entered["max_pages"]), actor=actor
    )


def _to_site(request: HttpRequest, added: Site, job: Job | None) -> HttpResponse:
    if job is None:
        tell(request, f"{added.name} is added. Crawl it or import its pages.")
    else:
        stop = reverse("cancel_job", args=[job.pk])
        tell(request, f"{added.name} is added, and its crawl waits for a worker.", undo_url=stop)
    return redirect("site", name=added.name)


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_http_methods(["GET", "POST"])
def import_site(request: HttpRequest) -> HttpResponse:
    is_post = request.method == "POST"
    form = ImportSiteForm(request.POST, request.FILES) if is_post else ImportSiteForm()
    if is_post and form.is_valid():
        file, name = form.cleaned_data["file"], form.cleaned_data["name"]
        try:
            job = upload_site(
                chunks=file.chunks(), file_name=file.name, name=name, actor=user_of(request)
            )
        except sites_service.SiteExists as error:
            form.add_error("name", str(error))
        except (UploadTooLarge, DiskFull) as error:
            form.add_error("file", str(error))
        else:
            tell_of_job(request, job)
            return redirect("job", pk=job.pk)
    status = 400 if form.errors else 200
    return render(request, "vertex/import_site.html", {"form": form}, status=status)


def _proposed(request: HttpRequest) -> dict[str, object]:
    """Return what the form may say before anybody typed it: a name made from the address."""
    address = request.GET.get("root_url", "")[:2048]
    name = request.GET.get("name", "")[:63]
    crawls = request.GET.get("crawl") != "0"
    return {"root_url": address, "name": name or propose_name(address), "crawls_at_once": crawls}


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def site_settings(request: HttpRequest, name: str) -> HttpResponse:
    shown = get_object_or_404(Site, name=name)
    before = _settings_of(shown)
    form = SettingsForm(request.POST or None, initial=before)
    if request.method == "POST" and form.is_valid():
        try:
            _change(shown, form, user_of(request))
        except ValidationError as error:
            form.add_error(None, error)
        else:
            undo = _as_posted(before)
            tell(request, "Settings saved.", undo_url=request.path, undo_fields=undo)
            return redirect("site_settings", name=name)
    status = 400 if form.errors else 200
    can_delete = user_of(request).has_role(Role.ADMINISTRATOR, shown)
    can_import = user_of(request).has_role(Role.ADMINISTRATOR)
    context = {"site": shown, "form": form, "can_delete": can_delete, "can_import": can_import}
    return render(request, "vertex/site_settings.html", context, status=status)


@transaction.atomic
def _change(changed: Site, form: SettingsForm, actor: User) -> None:
    settings = dict(form.cleaned_data)
    if "vertical" in settings:
        assign_vertical(site=changed, vertical=settings.pop("vertical"), actor=actor)
    sites_service.change_site(site=changed, actor=actor, **settings)


def _settings_of(shown: Site) -> dict[str, Any]:
    assignment = Assignment.objects.defaults().filter(site=shown).select_related("vertical").first()
    settings = {field: getattr(shown, field) for field in sites_service.SETTINGS}
    vertical = assignment.vertical.name if assignment else ""
    return settings | {"vertical": vertical}


def _as_posted(settings: dict[str, Any]) -> list[tuple[str, str]]:
    """Return settings as the fields of a form that sets them again."""
    fields = ((bound.html_name, bound.value()) for bound in SettingsForm(initial=settings))
    return [
        (name, "on" if value is True else str(value))
        for name, value in fields
        if value not in NOT_POSTED
    ]
