"""Let a rule serve its cluster, or the one before it again.

Publishing chooses the bellwethers and keeps the golden records in the same transaction: what the rule
extracts from the samples is known to be right, because somebody has just looked at it.
"""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.models import Cluster, Page, Snapshot
from clustering.services.looks.assets import start_fetching_assets
from rules.algorithms.running.record_lines import Line, line_json, lines_of_extracted
from rules.models import Bellwether, GoldenRecord, Review, Rule, RuleSample
from rules.services.learning.sample_pages import extract_snapshot
from rules.services.learning.schemas import runnable
from rules.services.review.impacts import changed_constant_fields
from vertex.core.models import User
from vertex.core.services.people import audit

N_BELLWETHERS = 20
MOST_TOLD = 3

Golden = dict["Page", tuple["Snapshot", "list[Line]"]]


def publish_rule(
    *, rule: Rule, actor: User | None = None, is_forced: bool = False, reason: str = ""
) -> None:
    """Let a rule extract its cluster's records from now on; the one that did so until now retires.

    Raises ValidationError where it extracts nothing and, unless forced, where constant values would change:
    those of the golden records, or of the stored pages that it was compared on.
    """
    golden = golden_records(rule)
    if not any(line.values for _, lines in golden.values() for line in lines):
        raise ValidationError(
            f"{rule} extracts nothing from any of its samples, so it is not published"
        )
    with transaction.atomic():
        Cluster.objects.select_for_update(no_key=True).get(pk=rule.cluster_id)
        before = Rule.objects.published().filter(cluster=rule.cluster_id).first()
        changed = (
            changed_constants(before, rule, golden) + changed_constant_fields(rule)
            if before
            else []
        )
        if changed and not is_forced:
            raise ValidationError(
                f"{rule} is not published, because values that must not change do: "
                + "; ".join(changed[:MOST_TOLD])
                + ". Look at them, and publish with force if they are right"
            )
        _switch(before, rule, actor)
        _end_review(rule, actor, reason)
        _keep_golden(rule, golden)
        _choose_bellwethers(rule, list(golden))
        start_fetching_assets(snapshots=[snapshot for snapshot, _ in golden.values()], actor=actor)
        audit.record(
            actor=actor,
            action="rule.published",
            subject=str(rule),
            site=rule.cluster.site,
            detail={
                "before": before.version if before else None,
                "forced": bool(changed),
                "reason": reason,
                "by": _told(actor),
            },
        )


def golden_records(rule: Rule) -> Golden:
    """Return what a rule extracts from the samples that it was learnt from, page by page."""
    samples = RuleSample.objects.filter(rule=rule).exclude(use=RuleSample.Use.HELD_OUT)
    ready = runnable(rule)
    golden: Golden = {}
    for sample in samples.select_related("snapshot__page").order_by("pk")[:N_BELLWETHERS]:
        snapshot = sample.snapshot
        extracted = extract_snapshot(snapshot, ready, nodes=True)
        if extracted is None:
            continue
        lines = lines_of_extracted(snapshot.page.url, ready, extracted)
        golden[snapshot.page] = (snapshot, lines)
    return golden


def changed_constants(before: Rule, rule: Rule, golden: Golden) -> list[str]:
    """Return the constant values of the golden records that a rule extracts otherwise."""
    constant = [attribute.name for attribute in rule.attributes if attribute.is_constant]
    old = GoldenRecord.objects.filter(rule=before, snapshot__in=[s.pk for s, _ in golden.values()])
    changed = []
    for kept in old.select_related("page"):
        _, lines = golden.get(kept.page, (None, []))
        for was, now in zip(kept.lines, lines, strict=False):
            changed += [
                f"{name} of {kept.page.url} was {was.values[name]!r} and is {now.values.get(name)!r}"
                for name in constant
                if was.values.get(name) is not None and was.values[name] != now.values.get(name)
            ]
    return changed


def _switch(before: Rule | None, rule: Rule, actor: User | None) -> None:
    if before is not None and before.pk != rule.pk:
        before.state, before.retired_at = Rule.State.RETIRED, timezone.now()
        before.save(update_fields=["state", "retired_at"])
    rule.state, rule.published_at, rule.published_by, rule.retired_at = (
        Rule.State.PUBLISHED,
        timezone.now(),
        actor,
        None,
    )
    rule.save(update_fields=["state", "published_at", "published_by", "retired_at"])


def _end_review(rule: Rule, actor: User | None, reason: str) -> None:
    """End the review that led to the publishing, if there was one."""
    Review.objects.open().filter(rule=rule).update(
        outcome=Review.Outcome.PUBLISHED, decided_at=timezone.now(), decided_by=actor, reason=reason
    )


def _keep_golden(rule: Rule, golden: Golden) -> None:
    GoldenRecord.objects.filter(rule=rule).delete()
    GoldenRecord.objects.bulk_create(
        GoldenRecord(
            rule=rule,
            page=page,
            snapshot=snapshot,
            records=[line_json(line, nodes=True) for line in lines],
        )
        for page, (snapshot, lines) in golden.items()
    )


def _choose_bellwethers(rule: Rule, pages: list[Page]) -> None:
    Bellwether.objects.filter(cluster=rule.cluster_id).delete()
    Bellwether.objects.bulk_create(
        Bellwether(cluster_id=rule.cluster_id, page=page, rank=rank)
        for rank, page in enumerate(pages, 1)
    )


def _told(actor: User | None) -> str:
    return actor.username if actor else "the operator at the command line"
