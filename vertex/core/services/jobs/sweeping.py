"""Look after jobs that nobody works on: ring again, end stuck ones, drop those ended long ago."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import SET_NULL
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.utils import timezone

from vertex.core.models import Job
from vertex.core.models.jobs import LONGEST_DELAY
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.processes import is_gone

MAX_RINGS_PER_QUEUE = 200  # more would not keep its workers busier
MAX_RING_INTERVAL = timedelta(minutes=15)  # between two rings for one job
RETENTION = timedelta(days=90)  # of finished jobs
JOBS_PER_BATCH = 500
ROWS_PER_BATCH = 5_000


def sweep_jobs(*, now: datetime | None = None) -> int:
    """Ring again for jobs that are due or whose worker is gone, and return how many.

    Jobs that cannot go on are ended: cancelled ones, and those that lost too many workers.
    """
    now = now or timezone.now()
    n_rings = 0
    for job in _unattended(now):
        if jobs.end_hopeless(job, now) or not _may_ring(job, now):
            continue
        # Written before the ring: the worker that answers it clears the time.
        if not jobs.claimable(job, now).filter(rung_at=job.rung_at).update(rung_at=now):
            continue
        if not jobs.ring(job):
            Job.objects.filter(pk=job.pk, rung_at=now).update(rung_at=job.rung_at)
            break  # the broker is away: each further ring would only wait for it
        n_rings += 1
    return n_rings


def drop_old_jobs(*, now: datetime | None = None) -> int:
    """Delete jobs that ended long ago, and return how many."""
    old = Job.objects.finished().filter(finished_at__lt=(now or timezone.now()) - RETENTION)
    n_dropped = 0
    while batch := list(old.values_list("pk", flat=True)[:JOBS_PER_BATCH]):
        _detach_rows(batch)
        Job.objects.filter(pk__in=batch).delete()
        n_dropped += len(batch)
    return n_dropped


def _detach_rows(job_pks: list[int]) -> None:
    """Detach rows of all apps from old jobs in batches, so that none locks millions of rows."""
    for relation in Job._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel) or relation.on_delete is not SET_NULL:
            continue
        name, manager = relation.field.name, relation.related_model._default_manager
        rows = manager.filter(**{f"{name}__in": job_pks}).values_list("pk", flat=True)
        while batch := list(rows[:ROWS_PER_BATCH]):
            manager.filter(pk__in=batch).update(**{name: None})


def _unattended(now: datetime) -> Iterator[Job]:
    """Yield the jobs whose worker is gone, then the oldest of those that wait in each queue."""
    for job in Job.objects.filter(state=Job.State.RUNNING).order_by("due_at"):
        until = job.leased_until
        is_over = until is not None and not now <= until <= now + LONGEST_DELAY
        if is_over or is_gone(job.leased_by):
            yield job
    for queue in Job.Queue:
        yield from (
            Job.objects.due(now).filter(queue=queue).order_by("due_at", "pk")[:MAX_RINGS_PER_QUEUE]
        )


def _may_ring(job: Job, now: datetime) -> bool:
    """Return whether enough time has passed since the last ring for a job that needs one.

    The time grows with the wait, so that a broker without workers does not fill up.
    """
    if job.queue == Job.Queue.FETCH:
        return False
    if job.rung_at is None:
        return True
    waiting_for = now - (job.leased_until or job.due_at)
    return now - job.rung_at >= max(jobs.LEASE, min(waiting_for / 4, MAX_RING_INTERVAL))
