"""Check a site: fetch its bellwethers, run the tests, and save what they find.

What does not answer, and a change that is new, is fetched again some minutes later before it
counts; meanwhile no worker waits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from clustering.dom.addresses import address_keys
from clustering.models import Snapshot
from clustering.services.crawl.errands import postpones
from clustering.services.looks.assets import start_fetching_assets
from clustering.services.pages.stored_pages import given_url_by_url
from monitoring.algorithms.site_change import CHANGED, ClusterVerdict, PageTest, site_state
from monitoring.algorithms.verdicts import (
    BROKEN,
    PARTLY_REDESIGNED,
    UNDECIDED,
    UNREACHABLE,
    Thresholds,
)
from monitoring.models import Check, SiteChange, Slot
from monitoring.services.checks import error_pages, fetched_pages
from monitoring.services.checks.changes import save_check
from monitoring.services.checks.fresh_pages import FreshPage, pages_of_source
from monitoring.services.checks.looking_again import failed_when_undecided, plan_again
from monitoring.services.checks.plausibility import suspicions_of_check
from monitoring.services.checks.testing import TestedCluster, test_cluster, triage_of
from monitoring.services.checks.thresholds import thresholds_of
from monitoring.services.checks.watched import WatchedCluster, watched_clusters
from rules.models import GoldenRecord, Rule
from vertex.core.models import Job, Site
from vertex.core.services.files.files import check_exists
from vertex.core.services.jobs import jobs
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest, enqueue
from vertex.core.texts import storable

MAX_PAGES_AWAY = 6  # of a check, that are kept to show what stood in their place
MAX_PAGES_WITH_ASSETS = 40  # of a site change, whose old and new look is shown
# Before what is in doubt is fetched again.
RETRY_WAITS = (
    timedelta(minutes=5),
    timedelta(minutes=20),
)


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


def check_request(
    *, site: Site, source: str = "", is_patient: bool = True, is_audited: bool = True
) -> JobRequest:
    """Describe the check of a site's bellwethers. Raises ValidationError, UnreadableFile.

    A job that `is_patient` comes back later where another one fetches from the host; a person at a
    terminal wants the answer.
    """
    if not Rule.objects.published().of_site(site).exists():
        raise ValidationError(
            f"{site.name} has no published rule to check; "
            f"learn one first: manage.py learn_rules {site.name}"
        )
    path = Path(source).absolute() if source else None
    if path:
        check_exists(path)
    params = {"source": str(path or ""), "is_patient": is_patient}
    return _request(site, params, is_audited=is_audited)


@postpones
def run_checks(run: JobRun) -> dict[str, Any]:
    """Check a job's site; report a line for each bellwether, then that of the site.

    1. Fetch the bellwethers, or read them from the job's archive.
    2. Test them; before a change counts, learn how the site's error pages look.
    3. Where something is in doubt, leave it to a later job that fetches it again.
    4. Save the verdict, what changed, and alerts.

    While another job fetches from the site's host, it waits for its turn. Raises JobFailed.
    """
    site = run.site
    watched = watched_clusters(site)
    if not watched:
        raise jobs.JobFailed(f"{site.name} has no published rule to check")
    check_run = CheckRun(run, site, _open_check(run, site), watched, thresholds_of(site))
    fresh = _read_fresh_pages(check_run)
    tested = _test_clusters(check_run, fresh)
    doubtful = _doubtful(check_run, tested)
    if doubtful:
        return _postpone(check_run, doubtful)
    given_urls = given_url_by_url(site, (test.url for cluster in tested for test in cluster.tests))
    for cluster in tested:
        for test in cluster.tests:
            given_url = given_urls[test.url]
            run.report(page_json(cluster.watched.name, test, given_url=given_url))
    line = site_json(site, tested)
    _save(check_run, tested, fresh, line)
    run.report(line)
    return line


RUN_CHECKS = JobKind(
    "monitoring.run_checks", Job.Queue.CHECK, run_checks, "check.requested", starts_over=True
)


def _request(site: Site, params: dict[str, Any], *, is_audited: bool) -> JobRequest:
    return JobRequest(
        kind=RUN_CHECKS,
        title=f"Check {site.name}",
        site=site,
        params=params,
        key=f"run_checks:{site.pk}",
        is_audited=is_audited,
    )


def _open_check(run: JobRun, site: Site) -> Check:
    """Return the check of a job: a new one, or the one begun by another worker or earlier job."""
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


def _read_fresh_pages(check_run: CheckRun) -> dict[str, FreshPage]:
    run, site, watched = check_run.run, check_run.site, check_run.watched
    pages = {page.page.url: page.page for cluster in watched for page in cluster.pages}
    if check_run.source:
        other_urls = {url for cluster in watched for url in cluster.other_urls}
        return pages_of_source(
            Path(check_run.source), site, set(pages) | other_urls, renew=run.renew
        )
    fetched_pages.fetch_pages(run, pages.values(), check=check_run.check)
    return fetched_pages.fresh_pages(check=check_run.check)


def _test_clusters(check_run: CheckRun, fresh: Mapping[str, FreshPage]) -> list[TestedCluster]:
    """Return the tests of all clusters; learn the site's error pages first if one is in doubt."""
    tested = _test_once(check_run, fresh)
    in_doubt = [cluster for cluster in tested if cluster.verdict.state in {*BROKEN, UNDECIDED}]
    urls = [test.url for cluster in in_doubt for test in cluster.tests]
    if check_run.source or not urls or error_pages.was_probed(check_run.site):
        return tested
    with check_run.run.kept_alive():
        answers = error_pages.fetch_missing(check_run.run, urls)
    error_pages.save_probes(site=check_run.site, answers=answers)
    return _test_once(check_run, fresh)


