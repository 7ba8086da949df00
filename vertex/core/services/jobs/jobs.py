"""Run work that survives a crash: a row is the truth, a lease names who works, the broker rings."""

from __future__ import annotations

import errno
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import psycopg
import structlog
from django.conf import settings
from django.db import (
    DatabaseError,
    IntegrityError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)
from django.db.models import F, Q
from django.utils import timezone

from vertex.core.exceptions import AlreadyExists, TooBusy
from vertex.core.models import Job, Site, User
from vertex.core.models.jobs import LONGEST_DELAY, JobQuerySet, is_due
from vertex.core.services.jobs.bell import Bell
from vertex.core.services.jobs.processes import is_gone, this_process
from vertex.core.services.jobs.step_limits import begin_step
from vertex.core.services.people import audit
from vertex.core.storage import DiskFull, StoreAway, page_store
from vertex.core.texts import storable

LEASE = timedelta(seconds=60)
RESERVED = timedelta(seconds=60)  # of a job that was created to be done by this process at once
WAIT_AFTER_FAILURE = timedelta(seconds=30)  # doubled with each failure
MAX_WAIT = timedelta(hours=1)
WAIT_FOR_RETURN = timedelta(seconds=30)  # of a page store or a database that is away
MAX_STEP = timedelta(hours=1)  # a step that is kept alive and takes longer is taken for hanging
CUT_STATES = ("08", "57P")  # of PostgreSQL: connection exceptions, and what an operator does
MAX_TITLE_CHARS = 200
MAX_MESSAGE_CHARS = 300
MAX_TRIES = 5
# A process that fetches holds many jobs, so that its death says little of each:
# see `fetch_service`.
MAX_TRIES_OF_FETCHING = 8
MAX_ERROR_CHARS = 2000
BELL = Bell()

log = structlog.get_logger(__name__)

Work = Callable[["JobRun"], dict[str, Any] | None]
Report = Callable[[Any], None]


def report_to_nobody(_line: Any) -> None:
    """Drop what a job reports while it runs: nobody is looking."""


class JobExists(AlreadyExists):
    """A job of the same key is not finished yet."""

    def __init__(self, job: Job) -> None:
        super().__init__(
            f"“{job.title}” is already {job.get_state_display().lower()} (job {job.pk})"
        )
        self.job = job


class JobNotClaimed(Exception):
    """The job is finished, or another worker holds it."""


class JobCancelled(Exception):
    """Somebody asked to stop the job."""


class LeaseLost(Exception):
    """Another worker took the job over; nothing may be written for it any more."""


class JobFailed(Exception):
    """The work cannot be done; trying again would not help."""


class JobPutOff(JobFailed):
    """Another job that the work needs was not done this time, and may be later."""


@dataclass(slots=True)
class JobRun:
    """A claimed job while its work goes on."""

    job: Job
    lease: str
    report: Report = report_to_nobody  # called by the work for each line of its results

    @property
    def site(self) -> Site:
        """The site that the job works on. Raises JobFailed where it is gone."""
        if self.job.site is None:
            raise JobFailed("the site was deleted meanwhile")
        return self.job.site

    @property
    def held(self) -> JobQuerySet:
        """The job's row as long as the lease holds."""
        return Job.objects.filter(pk=self.job.pk, lease=self.lease, state=Job.State.RUNNING)

    def renew(
        self, *, n_done: int | None = None, n_total: int | None = None, message: str | None = None
    ) -> None:
        """Renew the lease and record the progress.

        Call it inside the transaction that writes a step's results: the step then counts only
        if the lease still holds. `n_done` counts over the whole job: when it grows beyond what
        the last worker reached, the job is getting on and has all its tries again. Raises
        LeaseLost or JobCancelled.
        """
        changes: dict[str, Any] = {}
        if n_done is not None:
            changes["n_done"] = n_done
            if n_done > self.job.n_done_before:
                changes |= {"n_tries": 1, "waits_since": None}
        if n_total is not None:
            changes["n_total"] = n_total
        if message is not None:
            changes["message"] = storable(message, MAX_MESSAGE_CHARS)
        self.extend_lease(**changes)
        begin_step()

    def extend_lease(self, **changes: object) -> None:
        """Renew the lease in the middle of a step. Raises LeaseLost or JobCancelled."""
        wanted = self.held.filter(cancel_requested_at__isnull=True)
        if not wanted.update(leased_until=timezone.now() + LEASE, **changes):
            raise JobCancelled if self.held.exists() else LeaseLost

    def finish(self, result: dict[str, Any] | None = None) -> None:
        """End the job as done inside the transaction that writes its last results.

        Needed where doing the last step again would do harm; otherwise `run_job` ends the job.
        Raises LeaseLost.
        """
        if not _end(self, Job.State.DONE, result=result or {}):
            raise LeaseLost

    @contextmanager
    def kept_alive(self, at_most: timedelta = MAX_STEP) -> Iterator[None]:
        """Renew the lease from a thread while one step takes longer than the lease.

        Results belong into a transaction after it, with a `renew` of its own. Raises LeaseLost or
        JobCancelled at the end of the step.
        """
        is_over = threading.Event()
        thread = threading.Thread(target=_keep_alive, args=(self, is_over, at_most), daemon=True)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        self.renew()


