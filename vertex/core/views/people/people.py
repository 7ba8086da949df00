"""Settings: people and their roles."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from vertex.core.forms.people import (
    AccountForm,
    AddPersonForm,
    MemberForm,
    PeopleFilter,
    RoleForm,
    SuperuserForm,
)
from vertex.core.models import AuditEntry, Membership, Role, Site, User
from vertex.core.models.people import reach_of_role
from vertex.core.services.people import people as accounts
from vertex.core.services.people import second_factors as factors
from vertex.core.services.people.people import LastAdministrator, NameTaken
from vertex.core.services.people.tokens import AccountClosed
from vertex.core.texts import storable
from vertex.core.views.access import needs_role, user_of
from vertex.core.views.lists import list_part
from vertex.core.views.people.account import ENTRIES
from vertex.core.views.people.audit import told_by
from vertex.core.views.toasts import tell

N_RECENT = 10
N_SITE_NAMES = 500  # offered while typing; any other name can be typed in full


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_GET
def people(request: HttpRequest) -> HttpResponse:
    form = PeopleFilter(request.GET)
    form.full_clean()
    text, state = form.cleaned_data.get("q", ""), form.cleaned_data.get("state") or "open"
    users = User.objects.listed(state).matching(text).with_roles()
    context = {"page": list_part(request, users, order=["username"]), "text": text, "state": state}
    return render(request, "core/people/people.html", context)


@never_cache
@sensitive_post_parameters("password")
@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_http_methods(["GET", "POST"])
def add_person(request: HttpRequest) -> HttpResponse:
    form = AddPersonForm(request.POST or None, initial={"kind": request.GET.get("kind", "person")})
    if form.is_valid():
        password = (
            "" if form.is_service or form.cleaned_data["password"] else accounts.random_password()
        )
        try:
            person = _create(form, password, user_of(request))
        except (NameTaken, accounts.BadUsername) as error:
            form.add_error("username", str(error))
        else:
            if password:
                return _show_password(request, person, password)
            tell(request, f"Added {person.username}.")
            return redirect("person", person.username)
    return render(
        request, "core/people/add_person.html", {"form": form, "site_names": _site_names()}
    )


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_http_methods(["GET", "POST"])
def person(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    form = AccountForm(
        request.POST or None, initial={name: getattr(person, name) for name in ENTRIES}
    )
    if form.is_valid():
        accounts.change_user(user=person, actor=user_of(request), **form.cleaned_data)
        tell(request, "Saved.")
        return redirect("person", person.username)
    return _person_page(request, person, form=form)


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def give_role(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    form = RoleForm(request.POST)
    if not form.is_valid():
        return _person_page(request, person, role_form=form)
    role, site = form.cleaned_data["role"], form.cleaned_data["site"]
    try:
        accounts.set_role(user=person, role=role, site=site, actor=user_of(request))
    except (AccountClosed, LastAdministrator) as error:
        messages.error(request, str(error))
    else:
        tell(request, f"{person.username} is {role.label.lower()} {reach_of_role(site)}.")
    return redirect("person", person.username)


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def take_role(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    held = get_object_or_404(person.memberships.select_related("site"), pk=_number(request, "role"))
    try:
        accounts.remove_role(user=person, site=held.site, actor=user_of(request))
    except LastAdministrator as error:
        messages.error(request, str(error))
    else:
        tell(
            request,
            f"{person.username} is no longer {held.role} {held.reach}.",
            undo_url=reverse("give_role", args=[person.username]),
            undo_fields=[("role", held.role), ("site", held.site.name if held.site else "")],
        )
    return redirect("person", person.username)


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def set_superuser(request: HttpRequest, username: str) -> HttpResponse:
    """Make a person an administrator of the installation, or no longer one: only such a one may."""
    if not user_of(request).is_superuser:
        raise PermissionDenied("This needs an administrator of the installation.")
    people_with_log_in = User.objects.open().filter(is_service=False)
    person = get_object_or_404(people_with_log_in, username=storable(username))
    form = SuperuserForm(request.POST)
    form.full_clean()
    is_superuser = form.cleaned_data["is_superuser"]
    try:
        accounts.set_superuser(user=person, is_superuser=is_superuser, actor=user_of(request))
    except LastAdministrator as error:
        messages.error(request, str(error))
    else:
        state = "is" if is_superuser else "is no longer"
        tell(request, f"{person.username} {state} an administrator of the installation.")
    return redirect("person", person.username)


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def close_person(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    if person == user_of(request):
        messages.error(request, "Another administrator has to close your account.")
        return redirect("person", person.username)
    try:
        accounts.close_user(user=person, actor=user_of(request))
    except LastAdministrator as error:
        messages.error(request, str(error))
    else:
        tell(request, f"Closed the account {person.username}.")
    return redirect("person", person.username)


@never_cache
@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def reopen_person(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    password = accounts.reopen_user(user=person, actor=user_of(request))
    if password:
        return _show_password(request, person, password)
    tell(request, f"The account {person.username} is open.")
    return redirect("person", person.username)


@never_cache
@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def reset_password(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    try:
        password = accounts.reset_password(user=person, actor=user_of(request))
    except (AccountClosed, accounts.NoPassword) as error:
        messages.error(request, str(error))
        return redirect("person", person.username)
    return _show_password(request, person, password)


@needs_role(Role.ADMINISTRATOR, everywhere=True)
@require_POST
def reset_second_factor(request: HttpRequest, username: str) -> HttpResponse:
    person = _find(username)
    factors.reset_second_factor(user=person, actor=user_of(request))
    tell(request, f"{person.username} logs in with the password alone, and can add a new factor.")
    return redirect("person", person.username)


@needs_role(Role.ADMINISTRATOR)
@require_http_methods(["GET", "POST"])
def site_people(request: HttpRequest, name: str) -> HttpResponse:
    site = Site.objects.get(name=name)
    form = MemberForm(request.POST or None)
    if form.is_valid():
        member, role = form.cleaned_data["username"], form.cleaned_data["role"]
        try:
            accounts.set_role(user=member, role=role, site=site, actor=user_of(request))
        except AccountClosed as error:
            form.add_error("username", str(error))
        else:
            tell(request, f"{member.username} is {role.label.lower()} at {site.name}.")
            return redirect("site_people", site.name)
    return render(request, "core/people/site_people.html", _members(site) | {"form": form})


@needs_role(Role.ADMINISTRATOR)
@require_POST
def remove_member(request: HttpRequest, name: str) -> HttpResponse:
    site = Site.objects.get(name=name)
    held = get_object_or_404(site.memberships.select_related("user"), pk=_number(request, "role"))
    accounts.remove_role(user=held.user, site=site, actor=user_of(request))
    tell(
        request,
        f"{held.user.username} is no longer {held.role} at {site.name}.",
        undo_url=reverse("site_people", args=[site.name]),
        undo_fields=[("username", held.user.username), ("role", held.role)],
    )
    return redirect("site_people", site.name)


def _create(form: AddPersonForm, generated_password: str, actor: User) -> User:
    entered = form.cleaned_data
    return accounts.create_user(
        username=entered["username"],
        first_name=entered["first_name"],
        last_name=entered["last_name"],
        email=entered["email"],
        role=entered["role"],
        site=entered["site"],
        password=generated_password or entered["password"],
        must_change_password=True,
        is_service=form.is_service,
        actor=actor,
    )


def _find(username: str) -> User:
    person: User = get_object_or_404(User.objects.with_roles(), username=storable(username))
    return person


def _person_page(
    request: HttpRequest,
    person: User,
    *,
    form: AccountForm | None = None,
    role_form: RoleForm | None = None,
) -> HttpResponse:
    recent = AuditEntry.objects.filter(actor=person).select_related("site")[:N_RECENT]
    context = {
        "person": person,
        "form": form or AccountForm(initial={name: getattr(person, name) for name in ENTRIES}),
        "role_form": role_form or RoleForm(),
        "superuser_form": SuperuserForm(initial={"is_superuser": person.is_superuser}),
        "tokens": person.tokens.all(),
        "second_factors": factors.kinds_of(person),
        "entries": [(entry, told_by(entry)) for entry in recent],
        "site_names": _site_names(),
    }
    return render(request, "core/people/person.html", context)


def _show_password(request: HttpRequest, person: User, password: str) -> HttpResponse:
    """Show a password in the answer itself: it is stored nowhere, not even in the session."""
    return render(request, "core/people/password.html", {"person": person, "password": password})


def _members(site: Site) -> dict[str, object]:
    held = Membership.objects.select_related("user").order_by("user__username")
    return {
        "site": site,
        "members": held.filter(site=site),
        "everywhere": held.filter(site__isnull=True, user__is_active=True),
    }


def _site_names() -> list[str]:
    return list(Site.objects.values_list("name", flat=True)[:N_SITE_NAMES])


def _number(request: HttpRequest, name: str) -> int:
    written = request.POST.get(name, "")
    # Digits of a bigint.
    return int(written) if written.isascii() and written.isdigit() and len(written) < 19 else 0
