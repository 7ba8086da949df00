"""What a rule knows of its attributes: the vertical's as they were when it was learnt."""

from __future__ import annotations

from annotation.models import Assignment, Vertical
from clustering.models import Cluster
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.confidence import trust_after
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.value_looks import ValueLooks
from rules.models import Rule


def vertical_of(cluster: Cluster) -> Vertical | None:
    """Return the vertical that a cluster's pages describe."""
    return Assignment.objects.all().vertical_of(cluster.site, cluster)


def runnable(rule: Rule) -> RunnableRule:
    """Return a rule as it runs."""
    judged = rule.validation.get("judged", {}).get("attributes", {})
    looks = {name: ValueLooks.from_json(form) for name, form in rule.value_looks.items()}
    trust = {name: trust_after(score["right"], score["wrong"]) for name, score in judged.items()}
    return RunnableRule(
        rule.cluster.name,
        rule.version,
        rule.stylesheet,
        rule.attributes,
        trust,
        is_by_hand=rule.is_by_hand,
        country=rule.cluster.site.country,
        looks=looks,
        ranks=ClusterRule.from_json(rule.definition).ranks if rule.definition else {},
    )
