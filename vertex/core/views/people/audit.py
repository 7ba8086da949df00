"""Settings: who changed what."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from vertex.core.forms.people import AuditFilter
from vertex.core.models import AuditEntry, Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part

N_SITES = 500  # offered to choose from; others are found by searching
COLUMN_BY_FILTER = {"person": "actor_name", "site": "site__name", "action": "action"}


@needs_role(Role.ADMINISTRATOR)
@require_GET
def audit(request: HttpRequest) -> HttpResponse:
    form = AuditFilter(request.GET)
    form.full_clean()
    filters = {name: value for name, value in form.cleaned_data.items() if value}
    visible = AuditEntry.objects.visible_to(user_of(request))
    columns = {
        column: filters[name] for name, column in COLUMN_BY_FILTER.items() if name in filters
    }
    entries = (
        visible.filter(**columns).matching(filters.get("q", "")).select_related("actor", "site")
    )
    page = list_part(request, entries, order=["-id"])
    context = {
        "page": page,
        "entries": [(entry, told_by(entry)) for entry in page.rows],
        "filters": filters,
        "actions": visible.actions(),
        "site_names": Site.objects.visible_to(user_of(request)).values_list("name", flat=True)[
            :N_SITES
        ],
    }
    return render(request, "core/people/audit.html", context)


def told_by(entry: AuditEntry) -> list[tuple[str, str]]:
    """Return an entry's details as names and values in words."""
    return [(name.replace("_", " "), _in_words(value)) for name, value in entry.detail.items()]


def _in_words(value: Any) -> str:  # any JSON value
    """Write a value of an entry's details as a person would.

    >>> _in_words({"was": None, "now": "editor"}), _in_words(["a", 1]), _in_words(True)
    ('none → editor', 'a, 1', 'yes')
    """
    if isinstance(value, dict) and value.keys() == {"was", "now"}:
        return f"{_in_words(value['was'])} → {_in_words(value['now'])}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_in_words(part)}" for name, part in value.items()) or "none"
    if isinstance(value, list):
        return ", ".join(_in_words(part) for part in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in {None, ""} else str(value)
