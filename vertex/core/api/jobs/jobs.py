"""Routes of jobs and of what was refused on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http.response import HttpResponseBase
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request

from vertex.core.api.endpoints import ApiView, endpoint
from vertex.core.api.errors import Conflict
from vertex.core.api.paging import page_of
from vertex.core.api.permissions import Where, caller_of, check_role
from vertex.core.api.serializers import ListQuery, RowSerializer, StrictSerializer, listed
from vertex.core.models import Job, Refusal, Role, Scope, Site
from vertex.core.services.jobs import jobs

JOB_STATES = [(str(value), label) for value, label in Job.State.choices]


class JobRow(RowSerializer):
    class Meta:
        model = Job
        fields = (
            "id",
            "task",
            "queue",
            "site",
            "title",
            "state",
            "n_done",
            "n_total",
            "message",
            "result",
            "error",
            "n_tries",
            "due_at",
            "cancel_requested_at",
            "created_by",
            "created_at",
            "started_at",
            "finished_at",
        )

    site = serializers.CharField(source="site.name", allow_null=True)
    created_by = serializers.CharField(source="created_by.username", allow_null=True)
    result = serializers.DictField(allow_null=True, help_text="Figures of a job that is done.")


class RefusalRow(RowSerializer):
    class Meta:
        model = Refusal
        fields = ("id", "site", "job", "subject", "code", "reason", "refused_at")

    site = serializers.CharField(source="site.name", allow_null=True)
    job = serializers.IntegerField(source="job_id", allow_null=True)


class JobsQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    state = serializers.ChoiceField(choices=JOB_STATES, required=False)
    queue = serializers.ChoiceField(choices=Job.Queue.choices, required=False)
    task = serializers.CharField(
        max_length=100, required=False, help_text="Such as clustering.crawl_site."
    )


class RefusalsQuery(ListQuery):
    site = serializers.CharField(max_length=63, required=False, help_text="A site's name.")
    job = serializers.IntegerField(min_value=1, max_value=2**63 - 1, required=False)
    code = serializers.CharField(
        max_length=40, required=False, help_text="Such as robots or too_large."
    )


class Jobs(ApiView):
    @endpoint(
        "list_jobs", scope=Scope.JOBS_READ, query=JobsQuery, answers=listed(JobRow), tags=["jobs"]
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List jobs, the newest first."""
        visible = Job.objects.visible_to(caller_of(request))
        columns = {"site": "site__name", "state": "state", "queue": "queue", "task": "task"}
        filters = {column: query[name] for name, column in columns.items() if name in query}
        return page_of(
            visible.filter(**filters), row=JobRow, request=request, query=query, newest_first=True
        )


class JobAddress(ApiView):
    def find(self, request: Request, *, pk: int) -> Job:
        job = (
            Job.objects.visible_to(caller_of(request)).select_related("site").filter(pk=pk).first()
        )
        if job is None:
            raise NotFound(f"There is no job {pk}, or it is not yours to see.")
        return job

    def site_of(self, subject: Job) -> Site | None:
        return subject.site

    def check_needed_role(self, request: Request, subject: Job) -> None:
        """Refuse a caller who may not stop and retry the job, though others of its site."""
        check_role(request, (subject.needed_role, "there"), subject.site)


class JobView(JobAddress):
    @endpoint(
        "read_job",
        scope=Scope.JOBS_READ,
        needs=(Role.VIEWER, "there"),
        answers=JobRow,
        tags=["jobs"],
    )
    def get(self, _request: Request, *, subject: Job, **_: object) -> dict[str, Any]:
        """Show a job and how far it is."""
        return row_of_job(subject)


class CancelJob(JobAddress):
    @endpoint(
        "cancel_job",
        scope=Scope.JOBS_WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=JobRow,
        errors=(409,),
        tags=["jobs"],
    )
    def post(self, request: Request, *, subject: Job, **_: object) -> dict[str, Any]:
        """Stop a job: at once if it waits, at its next step if it runs."""
        self.check_needed_role(request, subject)
        if subject.is_finished:
            raise Conflict(f"Job {subject.pk} is {subject.get_state_display().lower()} already.")
        jobs.cancel_job(job=subject, actor=caller_of(request))
        return row_of_job(subject)


class RetryJob(JobAddress):
    @endpoint(
        "retry_job",
        scope=Scope.JOBS_WRITE,
        needs=(Role.OPERATOR, "there"),
        answers=JobRow,
        errors=(409,),
        tags=["jobs"],
    )
    def post(self, request: Request, *, subject: Job, **_: object) -> dict[str, Any]:
        """Retry a failed or cancelled job from where it stopped."""
        self.check_needed_role(request, subject)
        if subject.state not in {Job.State.FAILED, Job.State.CANCELLED}:
            raise Conflict(
                f"Job {subject.pk} is {subject.get_state_display().lower()}: nothing to retry."
            )
        jobs.retry_job(job=subject, actor=caller_of(request))
        return row_of_job(subject)


class Refusals(ApiView):
    @endpoint(
        "list_refusals",
        scope=Scope.PAGES_READ,
        query=RefusalsQuery,
        answers=listed(RefusalRow),
        tags=["jobs"],
    )
    def get(self, request: Request, *, query: dict[str, Any], **_: object) -> dict[str, Any]:
        """List what was not taken, and why: lines, pages, addresses; the newest first."""
        visible = Refusal.objects.filter(site__in=Site.objects.visible_to(caller_of(request)))
        columns = {"site": "site__name", "job": "job_id", "code": "code"}
        filters = {column: query[name] for name, column in columns.items() if name in query}
        return page_of(
            visible.filter(**filters),
            row=RefusalRow,
            request=request,
            query=query,
            newest_first=True,
        )


def job_endpoint(
    name: str,
    *,
    scope: str,
    needs: tuple[Role, Where],
    tags: list[str],
    takes: type[StrictSerializer] | None = None,
    errors: tuple[int, ...] = (409,),
) -> Callable[[Callable[..., Any]], Callable[..., HttpResponseBase]]:
    """Make a method a documented route that starts a job and returns its row."""
    return endpoint(
        name,
        scope=scope,
        needs=needs,
        takes=takes,
        answers=JobRow,
        status=202,
        errors=errors,
        tags=tags,
    )


def row_of_job(job: Job) -> dict[str, Any]:
    """Return a job as it is now."""
    return JobRow.read(Job.objects.filter(pk=job.pk))[0]
