"""Gather what the page of a site change shows: both pages, the values on both, the repair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from clustering.models import Snapshot
from monitoring.models import CheckedPage, FetchedPage, Proposal, ProposalQuerySet, SiteChange
from monitoring.services.repair.proposals import DECISION_LABELS
from rules.algorithms.running.record_lines import Line
from rules.models import GoldenRecord, Rule
from rules.views.review.review_rows import marks_at

MAX_PAGES = 40
MAX_DIGITS = 18  # of a number in an address
DECIDABLE = (Proposal.Decision.PROPOSED, Proposal.Decision.REUSED)


class ChangedValue(NamedTuple):
    """An attribute on the old page and on the new one."""

    name: str
    old: Any
    old_path: str
    extracted: Any  # what the rule in force gives now
    kind: str  # how it failed; blank: it did not
    found: Any  # as the old value: a text, or a list where the attribute has several
    found_path: str
    score: float | None
    xpath: str  # of the new rule
    precision: float | None
    certainty: float | None  # where no stored value was found again
    decision: str
    decision_label: str


class ChangedPage(NamedTuple):
    """An affected page on both days."""

    checked: CheckedPage
    old: Snapshot | None
    new: Snapshot | None
    values: Sequence[ChangedValue]
    marks: str


def example_of(change: SiteChange, *, page: str, proposal_pk: str) -> dict[str, Any]:
    """Return the compared page and the others; first comes one that a repair learnt from."""
    proposal = proposal_of(change, proposal_pk)
    others = _proposals_of(change).waiting().filter(decision=Proposal.Decision.PROPOSED)
    pages = _pages(change, proposal)
    checked = pages[0] if pages else None
    for known in pages:
        if str(known.page_id) == page:
            checked = known
    return {
        "proposal": proposal,
        "other_proposals": others.exclude(pk=proposal.pk) if proposal else [],
        "pages": pages,
        "example": _example(change, checked, proposal) if checked else None,
    }


def proposal_of(change: SiteChange, wanted: str = "") -> Proposal | None:
    """Return the repair of a change that is asked for by number, else the one that says most.

    Of a change that is over, that is the one that was accepted. Of an open one it is the best that
    waits, else the latest: some of a cluster's pages may have come into another cluster; a repair
    for the cluster itself comes first, then one that passes the field test, then the one that
    serves most pages.
    """
    mine = _proposals_of(change)
    if wanted.isdecimal() and len(wanted) <= MAX_DIGITS:
        asked_for = mine.filter(pk=int(wanted)).first()
        if asked_for is not None:
            return asked_for
    if change.ended_at is not None:
        accepted = mine.filter(state=Proposal.State.ACCEPTED)
        own = accepted.filter(cluster=change.cluster_id).first()
        if own or accepted.exists():
            return own or accepted.first()
    best = min(mine.waiting(), key=partial(_order, change), default=None)
    return best or mine.exclude(state=Proposal.State.REPLACED).first()


def _proposals_of(change: SiteChange) -> ProposalQuerySet:
    """Return the repairs of a change, the latest first."""
    mine = Proposal.objects.filter(from_cluster=change.cluster_id, made_at__gte=change.found_at)
    related = ("site", "job", "rule", "page_to_annotate", "accepted_by", "rejected_by")
    return mine.select_related(*related).order_by("-id")


def _order(change: SiteChange, proposal: Proposal) -> tuple[bool, bool, int, int]:
    is_own = proposal.cluster_id == change.cluster_id
    return not is_own, proposal.field_test is not True, -proposal.n_urls, -proposal.pk


def new_snapshots(change: SiteChange) -> list[Snapshot]:
    """Return the pages of a change as they are now, as far as they were saved."""
    rows = CheckedPage.objects.filter(cluster=change.cluster_id, snapshot__isnull=False)
    rows = rows.filter(outcome=CheckedPage.Outcome.CHANGED)
    rows = rows.filter(check_run__gte=change.found_by_id or 0).select_related(
        "snapshot__page__site"
    )
    latest = {row.page_id: row.snapshot for row in rows.order_by("check_run", "pk")}
    return [snapshot for snapshot in latest.values() if snapshot is not None]


def _pages(change: SiteChange, proposal: Proposal | None) -> list[CheckedPage]:
    learnt = set(proposal.evidence) if proposal else set()
    rows = CheckedPage.objects.filter(check_run=change.found_by_id, cluster=change.cluster_id)
    rows = rows.filter(outcome=CheckedPage.Outcome.CHANGED)

    def order(page: CheckedPage) -> tuple[bool, bool, int]:
        has_failed = bool(page.failed)
        return not (page.page.url in learnt and has_failed), not has_failed, page.pk

    pages = rows.select_related("page", "snapshot__page__site")
    return sorted(pages, key=order)[:MAX_PAGES]


def _example(change: SiteChange, checked: CheckedPage, proposal: Proposal | None) -> ChangedPage:
    """Compare a page with what it was when its rule was published; a list by its first record."""
    golden = _golden(change, checked)
    old = golden.snapshot if golden else None
    old_records = golden.lines if golden else []
    new = checked.snapshot or _fetched(checked, proposal)
    values = _values(old_records[0] if old_records else None, checked, proposal)
    marks = orjson.dumps(_marks(old, new, values)).decode()
    return ChangedPage(checked, old, new, values, marks)


def _golden(change: SiteChange, checked: CheckedPage) -> GoldenRecord | None:
    rules = Rule.objects.filter(cluster=change.cluster_id, published_at__lte=change.found_at)
    rows = GoldenRecord.objects.filter(rule__in=rules, page=checked.page_id)
    return rows.select_related("snapshot__page__site", "rule").order_by("-rule__version").first()


def _fetched(checked: CheckedPage, proposal: Proposal | None) -> Snapshot | None:
    if proposal is None or proposal.job_id is None:
        return None
    rows = FetchedPage.objects.filter(job=proposal.job_id, page=checked.page_id)
    row = rows.select_related("snapshot__page__site").first()
    return row.snapshot if row else None


def _values(
    old_record: Line | None, checked: CheckedPage, proposal: Proposal | None
) -> list[ChangedValue]:
    old_values = old_record.values if old_record else {}
    old_nodes = old_record.nodes if old_record else {}
    failures = {failure["attribute"]: failure for failure in checked.failed}
    proposed = proposal.attributes if proposal and proposal.decision in DECIDABLE else {}
    evidence = proposal.evidence.get(checked.page.url, {}) if proposal else {}
    rows = []
    for name in dict.fromkeys([*failures, *old_values, *proposed]):
        failure = failures.get(name, {})
        found_values: Sequence[Mapping[str, Any]] = evidence.get(name, [])
        found_value: Mapping[str, Any] = next(iter(found_values), {})
        texts = [value["text"] for value in found_values]
        old = old_values.get(name, failure.get("was"))
        figures = proposed.get(name, {})
        decision = figures.get("said", "")
        rows.append(
            ChangedValue(
                name=name,
                old=old,
                old_path=_first(old_nodes.get(name)),
                extracted=failure.get("now"),
                kind=failure.get("kind", ""),
                found=texts if isinstance(old, list) else "".join(texts[:1]),
                found_path=found_value.get("xpath", ""),
                score=found_value.get("score"),
                xpath=figures.get("xpath", ""),
                precision=figures.get("precision"),
                certainty=figures.get("certainty"),
                decision=decision,
                decision_label=DECISION_LABELS.get(decision, ""),
            )
        )
    return rows


def _marks(
    old: Snapshot | None, new: Snapshot | None, values: Sequence[ChangedValue]
) -> dict[str, Any]:
    """Return where the values stand on both pages, as the frames draw them."""
    old_paths = [(row.name, row.old_path) for row in values if row.old_path]
    found_paths = [(row.name, row.found_path) for row in values if row.found_path]
    return {
        "old": marks_at(old, old_paths, "lost") if old else [],
        "new": marks_at(new, found_paths, "found") if new else [],
    }


def _first(value: Any) -> str:
    return value if isinstance(value, str) else next(iter(value or []), "")
