"""Which address leads where."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from vertex.core.views.jobs import jobs, refusals
from vertex.core.views.people import account, audit, people, tokens

SITE = "sites/<name:name>"

urlpatterns: list[URLPattern | URLResolver] = [
    path(f"{SITE}/people/", people.site_people, name="site_people"),
    path(f"{SITE}/people/remove/", people.remove_member, name="remove_member"),
    path("operations/jobs/", jobs.jobs, name="jobs"),
    path("operations/work-word/", jobs.work_word, name="work_word"),
    path("operations/jobs/<id:pk>/", jobs.job, name="job"),
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
    path("log-in/", account.log_in, name="log_in"),
    path("log-out/", account.log_out, name="log_out"),
]