def _test_once(check_run: CheckRun, fresh: Mapping[str, FreshPage]) -> list[TestedCluster]:
    """Test each cluster on its bellwethers; what is not broken is searched for implausible values.

    Pages from a file are tested without what earlier checks and fetches of the site say.
    """
    run, watched = check_run.run, check_run.watched
    silences = {} if check_run.source else fetched_pages.silences(check_run.check)
    failed_before = {} if check_run.source else failed_when_undecided(check_run.site)
    with run.kept_alive():
        triage = triage_of(watched, fresh, error_pages.error_signatures(check_run.site), silences)
    tested = []
    for cluster in watched:
        run.renew(message=cluster.name)
        with run.kept_alive():
            result = test_cluster(
                cluster,
                fresh,
                triage,
                check_run.thresholds,
                failed_before.get(cluster.name, frozenset()),
            )
            if not result.verdict.is_broken:
                suspicions = suspicions_of_check(cluster, fresh, result.tests, timezone.now())
                result = TestedCluster(cluster, result.tests, result.verdict, suspicions)
            tested.append(result)
    return tested


def _doubtful(check_run: CheckRun, tested: Sequence[TestedCluster]) -> set[str]:
    """Return the pages to fetch again before they count: too few answer, or a change is new."""
    is_patient = check_run.run.job.params.get("is_patient")
    n_rounds = check_run.check.n_rounds
    if check_run.source or not is_patient or n_rounds > len(RETRY_WAITS):
        return set()
    changes = SiteChange.objects.open().filter(site=check_run.site)
    known = set(changes.values_list("cluster__name", flat=True))
    newly_broken = [
        cluster
        for cluster in tested
        if cluster.verdict.is_broken and cluster.watched.name not in known
    ]
    doubtful: set[str] = set()
    if n_rounds == 1:
        undecided = [cluster for cluster in tested if cluster.verdict.state == UNDECIDED]
        doubtful = {test.url for cluster in [*newly_broken, *undecided] for test in cluster.tests}
    if newly_broken and not doubtful:
        return set()  # found twice: it counts
    for cluster in tested:
        if cluster.verdict.reachable_share < check_run.thresholds.reachable:
            doubtful |= {test.url for test in cluster.tests if test.outcome == UNREACHABLE}
    return doubtful


def _postpone(check_run: CheckRun, doubtful: set[str]) -> dict[str, Any]:
    """Leave the check to a later job, which fetches the doubtful pages again."""
    run, check = check_run.run, check_run.check
    result = {"waits_for": len(doubtful), "check": check.pk}
    with transaction.atomic():
        run.renew(message=f"fetches {len(doubtful):,} pages again later")
        wait = RETRY_WAITS[check.n_rounds - 1]
        fetched_pages.fetch_again(check=check, urls=doubtful)
        run.finish(result)
        params = run.job.params | {"check": check.pk}
        request = _request(check_run.site, params, is_audited=False)
        job = enqueue(request, actor=run.job.created_by, due_at=timezone.now() + wait)
        Check.objects.filter(pk=check.pk).update(n_rounds=check.n_rounds + 1, job=job)
        Slot.objects.filter(job=run.job).update(job=job)
    return result


