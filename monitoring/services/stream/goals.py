"""Say for how long records of a cluster may be stale, and for how many requests a day."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.models import Cluster
from monitoring.models import FreshnessGoal, Revisit
from rules.models import Rule
from vertex.core.models import User
from vertex.core.services.people import audit

CHOSEN_FIELDS = ("goal_hours", "requests_per_day")


def make_default_goals() -> int:
    """Create the usual goal for each cluster with a published rule but no goal; return how many."""
    ruled = Rule.objects.published().filter(cluster__site__deletion_requested_at=None)
    clusters = ruled.filter(cluster__freshness_goal=None).values_list("cluster", flat=True)
    goals = [FreshnessGoal(cluster_id=cluster) for cluster in clusters.distinct()]
    # Another clock may have been faster.
    FreshnessGoal.objects.bulk_create(goals, ignore_conflicts=True)
    return len(goals)


def choose_goal(
    *,
    cluster: Cluster,
    goal_hours: int,
    requests_per_day: int | None = None,
    actor: User | None = None,
    now: datetime | None = None,
) -> FreshnessGoal:
    """Choose a cluster's goal and budget; its visits are planned anew. Raises ValidationError."""
    now = now or timezone.now()
    with transaction.atomic():
        goal, _ = FreshnessGoal.objects.select_for_update().get_or_create(cluster=cluster)
        before = {name: getattr(goal, name) for name in CHOSEN_FIELDS}
        goal.goal_hours, goal.requests_per_day = goal_hours, requests_per_day
        goal.full_clean(exclude=["cluster", "changed_by", "shares", "links"])
        after = {name: getattr(goal, name) for name in CHOSEN_FIELDS}
        if after == before:
            return goal
        goal.changed_at, goal.changed_by, goal.planned_at = now, actor, None
        goal.save()
        # They follow from the goal; the next tick sets them.
        Revisit.objects.filter(goal=goal, asked_at=None).update(next_at=None)
        audit.record(
            actor=actor,
            action="freshness_goal.changed",
            subject=str(cluster),
            site=cluster.site,
            detail={
                name: [before[name], after[name]]
                for name in CHOSEN_FIELDS
                if before[name] != after[name]
            },
        )
    return goal


def goal_json(goal: FreshnessGoal) -> dict[str, Any]:
    """Return the line that commands write of a goal."""
    return {
        "site": goal.cluster.site.name,
        "cluster": goal.cluster.name,
        "goal_hours": goal.goal_hours,
        "requests_per_day": goal.requests_per_day,
        "pages": goal.n_pages,
        "reached_share": round(goal.reached_share, 4),
        "expected_requests": round(goal.expected_requests, 1),
        "requests": goal.n_requests,
        "requests_saved": goal.n_saved,
        "planned_at": goal.planned_at,
    }
