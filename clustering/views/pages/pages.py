"""The pages of a site, and the ways by which pages come in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet, Window
from django.db.models.functions import Lag
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from clustering.dom.addresses import BadAddress
from clustering.forms.pages import (
    AddressListForm,
    CrawlForm,
    ImportForm,
    SearchLogForm,
    SitemapForm,
)
from clustering.models import Link, Page, PageMembership, Snapshot
from clustering.services.crawl import crawling
from clustering.services.crawl.address_lists import visit_pasted, visit_uploaded
from clustering.services.crawl.sitemap_crawling import sitemap_crawl_request
from clustering.services.pages import search_log as search_logs
from clustering.services.pages.uploaded_pages import UnfitUploads, import_uploads
from vertex.core.models import Job, Role, Site
from vertex.core.services.files.uploads import UploadTooLarge, keep_upload
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import JobRequest, enqueue
from vertex.core.storage import DiskFull
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import both_ways, choice_of, list_page, list_part, words
from vertex.core.views.toasts import tell_of_job

ORDERS = both_ways(
    {
        "found": ["id"],
        "url": ["url", "id"],
        "visited": ["visited_at", "id"],
        "depth": ["depth", "id"],
    }
)
STATUSES = {
    "": "Any status",
    "2": "2xx answered",
    "3": "3xx redirected",
    "4": "4xx not there",
    "5": "5xx failing",
}
PROBLEMS = {
    "": "Any body",
    "any": "With a problem",
    **{value: label for value, label in Snapshot.Problem.choices if value},
}
LINKS_AT_ONCE = SNAPSHOTS_SHOWN = 50


class LinkWithPage(NamedTuple):
    """A link, and the page of this site that it leads to or comes from."""

    link: Link
    page: Page | None


@needs_role(Role.VIEWER)
@require_GET
def pages(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    filters = {
        "query": words(request),
        "state": choice_of(request, "state", Page.State.values),
        "status": choice_of(request, "status", STATUSES),
        "problem": choice_of(request, "problem", PROBLEMS),
    }
    sort = choice_of(request, "sort", ORDERS, "-found")
    listed = _narrowed(site.pages.select_related("latest_snapshot"), **filters)
    context = {
        "site": site,
        "page": list_part(request, listed, order=ORDERS[sort]),
        "sort": sort,
        "states": Page.State.choices,
        "statuses": STATUSES,
        "problems": PROBLEMS,
        "is_narrowed": any(filters.values()),
        "can_operate": user_of(request).has_role(Role.OPERATOR, site),
        **filters,
    }
    return render(request, "clustering/pages/pages.html", context)


def _narrowed(
    listed: QuerySet[Page], *, query: str, state: str, status: str, problem: str
) -> QuerySet[Page]:
    for word in query.split():
        listed = listed.filter(url__icontains=word)
    if state:
        listed = listed.filter(state=state)
    if status:
        listed = listed.filter(status__gte=int(status) * 100, status__lt=(int(status) + 1) * 100)
    if problem == "any":
        return listed.filter(latest_snapshot__isnull=False).exclude(latest_snapshot__problem="")
    return listed.filter(latest_snapshot__problem=problem) if problem else listed


@needs_role(Role.VIEWER)
@require_GET
def page_states(request: HttpRequest, name: str) -> HttpResponse:
    """How many pages of the site are in each state: counted apart, as large sites take a while."""
    site = get_object_or_404(Site, name=name)
    counted = dict(site.pages.order_by().values_list("state").annotate(n=Count("pk")))
    states = [(value, label, counted.get(value, 0)) for value, label in Page.State.choices]
    return render(request, "clustering/pages/page_states.html", {"site": site, "states": states})


@needs_role(Role.VIEWER)
@require_GET
def page(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    listed = Page.objects.select_related("site", "latest_snapshot", "redirects_to")
    shown = get_object_or_404(listed, site__name=name, pk=pk)
    links_in = Link.objects.filter(url_hash=shown.url_hash, page__site=shown.site).select_related(
        "page"
    )
    out = list_page(
        shown.links.all(), order=["position"], after=request.GET.get("out", ""), size=LINKS_AT_ONCE
    )
    into = list_page(links_in, order=["id"], after=request.GET.get("in", ""), size=LINKS_AT_ONCE)
    context = {
        "site": shown.site,
        "shown": shown,
        "snapshots": shown.snapshots.annotate(older=Window(Lag("pk"), order_by="pk")).order_by(
            "-pk"
        )[:SNAPSHOTS_SHOWN],
        "out": out,
        "links_out": _with_targets(shown.site, out.rows),
        "into": into,
        "cluster": PageMembership.objects.current().cluster_of(shown.pk),
        "can_edit": user_of(request).has_role(Role.EDITOR, shown.site),
        "can_operate": user_of(request).has_role(Role.OPERATOR, shown.site),
    }
    return render(request, "clustering/pages/page.html", context)


def _with_targets(site: Site, links: Sequence[Link]) -> list[LinkWithPage]:
    """Add to each link the page of the site that it leads to, if it is known."""
    targets = site.pages.filter(url_hash__in=[bytes(link.url_hash) for link in links])
    by_hash = {bytes(target.url_hash): target for target in targets}
    return [LinkWithPage(link, by_hash.get(bytes(link.url_hash))) for link in links]


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def crawl_site(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = CrawlForm(request.POST or None)
    form.fields["entry"].widget.attrs["placeholder"] = site.root_url
    return _crawl_page(request, "crawl_site", site, form, crawling.crawl_request)


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def crawl_sitemaps(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = SitemapForm(request.POST or None)
    return _crawl_page(request, "crawl_sitemaps", site, form, sitemap_crawl_request)


def _crawl_page(
    request: HttpRequest,
    template: str,
    site: Site,
    form: Form,
    request_of_job: Callable[..., JobRequest],
) -> HttpResponse:
    """Start the crawl that a form describes, or show the form with what is wrong with it."""
    form.fields["delay"].widget.attrs["placeholder"] = f"{site.crawl_delay:g}"
    if request.method == "POST" and form.is_valid():
        try:
            job = enqueue(request_of_job(site=site, **form.cleaned_data), actor=user_of(request))
        except JobExists as error:
            return _already(request, error)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return _to_job(request, job)
    return _form_page(request, template, site, form)


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def visit_addresses(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    is_post = request.method == "POST"
    form = AddressListForm(request.POST, request.FILES) if is_post else AddressListForm()
    form.fields["delay"].widget.attrs["placeholder"] = f"{site.crawl_delay:g}"
    if is_post and form.is_valid():
        file, delay = form.cleaned_data["file"], form.cleaned_data["delay"]
        actor = user_of(request)
        try:
            if file:
                job = visit_uploaded(
                    site=site, chunks=file.chunks(), name=file.name, delay=delay, actor=actor
                )
            else:
                lines = form.cleaned_data["addresses"].splitlines()
                job = visit_pasted(site=site, addresses=lines, delay=delay, actor=actor)
        except JobExists as error:
            return _already(request, error)
        except ValidationError as error:
            form.add_error(None, error)
        except (UploadTooLarge, DiskFull) as error:
            form.add_error("file", str(error))
        else:
            return _to_job(request, job)
    return _form_page(request, "visit_addresses", site, form)


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def import_pages(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    form.fields["base_url"].widget.attrs["placeholder"] = site.root_url
    if request.method == "POST" and form.is_valid():
        files, base_url = form.cleaned_data["uploads"], form.cleaned_data["base_url"]
        try:
            job = import_uploads(site=site, files=files, base_url=base_url, actor=user_of(request))
        except JobExists as error:
            return _already(request, error)
        except (UnfitUploads, UploadTooLarge, DiskFull) as error:
            form.add_error("uploads", str(error))
        except BadAddress as error:
            form.add_error("base_url", str(error))
        else:
            return _to_job(request, job)
    return _form_page(request, "import_pages", site, form)


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def search_log(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    form = (
        SearchLogForm(request.POST, request.FILES) if request.method == "POST" else SearchLogForm()
    )
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        try:
            source = keep_upload(chunks=file.chunks(), name=file.name)
            job = enqueue(
                search_logs.search_log_request(site=site, source=source), actor=user_of(request)
            )
        except JobExists as error:
            return _already(request, error)
        except (UploadTooLarge, DiskFull) as error:
            form.add_error("file", str(error))
        else:
            return _to_job(request, job)
    return _form_page(request, "search_log", site, form)


def _to_job(request: HttpRequest, job: Job) -> HttpResponse:
    tell_of_job(request, job)
    return redirect("job", pk=job.pk)


def _already(request: HttpRequest, error: JobExists) -> HttpResponse:
    messages.info(request, f"{error}.")
    return redirect("job", pk=error.job.pk)


def _form_page(request: HttpRequest, template: str, site: Site, form: Form) -> HttpResponse:
    status = 400 if form.errors else 200
    context = {"site": site, "form": form}
    return render(request, f"clustering/pages/{template}.html", context, status=status)
