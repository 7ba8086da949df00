"""What people enter about themselves, others and their keys."""

from __future__ import annotations

import zoneinfo
from functools import cache
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from vertex.core.models import Role, Scope, Site, User
from vertex.core.services.people import people
from vertex.core.services.people.tokens import DEFAULT_DAYS, MAX_DAYS

NO_ROLE = ("", "No role yet")


# Saves listing a folder, 4 ms, for each form.
@cache
def time_zones() -> list[tuple[str, str]]:
    """Return the zones that one may choose, the installation's first."""
    named = sorted(
        zone
        for zone in zoneinfo.available_timezones()
        if "/" in zone and not zone.startswith("Etc/")
    )
    return [
        ("", "As set for this installation"),
        ("UTC", "UTC"),
        *((zone, zone.replace("_", " ")) for zone in named),
    ]


class LogInForm(forms.Form):
    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(
            attrs={"autocomplete": "username", "autocapitalize": "none", "autofocus": True}
        ),
    )
    password = forms.CharField(
        strip=False,
        max_length=1024,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class PasswordForm(forms.Form):
    """A change of one's own password."""

    current = forms.CharField(
        label="Current password",
        strip=False,
        max_length=1024,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )
    new = forms.CharField(
        label="New password",
        strip=False,
        max_length=1024,
        help_text="At least 12 characters. A few unrelated words are easy to keep "
        "and hard to guess.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label="New password again",
        strip=False,
        max_length=1024,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:  # Django's signature
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_new(self) -> str:
        password: str = self.cleaned_data["new"]
        try:
            people.check_password_strength(password, self.user)
        except people.WeakPassword as error:
            raise ValidationError(error.problems) from None
        if password == self.cleaned_data.get("current"):
            raise ValidationError("This is the current password. Choose another one.")
        return password

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("new") and cleaned.get("again") and cleaned["new"] != cleaned["again"]:
            self.add_error("again", "The two new passwords differ.")
        return cleaned


class AccountForm(forms.Form):
    """What a person is called and where the clock stands."""

    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(label="Last name", max_length=150, required=False)
    email = forms.EmailField(label="E-mail address", max_length=254, required=False)
    time_zone = forms.ChoiceField(
        label="Time zone",
        choices=time_zones,
        required=False,
        help_text="Times are shown in this zone.",
    )


class SiteField(forms.CharField):
    """A site by its name; blank means all sites."""

    def __init__(self) -> None:
        super().__init__(
            label="Site",
            required=False,
            max_length=63,
            help_text="The name of a site. Blank: all sites, also those added later.",
            widget=forms.TextInput(
                attrs={"list": "site-names", "autocomplete": "off", "placeholder": "All sites"}
            ),
        )

    def clean(self, value: Any) -> Site | None:  # Django's signature
        name = super().clean(value)
        if not name:
            return None
        site = Site.objects.filter(name=name).first()
        if site is None:
            raise ValidationError(f"There is no site “{name}”.")
        return site


class RoleForm(forms.Form):
    """A role of a person, at one site or at all of them."""

    role = forms.ChoiceField(label="Role", choices=Role)
    site = SiteField()

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class SuperuserForm(forms.Form):
    """Whether a person administers the whole installation."""

    is_superuser = forms.BooleanField(
        label="Administrator of the installation",
        required=False,
        help_text="Has every role at every site, and may make others one.",
    )


class AddPersonForm(forms.Form):
    """A new person or service."""

    kind = forms.ChoiceField(
        label="Kind of account",
        choices=[
            ("person", "A person, who logs in"),
            ("service", "A service, which only holds tokens"),
        ],
        initial="person",
        widget=forms.RadioSelect,
    )
    username = forms.CharField(
        label="User name",
        max_length=150,
        help_text="Letters, digits and @ . + - _. It stays with all that the person does "
        "and cannot change.",
        widget=forms.TextInput(
            attrs={"autocomplete": "off", "autocapitalize": "none", "autofocus": True}
        ),
    )
    first_name = forms.CharField(label="First name", max_length=150, required=False)
    last_name = forms.CharField(label="Last name", max_length=150, required=False)
    email = forms.EmailField(label="E-mail address", max_length=254, required=False)
    role = forms.ChoiceField(
        label="Role", choices=[NO_ROLE, *Role.choices], required=False, initial=Role.VIEWER
    )
    site = SiteField()
    password = forms.CharField(
        strip=False,
        max_length=1024,
        required=False,
        help_text="Blank: one is made and shown to you once. "
        "Either way it is changed at the first log-in.",
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_role(self) -> Role | None:
        return Role(self.cleaned_data["role"]) if self.cleaned_data["role"] else None

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if password:
            try:
                people.check_password_strength(password)
            except people.WeakPassword as error:
                raise ValidationError(error.problems) from None
        return password

    @property
    def is_service(self) -> bool:
        return bool(self.cleaned_data["kind"] == "service")


class MemberForm(forms.Form):
    """A person's role at the site whose page this is."""

    username = forms.CharField(
        label="User name",
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    role = forms.ChoiceField(label="Role", choices=Role)

    def clean_username(self) -> User:
        name = self.cleaned_data["username"]
        user: User | None = User.objects.filter(username__iexact=name).first()
        if user is None:
            raise ValidationError(
                f"There is no account “{name}”. An administrator of all sites can add one."
            )
        return user

    def clean_role(self) -> Role:
        return Role(self.cleaned_data["role"])


class TokenForm(forms.Form):
    """A new key for the API."""

    name = forms.CharField(
        label="Name",
        max_length=100,
        help_text="What will use it, so that you know later what stops when it is revoked.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
    owner = forms.ModelChoiceField(
        label="For",
        queryset=User.objects.none(),
        empty_label=None,
        to_field_name="username",
        help_text="The token does what its owner may do, within its scopes.",
    )
    scopes = forms.MultipleChoiceField(
        label="Scopes",
        choices=[(scope.value, f"{scope.label} ({scope.value})") for scope in Scope],
        initial=Scope.reading,
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": "Choose at least one scope."},
    )
    days = forms.IntegerField(
        label="Valid for (days)",
        min_value=1,
        max_value=MAX_DAYS,
        initial=DEFAULT_DAYS,
        help_text=f"1 to {MAX_DAYS}. A token that has expired opens nothing.",
    )

    def __init__(self, *args: Any, owners: Any, **kwargs: Any) -> None:  # Django's signature
        super().__init__(*args, **kwargs)
        self.fields["owner"].queryset = owners  # type: ignore[attr-defined]  # of a ModelChoiceField

    def clean(self) -> dict[str, Any]:
        """Refuse a second usable token of the same name, as reloading the page would make one."""
        cleaned = super().clean() or {}
        owner, name = cleaned.get("owner"), cleaned.get("name")
        if owner and name and owner.tokens.filter(name=name, revoked_at__isnull=True).exists():
            self.add_error(
                "name",
                f"{owner.username} has a token “{name}” already. Revoke it or choose another name.",
            )
        return cleaned


class PeopleFilter(forms.Form):
    """Which accounts are listed."""

    q = forms.CharField(required=False, max_length=200)
    state = forms.ChoiceField(
        required=False, choices=[("open", ""), ("services", ""), ("closed", ""), ("all", "")]
    )


class AuditFilter(forms.Form):
    """Which changes are listed."""

    q = forms.CharField(required=False, max_length=200)
    person = forms.CharField(required=False, max_length=150)
    site = forms.CharField(required=False, max_length=63)
    action = forms.CharField(required=False, max_length=60)
