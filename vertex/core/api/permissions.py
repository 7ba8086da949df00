"""What a caller may do: the scopes of the token and the roles of its user, whichever is less."""

from __future__ import annotations

from typing import Literal, TypeAlias

from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request

from vertex.core.models import Role, Site, Token, User

Where: TypeAlias = Literal["there", "everywhere", "anywhere"]


def caller_of(request: Request) -> User:
    """Return who calls; routes without a known caller do not exist."""
    if not isinstance(request.user, User):
        raise PermissionDenied("The caller is not known.")
    return request.user


def check_scope(request: Request, scope: str) -> None:
    """Refuse a token that lacks the scope; a person's session has all scopes."""
    if isinstance(request.auth, Token) and not request.auth.has_scope(scope):
        raise PermissionDenied(f"The token lacks the scope {scope}.")


def check_role(request: Request, needs: tuple[Role, Where] | None, site: Site | None) -> None:
    """Refuse a caller without the role where needed: for a thing of no site, everywhere."""
    if needs is None:
        return
    role, where = needs
    user = caller_of(request)
    if where == "anywhere":
        is_held, place = user.has_role_anywhere(role), "at some site"
    elif where == "there" and site is not None:
        is_held, place = user.has_role(role, site), f"at {site.name}"
    else:
        is_held, place = user.has_role(role), "for all sites"
    if not is_held:
        raise PermissionDenied(f"This needs the role {role.label.lower()} {place}.")


def visible_site(request: Request, name: str) -> Site:
    """Return the site of that name; for a caller without a role there it does not exist."""
    site = Site.objects.visible_to(caller_of(request)).filter(name=name).first()
    if site is None:
        raise NotFound(f"There is no site “{name}”, or it is not yours to see.")
    return site
