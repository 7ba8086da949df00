"""Publish the rule again that served before."""

from __future__ import annotations

from django.core.exceptions import ValidationError

from rules.models import Rule
from rules.services.review.publishing import publish_rule
from vertex.core.models import User


def rule_before(rule: Rule) -> Rule | None:
    """Return the version that served a cluster before a published one; None where none did."""
    retired = Rule.objects.filter(cluster=rule.cluster_id, retired_at__isnull=False).exclude(
        pk=rule.pk
    )
    return retired.order_by("-retired_at", "-version").first()


def roll_back(*, rule: Rule, actor: User | None = None) -> Rule:
    """Publish the version that served before, and return it; constant values may change back.

    Raises ValidationError where the rule is not published, or no version served before it.
    """
    if rule.state != Rule.State.PUBLISHED:
        raise ValidationError(
            f"{rule} is {rule.get_state_display().lower()}, so there is nothing to roll back"
        )
    before = rule_before(rule)
    if before is None:
        raise ValidationError(
            f"no version was published before {rule}; publish another one instead"
        )
    publish_rule(rule=before, actor=actor, is_forced=True)
    return before
