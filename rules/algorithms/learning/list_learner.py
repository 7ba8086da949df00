"""Learn the rule of a cluster of list pages: where records begin and end, and their fields.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C, for each record as if it were a page.
Readings:   Each annotated record is an annotated page, each other record of an annotated page one
            without annotations: that a field is in a record once supports a rule, as it does on
            pages. A field that is not multi-valued has one value in a record. An attribute whose
            values stand in no record is the page's: it is learnt on whole pages, and each record
            has its values. Elements behind the first one of a record are like those of the
            annotated records: of their tags. Where a tag is also that of an element between or
            behind the records, its classes must distinguish the two; where they do not, a record
            has no more elements than the longest annotated one.
Cost:       As that of a cluster with so many small pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any, Final

from lxml import etree
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.learner import learn_from
from rules.algorithms.learning.record_samples import (
    MAX_UNANNOTATED_RECORDS,
    RecordSamples,
    copy_of_record,
    samples_of_records,
)
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.learning.targets import AnnotatedPage, NodeNotFound
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import OF_PAGE, Boundary, ClusterRule
from rules.algorithms.rule.xpaths import any_of
from rules.algorithms.stylesheet.fast_paths import element_test

MAX_RECORD_ELEMENTS: Final = 400
MAX_FOREIGN_ELEMENTS: Final = 10  # elements behind a record, of no record, that are looked at
MAX_CLASSES: Final = 3  # that elements of one tag in records may have


def learn_list(
    samples: Samples, attributes: Sequence[AttributeType], *, learner: str = "default"
) -> ClusterRule:
    """Return the rule of a cluster of lists; an attribute without a rule says why."""
    lists = []
    for page in samples.pages:
        try:
            if page.records:
                lists.append(samples_of_records(page))
        except NodeNotFound:
            continue  # `learn_records` reports where a record is not found
    return learn_records(samples, lists, attributes, learner=learner)


def learn_records(
    samples: Samples,
    lists: Sequence[RecordSamples],
    attributes: Sequence[AttributeType],
    *,
    learner: str = "default",
) -> ClusterRule:
    """Return the rule of a cluster of lists whose records were made samples.

    1. On the whole pages learn where records begin, and the attributes whose values stand in no
       record.
    2. Learn which elements behind the first one belong to a record.
    3. On records, of the annotated pages and of others, learn the other attributes.
    """
    in_records = {name for records in lists for page in records.annotated for name in page.values}
    of_page = {name for records in lists for name in records.outside} - in_records
    page_attributes = [attribute for attribute in attributes if attribute.name in of_page]
    record_attributes = [attribute for attribute in attributes if attribute.name not in of_page]

    page_rule = learn_from(samples, page_attributes, learner=learner)
    has_text = any(records.has_text for records in lists)
    boundary = with_run(page_rule.boundary, samples.pages, has_text=has_text)

    annotated = [page for records in lists for page in records.annotated]
    unannotated = _in_turn(
        [tree for records in lists for tree in records.unannotated],
        _records_of_unannotated_pages(samples, boundary),
    )
    record_samples = read_samples(annotated, unannotated[:MAX_UNANNOTATED_RECORDS])
    record_rule = learn_from(record_samples, record_attributes, learner=learner)

    rules = {rule.attribute: rule for rule in record_rule.attributes}
    rules |= {rule.attribute: replace(rule, scope=OF_PAGE) for rule in page_rule.attributes}
    in_order = tuple(rules[attribute.name] for attribute in attributes)
    nested_lists = [
        *record_rule.nested_lists,
        *(replace(nested, scope=OF_PAGE) for nested in page_rule.nested_lists),
    ]
    return replace(
        page_rule,
        boundary=boundary,
        attributes=in_order,
        nested_lists=tuple(nested_lists),
        failures=(*page_rule.failures, *record_rule.failures),
    )


def _in_turn(first: Sequence[_Element], second: Sequence[_Element]) -> list[_Element]:
    """Return one item of each in turn, until both are used up."""
    return [tree for pair in zip_longest(first, second) for tree in pair if tree is not None]


def _records_of_unannotated_pages(samples: Samples, boundary: Boundary | None) -> list[_Element]:
    """Return copies of records where the boundary finds them, some of each page.

    They distinguish what is the same in all records of one page, such as the town of a list of its
    shops, from what is the same in all records.
    """
    if boundary is None:
        return []
    find_firsts = etree.XPath(boundary.first.xpath, regexp=False)
    trees = _unannotated_trees(samples)
    n_of_page = max(MAX_UNANNOTATED_RECORDS // max(len(trees), 1), 1)
    records: list[_Element] = []
    for tree in trees[:MAX_UNANNOTATED_RECORDS]:
        firsts = [first for first in _elements(find_firsts(tree)) if first.getparent() is not None]
        step = max(len(firsts) // n_of_page, 1)
        for first in firsts[::step][:n_of_page]:
            run = run_of(first, boundary)
            records.append(copy_of_record(run, has_text=boundary.has_text)[0])
    return records


def _unannotated_trees(samples: Samples) -> list[_Element]:
    index = samples.index
    trees: dict[_Element, None] = {}
    for start in index.page_starts[len(samples.pages) :]:
        if start < index.n:  # else the last pages have no nodes
            trees[index.nodes[start].element.getroottree().getroot()] = None
    return list(trees)


def _elements(selected: object) -> list[_Element]:
    if not isinstance(selected, list):
        return []
    return [node for node in selected if isinstance(node, etree._Element)]


@dataclass(slots=True)
class _ElementsOfTag:
    """A tag's elements in records behind the first one, and those that belong to no record."""

    in_records: list[_Element] = field(default_factory=list)
    foreign: list[_Element] = field(default_factory=list)


