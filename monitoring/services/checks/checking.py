"""Check a site: fetch its bellwethers, run the tests, and write down what they say.

What does not answer, and a change that nobody has seen yet, is looked at again some minutes later before it
counts; meanwhile no worker waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.models import Snapshot
from clustering.services.looks.assets import request_assets
from monitoring.algorithms.site_change import CHANGED, UNREACHABLE, PageTest, Thresholds
from monitoring.models import Check, SiteChange, Slot
from monitoring.services.checks import error_pages, fetched_pages
from monitoring.services.checks.changes import keep_check
from monitoring.services.checks.fresh_pages import FreshPage, pages_of_source
from monitoring.services.checks.host_leases import postpones
from monitoring.services.checks.plausibility import suspicions_of_check
from monitoring.services.checks.testing import TestedCluster, test_cluster, triage_of
from monitoring.services.checks.thresholds import thresholds_of
from monitoring.services.checks.watched import WatchedCluster, watched_clusters
from rules.models import GoldenRecord, Rule
from vertex.core.models import Job, Site, User
from vertex.core.services.files.files import check_exists
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.people import audit
from vertex.core.texts import storable

Report = Callable[[dict[str, Any]], None]

MOST_DRESSED = 40  # pages of a site change that are shown as they looked
WAITS = (timedelta(minutes=5), timedelta(minutes=20))  # before what is in doubt is looked at again


class CheckRun(NamedTuple):
    """A check at work."""

    run: JobRun
    site: Site
    check: Check
    watched: Sequence[WatchedCluster]
    thresholds: Thresholds

    @property
    def source(self) -> str:
        return str(self.run.job.params.get("source", ""))


def request_checks(
    *,
    site: Site,
    source: str = "",
    actor: User | None = None,
    rings: bool = True,
    is_audited: bool = True,
) -> Job:
    """Let a job check a site's bellwethers. Raises ValidationError, UnreadableFile, JobExists."""
    if not Rule.objects.published().of_site(site).exists():
        raise ValidationError(
            f"{site.name} has no published rule to check; learn one first: manage.py learn_rules {site.name}"
        )
    path = Path(source).absolute() if source else None
    if path:
        check_exists(path)
    with transaction.atomic():
        # Where a worker does it, it can come back later; a person at a terminal wants the answer.
        job = _create_job(
            site, {"source": str(path or ""), "is_patient": rings}, actor, rings=rings
        )
        if is_audited:
            audit.record(actor=actor, action="check.requested", subject=site.name, site=site)
    return job


@postpones
def run_checks(run: JobRun, report: Report | None = None) -> dict[str, Any]:
    """Check a job's site; the line of each bellwether is told, then that of the site.

    While another job fetches from the site's host, it waits for its turn. Raises JobFailed.
    """
    site = run.job.site
    if site is None:
        raise jobs.JobFailed("the site was deleted meanwhile")
    watched = watched_clusters(site)
    if not watched:
        raise jobs.JobFailed(f"{site.name} has no published rule to check")
    checking = CheckRun(run, site, _open_check(run, site), watched, thresholds_of(site))
    fresh = _fresh_pages(checking)
    tested = _test(checking, fresh)
    doubtful = _doubtful(checking, tested)
    if doubtful:
        return _come_back(checking, doubtful)
    for one in tested:
        for test in one.tests:
            if report:
                report(page_line(one.watched.name, test))
    line = site_line(site, tested)
    _keep(checking, tested, fresh, line)
    if report:
        report(line)
    return line


def _create_job(
    site: Site,
    params: dict[str, Any],
    actor: User | None,
    *,
    rings: bool = True,
    wait: timedelta = timedelta(0),
) -> Job:
    return jobs.create_job(
        task="monitoring.run_checks",
        queue=Job.Queue.CHECK,
        title=f"Check {site.name}",
        site=site,
        params=params,
        key=f"run_checks:{site.pk}",
        actor=actor,
        due_at=timezone.now() + wait,
        rings=rings,
    )


def _open_check(run: JobRun, site: Site) -> Check:
    """Return the check of a job: a new one, or that on which another worker or an earlier job began."""
    with transaction.atomic():
        run.renew(message="beginning")
        begun = Check.objects.filter(pk=run.job.params.get("check"), state=Check.State.RUNNING)
        begun.update(job=run.job)
        check, _ = Check.objects.get_or_create(
            job=run.job,
            state=Check.State.RUNNING,
            defaults={
                "site": site,
                "source": storable(str(run.job.params.get("source", "")), 500),
                "slot": Slot.objects.filter(job=run.job, check_run=None).first(),
            },
        )
    return check


def _fresh_pages(checking: CheckRun) -> dict[str, FreshPage]:
    run, site, watched = checking.run, checking.site, checking.watched
    pages = {page.page.url: page.page for cluster in watched for page in cluster.pages}
    if checking.source:
        others = {url for cluster in watched for url in cluster.others}
        return pages_of_source(Path(checking.source), site, set(pages) | others, renew=run.renew)
    fetched_pages.fetch_pages(run, site, pages.values(), check=checking.check)
    return fetched_pages.fresh_pages(check=checking.check)


def _test(checking: CheckRun, fresh: Mapping[str, FreshPage]) -> list[TestedCluster]:
    """Return the tests of all clusters; before a change is believed, the site's error pages are looked at."""
    tested = _test_once(checking, fresh)
    urls = [test.url for one in tested if one.verdict.is_broken for test in one.tests]
    if checking.source or not urls or error_pages.was_asked(checking.site):
        return tested
    with checking.run.kept_alive():
        answers = error_pages.ask_for_missing(checking.run, checking.site, urls)
    error_pages.keep_asked(site=checking.site, answers=answers)
    return _test_once(checking, fresh)


