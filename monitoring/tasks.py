"""What workers do when rung for checks and repairs."""

from __future__ import annotations

from celery import shared_task

from clustering.tasks import answer
from monitoring.services import checking, healing


@shared_task(name="monitoring.run_checks")
def run_checks(job_id: int) -> None:
    answer(job_id, checking.run_checks)


@shared_task(name="monitoring.heal_site")
def heal_site(job_id: int) -> None:
    answer(job_id, healing.heal_site)
