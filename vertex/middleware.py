"""Around every request: old sessions end, what is missing is asked for, times are local."""

from __future__ import annotations

import time
import zoneinfo
from collections.abc import Callable
from typing import NamedTuple

from allauth.account.authentication import get_authentication_records
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone

from vertex.core.api.errors import API_PREFIX, shaped
from vertex.core.models import User
from vertex.core.services.people import second_factors

GetResponse = Callable[[HttpRequest], HttpResponseBase]

STARTED, SEEN = "started_at", "seen_at"  # in the session, as seconds since 1970
SEEN_NOTED_EVERY = 60  # seconds, so that reading pages does not write a row for each
ALWAYS_OPEN = {"log_in", "log_out", "healthz", "readyz", "metrics"}


class Missing(NamedTuple):
    """What a person has to do before anything else, and the pages that it takes."""

    page: str
    open_pages: frozenset[str]
    code: str
    text: str


NEW_PASSWORD = Missing(
    page="change_password",
    open_pages=frozenset({"change_password"}),
    code="password_change_needed",
    text="Change your password first.",
)
SECOND_FACTOR = Missing(
    page="mfa_index",
    open_pages=frozenset(
        {
            "mfa_index",
            "mfa_activate_totp",
            "mfa_add_webauthn",
            "account_reauthenticate",
            "change_password",
        }
    ),
    code="second_factor_needed",
    text="Add a second factor first.",
)


def answer_heads(get_response: GetResponse) -> GetResponse:
    """Answer HEAD, as uptime and link checkers send it, like GET; the server sends no body."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return get_response(request)
        request.method = "GET"
        try:
            return get_response(request)
        finally:
            request.method = "HEAD"  # by which it is logged and counted

    return middleware


def end_old_sessions(get_response: GetResponse) -> GetResponse:
    """Log out whoever did nothing for long, or logged in very long ago."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated:
            now = int(time.time())
            if _is_over(request.session, now):
                logout(request)
                messages.info(request, "Your session has ended. Log in to go on.")
            elif request.path_info != reverse("work_word"):  # an open page asks by itself
                _note_seen(request.session, now)
        return get_response(request)

    return middleware


def keep_nothing(get_response: GetResponse) -> GetResponse:
    """Ask browsers and proxies to keep no page that was made for somebody who is logged in."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.user.is_authenticated and not response.has_header("Cache-Control"):
            response["Cache-Control"] = "private, no-store"
        return response

    return middleware


def use_own_time_zone(get_response: GetResponse) -> GetResponse:
    """Show times in the viewer's zone, the installation's where none is chosen or it is unknown."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        with timezone.override(_zone_of(request)):
            return get_response(request)

    return middleware


class AskForWhatIsMissing:
    """Stop whoever has to choose a password or add a second factor from doing anything before."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: object, _args: object, _kwargs: object
    ) -> HttpResponseBase | None:
        match = request.resolver_match
        if match is None or match.url_name in ALWAYS_OPEN:
            return None
        missing = _missing(request)
        if missing is None or match.url_name in missing.open_pages:
            return None
        if request.path.startswith(API_PREFIX):
            payload = shaped(403, missing.text, code=missing.code)
            return JsonResponse(payload, status=403)
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(status=204, headers={"HX-Redirect": reverse(missing.page)})
        return redirect(missing.page)


def _missing(request: HttpRequest) -> Missing | None:
    """Return what whoever is logged in has to do first."""
    user = request.user
    if not isinstance(user, User):
        return None
    if user.must_change_password and not _is_in_without_password(request, user):
        return NEW_PASSWORD
    if second_factors.is_missing(user):
        return SECOND_FACTOR
    return None


def _is_in_without_password(request: HttpRequest, user: User) -> bool:
    """Return whether a provider or a passkey let a person in: then nobody else's knowledge did."""
    return any(
        step["method"] == "socialaccount" or step.get("passwordless")
        for step in get_authentication_records(request, user)
    )


def _is_over(session: SessionBase, now: int) -> bool:
    age = now - int(session.get(STARTED, now))
    idle = now - int(session.get(SEEN, now))
    return age >= settings.SESSION_HOURS * 3600 or idle >= settings.SESSION_IDLE_MINUTES * 60


def _note_seen(session: SessionBase, now: int) -> None:
    session.setdefault(STARTED, now)
    if now - int(session.get(SEEN, 0)) >= SEEN_NOTED_EVERY:
        session[SEEN] = now


def _zone_of(request: HttpRequest) -> zoneinfo.ZoneInfo | None:
    """Return the zone that the viewer chose; None means the installation's."""
    zone_name = request.user.time_zone if request.user.is_authenticated else ""
    try:
        return zoneinfo.ZoneInfo(zone_name) if zone_name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError):
        return None
