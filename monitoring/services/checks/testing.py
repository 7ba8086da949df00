"""Run the tests of monitoring on the bellwethers of a cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lxml.html import HtmlElement

from clustering.algorithms.published.shingles import shingle_vector
from monitoring.algorithms import soft_errors
from monitoring.algorithms.error_pages import ErrorSignature, recognise, telling_signatures
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
from monitoring.algorithms.value_models import Suspicion
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines, read_text, read_tree
from monitoring.services.checks.watched import WatchedCluster, WatchedPage, known_texts
from rules.algorithms.running.record_lines import Line

MIN_COVERAGE_PAGES = 5  # below it nothing is said of the coverage


class TestedCluster(NamedTuple):
    """A cluster with the tests of its pages and its verdict."""

    watched: WatchedCluster
    tests: Sequence[PageTest]
    verdict: ClusterVerdict
    suspicions: Sequence[Suspicion] = ()


class Triage(NamedTuple):
    """What tells a page that is none on this site, beside what the page itself shows."""

    why_by_url: Mapping[str, str]  # there is no answer
    walls: Collection[str]  # addresses that answer with one and the same text
    errors: Sequence[ErrorSignature]  # how error pages of the site look


def triage_of(
    watched: Sequence[WatchedCluster],
    fresh: Mapping[str, FreshPage],
    errors: Sequence[ErrorSignature],
    why_by_url: Mapping[str, str],
) -> Triage:
    """Return what is known of errors before the pages are inspected one by one."""
    pages = {page.page.url: page for cluster in watched for page in cluster.pages}
    old = {url: _shown_before(page) for url, page in pages.items()}
    new = {url: read_text(fresh[url]) for url in pages if url in fresh}
    walls = soft_errors.shared_answers(new, {url: old[url].text for url in new})
    telling = telling_signatures(errors, [(shown, url) for url, shown in old.items()])
    return Triage(why_by_url, walls, telling)


def test_cluster(
    cluster: WatchedCluster, fresh: Mapping[str, FreshPage], triage: Triage, thresholds: Thresholds
) -> TestedCluster:
    """Return the tests of a cluster's bellwethers and the verdict that follows."""
    tests = [_test_page(cluster, page, fresh.get(page.page.url), triage) for page in cluster.pages]
    coverage = _coverage(cluster, fresh)
    verdict = judge_cluster(cluster.name, tests, coverage=coverage, thresholds=thresholds)
    return TestedCluster(cluster, tests, verdict)


def _shown_before(page: WatchedPage) -> soft_errors.PageText:
    tree, _ = read_tree(page.old)
    return soft_errors.PageText("", "", False) if tree is None else soft_errors.read_shown(tree)


def _test_page(
    cluster: WatchedCluster, page: WatchedPage, fresh: FreshPage | None, triage: Triage
) -> PageTest:
    """Return the tests of a bellwether; unreachable, with the reason, where an error stands in its place."""
    url = page.page.url
    if fresh is None:
        return PageTest(url, UNREACHABLE, why=triage.why_by_url.get(url, soft_errors.MISSING))
    tree, problem = read_tree(fresh)
    constant = [
        attribute.name
        for attribute in cluster.ready.attributes
        if attribute.is_constant and attribute.type != "image"
    ]
    known = known_texts(cluster.pages, constant)[url]
    why = soft_errors.triage(
        soft_errors.Answer(fresh.status, fresh.body, tree, problem),
        known,
        old_length=len(read_text(page.old)),
        old_was_ended=soft_errors.was_ended(page.old.body),
    )
    if not why and url in triage.walls:
        why = soft_errors.SHARED_ANSWER
    if not why and tree is not None and triage.errors:
        why = _known_error(soft_errors.read_shown(tree), url, known, triage)
    if why:
        return PageTest(url, UNREACHABLE, why=why)
    return _run_tests(cluster, page, fresh, tree)


def _known_error(
    shown: soft_errors.PageText, url: str, known: Sequence[str], triage: Triage
) -> str:
    """Return which error of the site this is; blank for a page that still shows what it showed."""
    share = soft_errors.share_shown(shown.text, known)
    if share is not None and share >= soft_errors.MIN_SHARE_STILL_SHOWN:
        return ""
    return recognise(shown, url, triage.errors)


def _run_tests(
    cluster: WatchedCluster, page: WatchedPage, fresh: FreshPage, tree: HtmlElement | None
) -> PageTest:
    attributes = cluster.ready.attributes
    extracted = extract_lines(cluster.ready, fresh)
    failed = tuple(field_test(page.golden, extracted, attributes))
    old_vector = shingle_vector(page.old.body, page.old.content_type) if page.old.body else None
    shingle = shingle_test(
        shingle_vector(fresh.body, fresh.content_type), cluster.signature, old_vector
    )
    text = soft_errors.read_shown(tree).text if tree is not None else ""
    return PageTest(
        url=page.page.url,
        outcome="changed" if failed or shingle is False else "ok",
        shingle_test=shingle,
        field_test=not failed,
        structure_test=structure_test(_golden_paths(page.golden), _paths(tree)),
        failed=failed,
        vanished=vanished_attributes(page.golden, extracted, attributes),
        displaced=displaced_attributes(page.golden, extracted, attributes, text),
        had=frozenset(name for line in page.golden for name in line.values),
    )


def _golden_paths(golden: Sequence[Line]) -> list[str]:
    paths = []
    for line in golden:
        for node_paths in line.nodes.values():
            paths += [node_paths] if isinstance(node_paths, str) else list(node_paths)
    return paths


def _paths(tree: HtmlElement | None) -> frozenset[str]:
    """Return the paths of a tree's elements, without positions."""
    if tree is None:
        return frozenset()
    root = tree.getroottree()
    return frozenset(without_positions(root.getpath(element)) for element in tree.iter("*"))


def _coverage(
    cluster: WatchedCluster, fresh: Mapping[str, FreshPage]
) -> tuple[float, float] | None:
    """Return the share of some pages from which the rule gets its mandatory values, as it was and as it is.

    None where an archive holds too few of them.
    """
    names = _mandatory(cluster)
    pages = [fresh[url] for url in cluster.other_urls if url in fresh and not fresh[url].is_error]
    if not names or len(pages) < MIN_COVERAGE_PAGES:
        return None
    n_old = sum(names <= _names(page.golden) for page in cluster.pages)
    n_new = sum(names <= _names(extract_lines(cluster.ready, page)) for page in pages)
    return n_old / max(len(cluster.pages), 1), n_new / len(pages)


def _mandatory(cluster: WatchedCluster) -> frozenset[str]:
    """Return the mandatory attributes that the rule gave at all when it was learnt."""
    given = {name for page in cluster.pages for name in _names(page.golden)}
    mandatory = {attribute.name for attribute in cluster.ready.attributes if attribute.is_mandatory}
    return frozenset(mandatory & given)


def _names(lines: Sequence[Line]) -> set[str]:
    return {name for line in lines for name in line.values}