def with_run(
    boundary: Boundary | None, pages: Iterable[AnnotatedPage], *, has_text: bool = False
) -> Boundary | None:
    """Return a boundary with what annotated records show of the elements behind the first."""
    if boundary is None:
        return None
    records = [_elements_of(page, record) for page in pages for record in page.records]
    longest = max(map(len, records), default=1)
    if longest <= 1:
        return replace(boundary, n_siblings=1, has_text=has_text)
    elements_by_tag = _elements_by_tag([record for record in records if record])
    further: list[tuple[Feature, ...]] = []
    is_distinct = True
    for tag, elements in elements_by_tag.items():
        if elements.in_records:
            features = _features_of(tag, elements)
            is_distinct &= not elements.foreign or len(features) > 1
            further.append(features)
    n_siblings = MAX_RECORD_ELEMENTS if is_distinct else longest
    return Boundary(boundary.first, n_siblings, tuple(further), has_text)


def run_of(first: _Element, boundary: Boundary) -> list[_Element]:
    """Return the elements of the record that an element begins."""
    run = [first]
    if boundary.n_siblings == 1:
        return run
    test_of_first = element_test(boundary.first.features)
    test_of_further = any_of(element_test(features) for features in boundary.further) or "true()"
    begins_record = etree.XPath(f"boolean({test_of_first})", regexp=False)
    goes_on = etree.XPath(f"boolean({test_of_further})", regexp=False)
    for element in first.itersiblings("*"):
        if len(run) >= boundary.n_siblings or begins_record(element) or not goes_on(element):
            break
        run.append(element)
    return run


def _elements_of(page: AnnotatedPage, record: Sequence[Any]) -> list[_Element]:
    """Return the elements of a record; none where one of them is not on the page."""
    elements: list[_Element] = []
    for node in record:
        selected: Any = page.tree.xpath(node) if isinstance(node, str) else [node]
        if not selected:
            return []
        elements.append(selected[0])
    return elements


def _elements_by_tag(records: Sequence[Sequence[_Element]]) -> Mapping[str, _ElementsOfTag]:
    by_tag: dict[str, _ElementsOfTag] = {}
    all_in_records = {element for record in records for element in record}
    for record in records:
        for element in record[1:]:
            by_tag.setdefault(str(element.tag), _ElementsOfTag()).in_records.append(element)
        for number, element in enumerate(record[-1].itersiblings("*")):
            if element in all_in_records or number == MAX_FOREIGN_ELEMENTS:
                break
            by_tag.setdefault(str(element.tag), _ElementsOfTag()).foreign.append(element)
    return by_tag


def _features_of(tag: str, elements: _ElementsOfTag) -> tuple[Feature, ...]:
    """Return the tag and, where foreign elements have it, too, a class that they have not.

    The tag alone where no class distinguishes them.
    """
    of_tag = Feature("tag", 0, (tag,))
    if not elements.foreign:
        return (of_tag,)
    foreign_words = {word for element in elements.foreign for word in _class_words(element)}
    shared_words = set.intersection(
        *(set(_class_words(element)) for element in elements.in_records)
    )
    own_words = shared_words - foreign_words
    if own_words:
        return (of_tag, Feature("token", 0, (min(own_words),)))
    classes = {str(element.get("class") or "") for element in elements.in_records}
    foreign_classes = {str(element.get("class") or "") for element in elements.foreign}
    if "" not in classes and len(classes) <= MAX_CLASSES and not classes & foreign_classes:
        return (of_tag, Feature("class", 0, tuple(sorted(classes))))
    return (of_tag,)


def _class_words(element: _Element) -> list[str]:
    return str(element.get("class") or "").split()
