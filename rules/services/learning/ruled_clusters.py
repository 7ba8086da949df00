"""Which clusters have a rule, for what annotation asks of people."""

from __future__ import annotations

from collections.abc import Collection

from rules.models import Rule


def clusters_with_rules(clusters: Collection[int]) -> set[int]:
    """Return those of some clusters that have a rule in any state."""
    rules = Rule.objects.filter(cluster__in=clusters).order_by()
    return set(rules.values_list("cluster", flat=True).distinct())