def _save(
    check_run: CheckRun,
    tested: Sequence[TestedCluster],
    fresh: Mapping[str, FreshPage],
    line: Mapping[str, Any],
) -> None:
    """Save the check, with snapshots of the pages that are not as they were."""
    run, site = check_run.run, check_run.site
    tests = [test for cluster in tested for test in cluster.tests]
    to_keep = {test.url for test in tests if test.outcome == CHANGED}
    away = [test.url for test in tests if test.outcome == UNREACHABLE and test.url in fresh]
    to_keep.update(away[:MAX_PAGES_AWAY])
    page_by_url = {}
    rule_by_broken_page = {}
    for cluster in tested:
        for watched in cluster.watched.pages:
            page_by_url[watched.page.url] = watched.page.pk
            if cluster.verdict.is_broken:
                rule_by_broken_page[watched.page.pk] = cluster.watched.rule
    with run.kept_alive():
        bodies = fetched_pages.store_bodies(
            (page_by_url[url], fresh[url]) for url in sorted(to_keep & fresh.keys())
        )
    with transaction.atomic():
        run.renew(message="storing")
        if not check_run.source:
            error_pages.save_seen(site=site, tested=tested, fresh=fresh)
        snapshots = fetched_pages.save_snapshots(site, bodies)
        _request_assets(snapshots, rule_by_broken_page)
        save_check(
            check=check_run.check,
            tested=tested,
            line=line,
            thresholds=check_run.thresholds,
            snapshots=snapshots,
            statuses={url: page.status for url, page in fresh.items()},
            tries=fetched_pages.tries_by_url(check_run.check),
            again_at=_plan_again(check_run, line),
        )
        run.finish(dict(line))


def _plan_again(check_run: CheckRun, line: Mapping[str, Any]) -> datetime | None:
    """Return when a site that is left undecided is looked at again; None where it is not."""
    if check_run.source or line["state"] != UNDECIDED:
        return None
    return plan_again(site=check_run.site, now=timezone.now())


def _request_assets(snapshots: Mapping[int, Snapshot], rules: Mapping[int, Rule]) -> None:
    """Request the assets that both sides of a site change are drawn with.

    `rules` holds the rule of each page of a broken cluster.
    """
    pages = [pk for pk in snapshots if pk in rules][:MAX_PAGES_WITH_ASSETS]
    golden = GoldenRecord.objects.filter(rule__in=set(rules.values()), page__in=pages)
    old = [row.snapshot for row in golden.select_related("snapshot__page__site")]
    start_fetching_assets(snapshots=[*(snapshots[pk] for pk in pages), *old])


def page_json(cluster: str, test: PageTest, *, given_url: str) -> dict[str, Any]:
    """Return the line that is reported of a bellwether."""
    line: dict[str, Any] = {
        "cluster": cluster,
        **address_keys(given_url),
        "outcome": test.outcome,
        "shingle_test": test.shingle_test,
        "field_test": test.field_test,
        "structure_test": test.structure_test,
        "failed": [failed.as_json() for failed in test.failed],
    }
    return line | {"why": test.why} if test.why else line


def site_json(site: Site, tested: Sequence[TestedCluster]) -> dict[str, Any]:
    """Return the line that is reported of a site at the end."""
    verdicts = [cluster.verdict for cluster in tested]
    broken = [verdict.cluster for verdict in verdicts if verdict.is_broken]
    line: dict[str, Any] = {
        "site": site.name,
        "site_changed": bool(broken),
        "state": site_state(verdicts),
        "broken": broken,
        "reason": "; ".join(verdict.reason for verdict in verdicts),
        "paper_verdict": any(verdict.is_changed_for_the_paper for verdict in verdicts),
    }
    if line["state"] == PARTLY_REDESIGNED:
        line["layouts"] = layouts_of(verdicts)
    warnings = [warning for verdict in verdicts for warning in verdict.warnings]
    suspicious = []
    for cluster in tested:
        name = cluster.watched.name
        for suspicion in cluster.suspicions:
            if suspicion.is_alert:
                suspicious.append({"cluster": name, **suspicion.as_json()})
            else:
                warnings.append(f"{name}: {suspicion}")
    if warnings:
        line["warnings"] = warnings
    if suspicious:
        line["suspicious"] = suspicious
    return line


def layouts_of(verdicts: Iterable[ClusterVerdict]) -> list[str]:
    """Return the names of redesigned layouts: the cluster's own where all of its pages changed."""
    names: list[str] = []
    for verdict in verdicts:
        if verdict.is_broken:
            names += verdict.layouts or (verdict.cluster,)
    return list(dict.fromkeys(names))
