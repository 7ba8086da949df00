"""Who asks, with which id, and how long the answer took: around every request, first of all."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django_structlog.middlewares import RequestMiddleware

from vertex.running import metrics

WELL_FORMED_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}", re.ASCII)


class TrustProxies:
    """Read the caller's address from the proxies before the application, and from no others.

    Each proxy adds the address that it saw to X-Forwarded-For, so the last entries are the proxies'
    own word and everything before them may be made up.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").split(",")
        if settings.PROXIES and len(forwarded) >= settings.PROXIES:
            address = forwarded[-settings.PROXIES].strip()
            if address:
                request.META["REMOTE_ADDR"] = address[:45]
        return self.get_response(request)


class LogRequests(RequestMiddleware):
    """Assign each request an id, log it, and send the id back in X-Request-ID.

    An id that comes with the request is kept if it is well-formed, so that one id follows a request
    through proxies. Query strings are not logged: they may hold what is not for the log.
    """

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(settings.STATIC_URL):
            return self.get_response(request)
        request.META["vertex.begun"] = time.perf_counter()
        return super().__call__(request)

    def prepare(self, request: HttpRequest) -> None:
        if not WELL_FORMED_ID.fullmatch(request.META.get("HTTP_X_REQUEST_ID", "")):
            request.META.pop("HTTP_X_REQUEST_ID", None)
        super().prepare(request)

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        ms = round((time.perf_counter() - request.META["vertex.begun"]) * 1000)
        structlog.contextvars.bind_contextvars(ms=ms)
        response["X-Request-ID"] = structlog.contextvars.get_contextvars()["request_id"]
        super().handle_response(request, response)

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        return f"{request.method} {request.path}"

    @classmethod
    def bind_ip(cls, request: HttpRequest) -> None:
        structlog.contextvars.bind_contextvars(ip=request.META.get("REMOTE_ADDR", ""))


class CountRequests:
    """Count each request and the time that it took, by the name of its route."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begun = time.perf_counter()
        response = self.get_response(request)
        # The route's pattern, not the path: strangers must not be able to make up new series.
        route = request.resolver_match.route if request.resolver_match else "unknown"
        metrics.count_request(
            request.method or "", route, response.status_code, time.perf_counter() - begun
        )
        return response
