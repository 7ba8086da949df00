"""Receive what browsers report about the work that annotating is."""

from __future__ import annotations

import orjson
from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_POST

from annotation.services.annotations.measuring import record_effort
from vertex.core.models import Role
from vertex.core.views.access import needs_role, user_of

MAX_REPORT_BYTES = 64 * 1024


@needs_role(Role.EDITOR)
@require_POST
def effort(request: HttpRequest) -> HttpResponse:
    """Add a report to the sums; what is not credible in it is left out."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > MAX_REPORT_BYTES:
        raise BadRequest(f"A report may have {MAX_REPORT_BYTES:,} bytes.")
    try:
        actions = orjson.loads(request.body)
    except orjson.JSONDecodeError:
        raise BadRequest("A report is a list of actions as JSON.") from None
    if not isinstance(actions, list):
        raise BadRequest("A report is a list of actions as JSON.")
    record_effort(person=user_of(request), actions=actions, now=timezone.now())
    return HttpResponse(status=204)