def _test_once(checking: CheckRun, fresh: Mapping[str, FreshPage]) -> list[TestedCluster]:
    run, watched = checking.run, checking.watched
    silences = {} if checking.source else fetched_pages.silences(checking.check)
    with run.kept_alive():
        triage = triage_of(watched, fresh, error_pages.error_signatures(checking.site), silences)
    tested = []
    for cluster in watched:
        run.renew(message=cluster.name)
        with run.kept_alive():
            one = test_cluster(cluster, fresh, triage, checking.thresholds)
            if not one.verdict.is_broken:
                found = suspicions_of_check(cluster, fresh, one.tests, timezone.now())
                one = TestedCluster(cluster, one.tests, one.verdict, found)
            tested.append(one)
    return tested


def _doubtful(checking: CheckRun, tested: Sequence[TestedCluster]) -> set[str]:
    """Return the pages to be asked for again before they count: too few answer, or a change is new."""
    n_rounds = checking.check.n_rounds
    if checking.source or not checking.run.job.params.get("is_patient") or n_rounds > len(WAITS):
        return set()
    known = set(
        SiteChange.objects.open().filter(site=checking.site).values_list("cluster__name", flat=True)
    )
    broken = [one for one in tested if one.verdict.is_broken and one.watched.name not in known]
    doubtful = {test.url for one in broken for test in one.tests} if n_rounds == 1 else set()
    if broken and not doubtful:
        return set()  # found twice: it counts
    for one in tested:
        if one.verdict.reachable_share < checking.thresholds.reachable:
            doubtful |= {test.url for test in one.tests if test.outcome == UNREACHABLE}
    return doubtful


def _come_back(checking: CheckRun, doubtful: set[str]) -> dict[str, Any]:
    """Let a later job go on with the check."""
    run, check = checking.run, checking.check
    told = {"waits_for": len(doubtful), "check": check.pk}
    with transaction.atomic():
        run.renew(message=f"asks {len(doubtful):,} pages again later")
        wait = WAITS[check.n_rounds - 1]
        fetched_pages.ask_again(check=check, urls=doubtful)
        run.finish(told)
        params = run.job.params | {"check": check.pk}
        job = _create_job(checking.site, params, run.job.created_by, wait=wait)
        Check.objects.filter(pk=check.pk).update(n_rounds=check.n_rounds + 1, job=job)
        Slot.objects.filter(job=run.job).update(job=job)
    return told


def _keep(
    checking: CheckRun,
    tested: Sequence[TestedCluster],
    fresh: Mapping[str, FreshPage],
    line: Mapping[str, Any],
) -> None:
    """Write the check down, with the pages that are not as they were."""
    run, site = checking.run, checking.site
    pages = {page.page.url: page.page.pk for cluster in checking.watched for page in cluster.pages}
    changed = {test.url for one in tested for test in one.tests if test.outcome == CHANGED}
    kept = sorted(changed & fresh.keys())
    with run.kept_alive():
        bodies = fetched_pages.store_bodies((pages[url], fresh[url]) for url in kept)
    broken = {
        page.page.pk: one.watched.rule
        for one in tested
        if one.verdict.is_broken
        for page in one.watched.pages
    }
    with transaction.atomic():
        run.renew(message="storing")
        if not checking.source:
            error_pages.keep_seen(site=site, tested=tested, fresh=fresh)
        snapshots = fetched_pages.save_snapshots(site, bodies)
        _dress(snapshots, broken)
        keep_check(
            check=checking.check,
            tested=tested,
            line=line,
            thresholds=checking.thresholds,
            snapshots=snapshots,
            statuses={url: page.status for url, page in fresh.items()},
            tries=fetched_pages.tries_by_url(checking.check),
        )
        run.finish(dict(line))


def _dress(snapshots: Mapping[int, Snapshot], broken: Mapping[int, Rule]) -> None:
    """Let a job fetch what both sides of a site change are drawn with."""
    pages = [pk for pk in snapshots if pk in broken][:MOST_DRESSED]
    golden = GoldenRecord.objects.filter(rule__in=set(broken.values()), page__in=pages)
    old = [one.snapshot for one in golden.select_related("snapshot__page__site")]
    request_assets(snapshots=[*(snapshots[pk] for pk in pages), *old])


def page_line(cluster: str, test: PageTest) -> dict[str, Any]:
    """Return what is told of a bellwether."""
    line: dict[str, Any] = {
        "cluster": cluster,
        "url": test.url,
        "outcome": test.outcome,
        "shingle_test": test.shingle_test,
        "field_test": test.field_test,
        "structure_test": test.structure_test,
        "failed": [one.as_json() for one in test.failed],
    }
    return line | {"why": test.why} if test.why else line


def site_line(site: Site, tested: Sequence[TestedCluster]) -> dict[str, Any]:
    """Return what is told of a site at the end."""
    verdicts = [one.verdict for one in tested]
    broken = [verdict.cluster for verdict in verdicts if verdict.is_broken]
    line: dict[str, Any] = {
        "site": site.name,
        "site_changed": bool(broken),
        "broken": broken,
        "reason": "; ".join(verdict.reason for verdict in verdicts),
        "paper_verdict": any(verdict.is_changed_for_the_paper for verdict in verdicts),
    }
    warnings = [warning for verdict in verdicts for warning in verdict.warnings]
    found = [(one.watched.name, suspicion) for one in tested for suspicion in one.suspicions]
    warnings += [f"{name}: {suspicion}" for name, suspicion in found if not suspicion.is_alert]
    suspicious = [
        {"cluster": name, **suspicion.as_json()} for name, suspicion in found if suspicion.is_alert
    ]
    line |= {"warnings": warnings} if warnings else {}
    return line | {"suspicious": suspicious} if suspicious else line
