"""Which address of the API leads where."""

from __future__ import annotations

from django.urls import URLPattern, path

from vertex.core.api.jobs import jobs
from vertex.core.api.people import audit

urlpatterns: list[URLPattern] = [
    path("jobs/", jobs.Jobs.as_view(), name="jobs"),
    path("jobs/<id:pk>/", jobs.JobView.as_view(), name="job"),
    path("jobs/<id:pk>/cancel/", jobs.CancelJob.as_view(), name="cancel_job"),
    path("jobs/<id:pk>/retry/", jobs.RetryJob.as_view(), name="retry_job"),
    path("refusals/", jobs.Refusals.as_view(), name="refusals"),
    path("audit/", audit.Audit.as_view(), name="audit"),
]
