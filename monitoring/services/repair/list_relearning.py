"""Learn the rule of a changed list from its golden records: where they stand now, and their fields there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.records.finding import find_records
from clustering.dom.paths import element_paths
from monitoring.algorithms.known_values import same_value
from monitoring.algorithms.record_matching import match_list
from monitoring.algorithms.repair import FoundValue, KnownPage, ProposedPage, propose_annotations
from monitoring.algorithms.rule_reuse import FieldVerdict, Versions, field_test_of_rule
from monitoring.algorithms.value_places import ValueIndex
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.checks.tested_pages import tree_of_body
from monitoring.services.repair.relearnt import OldPage, Relearnt, versions_with
from rules.algorithms.learning.list_learner import learn_records
from rules.algorithms.learning.record_samples import RecordSamples, copy_of_record, path_in_copy
from rules.algorithms.learning.samples import read_samples
from rules.algorithms.learning.targets import AnnotatedPage, MarkedNode
from rules.algorithms.rule.rule import OF_PAGE
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.stylesheet.stylesheet import stylesheet_of
from rules.models import Rule

N_LISTS: Final = 5  # of a page that may be the one
N_PAGES: Final = 8  # from which is learnt
N_RECORDS: Final = 15  # of a page that are annotated
N_OTHERS: Final = 15  # pages without annotations
MOST_LOST: Final = 0.1  # of the records that are on the new pages, that the rule may not give


@dataclass(slots=True)
class _Page:
    """The new version of a list page with what of its golden records was found on it."""

    url: str
    tree: _Element
    records: list[list[_Element]]
    values: list[Mapping[str, Any]]  # of the golden record of each found one
    keys: list[str]  # of these golden records
    copies: list[tuple[_Element, dict[_Element, _Element]]] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)  # of the found records among all
    found: list[ProposedPage] = field(default_factory=list)
    of_page: Mapping[str, Sequence[FoundValue]] = field(default_factory=dict)

    @property
    def has_text(self) -> bool:
        return any(len(record) > 1 for record in self.records)


def relearn_list(
    rule: Rule, old: Sequence[OldPage], fresh: Mapping[str, FreshPage], urls: Iterable[str]
) -> Relearnt | None:
    """Return the rule of a changed list; None where its records are found on no page."""
    kinds = rule.attributes
    named = rule.definition.get("attributes", [])
    of_page = {one["attribute"] for one in named if one.get("scope") == OF_PAGE}
    within = [one for one in kinds if one.name not in of_page]
    found = (_find(page, fresh[page.url], within) for page in old if page.url in fresh)
    pages = sorted((one for one in found if one is not None), key=lambda one: -len(one.numbers))[
        :N_PAGES
    ]
    if not pages:
        return None
    _propose(pages, within, [one for one in kinds if one.name in of_page])
    taken = {page.url for page in pages}
    others = [url for url in sorted(urls) if url in fresh and url not in taken][:N_OTHERS]
    trees = [tree_of_body(fresh[url].body, fresh[url].content_type)[0] for url in others]
    samples = read_samples(
        [
            AnnotatedPage(page.url, page.tree, _marks(page.of_page), records=page.records)
            for page in pages
        ],
        [tree for tree in trees if tree is not None],
    )
    definition = learn_records(samples, [_samples_of(page) for page in pages], rule.attributes)
    stylesheet = stylesheet_of(definition, title=rule.cluster.title)
    trial = RunnableRule(rule.cluster.name, 0, stylesheet, kinds)
    has_rule = {one.attribute for one in definition.attributes if one.alternatives}
    versions = versions_with(trial, old, fresh)
    verdict = field_test_of_rule(
        versions, [one for one in kinds if one.name in has_rule or one.is_mandatory]
    )
    verdict = _not_without_records(verdict, versions, pages)
    measures = {one.name: measure_of_list(one, versions) for one in kinds if one.name in has_rule}
    proposed = [_proposed(page) for page in pages]
    return Relearnt(definition, stylesheet, proposed, proposed, others, verdict, measures)


def _find(page: OldPage, fresh: FreshPage, kinds: Sequence[AttributeType]) -> _Page | None:
    """Return the list of a page in which its golden records stand now."""
    tree, _ = tree_of_body(fresh.body, fresh.content_type)
    golden = [line for line in page.golden if line.values]
    if tree is None or not golden:
        return None
    lists = [one.records for one in find_records(tree, N_LISTS)]
    matched = match_list(lists, [line.values for line in golden], kinds)
    if matched is None:
        return None
    numbers = sorted(matched.known)
    lines = [golden[matched.known[number]] for number in numbers]
    made = _Page(
        page.url,
        tree,
        [list(record) for record in matched.records],
        [line.values for line in lines],
        [str(line.key) for line in lines],
        numbers=numbers,
    )
    made.copies = [
        copy_of_record(made.records[number], has_text=made.has_text) for number in numbers
    ]
    return made


def _propose(
    pages: Sequence[_Page], within: Sequence[AttributeType], beside: Sequence[AttributeType]
) -> None:
    """Find the golden values within their records, each as if it were a page, and those beside them."""
    known = [
        KnownPage(
            page.url,
            ValueIndex(copy),
            {one.name: values[one.name] for one in within if one.name in values},
        )
        for page in pages
        for (copy, _), values in list(zip(page.copies, page.values, strict=True))[:N_RECORDS]
    ]
    proposed = iter(propose_annotations(known, within))
    for page in pages:
        page.found = [next(proposed) for _ in page.copies[:N_RECORDS]]
    if beside:
        wholes = [
            KnownPage(
                page.url,
                ValueIndex(page.tree),
                {
                    one.name: page.values[0][one.name]
                    for one in beside
                    if one.name in page.values[0]
                },
            )
            for page in pages
        ]
        for page, found in zip(pages, propose_annotations(wholes, beside), strict=True):
            page.of_page = found.values


def _samples_of(page: _Page) -> RecordSamples:
    annotated = [
        AnnotatedPage(page.url, copy, _marks(found.values), found.absent)
        for (copy, _), found in zip(page.copies, page.found, strict=False)
        if found.values
    ]
    known = set(page.numbers)
    others = [
        copy_of_record(record, has_text=page.has_text)[0]
        for number, record in enumerate(page.records)
        if number not in known
    ]
    return RecordSamples(annotated, others[:N_RECORDS], _marks(page.of_page), page.has_text)


def _marks(values: Mapping[str, Sequence[FoundValue]]) -> dict[str, list[MarkedNode]]:
    return {
        name: [
            MarkedNode(one.place.xpath, None if one.place.is_whole else one.place.text)
            for one in found
        ]
        for name, found in values.items()
    }


def _proposed(page: _Page) -> ProposedPage:
    """Return what was found on a page, with the places that it has there."""
    values: dict[str, list[FoundValue]] = {
        name: list(found) for name, found in page.of_page.items()
    }
    for (copy, copies), found in zip(page.copies, page.found, strict=False):
        originals = {its: original for original, its in copies.items()}
        for name, places in found.values.items():
            for one in places:
                nodes: Any = copy.xpath(one.place.xpath)
                xpath = path_in_copy(nodes[0], originals)
                place = one.place._replace(xpath=xpath)  # noqa: SLF001 - the public way of a named tuple
                values.setdefault(name, []).append(FoundValue(place, one.score, one.why))
    paths = iter(element_paths([element for record in page.records for element in record]))
    records = [[next(paths) for _ in record] for record in page.records]
    return ProposedPage(page.url, values, frozenset(), records)


def _not_without_records(
    verdict: FieldVerdict, versions: Sequence[Versions], pages: Sequence[_Page]
) -> FieldVerdict:
    """Return the verdict; a rule that does not give the records that are there has not passed."""
    new = {one.url: {str(line.key) for line in one.new} for one in versions}
    there = [(page.url, key) for page in pages for key in page.keys]
    lost = [(url, key) for url, key in there if key not in new.get(url, set())]
    if verdict.has_passed and len(lost) > MOST_LOST * len(there):
        url, key = lost[0]
        why = f"{len(lost)} of {len(there)} records are lost, such as {key!r} on {url}."
        return replace(verdict, has_passed=False, why=why)
    return verdict


def measure_of_list(attribute: AttributeType, versions: Iterable[Versions]) -> dict[str, Any]:
    """Return how often a rule gives the golden value of an attribute in the records that are still there."""
    counts: Counter[str] = Counter()
    for one in versions:
        now = {line.key: line.values for line in one.new}
        for line in one.old:
            was, new = line.values.get(attribute.name), now.get(line.key, {})
            value = new.get(attribute.name)
            if was is None or not new:
                continue
            counts["known"] += 1
            counts["given"] += value is not None
            counts["right"] += same_value(attribute.type, was, value)
    precision = counts["right"] / counts["given"] if counts["given"] else 0.0
    recall = counts["right"] / counts["known"] if counts["known"] else 0.0
    return {
        "precision": round(precision, 4),
        "recall": round(recall, 4),
        "n_known": counts["known"],
    }
