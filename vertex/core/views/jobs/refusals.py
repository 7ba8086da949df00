"""What was not taken, and why."""

from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from vertex.core.models import Refusal, Role, Site
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part, words

RECENT = 2_000
CODES_SHOWN = 12


@needs_role(Role.VIEWER)
@require_GET
def refusals(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    visible = Refusal.objects.visible_to(user)
    name, code = words(request, "site"), words(request, "code")
    query = words(request)
    at_site = visible.filter(site__name=name) if name else visible
    listed = at_site.matching(query)
    if code:
        listed = listed.filter(code=code)
    part = list_part(request, listed.select_related("site", "job"), order=["-id"])
    context = {
        "page": part,
        "codes": recent_codes(at_site, code),
        "code": code,
        "query": query,
        "site_name": name,
        "sites": Site.objects.visible_to(user).values_list("name", flat=True)[:200],
        "is_narrowed": bool(name or code or query),
    }
    return render(request, "core/jobs/refusals.html", context)


def recent_codes(visible: QuerySet[Refusal], chosen_code: str) -> list[str]:
    """Return the newest refusals' codes: counting all takes longer the more there are."""
    recent = visible.order_by("-id").values_list("code", flat=True)[:RECENT]
    codes = sorted(set(recent) | ({chosen_code} - {""}))
    return codes[:CODES_SHOWN]
