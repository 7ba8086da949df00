"""Learn a cluster's rule from its samples: the default learner and the published one.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.
Notation:   pXPath -> an alternative of kind "xpath"; rXPath -> the conjunction of one of kind
            "naive_bayes".
Readings:   Steps in their order: conjunction, position, Naive Bayes; then the part of the text.
Departures: Before the position come alternatives by layout: each serves some of the annotated
            pages, none selects a wrong node. A precise conjunction that hardly any page confirms
            is the last resort. `published` is the paper's own way, on elements.
Cost:       One walk over the samples; then a few hundred features an attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.default_learner import learn_attributes, learn_boundary
from rules.algorithms.learning.entries import entries_of
from rules.algorithms.learning.published_learner import learn_all_as_published
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.learning.targets import AnnotatedPage, Targets, find_boundaries, find_targets
from rules.algorithms.rule.rule import AttributeRule, ClusterRule, LearningFailure, NestedList

NO_ENTRIES: Final = (
    "nothing shows where its entries begin, so its values are told apart by their number alone; "
    "annotate a page on which it has two or more"
)

Learner = Callable[[Samples, Sequence[tuple[Targets, AttributeType]]], list[AttributeRule]]

LEARNERS: Final[Mapping[str, Learner]] = {
    "default": learn_attributes,
    "published": learn_all_as_published,
}


def learn_cluster(
    annotated: Sequence[AnnotatedPage],
    unannotated: Iterable[_Element],
    attributes: Iterable[AttributeType],
    *,
    learner: str = "default",
) -> ClusterRule:
    """Return the rule of a cluster; an attribute without a rule says why.

    Raises KeyError for a learner that is not in LEARNERS.
    """
    return learn_from(read_samples(annotated, unannotated), attributes, learner=learner)


def learn_from(
    samples: Samples, attributes: Iterable[AttributeType], *, learner: str = "default"
) -> ClusterRule:
    """Return the rule of a cluster from samples read before. Raises KeyError as learn_cluster."""
    learn = LEARNERS[learner]
    requested = [
        (find_targets(samples.index, samples.pages, attribute), attribute)
        for attribute in attributes
    ]
    with_marks = [(targets, attribute) for targets, attribute in requested if targets.marks]
    rules = iter(learn(samples, with_marks))
    attribute_rules = [
        next(rules) if targets.marks else _rule_without_marks(targets, attribute)
        for targets, attribute in requested
    ]
    record_sizes = Counter(len(record) for page in samples.pages for record in page.records)
    n_siblings = max(record_sizes, key=record_sizes.__getitem__, default=1)
    boundaries = find_boundaries(samples.index, samples.pages)
    boundary, failures = learn_boundary(samples, boundaries, n_siblings)
    nested_lists, failures_of_lists = _learn_nested_lists(samples, attribute_rules)
    return ClusterRule(
        attributes=tuple(attribute_rules),
        boundary=boundary,
        nested_lists=tuple(nested_lists),
        failures=(*failures, *failures_of_lists),
        learner=learner,
        learnt_from=tuple(page.url for page in samples.pages),
        n_unannotated=samples.index.n_pages - len(samples.pages),
    )


def _learn_nested_lists(
    samples: Samples, rules: Sequence[AttributeRule]
) -> tuple[list[NestedList], list[LearningFailure]]:
    """Return where the entries of each nested list begin, and why that is not known of the others.

    A list of a single field has nothing that could belong together.
    """
    names_by_list: dict[str, list[str]] = {}
    for rule in rules:
        if rule.list_name and rule.alternatives:
            names_by_list.setdefault(rule.list_name, []).append(rule.attribute)
    nested_lists, failures = [], []
    for list_name, names in names_by_list.items():
        if len(names) == 1:
            continue
        pages = [replace(page, records=entries_of(page, names)) for page in samples.pages]
        boundaries = find_boundaries(samples.index, pages)
        boundary, _ = learn_boundary(samples, boundaries, n_siblings=1)
        if boundary is None:
            failures.append(LearningFailure(list_name, "entries", "", NO_ENTRIES))
            continue
        is_run = any(len(entry) > 1 for page in pages for entry in page.records)
        nested_lists.append(NestedList(list_name, boundary.first, is_run))
    return nested_lists, failures


def _rule_without_marks(targets: Targets, attribute: AttributeType) -> AttributeRule:
    """Return a rule without alternatives, with the reason."""
    reason = "no page was annotated for it"
    if targets.judged:
        reason = "it is absent on all annotated pages"
    failures = targets.failures or [LearningFailure(attribute.name, "annotations", "", reason)]
    return AttributeRule(
        attribute=attribute.name,
        type=attribute.type,
        is_multi=attribute.is_multi,
        is_mandatory=attribute.is_mandatory,
        regex=attribute.regex,
        failures=tuple(failures),
    )
