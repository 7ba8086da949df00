"""What people enter of their second factors, and with the patience of a log-in."""

from __future__ import annotations

import struct
from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.core.exceptions import ValidationError

from vertex.core.services.people import log_in_attempts

LONGEST_CODE = 20
LONGEST_NAME = 60
LONGEST_CREDENTIAL = 32 * 1024  # characters
UNREADABLE = "The passkey could not be read. Try again, or choose another way."
# What the library stumbles over.
BAD_CREDENTIALS = (ValueError, TypeError, LookupError, AttributeError, struct.error)


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
        origin = log_in_attempts.origin_of(context.request, self.user.username)
        try:
            log_in_attempts.check_code(user=self.user, is_right=self._is_right, origin=origin)
        except log_in_attempts.WrongCode as error:
            raise ValidationError(str(error)) from None
        except log_in_attempts.TooManyAttempts as error:
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


class CredentialField(forms.JSONField):
    """What a browser says of a passkey; strangers may write anything there."""

    widget = forms.HiddenInput

    def to_python(self, value: Any) -> Any:
        if len(str(value)) > LONGEST_CREDENTIAL:
            raise ValidationError(UNREADABLE)
        try:
            return super().to_python(value)
        except RecursionError:
            raise ValidationError(UNREADABLE) from None

    def bound_data(self, data: Any, initial: Any) -> Any:  # noqa: ARG002 - the framework's signature
        """Return what the form is drawn with again: nothing of what was handed in."""
        return initial


class AskedPasskeyForm(AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey as the second step."""

    credential = CredentialField()

    def clean_credential(self) -> Any:
        try:
            return super().clean_credential()
        except BAD_CREDENTIALS:
            raise ValidationError(UNREADABLE) from None


class PasskeyLogInForm(AskedPasskeyForm, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey alone."""


class PasskeyAgainForm(AskedPasskeyForm, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey before something important is changed."""


class AddAppForm(ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an app, which shows that it has the secret."""

    code = _code_field("The six digits that the app shows now.")


class AddPasskeyForm(AddWebAuthnForm):  # type: ignore[misc]
    credential = CredentialField()
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

    def clean(self) -> dict[str, Any]:
        try:
            cleaned: dict[str, Any] = super().clean()
        except BAD_CREDENTIALS:
            raise ValidationError(UNREADABLE) from None
        return cleaned


class RenamePasskeyForm(EditWebAuthnForm):  # type: ignore[misc]
    name = forms.CharField(
        label="Name",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autofocus": True}),
    )
