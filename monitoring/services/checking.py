"""Run the tests of monitoring on a site's bellwethers, and write down what they say."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from clustering.algorithms.shingles import shingle_vector
from clustering.dom.texts import storable
from clustering.models import Extent, Job, PageMembership
from clustering.services import audit, jobs
from clustering.services.files import check_exists
from monitoring.algorithms import soft_errors
from monitoring.algorithms.site_change import (
    UNREACHABLE,
    ClusterVerdict,
    PageTest,
    Thresholds,
    displaced_attributes,
    field_test,
    judge_cluster,
    shingle_test,
    structure_test,
    vanished_attributes,
    without_positions,
)
from monitoring.services.changes import keep_check
from monitoring.services.fresh_pages import FreshPage, pages_of_site, pages_of_source
from monitoring.services.tested_pages import lines_with, read_body, text_of_body, tree_of_body
from rules.models import Bellwether, GoldenRecord, Rule
from rules.services.schemas import runnable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from lxml.html import HtmlElement

    from clustering.models import Page, Site, User
    from clustering.services.jobs import JobRun
    from rules.algorithms.record_lines import Line
    from rules.algorithms.run_rule import RunnableRule

    Report = Callable[[dict[str, Any]], None]

N_COVERAGE = 60  # further pages of each cluster in an archive whose mandatory values are counted
RARE = 0.34  # a golden value on a smaller share of the pages tells a page from the others


class WatchedPage(NamedTuple):
    """A bellwether with what is known of it."""

    page: Page
    golden: Sequence[Line]
    old_body: bytes
    old_content_type: str


class WatchedCluster(NamedTuple):
    """A cluster with a published rule, and its bellwethers."""

    rule: Rule
    ready: RunnableRule
    signature: str
    pages: Sequence[WatchedPage]
    others: Sequence[str]  # addresses of further pages

    @property
    def name(self) -> str:
        return self.rule.cluster.name


class TestedCluster(NamedTuple):
    """A cluster with the tests of its pages and its verdict."""

    watched: WatchedCluster
    tests: Sequence[PageTest]
    verdict: ClusterVerdict


def request_checks(*, site: Site, source: str = "", actor: User | None = None, rings: bool = True) -> Job:
    """Let a job check a site's bellwethers. Raises ValidationError, UnreadableFile, JobExists."""
    if not Rule.objects.published().of_site(site).exists():
        raise ValidationError(
            f"{site.name} has no published rule to check; learn one first: manage.py learn_rules {site.name}"
        )
    path = Path(source).absolute() if source else None
    if path:
        check_exists(path)
    with transaction.atomic():
        job = jobs.create_job(
            task="monitoring.run_checks",
            queue=Job.Queue.CHECK,
            title=f"Check {site.name}",
            site=site,
            params={"source": str(path or "")},
            key=f"run_checks:{site.pk}",
            actor=actor,
            rings=rings,
        )
        audit.record(actor=actor, action="check.requested", subject=site.name, site=site)
    return job


def run_checks(run: JobRun, report: Report | None = None) -> dict[str, Any]:
    """Check a job's site; the line of each bellwether is told, then that of the site. Raises JobFailed."""
    site = run.job.site
    if site is None:
        raise jobs.JobFailed("the site was deleted meanwhile")
    thresholds = Thresholds()
    watched = watched_clusters(site)
    if not watched:
        raise jobs.JobFailed(f"{site.name} has no published rule to check")
    fresh = _fresh_pages(run, site, watched)
    walls = _shared_answers(watched, fresh)
    tested = []
    for number, cluster in enumerate(watched):
        run.renew(n_done=number, n_total=len(watched), message=cluster.name)
        with run.kept_alive():
            tests = [_test_page(cluster, page, fresh.get(page.page.url), walls) for page in cluster.pages]
            coverage = _coverage(cluster, fresh)
        verdict = judge_cluster(cluster.name, tests, coverage=coverage, thresholds=thresholds)
        tested.append(TestedCluster(cluster, tests, verdict))
        for test in tests:
            if report:
                report(page_line(cluster.name, test))
    line = site_line(site, [one.verdict for one in tested])
    with transaction.atomic():
        run.renew(n_done=len(watched), message="storing")
        keep_check(
            site=site,
            job=run.job,
            source=storable(run.job.params.get("source", ""))[:500],
            tested=tested,
            line=line,
            thresholds=thresholds,
        )
        run.finish(line)
    if report:
        report(line)
    return line


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


