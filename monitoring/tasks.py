"""What workers do when rung for checks and repairs, and at the ticks of the clock."""

from __future__ import annotations

from celery import shared_task

from monitoring.services.checks import checking, coverage, retention, schedules
from monitoring.services.notices import notices, trial_notices
from monitoring.services.repair import proposals, repairing
from vertex.core.tasks import answer


@shared_task(name="monitoring.run_checks")
def run_checks(job_id: int) -> None:
    answer(job_id, checking.run_checks)


@shared_task(name="monitoring.heal_site")
def heal_site(job_id: int) -> None:
    answer(job_id, repairing.repair_site)


@shared_task(name="monitoring.try_channel")
def try_channel(job_id: int) -> None:
    answer(job_id, trial_notices.try_channel)


@shared_task(name="monitoring.plan_checks")
def plan_checks() -> None:
    schedules.close_slots()
    proposals.end_repaired_changes()
    schedules.plan_checks()
    proposals.propose_repairs()


@shared_task(name="monitoring.measure_coverage")
def measure_coverage() -> None:
    coverage.measure_coverage()


@shared_task(name="monitoring.tell_people")
def tell_people() -> None:
    notices.plan_notices()
    notices.send_notices()


@shared_task(name="monitoring.forget_old_findings")
def forget_old_findings() -> None:
    retention.delete_old_findings()
