"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from vertex.core.views.jobs import jobs, refusals
from vertex.core.views.people import account, audit, people, second_factors, tokens

SITE = "sites/<name:name>"

# django-allauth looks for its pages by names of its own.
LOG_IN_STEPS = [
    path("log-in/", account.log_in, name="account_login"),
    path("log-in/code/", second_factors.second_step, name="mfa_authenticate"),
    path("log-in/passkey/", second_factors.log_in_by_passkey, name="mfa_login_webauthn"),
    path("log-in/provider/", second_factors.single_sign_on, name="single_sign_on"),
    path(
        "log-in/provider/<slug:provider_id>/callback/",
        second_factors.back_from_provider,
        name="openid_connect_callback",
    ),
    path("settings/second-factor/", second_factors.second_factors, name="mfa_index"),
    path("settings/second-factor/app/", second_factors.add_app, name="mfa_activate_totp"),
    path(
        "settings/second-factor/app/remove/", second_factors.remove_app, name="mfa_deactivate_totp"
    ),
    path(
        "settings/second-factor/codes/",
        second_factors.recovery_codes,
        name="mfa_view_recovery_codes",
    ),
    path(
        "settings/second-factor/codes/renew/",
        second_factors.renew_codes,
        name="mfa_generate_recovery_codes",
    ),
    path("settings/second-factor/passkey/", second_factors.add_passkey, name="mfa_add_webauthn"),
    path(
        "settings/second-factor/passkey/<id:pk>/rename/",
        second_factors.rename_passkey,
        name="mfa_edit_webauthn",
    ),
    path(
        "settings/second-factor/passkey/<id:pk>/remove/",
        second_factors.remove_passkey,
        name="mfa_remove_webauthn",
    ),
    path(
        "settings/confirm/password/",
        second_factors.confirm_by_password,
        name="account_reauthenticate",
    ),
    path("settings/confirm/code/", second_factors.confirm_by_code, name="mfa_reauthenticate"),
    path(
        "settings/confirm/passkey/",
        second_factors.confirm_by_passkey,
        name="mfa_reauthenticate_webauthn",
    ),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path(f"{SITE}/people/", people.site_people, name="site_people"),
    path(f"{SITE}/people/remove/", people.remove_member, name="remove_member"),
    path("operations/jobs/", jobs.jobs, name="jobs"),
    path("operations/work-word/", jobs.work_word, name="work_word"),
    path("operations/jobs/<id:pk>/", jobs.job, name="job"),
    path("operations/jobs/<id:pk>/word/", jobs.job_word, name="job_word"),
    path("operations/jobs/<id:pk>/cancel/", jobs.cancel_job, name="cancel_job"),
    path("operations/jobs/<id:pk>/retry/", jobs.retry_job, name="retry_job"),
    path("operations/jobs/<id:pk>/file/", jobs.job_file, name="job_file"),
    path("operations/refusals/", refusals.refusals, name="refusals"),
    path("settings/account/", account.account, name="account"),
    path("settings/account/password/", account.change_password, name="change_password"),
    path("settings/people/", people.people, name="people"),
    path("settings/add-person/", people.add_person, name="add_person"),
    path("settings/people/<str:username>/", people.person, name="person"),
    path("settings/people/<str:username>/give-role/", people.give_role, name="give_role"),
    path("settings/people/<str:username>/take-role/", people.take_role, name="take_role"),
    path(
        "settings/people/<str:username>/set-superuser/", people.set_superuser, name="set_superuser"
    ),
    path("settings/people/<str:username>/close/", people.close_person, name="close_person"),
    path("settings/people/<str:username>/reopen/", people.reopen_person, name="reopen_person"),
    path(
        "settings/people/<str:username>/reset-password/",
        people.reset_password,
        name="reset_password",
    ),
    path("settings/tokens/", tokens.tokens, name="tokens"),
    path("settings/add-token/", tokens.add_token, name="add_token"),
    path("settings/tokens/<id:pk>/revoke/", tokens.revoke_token, name="revoke_token"),
    path("settings/audit/", audit.audit, name="audit"),
    path(
        "settings/people/<str:username>/reset-second-factor/",
        people.reset_second_factor,
        name="reset_second_factor",
    ),
    path("log-in/", account.log_in, name="log_in"),
    path("log-out/", account.log_out, name="log_out"),
    *LOG_IN_STEPS,
]