def site_line(site: Site, verdicts: Sequence[ClusterVerdict]) -> dict[str, Any]:
    """Return what is told of a site at the end."""
    broken = [verdict.cluster for verdict in verdicts if verdict.is_broken]
    line: dict[str, Any] = {
        "site": site.name,
        "site_changed": bool(broken),
        "broken": broken,
        "reason": "; ".join(verdict.reason for verdict in verdicts),
        "paper_verdict": any(verdict.is_changed_for_the_paper for verdict in verdicts),
    }
    warnings = [warning for verdict in verdicts for warning in verdict.warnings]
    return line | {"warnings": warnings} if warnings else line


def watched_clusters(site: Site) -> list[WatchedCluster]:
    """Return the clusters of a site with a published rule, each with its bellwethers and golden records."""
    published = Rule.objects.published().of_site(site).select_related("cluster").order_by("cluster__name")
    extents = Extent.objects.filter(clustering__site=site, clustering__is_current=True)
    signatures = dict(extents.values_list("cluster", "signature"))
    watched = []
    for rule in published:
        pages = _watched_pages(rule)
        watched.append(
            WatchedCluster(
                rule, runnable(rule), signatures.get(rule.cluster_id, ""), pages, _others(rule, pages)
            )
        )
    return watched


def _watched_pages(rule: Rule) -> list[WatchedPage]:
    golden = GoldenRecord.objects.filter(rule=rule).select_related("page", "snapshot")
    golden_by_page = {one.page_id: one for one in golden}
    rank_by_page = dict(Bellwether.objects.filter(cluster=rule.cluster_id).values_list("page", "rank"))
    kept = [one for one in golden_by_page.values() if one.page_id in rank_by_page] or list(golden)
    kept.sort(key=lambda one: (rank_by_page.get(one.page_id, 0), one.pk))
    return [
        WatchedPage(one.page, one.records, read_body(one.snapshot.body), one.snapshot.content_type)
        for one in kept
    ]


def _others(rule: Rule, pages: Iterable[WatchedPage]) -> list[str]:
    members = PageMembership.objects.current().filter(cluster=rule.cluster_id)
    members = members.exclude(page__in=[one.page.pk for one in pages])
    return list(members.order_by("page__url_hash").values_list("page__url", flat=True)[:N_COVERAGE])


def _fresh_pages(run: JobRun, site: Site, watched: Sequence[WatchedCluster]) -> dict[str, FreshPage]:
    bellwethers = {page.page.url for cluster in watched for page in cluster.pages}
    source = run.job.params.get("source", "")
    if source:
        others = {url for cluster in watched for url in cluster.others}
        return pages_of_source(Path(source), site, bellwethers | others, renew=run.renew)
    found = pages_of_site(site, sorted(bellwethers), renew=run.renew)
    return {url: page for url, page in found if page is not None}


def _shared_answers(watched: Sequence[WatchedCluster], fresh: Mapping[str, FreshPage]) -> set[str]:
    """Return the bellwethers that all answer with one and the same text."""
    pages = {page.page.url: page for cluster in watched for page in cluster.pages}
    new = {url: text_of_body(fresh[url].body, fresh[url].content_type) for url in pages if url in fresh}
    old = {url: text_of_body(pages[url].old_body, pages[url].old_content_type) for url in new}
    return soft_errors.shared_answers(new, old)


