"""Learn the rule of a cluster of list pages: where records begin, and their fields within them.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C, for
            each record as if it were a page.
Readings:   Each annotated record is an annotated page, each other record of an annotated page one without
            annotations: that a field is in a record once supports a rule, as it does on pages. A field that
            is not multi-valued has one value in a record. An attribute whose values stand in no record is
            the page's: it is learnt on whole pages, and each record has its values.
Cost:       As that of a cluster with so many small pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import zip_longest

from lxml import etree
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.learner import learn_from
from rules.algorithms.learning.record_bounds import run_of, with_run
from rules.algorithms.learning.record_samples import (
    MOST_OTHERS,
    RecordSamples,
    copy_of_record,
    samples_of_records,
)
from rules.algorithms.learning.samples import Samples, read_samples
from rules.algorithms.learning.targets import AnnotatedPage, NodeNotFound
from rules.algorithms.rule.rule import OF_PAGE, Boundary, ClusterRule


def learn_list(
    samples: Samples, attributes: Sequence[AttributeType], *, learner: str = "default"
) -> ClusterRule:
    """Return the rule of a cluster of lists; an attribute without a rule says why."""
    found = list(filter(None, map(_samples_of, samples.pages)))
    return learn_records(samples, found, attributes, learner=learner)


def learn_records(
    samples: Samples,
    found: Sequence[RecordSamples],
    attributes: Sequence[AttributeType],
    *,
    learner: str = "default",
) -> ClusterRule:
    """Do the same with the records of the annotated pages; `samples` tell where they begin."""
    inside = {name for one in found for page in one.annotated for name in page.values}
    outside = {name for one in found for name in one.outside} - inside
    bounds = learn_from(
        samples, [one for one in attributes if one.name in outside], learner=learner
    )
    has_text = any(one.has_text for one in found)
    boundary = with_run(bounds.boundary, samples.pages, has_text=has_text)
    pages = [page for one in found for page in one.annotated]
    beside = [tree for one in found for tree in one.others]
    elsewhere = _records_elsewhere(samples, boundary)
    others = [tree for pair in zip_longest(beside, elsewhere) for tree in pair if tree is not None]
    within = [one for one in attributes if one.name not in outside]
    fields = learn_from(read_samples(pages, others[:MOST_OTHERS]), within, learner=learner)
    of_page = {one.attribute: replace(one, scope=OF_PAGE) for one in bounds.attributes}
    rules = {one.attribute: one for one in fields.attributes} | of_page
    return replace(
        bounds, boundary=boundary, attributes=tuple(rules[one.name] for one in attributes)
    )


def _samples_of(page: AnnotatedPage) -> RecordSamples | None:
    """Return the records of a page as samples; None where it has none, or they are not found."""
    try:
        return samples_of_records(page) if page.records else None
    except NodeNotFound:
        return None


def _records_elsewhere(samples: Samples, boundary: Boundary | None) -> list[_Element]:
    """Return records of the pages without annotations, where the boundary finds them, some of each page.

    What is the same in all records of one page, such as the town of a list of its shops, is so told from
    what is the same in all records.
    """
    if boundary is None:
        return []
    find = etree.XPath(boundary.first.xpath, regexp=False)
    index = samples.index
    starts = [start for start in index.page_starts[len(samples.pages) :] if start < index.n]
    trees = list(
        dict.fromkeys(index.nodes[start].element.getroottree().getroot() for start in starts)
    )
    of_page = max(MOST_OTHERS // max(len(trees), 1), 1)
    found: list[_Element] = []
    for tree in trees[:MOST_OTHERS]:
        firsts = [one for one in _elements(find(tree)) if one.getparent() is not None]
        step = max(len(firsts) // of_page, 1)
        runs = [run_of(first, boundary) for first in firsts[::step][:of_page]]
        found += [copy_of_record(run, has_text=boundary.has_text)[0] for run in runs]
    return found


def _elements(found: object) -> Iterable[_Element]:
    return (
        [one for one in found if isinstance(one, etree._Element)] if isinstance(found, list) else []
    )
