"""Write down what a check found: its pages, site changes that begin or end, alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.models import Cluster, Snapshot
from monitoring.algorithms.site_change import UNREACHABLE, Thresholds
from monitoring.models import Alert, Check, CheckedPage, FetchedPage, SiteChange, Slot
from monitoring.services.checks.reports import report_of
from monitoring.services.checks.testing import TestedCluster
from monitoring.services.notices.alerts import settle_alert
from vertex.core.models import User
from vertex.core.services.people import audit


def keep_check(
    *,
    check: Check,
    tested: Sequence[TestedCluster],
    line: Mapping[str, Any],
    thresholds: Thresholds,
    snapshots: Mapping[int, Snapshot],
    statuses: Mapping[str, int],
    tries: Mapping[str, int],
) -> None:
    """Write a check's verdict and pages in the caller's transaction, and what follows from it."""
    before = Check.objects.latest_of(check.site)
    check.state, check.made_at = Check.State.DONE, timezone.now()
    check.site_changed, check.paper_verdict = line["site_changed"], line["paper_verdict"]
    check.broken, check.reason = line["broken"], line["reason"]
    check.warnings = line.get("warnings", [])
    check.rules_share = len(check.broken) / len(tested)
    check.clusters = [asdict(one.verdict) for one in tested]
    check.thresholds = asdict(thresholds)
    check.n_pages = sum(len(one.tests) for one in tested)
    check.n_reachable = sum(one.verdict.n_reachable for one in tested)
    check.save()
    _keep_pages(check, tested, snapshots, statuses, tries)
    for one in tested:
        _keep_change(check, one, before)
    _keep_alerts(check, tested)
    FetchedPage.objects.filter(check_run=check).delete()
    _end_slot(check)


def end_change(*, cluster: Cluster, end: SiteChange.End, actor: User | None = None) -> None:
    """Let the open change of a cluster be over, and report what it was."""
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
        if not SiteChange.objects.open().filter(site=change.site).exists():
            settle_alert(site=change.site, kind=Alert.Kind.SITE_CHANGED, text="")


def dismiss_change(*, change: SiteChange, actor: User | None = None) -> None:
    """Take a person's word that a cluster did not change. Raises ValidationError."""
    if change.ended_at is not None:
        raise ValidationError("The site change is over already.")
    end_change(cluster=change.cluster, end=SiteChange.End.DISMISSED, actor=actor)
    audit.record(actor=actor, action="site_change.dismissed", subject=str(change), site=change.site)
    change.refresh_from_db()


def _keep_pages(
    check: Check,
    tested: Sequence[TestedCluster],
    snapshots: Mapping[int, Snapshot],
    statuses: Mapping[str, int],
    tries: Mapping[str, int],
) -> None:
    CheckedPage.objects.bulk_create(
        CheckedPage(
            check_run=check,
            cluster=one.watched.rule.cluster,
            page=page.page,
            snapshot=snapshots.get(page.page.pk),
            outcome=test.outcome,
            why=test.why[:40],
            status=statuses.get(test.url),
            n_tries=tries.get(test.url, 1),
            shingle_test=test.shingle_test,
            field_test=test.field_test,
            structure_test=test.structure_test,
            failed=[failed.as_json() for failed in test.failed],
            signs={sign: sorted(getattr(test, sign)) for sign in ("vanished", "displaced", "had")},
        )
        for one in tested
        for page, test in zip(one.watched.pages, one.tests, strict=True)
    )


def _keep_change(check: Check, one: TestedCluster, before: Check | None) -> None:
    cluster = one.watched.rule.cluster
    if one.verdict.is_broken and one.verdict.has_quorum:
        example = next((test for test in one.tests if test.failed), None)
        told = example and {"url": example.url, "failed": [f.as_json() for f in example.failed]}
        _, is_new = SiteChange.objects.get_or_create(
            cluster=cluster,
            ended_at=None,
            defaults={
                "site": check.site,
                "found_by": check,
                "reason": one.verdict.reason,
                "evidence": asdict(one.verdict)
                | {"example": told, "rules_share": check.rules_share},
                "last_good_at": before.made_at if before else None,
            },
        )
        if is_new:
            audit.record(
                actor=None, action="site_change.found", subject=cluster.name, site=check.site
            )
    elif one.verdict.has_quorum and one.verdict.n_reachable:
        end_change(cluster=cluster, end=SiteChange.End.RECOVERED)


def _keep_alerts(check: Check, tested: Sequence[TestedCluster]) -> None:
    """Raise, renew and end the alerts of a site; what cannot be reached says nothing about the others."""
    site, kinds = check.site, Alert.Kind
    silent = _silence(check, tested)
    settle_alert(site=site, kind=kinds.UNREACHABLE, text=silent, check=check)
    if not check.n_reachable:
        return
    few = [
        f"{one.verdict.reason}, but only {one.verdict.n_reachable} could be reached"
        for one in _few(tested)
    ]
    settle_alert(
        site=site,
        kind=kinds.WARNING,
        text="; ".join([*few, *check.warnings]),
        clusters=[one.watched.name for one in tested if one.verdict.warnings],
        check=check,
    )
    suspected = [
        (one.watched.name, found) for one in tested for found in one.suspicions if found.is_alert
    ]
    settle_alert(
        site=site,
        kind=kinds.IMPLAUSIBLE,
        text="; ".join(f"{name}: {found}" for name, found in suspected),
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


def _few(tested: Sequence[TestedCluster]) -> list[TestedCluster]:
    return [one for one in tested if one.verdict.is_broken and not one.verdict.has_quorum]


def _silence(check: Check, tested: Sequence[TestedCluster]) -> str:
    """Return what to say where half of the bellwethers or more do not answer; blank otherwise."""
    if not check.n_pages or check.n_reachable * 2 > check.n_pages:
        return ""
    whys = Counter(test.why for one in tested for test in one.tests if test.outcome == UNREACHABLE)
    told = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in whys.most_common())
    return f"{check.n_pages - check.n_reachable} of {check.n_pages} bellwethers cannot be reached: {told}"


def _release_held(check: Check, tested: Sequence[TestedCluster]) -> None:
    """Let values pass that were held back until a check; those of a cluster that changed stay."""
    held = Alert.objects.open().filter(site=check.site, kind=Alert.Kind.HELD).first()
    if held is None:
        return
    judged = {
        one.watched.name for one in tested if one.verdict.has_quorum and one.verdict.n_reachable
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
