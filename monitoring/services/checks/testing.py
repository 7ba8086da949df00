"""Run the tests of monitoring on the bellwethers of a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from lxml.html import HtmlElement

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.published.shingles import shingle_vector
from monitoring.algorithms import soft_errors
from monitoring.algorithms.error_pages import ErrorSignature, recognise, telling_signatures
from monitoring.algorithms.known_values import ADDRESSES, form_of, plain
from monitoring.algorithms.layout_division import find_division, layout_told, marks_of
from monitoring.algorithms.lost_pages import (
    OTHER_CONTENT,
    Answered,
    PageBefore,
    is_seen,
    own_texts,
    why_lost,
)
from monitoring.algorithms.page_looks import NOTHING, PageLook, likeness, look_of
from monitoring.algorithms.site_change import (
    MAX_FORM_OF_REDESIGN,
    ClusterVerdict,
    Divide,
    FailedField,
    PageTest,
    displaced_attributes,
    field_test,
    judge_cluster,
    lost_fields,
    shingle_test,
    structure_test,
    vanished_attributes,
    without_positions,
)
from monitoring.algorithms.value_models import Suspicion
from monitoring.algorithms.verdicts import UNREACHABLE, Thresholds
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines, read_stored, read_tree
from monitoring.services.checks.watched import (
    WatchedCluster,
    WatchedPage,
    constant_values,
    stored_pages,
)
from rules.algorithms.running.record_lines import Line

MIN_COVERAGE_PAGES = 5  # below it nothing is said of the coverage
MAX_GONE_TOLD = 3  # own texts that a page no longer shows
ADDRESS_ATTRIBUTES = ("href", "src", "data-src", "content", "poster")


class TestedCluster(NamedTuple):
    """A cluster with the tests of its pages and its verdict."""

    watched: WatchedCluster
    tests: Sequence[PageTest]
    verdict: ClusterVerdict
    suspicions: Sequence[Suspicion] = ()


class Triage(NamedTuple):
    """What is known of all pages of a site before they are tested one by one."""

    why_by_url: Mapping[str, str]  # there is no answer
    errors: Sequence[ErrorSignature]  # how error pages of the site look
    own: Mapping[str, Sequence[str]]  # texts that tell a page from the others
    lost: Mapping[str, str]  # pages that show none of them, and what stands in their place
    form_likeness: Mapping[str, float]  # of each page's form to that of before
    standing: Mapping[str, frozenset[str]]  # own texts that still stand on each page


def triage_of(
    watched: Sequence[WatchedCluster],
    fresh: Mapping[str, FreshPage],
    errors: Sequence[ErrorSignature],
    why_by_url: Mapping[str, str],
) -> Triage:
    """Return which pages are there; what stands in the place of one stands in that of others."""
    own: dict[str, Sequence[str]] = {}
    old_by_url: dict[str, PageBefore] = {}
    doubtful: dict[str, Answered] = {}  # pages that are lost, or that nothing tells from others
    form_likeness: dict[str, float] = {}
    standing: dict[str, frozenset[str]] = {}
    shown_before = []
    for cluster in watched:
        old = {page.page.url: _old_page(cluster, page) for page in cluster.pages}
        own |= own_texts(old)
        for page in cluster.pages:
            url = page.page.url
            shown_before.append((_shown(page.old), url))
            if url not in fresh:
                continue
            look = _look(fresh[url])
            form_likeness[url] = likeness(old[url].look.form, look.form)
            standing[url] = frozenset(text for text in own[url] if text in look.shown)
            if not is_seen(own[url], old[url], look):
                old_by_url[url] = old[url]
                doubtful[url] = Answered(look, _redirected_to(fresh[url]))
    lost = why_lost(old_by_url, doubtful)
    return Triage(
        why_by_url,
        telling_signatures(errors, shown_before),
        own,
        {url: why for url, why in lost.items() if own[url] or why != OTHER_CONTENT},
        form_likeness,
        standing,
    )


def _old_page(cluster: WatchedCluster, page: WatchedPage) -> PageBefore:
    values = constant_values(page.golden, cluster.ready.attributes)
    is_list = any(line.index is not None for line in page.golden)
    return PageBefore(values, _look(page.old), is_list)


def _look(page: RawPage | None) -> PageLook:
    tree = read_tree(page)[0] if page is not None else None
    return NOTHING if tree is None else look_of(tree)


def _redirected_to(page: FreshPage) -> str:
    return page.final_url if page.final_url not in {"", page.url} else ""


def test_cluster(
    cluster: WatchedCluster,
    fresh: Mapping[str, FreshPage],
    triage: Triage,
    thresholds: Thresholds,
    failed_before: frozenset[str],
) -> TestedCluster:
    """Return the tests of a cluster's bellwethers and the verdict that follows."""
    tests = [_test_page(cluster, page, fresh.get(page.page.url), triage) for page in cluster.pages]
    verdict = judge_cluster(
        cluster.name,
        tests,
        coverage=_coverage(cluster, tests, fresh, thresholds),
        thresholds=thresholds,
        divide=_divide(cluster, tests),
        failed_before=failed_before,
    )
    return TestedCluster(cluster, tests, verdict)


