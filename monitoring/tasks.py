"""What workers do when rung: a task for each kind of this app's jobs, and the clock's ticks."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from monitoring.services.checks import checking, coverage, retention, schedules
from monitoring.services.notices import notices, trial_notices
from monitoring.services.repair import accepting, proposals, repairing
from monitoring.services.stream import chain, kept_lists, planning
from vertex.core.tasks import register

KINDS = (
    checking.RUN_CHECKS,
    repairing.HEAL_SITE,
    accepting.ACCEPT_PROPOSAL,
    trial_notices.TRY_CHANNEL,
)

for kind in KINDS:
    register(kind)


@shared_task(name="monitoring.go_on")
def go_on() -> None:
    schedules.close_slots()
    proposals.end_repaired_changes()
    chain.go_on()


@shared_task(name="monitoring.plan_goals")
def plan_goals() -> None:
    planning.plan_goals()


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
    kept_lists.delete_dropped_lists(timezone.now())