def known_texts(pages: Sequence[WatchedPage], constant: Iterable[str]) -> dict[str, list[str]]:
    """Return the golden constant values of each page, those that tell it from others if it has any."""
    names = list(constant)
    values = {
        page.page.url: [
            text
            for line in page.golden
            for name in names
            if (value := line.get("record", {}).get(name)) is not None
            for text in ([value] if isinstance(value, str) else value)
        ]
        for page in pages
    }
    n_pages = Counter(text for texts in values.values() for text in set(texts))
    limit = max(1.0, RARE * len(pages))
    return {url: [text for text in texts if n_pages[text] <= limit] or texts for url, texts in values.items()}


def _test_page(
    cluster: WatchedCluster, page: WatchedPage, fresh: FreshPage | None, walls: set[str]
) -> PageTest:
    url = page.page.url
    if fresh is None:
        return PageTest(url, UNREACHABLE, why=soft_errors.MISSING)
    tree, problem = tree_of_body(fresh.body, fresh.content_type)
    constant = [one.name for one in cluster.ready.attributes if one.is_constant and one.type != "image"]
    known = known_texts(cluster.pages, constant)[url]
    why = soft_errors.triage(
        soft_errors.Answer(fresh.status, fresh.body, tree, problem),
        known,
        old_length=len(text_of_body(page.old_body, page.old_content_type)),
        old_was_ended=soft_errors.was_ended(page.old_body),
    )
    if why or url in walls:
        return PageTest(url, UNREACHABLE, why=why or soft_errors.SHARED_ANSWER)
    return _run_tests(cluster, page, fresh, tree)


def _run_tests(
    cluster: WatchedCluster, page: WatchedPage, fresh: FreshPage, tree: HtmlElement | None
) -> PageTest:
    url, attributes = page.page.url, cluster.ready.attributes
    now = lines_with(cluster.ready, fresh)
    failed = tuple(field_test(page.golden, now, attributes))
    old_vector = shingle_vector(page.old_body, page.old_content_type) if page.old_body else None
    shingle = shingle_test(shingle_vector(fresh.body, fresh.content_type), cluster.signature, old_vector)
    text = soft_errors.read_shown(tree).text if tree is not None else ""
    return PageTest(
        url=url,
        outcome="changed" if failed or shingle is False else "ok",
        shingle_test=shingle,
        field_test=not failed,
        structure_test=structure_test(_golden_paths(page.golden), _paths(tree)),
        failed=failed,
        vanished=vanished_attributes(page.golden, now, attributes),
        displaced=displaced_attributes(page.golden, now, attributes, text),
        had=frozenset(name for line in page.golden for name in line.get("record", {})),
    )


def _golden_paths(golden: Sequence[Line]) -> list[str]:
    paths = []
    for line in golden:
        for found in line.get("nodes", {}).values():
            paths += [found] if isinstance(found, str) else list(found)
    return paths


def _paths(tree: HtmlElement | None) -> frozenset[str]:
    """Return the paths of a tree's elements, without positions."""
    if tree is None:
        return frozenset()
    root = tree.getroottree()
    return frozenset(without_positions(root.getpath(element)) for element in tree.iter("*"))


def _coverage(cluster: WatchedCluster, fresh: Mapping[str, FreshPage]) -> tuple[float, float] | None:
    """Return the share of some pages from which the rule gets its mandatory values, as it was and as it is.

    None where an archive holds too few of them.
    """
    names = _mandatory(cluster)
    pages = [fresh[url] for url in cluster.others if url in fresh and fresh[url].status < 400]  # noqa: PLR2004 - the first error
    if not names or len(pages) < 5:  # noqa: PLR2004 - fewer say nothing
        return None
    was = [names <= _names(page.golden) for page in cluster.pages]
    now = [names <= _names(lines_with(cluster.ready, page)) for page in pages]
    return sum(was) / max(len(was), 1), sum(now) / len(now)


def _mandatory(cluster: WatchedCluster) -> frozenset[str]:
    """Return the mandatory attributes that the rule gave at all when it was learnt."""
    given = {name for page in cluster.pages for name in _names(page.golden)}
    return frozenset(one.name for one in cluster.ready.attributes if one.is_mandatory) & given


def _names(lines: Sequence[Line]) -> set[str]:
    return {name for line in lines for name in line.get("record", {})}