def _divide(cluster: WatchedCluster, tests: Iterable[PageTest]) -> Divide:
    """Return how layouts of seen pages are named: as people know them, else by what they have.

    Where nothing tells the failing pages from the others there is no name.
    """
    seen = {test.url for test in tests if test.outcome != UNREACHABLE}
    layouts = {url: name for url, name in cluster.layout_by_url.items() if url in seen}

    # Saves reading the trees again for each division that is tried; where none is tried, none
    # is read.
    @cache
    def marks() -> dict[str, list[str]]:
        trees = {page.page.url: read_tree(page.old)[0] for page in cluster.pages}
        return {
            url: marks_of(tree) for url, tree in trees.items() if tree is not None and url in seen
        }

    def divide(failing: frozenset[str], among: frozenset[str]) -> Sequence[str]:
        known = {url: name for url, name in layouts.items() if url in among}
        layout = layout_told(known, failing)
        if layout:
            return (layout,)
        division = find_division(
            {url: own for url, own in marks().items() if url in among}, failing
        )
        return (division.name,) if division else ()

    return divide


def _shown(page: RawPage) -> soft_errors.PageText:
    tree, _ = read_tree(page)
    return soft_errors.PageText("", "", False) if tree is None else soft_errors.read_shown(tree)


def _test_page(
    cluster: WatchedCluster, page: WatchedPage, fresh: FreshPage | None, triage: Triage
) -> PageTest:
    """Return the tests of a bellwether; unreachable where something else stands in its place."""
    url = page.page.url
    if fresh is None:
        return PageTest(url, UNREACHABLE, why=triage.why_by_url.get(url, soft_errors.MISSING))
    tree, problem = read_tree(fresh)
    why = soft_errors.triage(
        soft_errors.Answer(fresh.status, fresh.body, tree, problem),
        triage.own[url],
        old_length=len(_shown(page.old).text),
        old_was_ended=soft_errors.was_ended(page.old.body),
    )
    is_doubtful = url in triage.lost or not triage.own[url]
    if not why and is_doubtful and tree is not None:
        why = recognise(soft_errors.read_shown(tree), url, triage.errors)
    why = why or triage.lost.get(url, "")
    own, standing = triage.own[url], triage.standing.get(url, frozenset())
    form_likeness = triage.form_likeness[url]
    test = PageTest(url, UNREACHABLE, why=why, form_likeness=form_likeness)
    if not why or why == OTHER_CONTENT:
        tested = _run_tests(cluster, page, fresh, tree, form_likeness)
        # A page is there, too, of which the rule reads what it read, though others show the same.
        has_constants = bool(constant_values(page.golden, cluster.ready.attributes))
        if not why or (has_constants and tested.field_test):
            test = tested
    gone = tuple(text for text in own if text not in standing)[:MAX_GONE_TOLD]
    return replace(test, n_own=len(own), n_standing=len(standing), gone=gone)


