"""The stock admin, for superusers to look things up: what is changed elsewhere is read-only here."""
# ruff: noqa: ARG002 - Django gives its methods more than these need

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin import AdminSite, ModelAdmin
from django.core.exceptions import PermissionDenied
from django.shortcuts import redirect

from clustering.models import (
    AuditEntry,
    Host,
    Job,
    LogInAttempt,
    Membership,
    Page,
    Refusal,
    Site,
    Snapshot,
    Token,
    User,
)
from clustering.services import people
from clustering.views.access import send_to_log_in

if TYPE_CHECKING:
    from django.db.models import Model
    from django.forms import ModelForm
    from django.http import HttpRequest, HttpResponse

    _Admin = ModelAdmin[Any]
else:
    _Admin = ModelAdmin  # takes no parameter at run time


class ReadOnlyAdmin(_Admin):
    """Rows to look at: writing them here would go past services, audit trail and leases."""

    show_full_result_count = False  # counting a million pages takes longer than showing some

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class UserAdmin(ReadOnlyAdmin):
    """Users: their entries can be changed, through the same services as elsewhere."""

    list_display = ("username", "first_name", "last_name", "is_active", "is_superuser", "last_login")
    search_fields = ("username", "first_name", "last_name", "email")
    fields = (
        "username",
        *people.CHANGEABLE,
        "is_superuser",
        "is_active",
        "is_service",
        "must_change_password",
        "closed_at",
        "date_joined",
        "last_login",
    )
    readonly_fields = (
        "username",
        "is_active",
        "is_service",
        "must_change_password",
        "closed_at",
        "date_joined",
        "last_login",
    )

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.has_view_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:  # noqa: FBT001  # Django's signature
        user, actor = User.objects.get(pk=obj.pk), request.user
        if not isinstance(actor, User):
            raise PermissionDenied
        entered = {name: form.cleaned_data[name] for name in people.CHANGEABLE}
        people.change_user(user=user, actor=actor, **entered)
        try:
            people.set_superuser(user=user, is_superuser=form.cleaned_data["is_superuser"], actor=actor)
        except people.LastAdministrator as error:
            messages.error(request, str(error))


class TokenAdmin(ReadOnlyAdmin):
    """Tokens without the hashes of their keys."""

    list_display = ("name", "prefix", "user", "expires_at", "last_used_at", "revoked_at")
    exclude = ("key_hash",)


class StockAdmin(AdminSite):
    """The admin without doors of its own: log-in, password and log-out are those of the product."""

    site_header = "Vertex: rows of the database"
    site_title = "Vertex"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if request.user.is_authenticated:
            raise PermissionDenied("The stock admin is for superusers.")
        return send_to_log_in(request)

    def password_change(  # type: ignore[override]  # a redirection is an answer as well
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        return redirect("change_password")


site = StockAdmin(name="admin")
site.register(User, UserAdmin)
site.register(Token, TokenAdmin)
site.register([AuditEntry, Host, Job, LogInAttempt, Membership, Page, Refusal, Site, Snapshot], ReadOnlyAdmin)
