"""Learn a rule for a changed cluster from its golden values, and run it beside the old one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.known_values import plain, same_value
from monitoring.algorithms.repair import KnownPage, ProposedPage, choose_pages, propose_annotations
from monitoring.algorithms.rule_reuse import Versions, field_test_of_rule
from monitoring.algorithms.value_places import ValueIndex
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import tree_of_body
from monitoring.services.repair.list_relearning import relearn_list
from monitoring.services.repair.relearnt import OldPage, Relearnt, versions_with
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.models import Rule

__all__ = ["OldPage", "Relearnt", "relearn", "versions_with"]

N_ANNOTATED = 8
N_MORE = 3  # pages added where the rule fails
N_UNANNOTATED = 18
N_ROUNDS = 3
SURE = 0.97  # precision below which an optional attribute is not proposed


def relearn(
    rule: Rule, old: Sequence[OldPage], fresh: Mapping[str, FreshPage], urls: Iterable[str]
) -> Relearnt | None:
    """Return the rule of a changed cluster; None where nothing to learn from is found again.

    `old` are known pages of the cluster, `urls` all addresses of the cluster as it is now.
    """
    if any(line.index is not None for page in old for line in page.golden):
        return relearn_list(rule, old, fresh, urls)
    known = _known_pages(old, fresh)
    kinds = rule.attributes
    if not known:
        return None
    proposed = propose_annotations(known, kinds)
    annotated = choose_pages(proposed, N_ANNOTATED)
    if not annotated:
        return None
    dropped: set[str] = set()
    relearnt = None
    for _ in range(N_ROUNDS):
        relearnt = _learn(rule, old, fresh, (proposed, annotated), sorted(urls), dropped)
        more = _pages_that_fail(relearnt, proposed, annotated)
        unsure = _unsure(relearnt, kinds)
        if relearnt.verdict.has_passed and not unsure and not relearnt.spurious:
            break
        annotated = [*annotated, *more[:N_MORE]]
        if not more:
            dropped |= unsure
            if not unsure:
                break
    return relearnt


def _known_pages(old: Sequence[OldPage], fresh: Mapping[str, FreshPage]) -> list[KnownPage]:
    known = []
    for page in old:
        if page.url not in fresh or not page.golden:
            continue
        tree, _ = tree_of_body(fresh[page.url].body, fresh[page.url].content_type)
        if tree is None:
            continue
        labels, tags = _old_anchors(page)
        known.append(KnownPage(page.url, ValueIndex(tree), page.golden[0].values, labels, tags))
    return known


def _old_anchors(page: OldPage) -> tuple[dict[str, str], dict[str, str]]:
    """Return the labels and tags of the nodes on which the golden values stood."""
    tree, _ = tree_of_body(page.body, page.content_type)
    if tree is None:
        return {}, {}
    read = ValueIndex(tree)
    labels, tags = {}, {}
    for name, nodes in page.golden[0].nodes.items():
        xpath = nodes if isinstance(nodes, str) else next(iter(nodes), "")
        place = read.place_at(xpath, "") if xpath else None
        if place is not None:
            labels[name], tags[name] = place.label, place.tag
    return labels, tags


def _learn(
    rule: Rule,
    old: Sequence[OldPage],
    fresh: Mapping[str, FreshPage],
    pages: tuple[list[ProposedPage], list[ProposedPage]],
    urls: Sequence[str],
    dropped: set[str],
) -> Relearnt:
    proposed, annotated = pages
    taken = {page.url for page in annotated}
    known = [page.url for page in old if page.url in fresh and page.url not in taken]
    others = list(
        dict.fromkeys([*known, *(url for url in urls if url in fresh and url not in taken)])
    )
    others = others[:N_UNANNOTATED]
    trees = [tree_of_body(fresh[url].body, fresh[url].content_type)[0] for url in others]
    learnt = learn_cluster(
        [one for page in annotated if (one := _annotated_page(page, fresh[page.url], dropped))],
        [tree for tree in trees if tree is not None],
        rule.attributes,
    )
    stylesheet = stylesheet_of(learnt, title=rule.cluster.title)
    trial = RunnableRule(rule.cluster.name, 0, stylesheet, rule.attributes)
    has_rule = {one.attribute for one in learnt.attributes if one.alternatives}
    versions = versions_with(trial, old, fresh)
    kinds = [one for one in trial.attributes if one.name in has_rule or one.is_mandatory]
    verdict = field_test_of_rule(versions, kinds)
    measures = {
        one.name: measure(one, versions) for one in trial.attributes if one.name in has_rule
    }
    spurious = _spurious(versions, proposed)
    return Relearnt(
        learnt, stylesheet, list(annotated), proposed, others, verdict, measures, spurious
    )


def _spurious(
    versions: Sequence[Versions], proposed: Sequence[ProposedPage]
) -> dict[str, set[str]]:
    """Return the values that a rule gives on pages that seem not to have them."""
    absent_by_url = {page.url: page.absent for page in proposed}
    given = {
        one.url: {name for line in one.new for name in line.values}
        & absent_by_url.get(one.url, frozenset())
        for one in versions
    }
    return {url: names for url, names in given.items() if names}


def _annotated_page(
    page: ProposedPage, fresh: FreshPage, dropped: set[str]
) -> AnnotatedPage | None:
    tree, problem = tree_of_body(fresh.body, fresh.content_type)
    if tree is None:
        return None
    values = {
        name: [
            MarkedNode(one.place.xpath, None if one.place.is_whole else one.place.text)
            for one in found
        ]
        for name, found in page.values.items()
        if name not in dropped
    }
    return AnnotatedPage(page.url, tree, values, page.absent - dropped - set(values), problem)


def measure(attribute: AttributeType, versions: Iterable[Versions]) -> dict[str, Any]:
    """Return how often a rule gives the golden value of an attribute, where the page still shows it."""
    counts: Counter[str] = Counter()
    for one in versions:
        was = one.old[0].values.get(attribute.name) if one.old else None
        now = one.new[0].values.get(attribute.name) if one.new else None
        counts["found"] += now is not None
        if was is None or not (attribute.is_constant or _is_shown(was, one.shown)):
            continue
        counts["known"] += 1
        counts["given"] += now is not None
        counts["right"] += same_value(attribute.type, was, now)
    precision = counts["right"] / counts["given"] if counts["given"] else 0.0
    recall = counts["right"] / counts["known"] if counts["known"] else 0.0
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "n_known": counts["known"],
    }


def _is_shown(value: str | Sequence[str], shown: str) -> bool:
    whole = plain(shown)
    return all(plain(text) in whole for text in ([value] if isinstance(value, str) else value))


def _pages_that_fail(
    relearnt: Relearnt, proposed: Sequence[ProposedPage], annotated: Sequence[ProposedPage]
) -> list[ProposedPage]:
    """Return proposed pages on which the rule loses a value that was found there."""
    taken = {page.url for page in annotated}
    failed = {
        url: {one.attribute for one in fields} for url, fields in relearnt.verdict.failed.items()
    }
    return [
        page
        for page in proposed
        if page.url not in taken
        and (failed.get(page.url, set()) & set(page.values) or page.url in relearnt.spurious)
    ]


def _unsure(relearnt: Relearnt, kinds: Iterable[AttributeType]) -> set[str]:
    """Return the optional attributes whose rule is wrong too often to be proposed."""
    optional = {one.name for one in kinds if not one.is_mandatory and one.is_constant}
    failed = {field.attribute for fields in relearnt.verdict.failed.values() for field in fields}
    return {
        name
        for name, told in relearnt.measures.items()
        if name in optional and (told["precision"] < SURE or name in failed)
    }
