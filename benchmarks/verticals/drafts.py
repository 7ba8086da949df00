"""How good drafts from a vertical's other sites are, before and after one page is confirmed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.drafting import FieldDraft
from annotation.algorithms.fields.matching import KnownFields, MatchingWeights
from annotation.algorithms.fields.recognising import (
    MAX_PAGES,
    ConfirmedPage,
    recognise_fields,
)
from benchmarks.verticals.known_sites import KnownSite, Verticals
from benchmarks.verticals.swde import SwdeSite, is_right, page_f1
from clustering.algorithms.automatic import auto
from clustering.algorithms.grouping import ClusteringInputs
from rules.algorithms.drafting.confirmed_rules import learn_from_confirmed
from rules.algorithms.drafting.slot_rules import ClusterPage, learn_from_slots
from rules.algorithms.learning.targets import AnnotatedPage
from rules.algorithms.running.records import RunnableRule, texts_of
from rules.algorithms.running.run_rule import extract_tree
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.services.fields.cluster_drafts import MIN_PAGES

MAX_CLUSTERS: Final = 3  # of a site that are drafted

PageValues = dict[str, dict[str, list[str]]]  # by page and attribute


@dataclass
class DraftFigures:
    """What the drafts of a site extract: F1 over pages by attribute."""

    vertical: str
    site: str
    of_slots: dict[str, float] = field(default_factory=dict)
    of_rules: dict[str, float] = field(default_factory=dict)  # learnt from the slots
    confirmed: dict[str, float] = field(default_factory=dict)  # the same after one page
    n_certain: int = 0  # fields
    n_drafted: int = 0
    n_certain_values: int = 0
    n_right_values: int = 0  # among those


def clusters_of(site: SwdeSite) -> list[list[str]]:
    """Return the pages of the clusters that the product makes, the largest first."""
    pages = list(site.trees)
    urls = [site.raw_pages[page].url for page in pages]
    observe = auto.CLUSTERER.observe
    assert observe is not None
    observations = [observe(site.raw_pages[page]) for page in pages]
    grouping = auto.cluster_pages(urls, observations, ClusteringInputs())
    pages_by_label: dict[str, list[str]] = {}
    for page, label in zip(pages, grouping.labels(len(pages)), strict=True):
        if label is not None:
            pages_by_label.setdefault(label, []).append(page)
    return sorted(pages_by_label.values(), key=len, reverse=True)


def measure_drafts(
    site: SwdeSite, known_site: KnownSite, verticals: Verticals, weights: MatchingWeights
) -> DraftFigures:
    """Draft a site from the other sites of its vertical, cluster by cluster.

    The page that is confirmed is the first of each cluster; it is not scored then.
    """
    known = verticals.known(site.vertical, verticals.others(known_site))
    figures = DraftFigures(site.vertical, site.name)
    of_slots: PageValues = {}
    of_rules: PageValues = {}
    confirmed_values: PageValues = {}
    confirmed_pages = set()
    for cluster in clusters_of(site)[:MAX_CLUSTERS]:
        if len(cluster) < MIN_PAGES:
            continue
        some = cluster[:MAX_PAGES]
        trees = [site.trees[page] for page in some]
        drafts = recognise_fields(trees, known, weights)
        of_slots |= values_of_slots(some, drafts, known)
        of_rules |= values_of_rule(site, cluster, some, drafts, known)
        count_certain(figures, site, some, drafts, known)
        confirmed_pages.add(some[0])
        truth = {
            name: site.truth[some[0]].get(name, [])
            for name in known.fields
            if name in site.truth[some[0]] or name not in site.attributes
        }
        confirmed = recognise_fields(trees, known, weights, [ConfirmedPage(0, truth)])
        confirmed_values |= values_of_rule(site, cluster, some, confirmed, known, truth)
    scored = [page for page in site.trees if page not in confirmed_pages]
    for attribute in site.attributes:
        # Slots know the pages that they were found on.
        figures.of_slots[attribute] = f1_of(site, attribute, of_slots, list(of_slots))
        figures.of_rules[attribute] = f1_of(site, attribute, of_rules, list(site.trees))
        figures.confirmed[attribute] = f1_of(site, attribute, confirmed_values, scored)
    return figures


def f1_of(site: SwdeSite, attribute: str, values: PageValues, pages: Sequence[str]) -> float:
    known = [page for page in pages if attribute in site.truth[page]]
    return page_f1(
        [site.truth[page][attribute] for page in known],
        [values.get(page, {}).get(attribute, []) for page in known],
        is_multi=attribute in site.multi,
    )


def values_of_slots(
    pages: Sequence[str], drafts: Sequence[FieldDraft], known: KnownFields
) -> PageValues:
    return {
        page: {
            draft.field: draft.slot.values(number)[: None if draft.field in known.multi else 1]
            for draft in drafts
        }
        for number, page in enumerate(pages)
    }


def values_of_rule(
    site: SwdeSite,
    cluster: Sequence[str],
    some: Sequence[str],
    drafts: Sequence[FieldDraft],
    known: KnownFields,
    confirmed: Mapping[str, Sequence[str]] | None = None,
) -> PageValues:
    """Return what the rule extracts from a cluster; `confirmed` is what its first page shows."""
    attributes = [AttributeType(name, is_multi=name in known.multi) for name in known.fields]
    pages = [ClusterPage(page, site.trees[page]) for page in some]
    if confirmed is None:
        rule = learn_from_slots(pages, drafts, attributes)
    else:
        pages[0] = ClusterPage(some[0], site.trees[some[0]], annotate(site, some[0], confirmed))
        rule = learn_from_confirmed(pages, drafts, attributes)
    runnable = RunnableRule("cluster", 0, stylesheet_of(rule, title=""), attributes)
    values: PageValues = {}
    for page in cluster:
        extracted = extract_tree(site.trees[page], page, runnable)
        record = extracted.records[0].values if extracted.records else {}
        values[page] = {name: texts_of(value) for name, value in record.items()}
    return values


def annotate(site: SwdeSite, page: str, values: Mapping[str, Sequence[str]]) -> AnnotatedPage:
    """Return a page as a person annotates it: each value where most pages show the attribute."""
    marks = site.marks[page]
    shown = {
        name: marks[name][: None if name in site.multi else 1]
        for name, texts in values.items()
        if texts and marks.get(name)
    }
    absent = frozenset(name for name, texts in values.items() if not texts)
    return AnnotatedPage(page, site.trees[page], shown, absent)


def count_certain(
    figures: DraftFigures,
    site: SwdeSite,
    pages: Sequence[str],
    drafts: Sequence[FieldDraft],
    known: KnownFields,
) -> None:
    """Count the fields that are called certain, and which of their values are right."""
    for draft in drafts:
        figures.n_drafted += 1
        figures.n_certain += draft.is_certain
        if not draft.is_certain:
            continue
        is_multi = draft.field in known.multi
        for number, page in enumerate(pages):
            if draft.field in site.attributes and draft.field not in site.truth[page]:
                continue  # not known
            wanted = site.truth[page].get(draft.field, [])
            for value in draft.slot.values(number)[: None if is_multi else 1]:
                figures.n_certain_values += 1
                figures.n_right_values += is_right(wanted, [value], is_multi=False)
