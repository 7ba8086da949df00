"""Where django-allauth asks the product: who may log in, what is sealed, who is added."""

from __future__ import annotations

from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.utils import get_login_redirect_url
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme

from vertex.core.models import User
from vertex.core.services.people import log_in_attempts, sealing, single_sign_on

log = structlog.get_logger(__name__)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]  # the library has no types
    """Log-in, after the password or another first step was right."""

    def is_open_for_signup(self, _request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str) -> bool:
        request = context.request
        return url_has_allowed_host_and_scheme(
            url, allowed_hosts={request.get_host()}, require_https=request.is_secure()
        )

    def respond_user_inactive(self, request: HttpRequest, _user: User) -> HttpResponse:
        messages.error(request, "This account is closed.")
        return redirect("log_in")

    def post_login(
        self, request: HttpRequest, user: User, *, redirect_url: str | None, **_: Any
    ) -> HttpResponse:
        """Send a person who is in on their way, and know this browser from now on."""
        request.session.set_expiry(None)
        response = redirect(get_login_redirect_url(request, redirect_url))
        response.set_cookie(
            log_in_attempts.DEVICE_COOKIE,
            log_in_attempts.name_device(user),
            max_age=log_in_attempts.DEVICE_KNOWN_FOR,
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )
        return response

    def reauthenticate(self, user: User, password: str) -> bool:
        """Return whether the password is right. Raises ValidationError after too many."""
        origin = log_in_attempts.origin_of(context.request, user.username)
        try:
            log_in_attempts.check_log_in(username=user.username, password=password, origin=origin)
        except log_in_attempts.WrongPassword:
            return False
        except log_in_attempts.TooManyAttempts as error:
            raise ValidationError(str(error)) from None
        return True


class SecondFactorAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """What second factors are called, and how their secrets are kept."""

    def encrypt(self, text: str) -> str:
        return sealing.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return what was sealed. Raises PermissionDenied where another installation sealed it."""
        try:
            return sealing.unseal(encrypted_text)
        except sealing.SealBroken:
            raise PermissionDenied(
                "Your second factor cannot be read: it was sealed with another VERTEX_SECRET_KEY. "
                "An administrator can reset it; then add it anew."
            ) from None

    def get_totp_label(self, user: User) -> str:
        return user.username

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        entity: dict[str, str] = super().get_public_key_credential_rp_entity()
        return entity | {"name": "Vertex"}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        entity: dict[str, Any] = super().get_public_key_credential_user_entity(user)
        return entity | {"name": user.username, "display_name": str(user)}

    def generate_authenticator_name(self, user: User, type: str) -> str:  # noqa: A002 - the library's name
        from_library: str = super().generate_authenticator_name(user, type)
        return {"Master key": "Passkey", "Backup key": "Second passkey"}.get(
            from_library, from_library
        )


class SingleSignOnAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Whom an identity provider lets in."""

    def is_open_for_signup(self, _request: HttpRequest, _sociallogin: Any) -> bool:
        return False

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        """Find out who this is, before the library lets anybody in."""
        claims = _claims_of(sociallogin)
        # Nobody ties an account of the provider's to their own: an administrator enters
        # the address.
        if claims is None or sociallogin.state.get("process") != "login":
            raise _refusal(request, "Single sign-on did not work. Try again.")
        if sociallogin.is_existing:
            return
        try:
            person = single_sign_on.person_named_by(claims)
            single_sign_on.check_untied(person)
        except single_sign_on.NobodyKnown as error:
            raise _refusal(request, str(error)) from None
        sociallogin.connect(request, person)
        single_sign_on.record_link(person)

    def on_authentication_error(
        self,
        request: HttpRequest,
        provider: Any,  # noqa: ARG002 - the library's signature
        error: Any = None,
        exception: Exception | None = None,
        extra_context: Any = None,  # noqa: ARG002 - the library's signature
    ) -> None:
        log.warning("single_sign_on_failed", error=str(error), reason=repr(exception))
        raise _refusal(request, "Single sign-on did not work. Try again.")


def _claims_of(sociallogin: Any) -> dict[str, Any] | None:
    """Return what the provider says of a person; None where it speaks of two."""
    answers: dict[str, dict[str, Any]] = sociallogin.account.extra_data
    in_token, at_address = answers.get("id_token") or {}, answers.get("userinfo") or {}
    if in_token and at_address and in_token.get("sub") != at_address.get("sub"):
        return None
    return {**in_token, **at_address}


def _refusal(request: HttpRequest, reason: str) -> ImmediateHttpResponse:
    messages.error(request, reason)
    return ImmediateHttpResponse(redirect("log_in"))
