"""Many jobs held by one process: looked after and renewed together, each with its own lease."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from django.utils import timezone

from vertex.core.models import Job
from vertex.core.services.jobs.jobs import (
    LEASE,
    MAX_MESSAGE_CHARS,
    JobCancelled,
    JobRun,
    LeaseLost,
)
from vertex.core.texts import storable

PROGRESS_FIELDS = ["n_done", "n_total", "message", "leased_until"]


@contextmanager
def caught() -> Iterator[list[Exception]]:
    """Yield a list for what the block raised: one job of many may fail, and then its row tells."""
    errors: list[Exception] = []
    try:
        yield errors
    except Exception as error:  # noqa: BLE001 - whatever it is, the other jobs of the process go on
        errors.append(error)


@dataclass(frozen=True, slots=True)
class JobProgress:
    """How far a job has come."""

    run: JobRun
    n_done: int
    n_total: int
    message: str


def why_not_held(runs: Iterable[JobRun]) -> dict[int, Exception]:
    """Return, by job, why those may not go on that were cancelled or taken over.

    The rows stay locked until the caller's transaction ends: what is written in it counts only for
    jobs that are still held.
    """
    lease_by_job = {run.job.pk: run.lease for run in runs}
    rows = Job.objects.select_for_update(no_key=True).filter(
        pk__in=lease_by_job, state=Job.State.RUNNING
    )
    held = {
        pk: cancelled_at
        for pk, lease, cancelled_at in rows.order_by("pk").values_list(
            "pk", "lease", "cancel_requested_at"
        )
        if lease == lease_by_job[pk]
    }
    refusals: dict[int, Exception] = {}
    for pk in lease_by_job:
        if pk not in held:
            refusals[pk] = LeaseLost()
        elif held[pk] is not None:
            refusals[pk] = JobCancelled()
    return refusals


def save_progress(progress: Iterable[JobProgress]) -> None:
    """Record how far jobs are and renew their leases, in the transaction that found them held."""
    leased_until = timezone.now() + LEASE
    jobs, getting_on = [], []
    for each in progress:
        job = each.run.job
        if each.n_done > job.n_done_before and job.n_tries > 1:
            job.n_tries = 1
            getting_on.append(job.pk)
        job.n_done, job.n_total = each.n_done, each.n_total
        job.message = storable(each.message, MAX_MESSAGE_CHARS)
        job.leased_until = leased_until
        jobs.append(job)
    Job.objects.bulk_update(jobs, PROGRESS_FIELDS)
    if getting_on:  # they have all their tries again; the others' are as their rows say
        Job.objects.filter(pk__in=getting_on).update(n_tries=1)


def renew_leases(runs: Iterable[JobRun]) -> None:
    """Renew the leases of jobs that were looked after in the caller's transaction."""
    held = Job.objects.filter(pk__in=[run.job.pk for run in runs], state=Job.State.RUNNING)
    held.update(leased_until=timezone.now() + LEASE)
