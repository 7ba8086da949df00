"""Save what a check found: its pages, site changes that begin or end, alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.models import Cluster, Snapshot
from monitoring.algorithms.verdicts import UNREACHABLE, Thresholds
from monitoring.models import Alert, Check, CheckedPage, FetchedPage, Proposal, SiteChange, Slot
from monitoring.services.checks.reports import report_of
from monitoring.services.checks.testing import TestedCluster
from monitoring.services.notices.alerts import settle_alert
from rules.services.records.stale_records import mark_fresh, mark_stale
from vertex.core.models import User
from vertex.core.services.people import audit

MAX_WHY_CHARS = 40


def save_check(
    *,
    check: Check,
    tested: Sequence[TestedCluster],
    line: Mapping[str, Any],
    thresholds: Thresholds,
    snapshots: Mapping[int, Snapshot],
    statuses: Mapping[str, int],
    tries: Mapping[str, int],
    again_at: datetime | None,
) -> None:
    """Save a check's verdict and pages in the caller's transaction, and what follows from it."""
    before = Check.objects.latest_of(check.site)
    check.state = Check.State.DONE
    check.made_at = timezone.now()
    check.site_changed = line["site_changed"]
    check.verdict = line["state"]
    check.layouts = line.get("layouts", [])
    check.again_at = again_at
    check.paper_verdict = line["paper_verdict"]
    check.broken = line["broken"]
    check.reason = line["reason"]
    check.warnings = line.get("warnings", [])
    check.rules_share = len(check.broken) / len(tested)
    check.clusters = [asdict(cluster.verdict) for cluster in tested]
    check.thresholds = asdict(thresholds)
    check.n_pages = sum(len(cluster.tests) for cluster in tested)
    check.n_reachable = sum(cluster.verdict.n_reachable for cluster in tested)
    check.save()
    _save_pages(check, tested, snapshots, statuses, tries)
    for cluster in tested:
        _settle_change(check, cluster, before)
    _settle_alerts(check, tested)
    FetchedPage.objects.filter(check_run=check).delete()
    _end_slot(check)


def end_change(*, cluster: Cluster, end: SiteChange.End, actor: User | None = None) -> None:
    """End the open change of a cluster, if there is one, and report what it was."""
    with transaction.atomic():
        change = (
            SiteChange.objects.open()
            .filter(cluster=cluster)
            .select_for_update(of=("self",))
            .first()
        )
        if change is None:
            return
        change.ended_at, change.end, change.ended_by = timezone.now(), end, actor
        change.report = report_of(change)
        change.save(update_fields=["ended_at", "end", "ended_by", "report"])
        if end != SiteChange.End.REPAIRED:
            mark_fresh(cluster=cluster)
            _reject_repairs(change)
        if not SiteChange.objects.open().filter(site=change.site).exists():
            settle_alert(site=change.site, kind=Alert.Kind.SITE_CHANGED, text="")


def _reject_repairs(change: SiteChange) -> None:
    """Reject repairs that wait for a change that was none, so that nobody is asked to decide."""
    waiting = Proposal.objects.waiting().filter(from_cluster=change.cluster_id)
    waiting.update(
        state=Proposal.State.REJECTED,
        rejected_at=change.ended_at,
        rejected_by=change.ended_by,
        comment="The site change is over without a repair.",
    )


def dismiss_change(*, change: SiteChange, actor: User | None = None) -> None:
    """End a change, since a person knows that the cluster is unchanged. Raises ValidationError."""
    if change.ended_at is not None:
        raise ValidationError("The site change is over already.")
    end_change(cluster=change.cluster, end=SiteChange.End.DISMISSED, actor=actor)
    audit.record(actor=actor, action="site_change.dismissed", subject=str(change), site=change.site)
    change.refresh_from_db()


def _save_pages(
    check: Check,
    tested: Sequence[TestedCluster],
    snapshots: Mapping[int, Snapshot],
    statuses: Mapping[str, int],
    tries: Mapping[str, int],
) -> None:
    rows = []
    for cluster in tested:
        for watched, test in zip(cluster.watched.pages, cluster.tests, strict=True):
            rows.append(
                CheckedPage(
                    check_run=check,
                    cluster=cluster.watched.rule.cluster,
                    page=watched.page,
                    snapshot=snapshots.get(watched.page.pk),
                    outcome=test.outcome,
                    why=test.why[:MAX_WHY_CHARS],
                    status=statuses.get(test.url),
                    n_tries=tries.get(test.url, 1),
                    shingle_test=test.shingle_test,
                    field_test=test.field_test,
                    structure_test=test.structure_test,
                    failed=[failed.as_json() for failed in test.failed],
                    signs={
                        "vanished": sorted(test.vanished),
                        "displaced": sorted(test.displaced),
                        "had": sorted(test.had),
                        "lost": sorted(test.lost),
                        "form_likeness": round(test.form_likeness, 3),
                        "has_other_values": test.has_other_values,
                        "n_own": test.n_own,
                        "n_standing": test.n_standing,
                        "gone": list(test.gone),
                    },
                )
            )
    CheckedPage.objects.bulk_create(rows)


def _settle_change(check: Check, tested: TestedCluster, before: Check | None) -> None:
    """Begin the change of a cluster that is broken, or end it where the cluster is as it was."""
    cluster, verdict = tested.watched.rule.cluster, tested.verdict
    if not verdict.has_quorum:
        return
    if not verdict.is_broken:
        if verdict.n_reachable:
            end_change(cluster=cluster, end=SiteChange.End.RECOVERED)
        return
    evidence = asdict(verdict) | {
        "example": _example_json(tested),
        "rules_share": check.rules_share,
    }
    change, is_new = SiteChange.objects.get_or_create(
        cluster=cluster,
        ended_at=None,
        defaults={
            "site": check.site,
            "found_by": check,
            "reason": verdict.reason,
            "evidence": evidence,
            "last_good_at": before.made_at if before else None,
        },
    )
    if is_new:
        mark_stale(cluster=cluster, since=change.found_at)
        audit.record(actor=None, action="site_change.found", subject=cluster.name, site=check.site)


def _example_json(tested: TestedCluster) -> dict[str, Any] | None:
    """Return the first page that lost values; None where the field test fails on none."""
    for test in tested.tests:
        if test.failed:
            return {"url": test.url, "failed": [failed.as_json() for failed in test.failed]}
    return None


def _settle_alerts(check: Check, tested: Sequence[TestedCluster]) -> None:
    """Raise, renew and end the alerts of a site.

    Where nothing could be reached, nothing is known of the other causes.
    """
    site, kinds = check.site, Alert.Kind
    unreachable = _unreachable_text(check, tested)
    settle_alert(site=site, kind=kinds.UNREACHABLE, text=unreachable, check=check)
    if not check.n_reachable:
        return
    settle_alert(
        site=site,
        kind=kinds.WARNING,
        text="; ".join(check.warnings),
        clusters=[cluster.watched.name for cluster in tested if cluster.verdict.warnings],
        check=check,
    )
    suspected = []
    for cluster in tested:
        raised = [suspicion for suspicion in cluster.suspicions if suspicion.is_alert]
        suspected += [(cluster.watched.name, suspicion) for suspicion in raised]
    settle_alert(
        site=site,
        kind=kinds.IMPLAUSIBLE,
        text="; ".join(f"{name}: {suspicion}" for name, suspicion in suspected),
        clusters={name for name, _ in suspected},
        check=check,
    )
    open_changes = SiteChange.objects.open().filter(site=site).select_related("cluster")
    settle_alert(
        site=site,
        kind=kinds.SITE_CHANGED,
        text="; ".join(change.reason for change in open_changes.order_by("pk")),
        clusters=[change.cluster.name for change in open_changes],
        check=check,
    )
    _release_held(check, tested)


def _unreachable_text(check: Check, tested: Sequence[TestedCluster]) -> str:
    """Return the alert's text where half of the bellwethers or more are silent; blank otherwise."""
    if not check.n_pages or check.n_reachable * 2 > check.n_pages:
        return ""
    tests = [test for cluster in tested for test in cluster.tests]
    n_by_reason = Counter(test.why for test in tests if test.outcome == UNREACHABLE)
    reasons = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in n_by_reason.most_common())
    n_silent = check.n_pages - check.n_reachable
    return f"{n_silent} of {check.n_pages} bellwethers cannot be reached: {reasons}"


def _release_held(check: Check, tested: Sequence[TestedCluster]) -> None:
    """Release the values of clusters that were held back until a check judged them."""
    held = Alert.objects.open().filter(site=check.site, kind=Alert.Kind.HELD).first()
    if held is None:
        return
    judged = {
        cluster.watched.name
        for cluster in tested
        if cluster.verdict.has_quorum and cluster.verdict.n_reachable
    }
    left = [name for name in held.clusters if name not in judged]
    settle_alert(
        site=check.site,
        kind=Alert.Kind.HELD,
        text=held.text if left else "",
        clusters=left,
        check=check,
    )


def _end_slot(check: Check) -> None:
    if check.slot_id is not None:
        Slot.objects.filter(pk=check.slot_id).update(
            state=Slot.State.DONE, why="", ended_at=timezone.now()
        )
        settle_alert(site=check.site, kind=Alert.Kind.OVERDUE, text="")
