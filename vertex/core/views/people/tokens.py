"""Settings: keys for the API, one's own and those of services."""

from __future__ import annotations

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from vertex.core.forms.people import TokenForm
from vertex.core.models import Role, Token, User
from vertex.core.services.people import tokens as keys
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.toasts import tell


@needs_role(Role.VIEWER)
@require_GET
def tokens(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    context = {
        "own": user.tokens.all(),
        "of_services": Token.objects.filter(user__in=_owners(user))
        .exclude(user=user)
        .select_related("user"),
        "is_administrator": user.has_role(Role.ADMINISTRATOR),
    }
    return render(request, "core/people/tokens.html", context)


@never_cache
@needs_role(Role.VIEWER)
@require_http_methods(["GET", "POST"])
def add_token(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    owner = request.GET.get("owner", user.username)
    form = TokenForm(request.POST or None, owners=_owners(user), initial={"owner": owner})
    if form.is_valid():
        entered = form.cleaned_data
        token, key = keys.create_token(
            user=entered["owner"],
            name=entered["name"],
            scopes=entered["scopes"],
            days=entered["days"],
            actor=user,
        )
        # The key stands in this answer and nowhere else, not even in the session.
        return render(request, "core/people/new_token.html", {"token": token, "key": key})
    return render(request, "core/people/add_token.html", {"form": form})


@needs_role(Role.VIEWER)
@require_POST
def revoke_token(request: HttpRequest, pk: int) -> HttpResponse:
    user = user_of(request)
    # An administrator may stop any key at once; others only their own.
    theirs = Q() if user.has_role(Role.ADMINISTRATOR) else Q(user=user)
    token = get_object_or_404(Token.objects.select_related("user"), theirs, pk=pk)
    keys.revoke_token(token=token, actor=user)
    tell(request, f"Revoked the token {token}.")
    is_listed = token.user == user or token.user.is_service
    return redirect("tokens") if is_listed else redirect("person", token.user.username)


def _owners(user: User) -> QuerySet[User]:
    """Return for whom the user may make keys: themselves, and services for an administrator."""
    theirs = Q(pk=user.pk)
    if user.has_role(Role.ADMINISTRATOR):
        theirs |= Q(is_service=True)
    owners: QuerySet[User] = User.objects.open().filter(theirs)
    return owners
