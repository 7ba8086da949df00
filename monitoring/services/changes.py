"""Write down what a check found: the check, its pages, site changes that begin or end, alerts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from clustering.services import audit
from monitoring.models import Alert, Check, CheckedPage, SiteChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clustering.models import Cluster, Job, Site, User
    from monitoring.algorithms.site_change import Thresholds
    from monitoring.services.checking import TestedCluster


def keep_check(
    *,
    site: Site,
    job: Job,
    source: str,
    tested: Sequence[TestedCluster],
    line: Mapping[str, Any],
    thresholds: Thresholds,
) -> Check:
    """Write a check with its pages in the caller's transaction, and what follows from it."""
    before = Check.objects.all().latest_of(site)
    check = Check.objects.create(
        site=site,
        job=job,
        source=source,
        site_changed=line["site_changed"],
        paper_verdict=line["paper_verdict"],
        broken=line["broken"],
        reason=line["reason"],
        warnings=line.get("warnings", []),
        clusters=[asdict(one.verdict) for one in tested],
        thresholds=asdict(thresholds),
        n_pages=sum(len(one.tests) for one in tested),
        n_reachable=sum(one.verdict.n_reachable for one in tested),
    )
    _keep_pages(check, tested)
    for one in tested:
        _keep_change(check, one, before)
    _keep_alerts(check)
    return check


def end_change(*, cluster: Cluster, end: SiteChange.End) -> None:
    """Let the open change of a cluster be over."""
    SiteChange.objects.open().filter(cluster=cluster).update(ended_at=timezone.now(), end=end)


def acknowledge(*, alert: Alert, actor: User) -> None:
    """Note that somebody saw an alert; the first one counts."""
    if Alert.objects.filter(pk=alert.pk, acknowledged_at=None).update(
        acknowledged_at=timezone.now(), acknowledged_by=actor
    ):
        audit.record(actor=actor, action="alert.acknowledged", subject=str(alert), site=alert.site)
    alert.refresh_from_db()


def _keep_pages(check: Check, tested: Sequence[TestedCluster]) -> None:
    CheckedPage.objects.bulk_create(
        CheckedPage(
            check_run=check,
            cluster=one.watched.rule.cluster,
            page=page.page,
            outcome=test.outcome,
            why=test.why,
            shingle_test=test.shingle_test,
            field_test=test.field_test,
            structure_test=test.structure_test,
            failed=[failed.as_json() for failed in test.failed],
        )
        for one in tested
        for page, test in zip(one.watched.pages, one.tests, strict=True)
    )


def _keep_change(check: Check, one: TestedCluster, before: Check | None) -> None:
    cluster = one.watched.rule.cluster
    if one.verdict.is_broken:
        example = next((test for test in one.tests if test.failed), None)
        _, is_new = SiteChange.objects.get_or_create(
            cluster=cluster,
            ended_at=None,
            defaults={
                "site": check.site,
                "found_by": check,
                "reason": one.verdict.reason,
                "evidence": asdict(one.verdict)
                | {
                    "example": example
                    and {"url": example.url, "failed": [f.as_json() for f in example.failed]}
                },
                "last_good_at": before.made_at if before else None,
            },
        )
        if is_new:
            audit.record(actor=None, action="site_change.found", subject=cluster.name, site=check.site)
    elif one.verdict.n_reachable:
        end_change(cluster=cluster, end=SiteChange.End.RECOVERED)


def _keep_alerts(check: Check) -> None:
    """Raise, renew and end the alerts of a site; what cannot be reached says nothing about the others."""
    is_silent = check.n_pages > 0 and check.n_reachable * 2 <= check.n_pages
    told = {
        Alert.Kind.SITE_CHANGED: check.reason if check.site_changed else "",
        Alert.Kind.WARNING: "; ".join(check.warnings),
        Alert.Kind.UNREACHABLE: (
            f"{check.n_pages - check.n_reachable} of {check.n_pages} bellwethers cannot be reached"
            if is_silent
            else ""
        ),
    }
    for kind, text in told.items():
        alerts = Alert.objects.open().filter(site=check.site, kind=kind)
        if text:
            if not alerts.update(text=text):
                Alert.objects.create(site=check.site, kind=kind, text=text, check_run=check)
        elif kind == Alert.Kind.UNREACHABLE or check.n_reachable:
            alerts.update(ended_at=timezone.now())
