"""Do the work of jobs within the limits of `step_limits`, in workers and commands."""

from __future__ import annotations

from functools import wraps
from typing import Any

from vertex.core.models import Job
from vertex.core.services.jobs.jobs import JobRun, Work
from vertex.core.services.jobs.step_limits import limited, take_notes_left
from vertex.core.services.seams import page_weigher
from vertex.core.storage import reads_are_noted


def within_limits(work: Work) -> Work:
    """Return the work of a job with limits around it.

    The pages that its last step had read when another process ended in the middle of it are weighed
    first: one that is too heavy by itself is left out then, and does not end this process, too.
    """

    @wraps(work)
    def limited_work(run: JobRun) -> dict[str, Any] | None:
        if reads_are_noted():  # within another job, or in a page process: its limits hold
            return work(run)
        if run.job.queue == Job.Queue.FETCH:  # its pages are read by children, and it has no steps
            return work(run)
        bodies = take_notes_left(run.job.pk)
        if bodies:
            with run.kept_alive():
                page_weigher()(bodies)
        with limited(run.job.pk):
            return work(run)

    return limited_work
