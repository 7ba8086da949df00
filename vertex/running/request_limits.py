"""What a request may be before anybody is asked who they are: its cookies, and its body."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import Resolver404, resolve

from vertex.core.api.errors import API_PREFIX
from vertex.running.patient_worker import MAX_COOKIES

MAX_OF_KNOWN: Final = 16 * 1024 * 1024  # bytes that people who are logged in may send with any form
# Where they may send more: files of pages, whole sites.
LARGE_ROUTES: Final = frozenset({"import_pages", "import_site", "search_log", "visit_addresses"})

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class LimitCookies:
    """Leave out cookies that are longer than ours can be: reading them may take minutes."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if len(request.META.get("HTTP_COOKIE", "")) > MAX_COOKIES:
            request.META["HTTP_COOKIE"] = ""
        return self.get_response(request)


class LimitBodies:
    """Refuse a body that is too large before it is read.

    Strangers send no more than the form by which they log in. Routes of the API look at the length
    and at the token themselves, before they read.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith(API_PREFIX):
            return self.get_response(request)
        most = _most_bytes(request)
        if _length_of(request) <= most:
            return self.get_response(request)
        message = f"The request is too large: at most {most // 2**20:,} MB are taken here.\n"
        return HttpResponse(message, status=413, content_type="text/plain")


def _length_of(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0  # Django reads nothing then


def _most_bytes(request: HttpRequest) -> int:
    """Return how large the body of a request may be; who asks is looked up for a large one only."""
    most_of_strangers: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    if _length_of(request) <= most_of_strangers or not request.user.is_authenticated:
        return most_of_strangers
    try:
        is_large = resolve(request.path_info).url_name in LARGE_ROUTES
    except Resolver404:
        return most_of_strangers
    return (settings.MAX_UPLOAD_MB + 1) * 2**20 if is_large else MAX_OF_KNOWN
