"""Save a version of a cluster's rule with the pages that it was learnt from."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from annotation.models import Assignment
from clustering.models import Cluster
from rules.algorithms.rule.rule import AttributeRule
from rules.models import Rule, RuleSample
from rules.services.learning.sample_pages import SamplePages
from rules.services.learning.schemas import vertical_of
from vertex.core.models import User
from vertex.core.services.people import audit


class LearntContent(NamedTuple):
    """What a version consists of that was learnt, as its columns hold it."""

    definition: dict[str, Any]
    stylesheet: str
    figures: list[dict[str, Any]]
    validation: dict[str, Any]


def lock_versions(cluster: Cluster) -> Rule | None:
    """Return the newest version of a cluster's rule; nobody adds one until the transaction ends."""
    Cluster.objects.select_for_update(no_key=True).get(pk=cluster.pk)
    return Rule.objects.filter(cluster=cluster).order_by("-version").first()


@transaction.atomic
def save_version(rule: Rule, *, pages: SamplePages, actor: User | None) -> None:
    """Save a version as its author made it now, with its pages; a new one gets the next number."""
    newest = lock_versions(rule.cluster)
    if not rule.pk:
        rule.version = newest.version + 1 if newest is not None else 1
    else:
        rule.samples.all().delete()
    rule.made_at, rule.made_by = timezone.now(), actor
    rule.save()
    uses = (
        (RuleSample.Use.ANNOTATED, pages.annotated),
        (RuleSample.Use.UNANNOTATED, pages.unannotated),
        (RuleSample.Use.HELD_OUT, pages.held_out),
    )
    RuleSample.objects.bulk_create(
        RuleSample(rule=rule, snapshot=snapshot, use=use)
        for use, snapshots in uses
        for snapshot in snapshots
    )


@transaction.atomic
def save_successor(
    before: Rule,
    *,
    cluster: Cluster,
    content: LearntContent | None,
    pages: SamplePages,
    comment: str,
    actor: User | None,
) -> Rule:
    """Save a draft that follows a version after its site has changed; without content it is a copy.

    Vertical, schema and learner stay those of the version before. The cluster may be another one:
    it describes the same vertical from now on.
    """
    rule = Rule(
        cluster=cluster,
        vertical=before.vertical,
        schema=before.schema,
        learner=before.learner,
        comment=comment,
    )
    if content is not None:
        rule.definition, rule.stylesheet = content.definition, content.stylesheet
        rule.figures, rule.validation = content.figures, content.validation
    else:
        rule.definition, rule.stylesheet = before.definition, before.stylesheet
        rule.figures, rule.validation = before.figures, before.validation
        rule.origin, rule.edited_from = before.origin, before.edited_from
    save_version(rule, pages=pages, actor=actor)
    vertical = vertical_of(cluster)
    if vertical is None or vertical.pk != before.vertical_id:
        Assignment.objects.update_or_create(
            site=cluster.site, cluster=cluster, defaults={"vertical": before.vertical}
        )
    audit.record(
        actor=actor,
        action="rule.repaired",
        subject=str(rule),
        site=cluster.site,
        detail={"from": str(before), "comment": comment},
    )
    return rule


def figure_of(rule: AttributeRule, *, n_annotated: int, missing_on: list[str]) -> dict[str, Any]:
    """Return an attribute's figures as a version stores them: those of its first alternative.

    A rule without alternatives is of kind "none". The precision of a draft is the share of the
    annotated pages on which it is right.
    """
    best = rule.alternatives[0] if rule.alternatives else None
    precision = best.numbers.precision if best else 0.0
    draft = {}
    if rule.is_draft:
        precision = round(rule.n_right / rule.n_annotated, 4)
        draft = {"draft": True, "n_right": rule.n_right}
    return {
        "attribute": rule.attribute,
        "kind": best.kind if best else "none",
        "xpath": best.xpath if best else "",
        "precision": precision,
        "distance": best.numbers.distance if best else 0,
        "support": best.numbers.support if best else 0.0,
        "n_annotated": n_annotated,
        "missing_on": missing_on,
        **draft,
    }
