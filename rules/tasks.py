"""What workers do when rung for rules and records."""

from __future__ import annotations

from celery import shared_task

from rules.services.learning import learning
from rules.services.lists import accepting_lists
from rules.services.records import extracting, record_exports, webhooks
from rules.services.review import impacts
from vertex.core.tasks import answer


@shared_task(name="rules.learn_rules")
def learn_rules(job_id: int) -> None:
    answer(job_id, learning.learn_rules)


@shared_task(name="rules.accept_list")
def accept_list(job_id: int) -> None:
    answer(job_id, accepting_lists.accept_list)


@shared_task(name="rules.extract_records")
def extract_records(job_id: int) -> None:
    answer(job_id, extracting.extract_records)


@shared_task(name="rules.export_records")
def export_records(job_id: int) -> None:
    answer(job_id, record_exports.export_records)


@shared_task(name="rules.compute_impact")
def compute_impact(job_id: int) -> None:
    answer(job_id, impacts.compute_impact)


@shared_task(name="rules.tell_webhooks")
def tell_webhooks() -> None:
    webhooks.plan_deliveries()
    webhooks.send_deliveries()