def create_job(
    *,
    task: str,
    queue: Job.Queue,
    title: str,
    site: Site | None = None,
    params: dict[str, Any] | None = None,
    key: str = "",
    actor: User | None = None,
    due_at: datetime | None = None,
    rings: bool = True,
    is_reserved: bool = False,
) -> Job:
    """Create a job's row and ring for a worker at the commit, unless the job is due later.

    One that is reserved is done by this process at once: to all others it is due a while later, so
    that none takes it away. Raises JobExists if one of the same key is unfinished. The apps ask for
    jobs by `requests`, which also writes the audit entry.
    """
    now = timezone.now()
    if is_reserved:
        due_at = now + RESERVED
    is_later = due_at is not None and due_at > now
    try:
        with transaction.atomic():
            job = Job.objects.create(
                task=task,
                queue=queue,
                title=storable(title, MAX_TITLE_CHARS),
                site=site,
                params=params or {},
                key=key,
                created_by=actor,
                due_at=due_at or now,
                leased_by=this_process() if is_reserved else "",
                rung_at=None if is_later else now,
                max_tries=MAX_TRIES_OF_FETCHING if queue == Job.Queue.FETCH else MAX_TRIES,
            )
    except IntegrityError:
        unfinished = Job.objects.unfinished().filter(key=key).first() if key else None
        if unfinished is None:
            raise
        raise JobExists(unfinished) from None
    if rings and not is_later:
        transaction.on_commit(lambda: ring(job), robust=True)
    return job


def ring(job: Job) -> bool:
    """Send the broker a message that a job is due, and return whether it was reached.

    If not, the sweeper rings again. Jobs that fetch need no ring: the processes that do them look
    for what is due by themselves.
    """
    return job.queue == Job.Queue.FETCH or BELL.ring(job.task, job.pk, job.queue)


def run_job(job_id: int, work: Work, *, report: Report = report_to_nobody) -> Job:
    """Claim the job, do its work and store how it ended.

    Raises JobNotClaimed where there is nothing to do. What the work raises becomes the row's error.
    """
    run = claim_job(job_id)
    run.report = report
    # A caller's transaction: its connection is not ours to drop.
    is_nested = connection.in_atomic_block
    try:
        page_store().check()
        result = work(run)
        # Changes nothing where the work has finished the job itself.
        _end(run, Job.State.DONE, result=result or {})
    except KeyboardInterrupt:
        if not is_nested:
            _drop_connection()
        _end(run, Job.State.CANCELLED, error="Stopped at the keyboard.")
        raise
    except SystemExit:  # the worker is being stopped: the next one goes on from here
        if not is_nested:
            _drop_connection()
        hand_back(run)
        raise
    except Exception as error:  # noqa: BLE001 - the one place where a job may fail: it becomes its row
        end_with(run, error)
    return Job.objects.filter(pk=job_id).first() or run.job  # it may have gone with its site


def end_with(run: JobRun, error: Exception) -> None:
    """Store how a job ended or when it is tried again, by what its work raised."""
    if isinstance(error, JobCancelled):
        _end(run, Job.State.CANCELLED)
    elif isinstance(error, LeaseLost):
        log.warning("lease_lost", job=run.job.pk)
    elif isinstance(error, JobFailed) and not isinstance(error, JobPutOff):
        _end(run, Job.State.FAILED, error=str(error))
    else:
        _postpone_or_fail(run, error)


def hand_back(run: JobRun) -> None:
    """Make a job due again at once: its process is being stopped, and the next one takes over."""
    _postpone(run, wait=timedelta(0), n_tries=F("n_tries") - 1)


