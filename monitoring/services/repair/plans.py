"""Plan how a new cluster is to be served: by an old rule, by a new one, or by nothing yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from annotation.algorithms.attribute_types import AttributeType
from clustering.dom.addresses import url_hash
from clustering.models import Cluster, ClusterFigures, Page, PageMembership
from monitoring.algorithms.repair import FoundValue
from monitoring.algorithms.rule_reuse import NewCluster, OldCluster, Reuse, Versions, find_reuse
from monitoring.models import Proposal
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import extract_lines, read_stored
from monitoring.services.repair.relearning import OldPage, RelearntRule, compare_versions, relearn
from rules.models import GoldenRecord, Record, Rule
from rules.services.learning.schemas import runnable
from vertex.core.models import Site

MAX_COMPARED_PAGES: Final = 40  # of a cluster, old and new
MAX_EVIDENCE_CHARS: Final = 300  # of a value
ROWS_PER_FETCH: Final = 5_000


@dataclass(frozen=True, slots=True)
class RepairPlan:
    """How a new cluster is to be served."""

    new: NewCluster
    reuse: Reuse
    rule: Rule | None = None  # that of the old cluster
    relearnt: RelearntRule | None = None

    @property
    def decision(self) -> str:
        if self.reuse.from_cluster is not None:
            return Proposal.Decision.REUSED.value
        if self.relearnt is not None:
            return Proposal.Decision.PROPOSED.value
        return Proposal.Decision.NEEDS_ANNOTATION.value

    @property
    def reused_rule(self) -> Rule | None:
        return self.rule if self.reuse.from_cluster is not None else None

    @property
    def reason(self) -> str:
        sentences = list(self.reuse.why)
        if self.relearnt is not None:
            sentences.append(f"New rule: {self.relearnt.verdict.why}")
            sentences += _changed_messages(self.relearnt)
            if self.relearnt.silent:
                sentences.append(_silence_message(self.relearnt))
        return " ".join(sentences)


def _changed_messages(relearnt: RelearntRule) -> list[str]:
    """Return a sentence for each attribute of which no stored value was found again."""
    return [
        f"No page shows enough stored values of {name}: what they became is told "
        f"by how its values look, and right to {figures['certainty']:.0%}."
        for name, figures in relearnt.measures.items()
        if "certainty" in figures
    ]


def _silence_message(relearnt: RelearntRule) -> str:
    """Return a sentence: what nothing is proposed for, and the page that would settle most."""
    names = ", ".join(relearnt.silent)
    if not relearnt.page_to_annotate:
        return f"Nothing is proposed for {names}: no page shows the stored values any more."
    return (
        f"Nothing is proposed for {names}: annotate {relearnt.page_to_annotate}, "
        "which still shows the "
        "values of most."
    )


def plan_cluster(
    new: NewCluster,
    old: Sequence[OldCluster],
    rules: Iterable[Rule],
    fresh: Mapping[str, FreshPage],
) -> RepairPlan:
    """Return how a new cluster is to be served.

    1. By the rule of an old cluster that passes the field test on both versions of its pages.
    2. By a rule learnt anew, where most of the pages came from a cluster with a rule and values are
       found.
    3. By nothing, until somebody annotates.
    """
    rule_by_name = {rule.cluster.name: rule for rule in rules}

    def apply_rule(
        cluster: OldCluster, shared: frozenset[str]
    ) -> tuple[list[Versions], Sequence[AttributeType]]:
        rule = rule_by_name[cluster.name]
        ready = runnable(rule)
        return compare_versions(ready, old_pages(rule, shared), fresh), ready.attributes

    reuse = find_reuse(new, old, apply_rule)
    if reuse.from_cluster is not None:
        return RepairPlan(new, reuse, rule_by_name[reuse.from_cluster])

    predecessor = _find_predecessor(new, old)
    if predecessor is None:
        return RepairPlan(new, reuse)
    rule = rule_by_name[predecessor.name]
    changed = [
        page
        for page in old_pages(rule, new.urls & predecessor.urls)
        if page.page.body != fresh[page.url].body and any(line.values for line in page.golden)
    ]
    return RepairPlan(new, reuse, rule, relearn(rule, changed, fresh, new.urls))


def _find_predecessor(new: NewCluster, old: Iterable[OldCluster]) -> OldCluster | None:
    """Return the cluster with a rule that had most of the new one's pages.

    None where there is none, or a cluster without a rule had more of them.
    """
    sharing = [cluster for cluster in old if cluster.urls & new.urls]
    with_rule = [cluster for cluster in sharing if cluster.has_rule]
    if not with_rule:
        return None
    best = max(
        with_rule,
        key=lambda cluster: (len(cluster.urls & new.urls), cluster.importance, cluster.name),
    )
    n_shared = len(best.urls & new.urls)
    for cluster in sharing:
        if not cluster.has_rule and len(cluster.urls & new.urls) > n_shared:
            return None
    return best


def old_clusters(site: Site, rules: Sequence[Rule]) -> list[OldCluster]:
    """Return the stored clusters; those with a rule also know the pages that it served before.

    A page that came in after the change may have left its cluster already.
    """
    figures = ClusterFigures.objects.current().filter(clustering__site=site)
    figures_by_cluster = {
        cluster: (signature, importance)
        for cluster, signature, importance in figures.values_list(
            "cluster", "signature", "importance"
        )
    }
    with_rule = {rule.cluster_id for rule in rules}
    members = PageMembership.objects.of_site(site)
    golden = GoldenRecord.objects.filter(rule__in=rules)
    records = Record.objects.there().filter(cluster__in=with_rule)
    urls: dict[int, set[str]] = {}
    for rows in (
        members.values_list("cluster", "page__url"),
        golden.values_list("rule__cluster", "page__url"),
        records.values_list("cluster", "page__url"),
    ):
        for pk, url in rows.iterator(chunk_size=ROWS_PER_FETCH):
            urls.setdefault(pk, set()).add(url)
    clusters = []
    for cluster in Cluster.objects.filter(pk__in={*urls, *with_rule}):
        signature, importance = figures_by_cluster.get(cluster.pk, ("", 0.0))
        clusters.append(
            OldCluster(
                cluster.name,
                frozenset(urls.get(cluster.pk, ())),
                signature,
                importance,
                has_rule=cluster.pk in with_rule,
            )
        )
    return clusters


def old_pages(rule: Rule, urls: frozenset[str]) -> list[OldPage]:
    """Return some of these pages as they were, with what the rule extracts from them.

    Those with golden records come first; of the others, whatever cluster they are in, the hash of
    the address decides.
    """
    golden = GoldenRecord.objects.filter(rule=rule, page__url__in=urls)
    golden = golden.select_related("page", "snapshot").order_by("pk")[:MAX_COMPARED_PAGES]
    pages = []
    for row in golden:
        stored = read_stored(row.page.url, row.snapshot)
        if stored is not None:
            pages.append(OldPage(stored, row.lines))

    ready = runnable(rule)
    for page in _pages_at(rule.cluster.site, urls - {page.url for page in pages}):
        if len(pages) >= MAX_COMPARED_PAGES:
            break
        raw = read_stored(page.url, page.latest_snapshot) if page.latest_snapshot else None
        if raw is not None:
            pages.append(OldPage(raw, extract_lines(ready, raw, nodes=True)))
    return pages


def _pages_at(site: Site, urls: Iterable[str]) -> Iterator[Page]:
    """Yield pages at some addresses that answered well when stored, in order of their hashes."""
    pages = Page.objects.filter(site=site, latest_snapshot__status__lt=HTTPStatus.BAD_REQUEST)
    hashes = sorted(map(url_hash, urls))
    for start in range(0, len(hashes), MAX_COMPARED_PAGES):
        some = pages.filter(url_hash__in=hashes[start : start + MAX_COMPARED_PAGES])
        yield from some.select_related("latest_snapshot").order_by("url_hash")


def attributes_json(plan: RepairPlan) -> dict[str, Any]:
    """Return the XPath and the precision of each attribute that the plan gives a rule."""
    attributes = {}
    if plan.relearnt is not None:
        for rule in plan.relearnt.definition.attributes:
            if rule.alternatives:
                figures = plan.relearnt.measures.get(rule.attribute, {"precision": 0.0})
                attributes[rule.attribute] = {"xpath": rule.alternatives[0].xpath, **figures}
    elif plan.reused_rule is not None:
        for figure in plan.reused_rule.figures:
            if figure.get("xpath"):
                attributes[figure["attribute"]] = {
                    "xpath": figure["xpath"],
                    "precision": figure["precision"],
                }
    return attributes


def evidence_json(plan: RepairPlan) -> dict[str, Any]:
    """Return the values found again on annotated pages, with scores, by URL and attribute."""
    if plan.relearnt is None:
        return {}
    return {
        page.url: {name: _values_json(values) for name, values in page.values.items()}
        for page in plan.relearnt.annotated
    }


def _values_json(values: Iterable[FoundValue]) -> list[dict[str, Any]]:
    return [
        {
            "xpath": value.place.xpath,
            "text": value.place.text[:MAX_EVIDENCE_CHARS],
            "score": value.score,
        }
        for value in values
    ]
