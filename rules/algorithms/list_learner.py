"""Learn the rule of a cluster of list pages: where records begin, and their fields within them.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C, for
            each record as if it were a page.
Readings:   Each annotated record is an annotated page, each other record of an annotated page one without
            annotations: that a field is in a record once supports a rule, as it does on pages. A field that
            is not multi-valued has one value in a record.
Departures: Where no value stands in a record, fields are learnt on whole pages.
Cost:       As that of a cluster with so many small pages.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, zip_longest
from typing import TYPE_CHECKING

from lxml import etree

from rules.algorithms.learner import learn_from
from rules.algorithms.record_samples import MOST_OTHERS, RecordSamples, copy_of_record, samples_of_records
from rules.algorithms.rule import AttributeRule, ClusterRule, Failure
from rules.algorithms.samples import read_samples
from rules.algorithms.targets import NodeNotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lxml.etree import _Element

    from rules.algorithms.rule import Boundary
    from rules.algorithms.samples import Samples
    from rules.algorithms.targets import AnnotatedPage, AttributeSpec


def learn_list(
    samples: Samples, attributes: Sequence[AttributeSpec], *, learner: str = "default"
) -> ClusterRule:
    """Return the rule of a cluster of lists; an attribute without a rule says why."""
    bounds = learn_from(samples, [], learner=learner)
    found = list(filter(None, map(_samples_of, samples.pages)))
    pages = [page for one in found for page in one.annotated]
    beside = [tree for one in found for tree in one.others]
    elsewhere = _records_elsewhere(samples, bounds.boundary)
    others = [tree for pair in zip_longest(beside, elsewhere) for tree in pair if tree is not None]
    fields = learn_from(read_samples(pages, others[:MOST_OTHERS]), attributes, learner=learner)
    outside = {name for one in found for name in one.outside}
    return replace(bounds, attributes=tuple(_told(rule, outside) for rule in fields.attributes))


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
    universe = samples.universe
    starts = [start for start in universe.page_starts[len(samples.pages) :] if start < universe.n]
    trees = list(dict.fromkeys(universe.nodes[start].place[0].getroottree().getroot() for start in starts))
    of_page = max(MOST_OTHERS // max(len(trees), 1), 1)
    found: list[_Element] = []
    for tree in trees[:MOST_OTHERS]:
        firsts = [one for one in _elements(find(tree)) if one.getparent() is not None]
        step = max(len(firsts) // of_page, 1)
        for first in firsts[::step][:of_page]:
            behind = list(islice(first.itersiblings("*"), boundary.n_siblings - 1))
            found.append(copy_of_record([first, *behind])[0])
    return found


def _elements(found: object) -> Iterable[_Element]:
    return [one for one in found if isinstance(one, etree._Element)] if isinstance(found, list) else []  # noqa: SLF001 - the only name of the class


def _told(rule: AttributeRule, outside: set[str]) -> AttributeRule:
    """Return a rule; one without alternatives says that its values stand in no record, where they do."""
    if rule.alternatives or rule.attribute not in outside:
        return rule
    reason = "its values stand in no record; annotate it within the records, or widen their boundary"
    return replace(rule, failures=(Failure(rule.attribute, "records", "", reason),))
