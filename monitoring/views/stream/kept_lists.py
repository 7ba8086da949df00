"""The lists of addresses that a site keeps: which, when they are visited, and what came of it."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from monitoring.forms import KeptListForm, add_errors
from monitoring.models import ChainStep, KeptList
from monitoring.services.stream import kept_lists as service
from vertex.core.models import Role, Site
from vertex.core.services.files.uploads import UploadTooLarge
from vertex.core.services.jobs.jobs import JobExists
from vertex.core.storage import DiskFull
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell, tell_of_job

LIVE_EVERY = 2  # seconds, while a visit is under way


@needs_role(Role.OPERATOR)
@require_GET
def kept_lists(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    kept_list = KeptList.objects.present().filter(site=site).defer("addresses").order_by("name")
    rows = list(kept_list.select_related("last_job", "site"))
    jobs = [row.last_job for row in rows if row.last_job is not None]
    dropped = KeptList.objects.dropped().filter(site=site).defer("addresses")
    context = {
        "site": site,
        "rows": rows,
        "dropped": dropped.order_by("-dropped_at")[: service.MAX_LISTS],
        "can_add": len(rows) < service.MAX_LISTS,
        "is_paused": ChainStep.objects.filter(site=site, step="crawl", is_paused=True).exists(),
        "is_live": any(not job.is_finished for job in jobs),
        "live_every": LIVE_EVERY,
    }
    return render(request, "monitoring/stream/kept_lists.html", context)


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def add_kept_list(request: HttpRequest, name: str) -> HttpResponse:
    site = get_object_or_404(Site, name=name)
    is_post = request.method == "POST"
    form = KeptListForm(request.POST, request.FILES) if is_post else KeptListForm()
    if is_post and form.is_valid():
        try:
            kept_list = service.add_list(site=site, actor=user_of(request), **form.values())
        except ValidationError as error:
            add_errors(form, error)
        else:
            tell(request, f"“{kept_list.name}” is kept and visited {kept_list.words}.")
            return redirect("kept_lists", name=name)
    return _form_page(request, site, form, None)


@needs_role(Role.OPERATOR)
@require_http_methods(["GET", "POST"])
def change_kept_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    kept_list = _kept(name, pk)
    is_post = request.method == "POST"
    form = (
        KeptListForm(request.POST, request.FILES, kept_list=kept_list)
        if is_post
        else KeptListForm(kept_list=kept_list)
    )
    if is_post and form.is_valid():
        try:
            changed = service.change_list(
                kept_list=kept_list, actor=user_of(request), **form.values()
            )
        except ValidationError as error:
            add_errors(form, error)
        else:
            tell(request, f"“{changed.name}” is saved.")
            return redirect("kept_lists", name=name)
    return _form_page(request, kept_list.site, form, kept_list)


@needs_role(Role.OPERATOR)
@require_POST
def switch_kept_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    """Pause a list, or let it go on."""
    kept_list = _kept(name, pk)
    is_active = request.POST.get("active") == "yes"
    try:
        changed = service.change_list(
            kept_list=kept_list, actor=user_of(request), is_active=is_active
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        back = [("active", "no" if is_active else "yes")]
        word = f"is visited {changed.words}" if is_active else "is not visited by itself any more"
        tell(request, f"“{changed.name}” {word}.", undo_url=request.path, undo_fields=back)
    return redirect("kept_lists", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def visit_kept_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    kept_list = _kept(name, pk)
    try:
        job = service.visit_now(kept_list=kept_list, actor=user_of(request))
    except JobExists as error:
        messages.info(request, f"{error}.")
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    except (DiskFull, UploadTooLarge) as error:
        messages.error(request, f"{error}.")
    else:
        tell_of_job(request, job)
    return redirect("kept_lists", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def drop_kept_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    kept_list = _kept(name, pk)
    service.drop_list(kept_list=kept_list, actor=user_of(request))
    undo = reverse("restore_kept_list", args=[name, pk])
    tell(request, f"“{kept_list.name}” is deleted; its pages stay.", undo_url=undo)
    return redirect("kept_lists", name=name)


@needs_role(Role.OPERATOR)
@require_POST
def restore_kept_list(request: HttpRequest, name: str, pk: int) -> HttpResponse:
    with_deleted_ones = KeptList.objects.select_related("site").filter(site__name=name)
    kept_list = get_object_or_404(with_deleted_ones, pk=pk)
    try:
        service.restore_list(kept_list=kept_list, actor=user_of(request))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        tell(request, f"“{kept_list.name}” is back.")
    return redirect("kept_lists", name=name)


def _kept(name: str, pk: int) -> KeptList:
    present = KeptList.objects.present().select_related("site", "last_job")
    return get_object_or_404(present, site__name=name, pk=pk)


def _form_page(
    request: HttpRequest, site: Site, form: KeptListForm, kept_list: KeptList | None
) -> HttpResponse:
    form.fields["delay"].widget.attrs["placeholder"] = f"{site.crawl_delay:g}"
    status = 400 if form.errors else 200
    context = {"site": site, "form": form, "kept_list": kept_list}
    return render(request, "monitoring/stream/kept_list.html", context, status=status)
