"""From a pasted address to a table of records, and from there to a file or to a rule."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.forms import BaseFormSet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.models import Vertical
from annotation.services.verticals.verticals import BadVertical
from clustering.algorithms.tables.page_tables import ListTable
from clustering.forms.sites import propose_name
from clustering.models import Page, Snapshot, SnapshotAssets
from clustering.services.looks.assets import start_fetching_assets, unfinished_job
from rules.forms import AcceptForm, ColumnFormSet, PasteForm, WholeListForm
from rules.services.lists import accepting_lists, pasted_lists
from rules.services.lists.shown_tables import shown_tables, table_ranked
from rules.services.lists.table_exports import table_parts
from rules.services.lists.table_views import TableView, merged_table, read_view, viewed_table
from rules.services.records.file_formats import JSON_LINES, MEDIA_TYPES
from rules.views.lists.table_rows import (
    column_choices,
    column_heads,
    column_rows,
    free_vertical_name,
    table_rows,
)
from vertex.core.models import Job, Role, Site
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.services.jobs.requests import enqueue
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of
from vertex.core.views.page_reading import reads_pages, waits_for_children
from vertex.core.views.toasts import tell, tell_of_job

JOBS = (pasted_lists.FETCHING, accepting_lists.ACCEPT_LIST.task)
ROWS_SHOWN = 500
MOST_VERTICALS = 200


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def new_table(request: HttpRequest) -> HttpResponse:
    """Take the address of a page and let a job fetch it."""
    form = PasteForm(request.POST or None, initial={"url": request.GET.get("url", "")[:2048]})
    busy = None
    if request.method == "POST" and form.is_valid():
        url = form.cleaned_data["url"]
        try:
            job = pasted_lists.start_table(url=url, name=propose_name(url), actor=user_of(request))
        except JobExists as error:
            busy = error.job
            form.add_error(
                "url", f"{error}. Wait until it is done or cancel it, then fetch this page."
            )
        except pasted_lists.NotAllowed as error:
            form.add_error("url", str(error))
        except ValidationError as error:
            form.add_error("url", " ".join(error.messages))
        else:
            return redirect("table_job", job.site.name if job.site else "", job.pk)
    status = 400 if form.errors else 200
    return render(
        request, "rules/lists/new_table.html", {"form": form, "busy": busy}, status=status
    )


@needs_role(Role.VIEWER)
@require_GET
def table_job(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show how far a fetch or an acceptance is, and lead on when it is done."""
    jobs = Job.objects.select_related("site", "created_by")
    job = get_object_or_404(jobs, site__name=name, pk=pk, task__in=JOBS)
    address = _result_of(request, job)
    if address and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204, headers={"HX-Redirect": address})
    if address:
        return redirect(address)
    context = {
        "site": job.site,
        "job": job,
        "is_fetch": job.task == pasted_lists.FETCHING,
        "is_live": not job.is_finished,
        "unfetched": pasted_lists.unfetched_pages(job) if job.is_finished else [],
        "page_of_list": _accepted_page(job),
        "can_operate": user_of(request).has_role(Role.OPERATOR, job.site),
    }
    return render(request, "rules/lists/table_job.html", context)


