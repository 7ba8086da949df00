"""Log-in, log-out, and what a person may change about themselves."""

from __future__ import annotations

from allauth.account.utils import perform_login
from django.conf import settings
from django.contrib.auth import logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from vertex.core.forms.people import AccountForm, LogInForm, PasswordForm
from vertex.core.services.people import log_in_attempts, people, second_factors
from vertex.core.views.access import needs_log_in, user_of
from vertex.core.views.toasts import tell
from vertex.core.views.ways_back import way_back

ENTRIES = ["first_name", "last_name", "email", "time_zone"]


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def log_in(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return redirect(_safe_next(request))
    form = LogInForm(request.POST or None)
    if not form.is_valid():
        return _log_in_page(request, form)
    username, password = form.cleaned_data["username"], form.cleaned_data["password"]
    origin = log_in_attempts.origin_of(request, username)
    try:
        user = log_in_attempts.check_log_in(username=username, password=password, origin=origin)
    except log_in_attempts.WrongPassword as error:
        form.add_error(None, str(error))
        return _log_in_page(request, form)
    except log_in_attempts.TooManyAttempts as error:
        form.add_error(None, str(error))
        return _log_in_page(request, form, wait=error.seconds)
    response: HttpResponse = perform_login(request, user, redirect_url=_safe_next(request))
    return response


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("log_in")


@needs_log_in
@require_http_methods(["GET", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    form = AccountForm(
        request.POST or None, initial={name: getattr(user, name) for name in ENTRIES}
    )
    if form.is_valid():
        people.change_user(user=user, actor=user, **form.cleaned_data)
        tell(request, "Saved.")
        return redirect("account")
    roles = user.memberships.select_related("site").order_by("site__name")
    context = {"form": form, "roles": roles, "second_factors": second_factors.kinds_of(user)}
    return render(request, "core/people/account.html", context)


@never_cache
@sensitive_post_parameters()
@needs_log_in
@require_http_methods(["GET", "POST"])
def change_password(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    is_forced = user.must_change_password
    form = PasswordForm(request.POST or None, user=user)
    if form.is_valid() and _is_current_password_right(request, form):
        people.change_password(user=user, password=form.cleaned_data["new"], actor=user)
        update_session_auth_hash(request, user)
        tell(request, "Your password is changed. All other sessions have ended.")
        return redirect("sites" if is_forced else "account")
    context = {"form": form, "is_forced": is_forced}
    return render(request, "core/people/change_password.html", context)


def _is_current_password_right(request: HttpRequest, form: PasswordForm) -> bool:
    """Check the current password with the same patience as a log-in, and say what is wrong."""
    username = user_of(request).username
    origin = log_in_attempts.origin_of(request, username)
    try:
        log_in_attempts.check_log_in(
            username=username, password=form.cleaned_data["current"], origin=origin
        )
    except log_in_attempts.WrongPassword:
        form.add_error("current", "This is not your current password.")
    except log_in_attempts.TooManyAttempts as error:
        form.add_error("current", str(error))
    else:
        return True
    return False


def _log_in_page(request: HttpRequest, form: LogInForm, *, wait: int = 0) -> HttpResponse:
    context = {
        "form": form,
        "next": request.POST.get("next", request.GET.get("next", "")),
        "wait": wait,
        "provider": settings.OIDC_NAME if settings.OIDC_URL else "",
    }
    response = render(request, "core/people/log_in.html", context, status=429 if wait else 200)
    if wait:
        response["Retry-After"] = str(wait)
    return response


def _safe_next(request: HttpRequest) -> str:
    """Return where to go after log-in: never to another host."""
    return way_back(request) or resolve_url(settings.LOGIN_REDIRECT_URL)