def _run_tests(
    cluster: WatchedCluster,
    page: WatchedPage,
    fresh: FreshPage,
    tree: HtmlElement | None,
    form_likeness: float,
) -> PageTest:
    attributes = cluster.ready.attributes
    extracted = extract_lines(cluster.ready, fresh)
    failed = tuple(field_test(page.golden, extracted, attributes))
    vanished = vanished_attributes(page.golden, extracted, attributes)
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
        vanished=vanished,
        displaced=displaced_attributes(page.golden, extracted, attributes, text),
        had=frozenset(name for line in page.golden for name in line.values),
        lost=lost_fields(
            failed,
            vanished,
            attributes,
            is_shown=_shown_on(cluster, tree, text),
            has_other_form=form_likeness < MAX_FORM_OF_REDESIGN,
        ),
        form_likeness=form_likeness,
        has_other_values=_values(page.golden) != _values(extracted),
    )


def _values(lines: Sequence[Line]) -> list[Mapping[str, Any]]:
    return [line.values for line in lines if line.values]


def _shown_on(
    cluster: WatchedCluster, tree: HtmlElement | None, text: str
) -> Callable[[FailedField], bool]:
    """Return what says whether a failed field's golden value still stands anywhere on a page."""
    type_by_name = {attribute.name: attribute.type for attribute in cluster.ready.attributes}
    shown = plain(text)

    # Saves walking the page for each failed field of a type.
    @cache
    def addresses(value_type: str) -> set[object]:
        elements = [] if tree is None else tree.iter("*")
        held = (element.get(name) for element in elements for name in ADDRESS_ATTRIBUTES)
        return {form_of(value_type, address) for address in held if address}

    def is_shown(failure: FailedField) -> bool:
        value_type = type_by_name[failure.attribute]
        texts = [failure.golden] if isinstance(failure.golden, str) else failure.golden
        if value_type in ADDRESSES:
            return any(form_of(value_type, text) in addresses(value_type) for text in texts)
        return any(plain(text) in shown for text in texts)

    return is_shown


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
    cluster: WatchedCluster,
    tests: Sequence[PageTest],
    fresh: Mapping[str, FreshPage],
    thresholds: Thresholds,
) -> tuple[float, float] | None:
    """Return the share of further pages that give all mandatory values, as it was and as it is.

    It confirms a failed shingle test only, so it is None without one; and where an archive holds
    too few pages that are there.
    """
    n_shingle = sum(test.shingle_test is False for test in tests)
    names = _mandatory(cluster)
    if not names or n_shingle <= thresholds.pages * len(tests):
        return None
    pages = _pages_there(cluster, fresh)
    if len(pages) < MIN_COVERAGE_PAGES:
        return None
    n_old = sum(names <= _names(page.golden) for page in cluster.pages)
    n_new = sum(names <= _names(extract_lines(cluster.ready, page)) for page in pages)
    return n_old / max(len(cluster.pages), 1), n_new / len(pages)


def _pages_there(cluster: WatchedCluster, fresh: Mapping[str, FreshPage]) -> list[FreshPage]:
    """Return the further pages of a cluster that still show what they showed."""
    urls = [url for url in cluster.other_urls if url in fresh and not fresh[url].is_error]
    old = {
        url: PageBefore((), _look(read_stored(url, snapshot)))
        for url, snapshot in stored_pages(cluster.rule, urls).items()
    }
    own = own_texts(old)
    return [fresh[url] for url in old if is_seen(own[url], old[url], _look(fresh[url]))]


def _mandatory(cluster: WatchedCluster) -> frozenset[str]:
    """Return the mandatory attributes that the rule gave at all when it was learnt."""
    given = {name for page in cluster.pages for name in _names(page.golden)}
    mandatory = {attribute.name for attribute in cluster.ready.attributes if attribute.is_mandatory}
    return frozenset(mandatory & given)


def _names(lines: Sequence[Line]) -> set[str]:
    return {name for line in lines for name in line.values}