@waits_for_children
@needs_role(Role.VIEWER)
@require_GET
def page_table(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Show a list of a page as a table."""
    page = _page(name, pk)
    user, snapshot = user_of(request), _snapshot(page)
    tables = shown_tables(snapshot)
    whole_table = table_ranked(tables, request.GET.get("list"))
    view = _view_of(request, whole_table) if whole_table else TableView()
    table = viewed_table(whole_table, view) if whole_table else None
    job = pasted_lists.unfinished_fetch(page.site)
    images = unfinished_job(snapshot)
    context = {
        "site": page.site,
        "shown": page,
        "snapshot": snapshot,
        "tables": tables,
        "table": table,
        "view": view,
        "view_query": view.query(),
        "heads": column_heads(table, view) if table else [],
        "choices": column_choices(whole_table, view) if whole_table else [],
        "rows": table_rows(table, snapshot, timezone.now(), ROWS_SHOWN) if table else [],
        "rows_shown": ROWS_SHOWN,
        "form": WholeListForm(),
        "job": job,
        "images": images,
        "is_live": job is not None or images is not None,
        "has_images": table is not None and any(column.kind == "image" for column in table.columns),
        "assets": SnapshotAssets.objects.filter(snapshot=snapshot).first(),
        "last_crawl": pasted_lists.last_whole_crawl(page),
        "can_edit": user.has_role(Role.EDITOR, page.site),
        "can_operate": user.has_role(Role.OPERATOR, page.site),
    }
    return render(request, "rules/lists/page_table.html", context)


@waits_for_children
@needs_role(Role.VIEWER)
@require_GET
def download_table(request: HttpRequest, name: str, pk: int) -> StreamingHttpResponse:
    """Stream a list of a page as a table, without a rule.

    The best list and JSON lines are taken where what is asked for is none.
    """
    page = _page(name, pk)
    whole_table = _asked_or_best_table(_snapshot(page), request.GET.get("list"))
    table = viewed_table(whole_table, _view_of(request, whole_table))
    form = choice_of(request, "format", MEDIA_TYPES, JSON_LINES)
    return StreamingHttpResponse(
        table_parts(table, page.given_url, form),
        content_type=MEDIA_TYPES[form],
        headers={"Content-Disposition": f'attachment; filename="{name}-list-{page.pk}.{form}"'},
    )


@needs_role(Role.EDITOR)
@require_POST
def fetch_table_images(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Start a job that fetches the images of the page, for the table to show."""
    page = _page(name, pk)
    start_fetching_assets(snapshots=[_snapshot(page)], actor=user_of(request))
    return redirect(_table_address(request, page))


@needs_role(Role.OPERATOR)
@require_POST
def crawl_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Start a job that fetches the list with its further pages and the pages of its records."""
    page = _page(name, pk)
    form = WholeListForm(request.POST)
    if not form.is_valid():
        problems = [problem for field_errors in form.errors.values() for problem in field_errors]
        messages.error(request, " ".join(map(str, problems)))
        return redirect(_table_address(request, page))
    try:
        job = pasted_lists.crawl_whole_list(page=page, actor=user_of(request), **form.cleaned_data)
    except JobExists as error:
        messages.info(request, f"{error}.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        tell_of_job(request, job)
    return redirect(_table_address(request, page))


@reads_pages
@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def accept_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Choose the columns that become attributes, and let a job learn the rule."""
    page = _page(name, pk)
    snapshot = _shown_snapshot(request, page)
    whole_table = _asked_or_best_table(snapshot, request.GET.get("list"))
    view = _view_of(request, whole_table)
    table = merged_table(whole_table, view)
    can_publish = user_of(request).has_role(Role.REVIEWER, page.site)
    initial = {
        "snapshot": snapshot.pk,
        "vertical": free_vertical_name(page),
        "publishes": can_publish,
    }
    form = AcceptForm(request.POST or None, initial=initial)
    columns = ColumnFormSet(
        request.POST or None, initial=column_rows(table, view), prefix="columns"
    )
    if request.method == "POST" and form.is_valid() and columns.is_valid():
        job = _requested(request, form, columns, snapshot, table.rank, view)
        if job is not None:
            return redirect("table_job", name, job.pk)
    context = {
        "site": page.site,
        "shown": page,
        "table": table,
        "form": form,
        "view_query": view.query(),
        "columns": columns,
        "rows": list(zip(columns.forms, table.columns, strict=False)),
        "verticals": Vertical.objects.order_by("name").values_list("name", flat=True)[
            :MOST_VERTICALS
        ],
        "can_publish": can_publish,
    }
    is_bad = request.method == "POST"
    return render(request, "rules/lists/accept_list.html", context, status=400 if is_bad else 200)


def _requested(
    request: HttpRequest,
    form: AcceptForm,
    columns: BaseFormSet[Any],
    snapshot: Snapshot,
    rank: int,
    view: TableView,
) -> Job | None:
    """Ask for the rule; what is wrong is told by the form, and nothing comes back."""
    entered = form.cleaned_data
    column_choices = [row for row in columns.cleaned_data if row.get("takes")]
    try:
        return enqueue(
            accepting_lists.acceptance_request(
                snapshot=snapshot,
                rank=rank,
                view=view,
                columns=[
                    accepting_lists.ChosenColumn(row["column"], row["name"], row["type"])
                    for row in column_choices
                ],
                vertical=entered["vertical"],
                publishes=entered["publishes"],
            ),
            actor=user_of(request),
        )
    except JobExists as error:
        form.add_error(None, f"{error}. Wait until it is done, then learn this rule.")
    except BadVertical as error:
        form.add_error(None, [f"{problem[:1].upper()}{problem[1:]}." for problem in error.problems])
    except ValidationError as error:
        form.add_error(None, error.messages)
    return None


def _result_of(request: HttpRequest, job: Job) -> str:
    """Return where a finished job leads, with a toast; blank where it leads nowhere."""
    result = job.result if job.state == Job.State.DONE and isinstance(job.result, dict) else {}
    name = job.site.name if job.site else ""
    if job.task == pasted_lists.FETCHING:
        return reverse("page_table", args=[name, result["page"]]) if result.get("page") else ""
    if not result.get("cluster"):
        return ""
    message = f"The rule finds {result['records']:,} records on the page."
    if result.get("published"):
        tell(request, f"{message} It is published.")
    elif result.get("why"):
        messages.info(request, f"{message} {result['why']}")
    else:
        tell(request, f"{message} It is a draft.")
    return f"{reverse('rule', args=[name, result['cluster']])}?version={result['version']}"


def _accepted_page(job: Job) -> Page | None:
    """Return the page whose list a job makes a rule of."""
    return Page.objects.filter(site=job.site, snapshots=job.params.get("snapshot", 0)).first()


def _page(name: str, pk: int) -> Page:
    pages = Page.objects.select_related("site", "latest_snapshot")
    return get_object_or_404(pages, site__name=name, pk=pk)


def _snapshot(page: Page) -> Snapshot:
    snapshot = page.latest_snapshot
    if snapshot is None:
        raise Http404("Nothing of this page is stored yet. Fetch it first.")
    snapshot.page = page
    return snapshot


def _shown_snapshot(request: HttpRequest, page: Page) -> Snapshot:
    """Return the snapshot that the person saw, by default the latest one."""
    snapshot_pk = request.POST.get("snapshot", "")
    if not (snapshot_pk.isdecimal() and len(snapshot_pk) < 16):
        return _snapshot(page)
    snapshot: Snapshot = get_object_or_404(Snapshot, page=page, pk=int(snapshot_pk))
    snapshot.page = page
    return snapshot


def _asked_or_best_table(snapshot: Snapshot, rank: str | None) -> ListTable:
    """Return the list of this rank, else the best one; 404 where the page has none."""
    table = table_ranked(shown_tables(snapshot), rank)
    if table is None:
        raise Http404("No list of records is found on this page.")
    return table


def _view_of(request: HttpRequest, table: ListTable) -> TableView:
    return read_view(table, request.GET, request.GET.getlist("show"))


def _table_address(request: HttpRequest, page: Page) -> str:
    site: Site = page.site
    rank = request.POST.get("list", "")
    address = reverse("page_table", args=[site.name, page.pk])
    return f"{address}?list={rank}" if rank.isdecimal() and len(rank) < 3 else address