def _drop_connection() -> None:
    """Close the connection, whatever its state; the next query opens another one.

    A signal may come between the database's BEGIN or COMMIT and Django's note of it. Then no
    transaction could begin, or the next one would never be committed.
    """
    connection.in_atomic_block = False
    connection.close()


def claim_job(job_id: int, *, now: datetime | None = None) -> JobRun:
    """Claim the lease of a job that is due or whose worker is gone. Raises JobNotClaimed."""
    now = now or timezone.now()
    refusal = JobNotClaimed(f"job {job_id} is finished, not due yet, or held by another worker")
    job = Job.objects.filter(pk=job_id).first()
    if job is None or end_hopeless(job, now):
        raise refusal
    lease = secrets.token_hex(16)
    claimed = claimable(job, now).update(
        state=Job.State.RUNNING,
        lease=lease,
        leased_by=this_process(),
        leased_until=now + LEASE,
        rung_at=None,
        started_at=job.started_at or now,
        claimed_at=now,
        n_done_before=job.n_done,
        n_tries=job.n_tries + 1,
        error="",
    )
    if not claimed:
        raise refusal
    job.refresh_from_db()
    return JobRun(job, lease)


def cancel_job(*, job: Job, actor: User | None) -> None:
    """Stop a job: at once if it waits or its worker is gone, at its next step if it runs."""
    now = timezone.now()
    with transaction.atomic():
        rows = Job.objects.filter(pk=job.pk)
        ended = rows.filter(state=Job.State.DUE).update(
            state=Job.State.CANCELLED, finished_at=now, cancel_requested_at=now
        )
        running = rows.filter(state=Job.State.RUNNING, cancel_requested_at__isnull=True)
        if ended or running.update(cancel_requested_at=now):
            audit.record(actor=actor, action="job.cancelled", subject=job.title, site=job.site)
    held = rows.filter(state=Job.State.RUNNING).first()
    if held is not None:
        end_hopeless(held, now)


def retry_job(*, job: Job, actor: User | None) -> None:
    """Make a failed or cancelled job due again; it goes on from where it was. Raises JobExists."""
    now = timezone.now()
    ended = Job.objects.filter(pk=job.pk, state__in=[Job.State.FAILED, Job.State.CANCELLED])
    try:
        with transaction.atomic():
            changed = ended.update(
                state=Job.State.DUE,
                due_at=now,
                rung_at=now,
                cancel_requested_at=None,
                finished_at=None,
                n_tries=0,
                waits_since=None,
                error="",
            )
            if changed:
                audit.record(actor=actor, action="job.retried", subject=job.title, site=job.site)
                transaction.on_commit(lambda: ring(job), robust=True)
    except IntegrityError:
        unfinished = Job.objects.unfinished().filter(key=job.key).first()
        if unfinished is None:
            raise
        raise JobExists(unfinished) from None


def claimable(job: Job, now: datetime) -> JobQuerySet:
    """Return the job's row if it can be claimed and has the same lease as when it was read."""
    rows = Job.objects.filter(pk=job.pk, lease=job.lease)
    if job.state == Job.State.RUNNING and is_gone(job.leased_by):
        return rows.filter(state=Job.State.RUNNING)
    is_reserved = bool(job.leased_by) and job.started_at is None
    if is_reserved and (job.leased_by == this_process() or is_gone(job.leased_by)):
        return rows.filter(state=Job.State.DUE)
    # A lease that ends later than any can was given before the clock was set back.
    is_over = Q(leased_until__lt=now) | Q(leased_until__gt=now + LONGEST_DELAY)
    return rows.filter(
        (Q(state=Job.State.RUNNING) & is_over) | (Q(state=Job.State.DUE) & is_due(now))
    )


def end_hopeless(job: Job, now: datetime) -> bool:
    """End a job that its worker left and nobody should take over, and return whether it was one."""
    if job.state != Job.State.RUNNING:
        return False
    if job.cancel_requested_at is not None:
        end, error = Job.State.CANCELLED, ""
    elif job.n_tries >= job.max_tries:
        end, error = Job.State.FAILED, _lost_workers(job)
    else:
        return False
    rows = claimable(job, now)
    return bool(rows.update(state=end, error=error, finished_at=now, lease="", leased_until=None))


