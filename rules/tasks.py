"""What workers do when rung: a task for each kind of job here, and the ticks of the clock."""

from __future__ import annotations

from celery import shared_task

from rules.services.fields import accepting_fields, field_drafts, field_profiles
from rules.services.learning import learning, place_pictures
from rules.services.lists import accepting_lists
from rules.services.records import extracting, record_exports, webhooks
from rules.services.review import impacts
from vertex.core.tasks import register

KINDS = (
    learning.LEARN_RULES,
    place_pictures.DRAW_PLACES,
    field_profiles.TRAIN_VERTICAL,
    field_profiles.PROFILE_RULE,
    field_drafts.DRAFT_RULES,
    accepting_lists.ACCEPT_LIST,
    accepting_fields.ACCEPT_FIELDS,
    extracting.EXTRACT_RECORDS,
    record_exports.EXPORT_RECORDS,
    impacts.COMPUTE_IMPACT,
)

for kind in KINDS:
    register(kind)


@shared_task(name="rules.tell_webhooks")
def tell_webhooks() -> None:
    webhooks.plan_deliveries()
    webhooks.send_deliveries()
