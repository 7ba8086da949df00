"""Publish a rule: from then on it extracts its cluster's records.

Publishing chooses the bellwethers and stores the golden records in the same transaction: what the
rule extracts from the samples is known to be right, because somebody has just looked at it. How
these values look is kept with the rule: a later value that looks odd beside them is doubted. What
the rule tells of the fields of its vertical is learnt by a job.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.models import Cluster, Page, Snapshot
from clustering.services.looks.assets import start_fetching_assets
from rules.algorithms.running.record_lines import Line, line_json, lines_of_extracted
from rules.algorithms.running.value_looks import looks_by_attribute
from rules.models import Bellwether, GoldenRecord, Review, Rule, RuleSample
from rules.services.fields.field_profiles import start_profiling
from rules.services.learning.place_pictures import start_drawing_places
from rules.services.learning.sample_pages import extract_snapshot
from rules.services.learning.schemas import runnable
from rules.services.review.impacts import changed_constant_fields
from vertex.core.models import User
from vertex.core.services.people import audit

N_BELLWETHERS = 20
MAX_CHANGES_NAMED = 3


class GoldenPage(NamedTuple):
    """What a rule extracts from a sample: known to be right once somebody published it."""

    page: Page
    snapshot: Snapshot
    lines: list[Line]


def publish_rule(
    *, rule: Rule, actor: User | None = None, is_forced: bool = False, reason: str = ""
) -> None:
    """Publish a rule and retire the one that served its cluster until now.

    Raises ValidationError where it extracts nothing and, unless forced, where constant values would
    change: those of the golden records, or of the stored pages that it was compared on.
    """
    golden = golden_pages(rule)
    if not any(line.values for page in golden for line in page.lines):
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
                + "; ".join(changed[:MAX_CHANGES_NAMED])
                + ". Look at them, and publish with force if they are right"
            )
        rule.value_looks = _looks_of(golden)
        _switch(before, rule, actor)
        _end_review(rule, actor, reason)
        _store_golden(rule, golden)
        _choose_bellwethers(rule, [page.page for page in golden])
        start_fetching_assets(snapshots=[page.snapshot for page in golden], actor=actor)
        start_profiling(rule=rule, actor=actor)
        start_drawing_places(rule=rule, actor=actor)
        audit.record(
            actor=actor,
            action="rule.published",
            subject=str(rule),
            site=rule.cluster.site,
            detail={
                "before": before.version if before else None,
                "forced": bool(changed),
                "reason": reason,
                "by": actor.username if actor else "the operator at the command line",
            },
        )


@transaction.atomic
def retire_rule(*, rule: Rule, why: str, actor: User | None = None) -> None:
    """Retire a rule that has no successor: its cluster has no rule from now on.

    One that is not published, or was retired already, stays as it is.
    """
    published = Rule.objects.published().filter(pk=rule.pk)
    if published.update(state=Rule.State.RETIRED, retired_at=timezone.now()):
        audit.record(
            actor=actor,
            action="rule.retired",
            subject=str(rule),
            site=rule.cluster.site,
            detail={"why": why},
        )


def golden_pages(rule: Rule) -> list[GoldenPage]:
    """Return what a rule extracts from the samples that it was learnt from, a page each."""
    samples = RuleSample.objects.filter(rule=rule).exclude(use=RuleSample.Use.HELD_OUT)
    ready = runnable(rule)
    golden: dict[Page, GoldenPage] = {}
    for sample in samples.select_related("snapshot__page").order_by("pk")[:N_BELLWETHERS]:
        snapshot = sample.snapshot
        extracted = extract_snapshot(snapshot, ready, nodes=True)
        if extracted is None:
            continue
        lines = lines_of_extracted(snapshot.page.url, ready, extracted)
        golden[snapshot.page] = GoldenPage(snapshot.page, snapshot, lines)
    return list(golden.values())


def _looks_of(golden: Iterable[GoldenPage]) -> dict[str, Any]:
    """Return as JSON how the values of each attribute look."""
    records = [line.record for page in golden for line in page.lines if line.record is not None]
    looks = looks_by_attribute((record.values, record.normalized) for record in records)
    return {name: value_looks.as_json() for name, value_looks in looks.items()}


def changed_constants(before: Rule, rule: Rule, golden: Sequence[GoldenPage]) -> list[str]:
    """Return the constant values of the golden records that a rule extracts otherwise."""
    names = [attribute.name for attribute in rule.attributes if attribute.is_constant]
    lines_by_page = {page.page: page.lines for page in golden}
    snapshots = [page.snapshot.pk for page in golden]
    old_golden = GoldenRecord.objects.filter(rule=before, snapshot__in=snapshots)
    changed = []
    for record in old_golden.select_related("page"):
        new_lines = lines_by_page.get(record.page, [])
        for old, new in zip(record.lines, new_lines, strict=False):
            for name in names:
                value, new_value = old.values.get(name), new.values.get(name)
                if value is not None and value != new_value:
                    changed.append(
                        f"{name} of {record.page.url} was {value!r} and is {new_value!r}"
                    )
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
    rule.save(update_fields=["state", "published_at", "published_by", "retired_at", "value_looks"])


def _end_review(rule: Rule, actor: User | None, reason: str) -> None:
    """End the review that led to the publishing, if there was one."""
    Review.objects.open().filter(rule=rule).update(
        outcome=Review.Outcome.PUBLISHED, decided_at=timezone.now(), decided_by=actor, reason=reason
    )


def _store_golden(rule: Rule, golden: Iterable[GoldenPage]) -> None:
    GoldenRecord.objects.filter(rule=rule).delete()
    GoldenRecord.objects.bulk_create(
        GoldenRecord(
            rule=rule,
            page=page.page,
            snapshot=page.snapshot,
            records=[line_json(line, nodes=True) for line in page.lines],
        )
        for page in golden
    )


def _choose_bellwethers(rule: Rule, pages: list[Page]) -> None:
    Bellwether.objects.filter(cluster=rule.cluster_id).delete()
    Bellwether.objects.bulk_create(
        Bellwether(cluster_id=rule.cluster_id, page=page, rank=rank)
        for rank, page in enumerate(pages, 1)
    )
