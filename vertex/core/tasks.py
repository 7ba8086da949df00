"""What workers do when rung: each task claims its job's row and calls one service."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from celery import shared_task

from vertex.core.services.jobs import heartbeat, jobs, sweeping


def answer(job_id: int, work: Callable[[jobs.JobRun], dict[str, Any] | None]) -> None:
    """Do the job that was rung for; somebody may have rung twice, or another worker been faster."""
    with contextlib.suppress(jobs.JobNotClaimed):
        jobs.run_job(job_id, work)


@shared_task(name="clustering.sweep_jobs")
def sweep_jobs() -> None:
    sweeping.sweep_jobs()
    heartbeat.show_life(heartbeat.CLOCK)


@shared_task(name="clustering.drop_old_jobs")
def drop_old_jobs() -> None:
    sweeping.drop_old_jobs()


@shared_task(name="clustering.show_life")
def show_life(queue: str) -> None:
    heartbeat.show_life(queue)
