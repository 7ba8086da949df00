"""What is shown when all else fails: without a database where that is away."""

from __future__ import annotations

import sys

import structlog
from django.core.exceptions import BadRequest
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from vertex.core.api.errors import API_PREFIX, HELD_BY_OTHERS, is_held_by_others, shaped
from vertex.core.exceptions import TooBusy
from vertex.core.storage import StoreAway

RETRY_AFTER = 30  # seconds, of what comes back by itself


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    reason = str(exception) if isinstance(exception, BadRequest) else ""
    return render(request, "400.html", {"reason": reason}, status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer without database and session: they may be what failed.

    Where the page store or the database cannot be reached, this machine has too much to do, or
    somebody else changes the same, that is told with status 503: it passes.
    """
    context = {"request_id": structlog.contextvars.get_contextvars().get("request_id", "")}
    error = sys.exc_info()[1]
    if is_held_by_others(error):
        error = TooBusy(HELD_BY_OTHERS)
    away = _what_is_away(error)
    if isinstance(error, TooBusy) and request.path_info.startswith(API_PREFIX):
        return JsonResponse(shaped(503, f"{error}."), status=503)
    if isinstance(error, TooBusy):
        context |= {"busy": str(error), "may_be_saved": error.may_be_saved}
    elif not away:
        return HttpResponse(render_to_string("500.html", context), status=500)
    response = HttpResponse(render_to_string("503.html", context | {"away": away}), status=503)
    response["Retry-After"] = str(RETRY_AFTER)
    return response


def _what_is_away(error: BaseException | None) -> str:
    """Return what cannot be reached, blank where the error is another one."""
    if isinstance(error, StoreAway):
        return "page store"
    is_lost = isinstance(error, OperationalError | InterfaceError)
    if is_lost and (connection.connection is None or not connection.is_usable()):
        return "database"
    return ""
