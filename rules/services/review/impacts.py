"""What publishing a rule changes: it and the one in use run on all stored pages of the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import transaction
from django.utils import timezone

from clustering.algorithms.grouping import RawPage
from clustering.models import PageMembership
from clustering.services.pages.stored_pages import StoredPage, read_pages, stored_pages
from rules.algorithms.review.impact import (
    CHANGED,
    LOST,
    SAME,
    FieldChange,
    add_counts,
    changes_of_page,
    count_changes,
)
from rules.algorithms.running.record_lines import Line, lines_of_extracted
from rules.algorithms.running.records import RunnableRule
from rules.bundle.extraction import extract
from rules.models import Impact, Rule
from rules.services.fields.second_opinions import ask_other_sites
from rules.services.learning.held_out import stylesheet_hash
from rules.services.learning.schemas import runnable
from vertex.core.models import Job, User
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue

PAGES_PER_BATCH = 50
MAX_EXAMPLES = 25  # of an attribute and kind
MAX_VALUE_CHARS = 2_000  # in an example


def start_impact(*, rule: Rule, actor: User | None = None) -> Impact:
    """Create the job that compares a rule with the published one. Raises JobExists."""
    against = Rule.objects.published().filter(cluster=rule.cluster_id).exclude(pk=rule.pk).first()
    with transaction.atomic():
        impact = Impact.objects.create(
            rule=rule,
            against=against,
            against_version=against.version if against else None,
            stylesheet_hash=stylesheet_hash(rule),
        )
        request = JobRequest(
            kind=COMPUTE_IMPACT,
            title=f"Compare {rule} with {against or 'no rule'}",
            site=rule.cluster.site,
            params={"impact": impact.pk},
            key=f"impact:{rule.pk}",
            subject=rule,
            detail={"against": impact.against_version},
        )
        impact.job = enqueue(request, actor=actor)
        impact.save(update_fields=["job"])
    return impact


def compute_impact(run: JobRun) -> dict[str, Any]:
    """Run both rules on the cluster's pages, count what differs, ask the vertical's other sites.

    Raises JobFailed.
    """
    impact = (
        Impact.objects.filter(pk=run.job.params["impact"]).select_related("rule", "against").first()
    )
    if impact is None:
        raise jobs.JobFailed("the rule was deleted meanwhile")
    members = PageMembership.objects.of_cluster(impact.rule.cluster_id)
    pages = list(members.order_by("page").values_list("page", flat=True))
    due = [page for page in pages if page > impact.last_page]
    for start in range(0, len(due), PAGES_PER_BATCH):
        batch = due[start : start + PAGES_PER_BATCH]
        with run.kept_alive():  # a rule may take seconds on each page before it is stopped
            changes = _changes_of(impact, stored_pages(run.site, batch))
        n_done = len(pages) - len(due) + start + len(batch)
        with transaction.atomic():
            run.renew(n_done=n_done, n_total=len(pages), message="comparing")
            _add_changes(impact, changes)
            impact.last_page = batch[-1]
            impact.save(update_fields=["figures", "examples", "last_page"])
    run.renew(message="asking other sites")
    ask_other_sites(rule=impact.rule, run=run)
    impact.finished_at = timezone.now()
    impact.save(update_fields=["finished_at"])
    return {"pages": len(pages)}


COMPUTE_IMPACT = JobKind(
    "rules.compute_impact", Job.Queue.EXTRACT, compute_impact, "impact.requested"
)


def _changes_of(
    impact: Impact, pages: Sequence[StoredPage]
) -> list[tuple[StoredPage, list[FieldChange]]]:
    """Return what changes on each page."""
    new = runnable(impact.rule)
    old = runnable(impact.against) if impact.against else None
    attributes = [*impact.rule.attributes, *(impact.against.attributes if impact.against else [])]
    names = list(dict.fromkeys(attribute.name for attribute in attributes))
    return [
        (page, changes_of_page(_lines(raw, old) if old else [], _lines(raw, new), names))
        for page, raw in zip(pages, read_pages(pages), strict=True)
        if not raw.is_unreadable
    ]


def _lines(page: RawPage, rule: RunnableRule) -> list[Line]:
    extracted = extract(page, rule, votes=False)
    return lines_of_extracted(page.url, rule, extracted)


def _add_changes(impact: Impact, pages: Iterable[tuple[StoredPage, list[FieldChange]]]) -> None:
    """Add what changes on some pages to an impact's figures and examples."""
    counts, n_pages = impact.figures.get("counts", {}), impact.figures.get("pages", 0)
    n_examples: dict[tuple[str, str], int] = {}
    for example in impact.examples:
        kind = (example["attribute"], example["kind"])
        n_examples[kind] = n_examples.get(kind, 0) + 1
    for page, changes in pages:
        counts, n_pages = add_counts(counts, count_changes(changes)), n_pages + 1
        for change in changes:
            kind = (change.attribute, change.kind)
            if change.kind != SAME and n_examples.get(kind, 0) < MAX_EXAMPLES:
                n_examples[kind] = n_examples.get(kind, 0) + 1
                impact.examples.append(_example(page, change))
    impact.figures = {"pages": n_pages, "counts": counts}


def _example(page: StoredPage, change: FieldChange) -> dict[str, Any]:
    return {
        "attribute": change.attribute,
        "kind": change.kind,
        "page": page.pk,
        "snapshot": page.snapshot,
        "url": page.url,
        "was": _cut(change.old),
        "now": _cut(change.new),
    }


def _cut(value: Any) -> Any:
    """Return a value short enough to be shown."""
    if isinstance(value, str):
        return value if len(value) <= MAX_VALUE_CHARS else f"{value[:MAX_VALUE_CHARS]}…"
    if isinstance(value, list):
        return [_cut(part) for part in value[:MAX_EXAMPLES]]
    if isinstance(value, dict):
        return {name: _cut(part) for name, part in value.items()}
    return value


def latest_impact(rule: Rule) -> Impact | None:
    """Return the newest comparison of a rule; None before the first."""
    return Impact.objects.filter(rule=rule).select_related("job", "against").first()


def is_outdated(impact: Impact) -> bool:
    """Return whether a rule or the one in use is no longer what was compared."""
    in_use = (
        Rule.objects.published().filter(cluster=impact.rule.cluster_id).exclude(pk=impact.rule_id)
    )
    version = in_use.values_list("version", flat=True).first()
    return version != impact.against_version or impact.stylesheet_hash != stylesheet_hash(
        impact.rule
    )


def changed_constant_fields(rule: Rule) -> list[str]:
    """Return which constant attributes change on stored pages, in words, as far as compared."""
    impact = latest_impact(rule)
    if impact is None or impact.finished_at is None or is_outdated(impact):
        return []
    counts = impact.figures.get("counts", {})
    sentences = []
    for attribute in rule.attributes:
        row = counts.get(attribute.name, {})
        n = row.get(CHANGED, 0) + row.get(LOST, 0)
        if attribute.is_constant and n:
            sentences.append(
                f"{attribute.name} changes in {n:,} record{'' if n == 1 else 's'} of stored pages"
            )
    return sentences
