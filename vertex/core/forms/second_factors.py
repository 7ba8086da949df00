"""What people enter of their second factors, and with the patience of a log-in."""

from __future__ import annotations

from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from django import forms
from django.core.exceptions import ValidationError

from vertex.core.services.people import passwords

LONGEST_CODE = 20
LONGEST_NAME = 60


def _code_field(help_text: str = "") -> forms.CharField:
    return forms.CharField(
        label="Code",
        max_length=LONGEST_CODE,
        help_text=help_text,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}
        ),
    )


class CountedCodeForm(BaseAuthenticateForm):  # type: ignore[misc]  # the library has no types
    """A code that may be tried as often as a password."""

    code = _code_field("Six digits from your app, or one of your recovery codes.")
    wait = 0  # seconds, where too many were tried

    def clean_code(self) -> str:
        origin = passwords.origin_of(context.request, self.user.username)
        try:
            passwords.check_code(user=self.user, is_right=self._is_right, origin=origin)
        except passwords.WrongCode as error:
            raise ValidationError(str(error)) from None
        except passwords.TooManyAttempts as error:
            self.wait = error.seconds
            raise ValidationError(str(error)) from None
        return str(self.cleaned_data["code"])

    def _is_right(self) -> bool:
        try:
            super().clean_code()
        except ValidationError:
            return False
        return True


class CodeForm(CountedCodeForm, AuthenticateForm):  # type: ignore[misc]
    """The step after the password."""


class CodeAgainForm(CountedCodeForm, ReauthenticateForm):  # type: ignore[misc]
    """A code before something important is changed."""


class AddAppForm(ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an app, which shows that it has the secret."""

    code = _code_field("The six digits that the app shows now.")


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        required=False,
        help_text="By which you recognise it: where it is kept.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
    passwordless = forms.BooleanField(
        label="Log in with it alone",
        required=False,
        initial=True,
        help_text="Without the password: it asks for your finger, face or PIN instead.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # the library's signature
        kwargs["initial"] = {"name": "", **kwargs.get("initial", {})}
        super().__init__(*args, **kwargs)


class RenamePasskeyForm(EditWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
