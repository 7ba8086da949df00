"""Settings: verticals and their attributes."""

from __future__ import annotations

import json
from typing import Any

import orjson
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.forms import (
    AddVerticalForm,
    AttributeFormSet,
    AttributeRows,
    VerticalFileForm,
    VerticalForm,
    VerticalTextForm,
)
from annotation.models import Vertical
from annotation.services.verticals import verticals as verticals_service
from annotation.services.verticals.verticals import (
    BadVertical,
    ChangedMeanwhile,
    VerticalInUse,
    VerticalPlan,
    describe,
    may_change,
    ready_made_verticals,
    save_vertical,
)
from annotation.views.verticals.origins import describe_by, origin_of
from vertex.core.models import Role, Site, User
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part
from vertex.core.views.toasts import tell

SITES_SHOWN = 20
ROWS_TO_BEGIN_WITH = 3


@needs_role(Role.VIEWER)
@require_GET
def verticals(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[:200]
    loaded = set(Vertical.objects.values_list("name", flat=True))
    context = {
        "page": list_part(request, Vertical.objects.matching(query).with_counts(), order=["name"]),
        "query": query,
        "ready_made": [plan for plan in ready_made_verticals() if plan.name not in loaded],
        "can_edit": _can_edit(user_of(request)),
    }
    return render(request, "annotation/verticals/verticals.html", context)


@needs_role(Role.EDITOR)
@require_http_methods(["GET", "POST"])
def add_vertical(request: HttpRequest) -> HttpResponse:
    form = AddVerticalForm(request.POST or None)
    rows = AttributeFormSet(request.POST or None, initial=[{}] * ROWS_TO_BEGIN_WITH)
    if request.method == "POST" and form.is_valid() and rows.is_valid():
        name = form.cleaned_data["name"]
        if _save(name, form, rows, user_of(request)):
            tell(request, f"{name} is added.")
            origin = origin_of(request)
            if origin is not None:
                describe_by(origin, Vertical.objects.get(name=name), user_of(request))
            return _to_where_one_was(request, name)
    context = {"file_form": VerticalFileForm(), "origin": origin_of(request)}
    return _edit_page(request, "annotation/verticals/add_vertical.html", form, rows, context)


@needs_role(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def vertical(request: HttpRequest, vertical_name: str) -> HttpResponseBase:
    shown = get_object_or_404(Vertical, name=vertical_name)
    if request.method == "POST":
        return _change(request, shown)
    if not may_change(user_of(request), shown):
        return render(
            request, "annotation/verticals/vertical_read_only.html", _context_of(request, shown)
        )
    form = VerticalForm(initial={"description": shown.description, "version": shown.version})
    rows = AttributeFormSet(initial=_initial_rows(shown))
    return _edit_page(
        request, "annotation/verticals/vertical.html", form, rows, _context_of(request, shown)
    )


@needs_role(Role.EDITOR)
def _change(request: HttpRequest, changed: Vertical) -> HttpResponse:
    form, rows = (
        VerticalForm(request.POST),
        AttributeFormSet(request.POST, initial=_initial_rows(changed)),
    )
    before = describe(changed)
    if form.is_valid() and rows.is_valid() and _save(changed.name, form, rows, user_of(request)):
        _confirm_saved(request, f"{changed.name} is saved.", before)
        return _to_where_one_was(request, changed.name)
    return _edit_page(
        request, "annotation/verticals/vertical.html", form, rows, _context_of(request, changed)
    )


@needs_role(Role.EDITOR)
@require_POST
def load_ready_made(request: HttpRequest) -> HttpResponse:
    plans = {plan.name: plan for plan in ready_made_verticals()}
    plan = plans.get(request.POST.get("name", ""))
    if plan is None:
        raise Http404("There is no ready-made vertical of that name.")
    return _save_plan(request, plan)


@needs_role(Role.EDITOR)
@require_POST
def import_vertical(request: HttpRequest) -> HttpResponse:
    is_undo = "document" in request.POST
    form = (
        VerticalTextForm(request.POST) if is_undo else VerticalFileForm(request.POST, request.FILES)
    )
    if form.is_valid():
        return _save_plan(request, form.cleaned_data["plan"])
    context = {"file_form": form}
    rows = AttributeFormSet(initial=[{}] * ROWS_TO_BEGIN_WITH)
    return _edit_page(
        request,
        "annotation/verticals/add_vertical.html",
        AddVerticalForm(),
        rows,
        context,
        status=400,
    )


@needs_role(Role.VIEWER)
@require_GET
def export_vertical(_request: HttpRequest, vertical_name: str) -> HttpResponse:
    exported = get_object_or_404(Vertical, name=vertical_name)
    body = orjson.dumps(describe(exported), option=orjson.OPT_INDENT_2)
    name = f'attachment; filename="{exported.name}.json"'
    return HttpResponse(
        body, content_type="application/json", headers={"Content-Disposition": name}
    )


@needs_role(Role.EDITOR)
@require_POST
def delete_vertical(request: HttpRequest, vertical_name: str) -> HttpResponse:
    deleted = get_object_or_404(Vertical, name=vertical_name)
    before = describe(deleted)
    try:
        verticals_service.delete_vertical(vertical=deleted, actor=user_of(request))
    except VerticalInUse as error:
        messages.error(request, str(error))
        return redirect("vertical", vertical_name)
    _confirm_saved(request, f"{vertical_name} is deleted.", before)
    return redirect("verticals")


def _to_where_one_was(request: HttpRequest, name: str) -> HttpResponse:
    """Lead back to the sample that somebody came from, else to the vertical."""
    origin = origin_of(request)
    return redirect(origin.address) if origin else redirect("vertical", name)


def _save_plan(request: HttpRequest, plan: VerticalPlan) -> HttpResponse:
    existing = Vertical.objects.filter(name=plan.name).first()
    before = describe(existing) if existing else None
    save_vertical(
        name=plan.name,
        attributes=plan.attributes,
        description=plan.description,
        actor=user_of(request),
    )
    _confirm_saved(request, f"{plan.name} is {'changed' if existing else 'added'}.", before)
    return redirect("vertical", plan.name)


def _save(name: str, form: VerticalForm, rows: AttributeRows, actor: User) -> bool:
    """Save what was entered, or show in the form why it cannot be."""
    entered = form.cleaned_data
    try:
        save_vertical(
            name=name,
            attributes=rows.plans,
            description=entered["description"],
            version=entered["version"],
            actor=actor,
        )
    except (BadVertical, ChangedMeanwhile) as error:
        form.add_error(None, f"{str(error)[0].upper()}{str(error)[1:]}")
        return False
    return True


def _confirm_saved(request: HttpRequest, text: str, before: dict[str, Any] | None) -> None:
    """Confirm that a vertical was saved, with a way back to the one before."""
    if before is None:
        tell(request, text)
    else:
        tell(
            request,
            text,
            undo_url=reverse("import_vertical"),
            undo_fields=[("document", json.dumps(before))],
        )


def _edit_page(
    request: HttpRequest,
    template: str,
    form: VerticalForm,
    rows: AttributeRows,
    context: dict[str, Any],
    *,
    status: int = 200,
) -> HttpResponse:
    has_errors = form.is_bound and not (form.is_valid() and rows.is_valid())
    return render(
        request,
        template,
        {"form": form, "rows": rows, **context},
        status=400 if has_errors else status,
    )


def _context_of(request: HttpRequest, shown: Vertical) -> dict[str, Any]:
    users = Site.objects.filter(assignments__vertical=shown).distinct()
    visible = (
        Site.objects.visible_to(user_of(request)).filter(assignments__vertical=shown).distinct()
    )
    return {
        "vertical": shown,
        "attributes": shown.attributes.live(),
        "dropped": shown.attributes.filter(dropped_at__isnull=False),
        "sites": visible.order_by("name")[:SITES_SHOWN],
        "n_sites": users.count(),
        "can_edit": may_change(user_of(request), shown),
        "origin": origin_of(request),
    }


def _initial_rows(shown: Vertical) -> list[dict[str, Any]]:
    names = ("name", "type", "is_constant", "is_mandatory", "is_multi", "regex")
    return [{name: getattr(row, name) for name in names} for row in shown.attributes.live()]


def _can_edit(user: User) -> bool:
    return user.has_role_anywhere(Role.EDITOR)
