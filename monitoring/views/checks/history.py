"""The paper's experiments on monitoring, as live views over the product's own history."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from monitoring.views.checks import history_rows
from vertex.core.models import Role
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import choice_of

SPANS = {"30": "30 days", "90": "90 days", "365": "a year"}


@needs_role(Role.VIEWER)
@require_GET
def history(request: HttpRequest) -> HttpResponse:
    user, days = user_of(request), choice_of(request, "days", SPANS, "30")
    reuse = history_rows.figure_5(user)
    points = " ".join(f"{row.x + 14},{row.sum_y + 10}" for row in reuse)
    context = {
        "spans": SPANS,
        "days": days,
        "changes": history_rows.table_iii(user, int(days)),
        "broken": history_rows.table_iv(user, int(days)),
        "reuse": reuse,
        "points": points,
        "width": max(320, 80 + 44 * len(reuse)),
        "n_reused": sum(row.n_reused for row in reuse),
        "n_by_signature": sum(row.n_by_signature for row in reuse),
        "n_rules": sum(row.n_rules for row in reuse),
    }
    return render(request, "monitoring/checks/history.html", context)
