"""Who may open a page: `needs_role` stands above every view of the browser."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url

from vertex.core.models import Role, Site, User
from vertex.core.texts import storable

P = ParamSpec("P")


def needs_role(
    role: Role, *, everywhere: bool = False
) -> Callable[
    [Callable[Concatenate[HttpRequest, P], HttpResponseBase]],
    Callable[Concatenate[HttpRequest, P], HttpResponseBase],
]:
    """Admit whoever holds the role, or a higher one, where the page belongs.

    A page with a site in its address (the argument `name`) asks for the role at that site. A page
    without one asks for it at some site, and shows only what `visible_to` leaves; with
    `everywhere=True` it asks for the role over all sites, as managing people does.

    Anonymous people are sent to the log-in page, no role at the site gives 404, a role too low 403.
    """

    def decorate(
        view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
    ) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
        @wraps(view)
        def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
            if not request.user.is_authenticated:
                return send_to_log_in(request)
            if "name" in kwargs:
                check_role_at(request.user, role, cast("str", kwargs["name"]))
            else:
                check_role(request.user, role, everywhere=everywhere)
            return view(request, *args, **kwargs)

        checked.needed_role = role  # type: ignore[attr-defined]  # tests walk the addresses and look for it
        return checked

    return decorate


def needs_log_in(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """Admit everybody with an account: for pages about oneself."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return send_to_log_in(request)
        return view(request, *args, **kwargs)

    checked.needed_role = None  # type: ignore[attr-defined]  # tests walk the addresses and look for it
    return checked


def check_role_at(user: User, role: Role, name: str) -> Site:
    """Return the site of that name; 404 without a role there, 403 where the role is too low."""
    site = Site.objects.visible_to(user).filter(name=storable(name)).first()
    if site is None:
        raise Http404(f"There is no site “{name}”, or it is not yours to see.")
    if not user.has_role(role, site):
        raise PermissionDenied(f"This needs the role {role.label.lower()} at {name}.")
    return site


def check_role(user: User, role: Role, *, everywhere: bool = False) -> None:
    """Refuse with 403 whoever does not hold the role at some site, or everywhere."""
    if everywhere and not user.has_role(role):
        raise PermissionDenied(f"This needs the role {role.label.lower()} for all sites.")
    if not everywhere and not user.has_role_anywhere(role):
        raise PermissionDenied(f"This needs the role {role.label.lower()} at some site.")


def user_of(request: HttpRequest) -> User:
    """Return who is logged in, in a view that `needs_role` guards."""
    if isinstance(request.user, User):
        return request.user
    raise PermissionDenied("Log in first.")


def send_to_log_in(request: HttpRequest) -> HttpResponse:
    """Redirect to log-in and from there back; a fragment's request takes the whole page along."""
    if request.headers.get("HX-Request") != "true":
        return redirect_to_login(request.get_full_path())
    here = urlsplit(request.headers.get("HX-Current-URL", ""))
    path = f"{here.path}?{here.query}" if here.query else here.path
    redirection = redirect_to_login(path or resolve_url("sites"))
    return HttpResponse(status=204, headers={"HX-Redirect": redirection.url})
