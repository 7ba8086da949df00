"""Second factors, passkeys and single sign-on: django-allauth's views in the product's own look."""

from __future__ import annotations

from collections.abc import Callable
from traceback import walk_tb
from typing import Any

import structlog
from allauth.account.views import ReauthenticateView
from allauth.mfa.base import views as steps
from allauth.mfa.recovery_codes import views as recovery
from allauth.mfa.totp import views as apps
from allauth.mfa.webauthn import views as passkeys
from allauth.socialaccount.providers.openid_connect import views as provider
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ImproperlyConfigured
from django.db import DataError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from vertex.core.services.people import log_in_attempts
from vertex.core.services.people.single_sign_on import PROVIDER
from vertex.core.views.access import needs_log_in
from vertex.core.views.page_reading import waits_for_others

# What the library stumbles over where an answer is not what the standard says.
ODD_ANSWER = (
    AttributeError,
    KeyError,
    TypeError,
    ValueError,
    OverflowError,
    RecursionError,
    DataError,
    ImproperlyConfigured,  # a number of a person that is too long
)
PAGES = "core/people/second_factors"


log = structlog.get_logger(__name__)


@method_decorator(sensitive_post_parameters("code"), name="dispatch")
class SecondStepView(steps.AuthenticateView):  # type: ignore[misc]  # the library has no types
    """The step after the password; too many wrong codes have to wait."""

    template_name = f"{PAGES}/second_step.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        wait = getattr(form, "wait", 0)
        if wait:
            response.status_code = 429
            response["Retry-After"] = str(wait)
        return response


class ConfirmByCodeView(steps.ReauthenticateView):  # type: ignore[misc]
    template_name = f"{PAGES}/confirm.html"

    def form_invalid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_invalid(form)
        if form.wait:
            response.status_code = 429
            response["Retry-After"] = str(form.wait)
        return response


class PasskeyLogInView(passkeys.LoginWebAuthnView):  # type: ignore[misc]
    """Log in by a passkey alone; beginnings are kept for minutes, and few from one network."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if log_in_attempts.begins_too_often(request):
            return too_often(request)
        response: HttpResponse = super().get(request, *args, **kwargs)
        _keep_for_minutes(request)
        return response


second_step = never_cache(SecondStepView.as_view())
log_in_by_passkey = never_cache(PasskeyLogInView.as_view())


@waits_for_others
@never_cache
@require_POST
def single_sign_on(request: HttpRequest) -> HttpResponse:
    """Send a stranger to the identity provider."""
    if not settings.OIDC_URL:
        raise Http404("No identity provider is set up.")
    if log_in_attempts.begins_too_often(request):
        return too_often(request)
    response = _ask_provider(request, provider.login, PROVIDER)
    _keep_for_minutes(request)
    return response


@waits_for_others
@never_cache
@require_GET
def back_from_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Take a person back from the identity provider."""
    if not settings.OIDC_URL:
        raise Http404("No identity provider is set up.")
    return _ask_provider(request, provider.callback, provider_id)


def too_often(request: HttpRequest) -> HttpResponse:
    """Refuse what one network begins too often."""
    response = render(request, "429.html", status=429)
    response["Retry-After"] = str(log_in_attempts.BEGINS_COUNTED_FOR)
    return response


def _keep_for_minutes(request: HttpRequest) -> None:
    """Keep what a stranger began no longer than it takes; `post_login` takes that back."""
    if not request.user.is_authenticated:
        request.session.set_expiry(log_in_attempts.BEGUN_FOR)


def _ask_provider(
    request: HttpRequest, view: Callable[..., HttpResponse], provider_id: str
) -> HttpResponse:
    """Return the library's answer; where the provider is away, or answers oddly, that is told."""
    try:
        return view(request, provider_id=provider_id)
    except OSError as error:  # what cannot be reached, or is no JSON
        return _tell_no_answer(request, error)
    except ODD_ANSWER as error:
        if not _is_raised_by_library(error):
            raise
        return _tell_no_answer(request, error)


def _is_raised_by_library(error: Exception) -> bool:
    """Return whether an error is of allauth itself or of what it calls, and not of our own code."""
    packages = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame, _ in walk_tb(error.__traceback__)
    ]
    # The frames go from the outermost call to where the error was raised.
    innermost = [package for package in packages if package in {"allauth", "vertex"}][-1:]
    return innermost == ["allauth"]


def _tell_no_answer(request: HttpRequest, error: Exception) -> HttpResponse:
    log.warning("identity_provider_failed", reason=repr(error))
    messages.error(request, f"{settings.OIDC_NAME} does not answer. Try again in a minute.")
    return redirect("log_in")


second_factors = needs_log_in(
    never_cache(steps.IndexView.as_view(template_name=f"{PAGES}/second_factors.html"))
)
add_app = needs_log_in(
    never_cache(apps.ActivateTOTPView.as_view(template_name=f"{PAGES}/add_app.html"))
)
remove_app = needs_log_in(
    never_cache(apps.DeactivateTOTPView.as_view(template_name=f"{PAGES}/remove.html"))
)
recovery_codes = needs_log_in(
    never_cache(recovery.ViewRecoveryCodesView.as_view(template_name=f"{PAGES}/codes.html"))
)
renew_codes = needs_log_in(
    never_cache(
        recovery.GenerateRecoveryCodesView.as_view(template_name=f"{PAGES}/renew_codes.html")
    )
)
add_passkey = needs_log_in(
    never_cache(passkeys.AddWebAuthnView.as_view(template_name=f"{PAGES}/add_passkey.html"))
)
rename_passkey = needs_log_in(
    never_cache(
        passkeys.EditWebAuthnView.as_view(
            template_name=f"{PAGES}/rename_passkey.html", success_url=reverse_lazy("mfa_index")
        )
    )
)
remove_passkey = needs_log_in(
    never_cache(
        passkeys.RemoveWebAuthnView.as_view(
            template_name=f"{PAGES}/remove.html", success_url=reverse_lazy("mfa_index")
        )
    )
)
confirm_by_password = needs_log_in(
    never_cache(
        sensitive_post_parameters("password")(
            ReauthenticateView.as_view(template_name=f"{PAGES}/confirm.html")
        )
    )
)
confirm_by_code = needs_log_in(
    never_cache(sensitive_post_parameters("code")(ConfirmByCodeView.as_view()))
)
confirm_by_passkey = needs_log_in(
    never_cache(
        passkeys.ReauthenticateWebAuthnView.as_view(
            template_name=f"{PAGES}/confirm_by_passkey.html"
        )
    )
)
