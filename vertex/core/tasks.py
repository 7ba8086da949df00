"""What workers do when rung: a task for each kind of job, and the ticks of the clock."""

from __future__ import annotations

import contextlib

from celery import shared_task

from vertex.core.models import Job
from vertex.core.services.jobs import heartbeat, jobs, sweeping
from vertex.core.services.jobs.limited_work import within_limits
from vertex.core.services.jobs.requests import JobKind

# What the processes that fetch do, by task; see `manage.py fetch`.
FETCHING_WORK: dict[str, jobs.Work] = {}


def register(kind: JobKind) -> None:
    """Register the Celery task that does the jobs of a kind, or its work where it fetches."""
    if kind.queue == Job.Queue.FETCH:
        FETCHING_WORK[kind.task] = kind.work
        return

    @shared_task(name=kind.task)
    def do_job(job_id: int) -> None:
        answer(job_id, kind.work)


def answer(job_id: int, work: jobs.Work) -> None:
    """Do the job that was rung for; somebody may have rung twice, or another worker been faster."""
    with contextlib.suppress(jobs.JobNotClaimed):
        jobs.run_job(job_id, within_limits(work))


@shared_task(name="clustering.sweep_jobs")
def sweep_jobs() -> None:
    sweeping.sweep_jobs()
    heartbeat.record_heartbeat(heartbeat.CLOCK)


@shared_task(name="clustering.drop_old_jobs")
def drop_old_jobs() -> None:
    sweeping.drop_old_jobs()


@shared_task(name="clustering.show_life")
def show_life(queue: str) -> None:
    heartbeat.record_heartbeat(queue)