def _lost_workers(job: Job) -> str:
    return (
        f"{job.n_tries} workers in a row were gone in the middle of this job without getting any "
        f"further: killed, crashed, out of memory, or over the time of a step. "
        f"The last one was {job.leased_by}. "
        "See the workers' log, then retry the job."
    )


def _end(
    run: JobRun, state: Job.State, *, error: str = "", result: dict[str, Any] | None = None
) -> bool:
    """Store how the job ended and release its lease, and return whether the lease still held."""
    changes: dict[str, Any] = {
        "state": state,
        "finished_at": timezone.now(),
        "error": storable(error, MAX_ERROR_CHARS),
    }
    if result is not None:
        changes["result"] = result
    with transaction.atomic():  # a result that the database refuses leaves the connection usable
        return bool(run.held.update(lease="", leased_until=None, **changes))


def _postpone(run: JobRun, *, wait: timedelta, **changes: object) -> None:
    """Make the job due again after a wait; one that somebody wants to stop is cancelled instead."""
    if run.held.filter(cancel_requested_at__isnull=False).exists():
        _end(run, Job.State.CANCELLED)
    due_at = timezone.now() + wait
    run.held.update(
        state=Job.State.DUE, due_at=due_at, rung_at=None, lease="", leased_until=None, **changes
    )


def _postpone_or_fail(run: JobRun, error: Exception) -> None:
    """Postpone a job whose work broke; one whose needs are away for now loses no try by it."""
    is_away = _is_away(error)
    if is_away:
        log.warning("job_waits", job=run.job.pk, error=str(error))
    else:
        log.error("job_failed", job=run.job.pk, exc_info=error)
    if not connection.in_atomic_block:
        connection.close_if_unusable_or_obsolete()  # the failure may be that of the connection
    if is_away:  # what it needs comes back; that it is away now says nothing of the job
        message = storable(f"Waits: {error}", MAX_ERROR_CHARS)
        _postpone(run, wait=WAIT_FOR_RETURN, n_tries=F("n_tries") - 1, error=message)
    else:
        _fail_or_wait(run, error)


def _fail_or_wait(run: JobRun, error: Exception) -> None:
    """Postpone the job to its next try; fail it after too many tries or on a full disk."""
    n_tries, max_tries = run.held.values_list("n_tries", "max_tries").first() or (0, 0)
    message = f"{type(error).__name__}: {error}"
    if _is_disk_full(error):
        room = (
            f"Have at least {settings.MIN_FREE_MB} MB free in {settings.VAR_DIR}, "
            "then retry the job."
        )
        _end(run, Job.State.FAILED, error=f"The disk is full: {error}. {room}")
    elif n_tries >= max_tries:
        _end(run, Job.State.FAILED, error=message)
    else:
        _postpone(
            run,
            wait=min(WAIT_AFTER_FAILURE * 2 ** (n_tries - 1), MAX_WAIT),
            error=storable(message, MAX_ERROR_CHARS),
        )


def _is_away(error: Exception) -> bool:
    """Return whether page store or database is out of reach, or nobody was free for the work."""
    if isinstance(error, StoreAway | TooBusy):
        return True
    is_lost = isinstance(error, OperationalError | InterfaceError)
    if is_lost and _was_cut(error.__cause__):
        return True
    return is_lost and (connection.connection is None or not connection.is_usable())


def _was_cut(cause: BaseException | None) -> bool:
    """Return whether PostgreSQL, or something on the way to it, ended the connection.

    The connection does not tell any more: Django opens another one where a transaction ends.
    """
    if not isinstance(cause, psycopg.OperationalError):
        return False
    return cause.sqlstate is None or cause.sqlstate.startswith(CUT_STATES)


def _is_disk_full(error: Exception) -> bool:
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
        return True
    return isinstance(error, DiskFull) or (
        isinstance(error, DatabaseError) and "disk is full" in str(error)
    )


def _keep_alive(run: JobRun, is_over: threading.Event, at_most: timedelta) -> None:
    until = time.monotonic() + at_most.total_seconds()
    try:
        while not is_over.wait(LEASE.total_seconds() / 3) and time.monotonic() < until:
            try:
                run.extend_lease()
            except DatabaseError as error:  # a lock, most likely: there is time for two more
                log.warning("lease_not_renewed", job=run.job.pk, error=str(error))
    except (LeaseLost, JobCancelled):
        return  # `kept_alive` raises it again at the end of the step
    finally:
        connection.close()  # this thread's own
