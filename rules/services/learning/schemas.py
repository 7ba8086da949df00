"""What a rule knows of its attributes: the vertical's as they were when it was learnt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Assignment, Vertical
from clustering.models import Cluster
from rules.algorithms.learning.targets import AttributeSpec
from rules.algorithms.running.records import AttributeType, RunnableRule
from rules.models import Rule


def vertical_of(cluster: Cluster) -> Vertical | None:
    """Return the vertical that a cluster's pages describe."""
    return Assignment.objects.all().vertical_of(cluster.site, cluster)


def schema_of(vertical: Vertical) -> list[dict[str, Any]]:
    """Return the attributes of a vertical as a rule keeps them."""
    return [
        {
            "name": attribute.name,
            "type": attribute.type,
            "is_constant": attribute.is_constant,
            "is_mandatory": attribute.is_mandatory,
            "is_multi": attribute.is_multi,
            "regex": attribute.regex,
        }
        for attribute in vertical.attributes.live()
    ]


def specs_of(schema: Sequence[dict[str, Any]]) -> list[AttributeSpec]:
    """Return a schema as the learner takes it."""
    return [AttributeSpec(**attribute) for attribute in schema]


def types_of(schema: Sequence[dict[str, Any]]) -> list[AttributeType]:
    """Return a schema as a run takes it."""
    return [AttributeType(**attribute) for attribute in schema]


def runnable(rule: Rule) -> RunnableRule:
    """Return a rule as it runs."""
    trust = {name: float(share) for name, share in rule.validation.get("trust", {}).items()}
    return RunnableRule(
        rule.cluster.name,
        rule.version,
        rule.stylesheet,
        types_of(rule.schema),
        trust,
        is_by_hand=rule.is_by_hand,
    )
