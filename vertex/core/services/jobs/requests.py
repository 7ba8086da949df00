"""Ask for a job: a declared kind of work, a checked request, and the three verbs that take it.

A function such as `crawl_request(site=…)` checks what it is given and returns a `JobRequest`;
nothing is in the database yet. `enqueue` gives it to a worker, `run_here` does it in this process.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from vertex.core.models import Job, Site, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import (
    JobExists,
    JobFailed,
    JobPutOff,
    Report,
    Work,
    report_to_nobody,
)
from vertex.core.services.jobs.limited_work import within_limits
from vertex.core.services.people import audit


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of work that runs as a job."""

    task: str  # the Celery task that a worker is rung for
    queue: Job.Queue
    work: Work
    action: str = ""  # what the audit trail calls asking for it; blank: it is not recorded there
    starts_over: bool = False  # a run that was killed is not continued but begun anew


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRequest:
    """A job that may be created: checked, and not in the database yet."""

    kind: JobKind
    title: str
    key: str  # only one unfinished job of a key
    site: Site | None = None
    params: dict[str, Any] = field(default_factory=dict)
    subject: object = ""  # for the audit trail, like detail; blank: the name of the site
    detail: dict[str, Any] | None = None
    is_audited: bool = True  # False where the machine asks by itself


def enqueue(
    request: JobRequest, *, actor: User | None = None, due_at: datetime | None = None
) -> Job:
    """Create the job for a worker, at once or when it is due. Raises JobExists."""
    return _create(request, actor, due_at=due_at)


def create_here(request: JobRequest, *, actor: User | None = None) -> Job:
    """Create the job for the caller, who does its work at once. Raises JobExists."""
    return _create(request, actor, is_reserved=True)


def run_here(
    request: JobRequest, *, actor: User | None = None, report: Report = report_to_nobody
) -> Job:
    """Do a job in this process and return it when it is done.

    An unfinished job that asks for the same is continued, also after its process was killed. Raises
    JobExists where another one is unfinished, JobNotClaimed where another process is at it, and
    JobFailed with the job's error.
    """
    job = claim_or_create(request, actor=actor)
    return finish_here(job, request.kind.work, report=report)


def claim_or_create(request: JobRequest, *, actor: User | None = None) -> Job:
    """Return the job to do here for a request: an unfinished one for the same, or a new one.

    An unfinished job that asks for something else is cancelled if its process was
    killed. Raises JobExists.
    """
    try:
        return create_here(request, actor=actor)
    except JobExists as unfinished:
        job = unfinished.job
        if request.kind.starts_over:
            if not _cancel_killed(job) and not _cancel_waiting(job, request):
                raise
        elif job.params | request.params == job.params:  # it may have noted more while it ran
            return job
        elif not _cancel_killed(job):
            raise
    return create_here(request, actor=actor)


def finish_here(job: Job, work: Work, *, report: Report = report_to_nobody) -> Job:
    """Do the work of a job in this process.

    Raises JobNotClaimed, and JobFailed with the job's error: JobPutOff where it may be done later.
    """
    done = jobs.run_job(job.pk, within_limits(work), report=report)
    if done.state == Job.State.DUE:
        # A worker would try it again, unseen by whoever started it here.
        jobs.cancel_job(job=done, actor=None)
        raise JobPutOff(done.error)
    if done.state != Job.State.DONE:
        state = done.get_state_display().lower()
        raise JobFailed(done.error or f"“{done.title}” (job {done.pk}) was {state}")
    return done


def _create(
    request: JobRequest,
    actor: User | None,
    *,
    due_at: datetime | None = None,
    is_reserved: bool = False,
) -> Job:
    """Create the job and its audit entry in one transaction."""
    kind = request.kind
    with transaction.atomic():
        job = jobs.create_job(
            task=kind.task,
            queue=kind.queue,
            title=request.title,
            site=request.site,
            params=request.params,
            key=request.key,
            actor=actor,
            due_at=due_at,
            is_reserved=is_reserved,
        )
        if kind.action and request.is_audited:
            audit.record(
                actor=actor,
                action=kind.action,
                subject=request.subject or (request.site.name if request.site else ""),
                site=request.site,
                detail=request.detail,
            )
    return job


def _cancel_killed(job: Job) -> bool:
    """Cancel a job whose process was killed, and return whether it was one."""
    if job.state != Job.State.RUNNING or not jobs.claimable(job, timezone.now()).exists():
        return False
    jobs.cancel_job(job=job, actor=None)
    return True


def _cancel_waiting(job: Job, request: JobRequest) -> bool:
    """Cancel a job that waits for a worker and has not begun, and return whether it was one."""
    if job.state != Job.State.DUE:
        return False
    if job.params.keys() != request.params.keys():
        return False  # it goes on with what an earlier job began
    jobs.cancel_job(job=job, actor=None)
    return True
