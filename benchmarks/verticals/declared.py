"""How right drafts are that were made from what pages declare, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.declared_labels import label_declared
from annotation.algorithms.fields.recognising import MAX_PAGES
from benchmarks.rule_learning import LabelledCluster, compared
from benchmarks.suggestions import types_of
from clustering.algorithms.slots.finding import SlotFinder
from rules.algorithms.drafting.label_rules import (
    fields_of_labels,
    marks_of_labels,
    without_refuted,
)
from rules.algorithms.drafting.slot_rules import ClusterPage, learn_from_marks
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.node_index import number_nodes


@dataclass
class DeclaredFigures:
    """What the drafts of a cluster extract from all its pages."""

    name: str
    n_attributes: int
    n_drafted: int
    n_values: int = 0
    n_right: int = 0
    n_shown: int = 0  # values of the drafted attributes that the pages show


def measure_declared(cluster: LabelledCluster) -> DeclaredFigures:
    """Draft a cluster from some pages, and compare what the drafts extract from all."""
    types = types_of(cluster)
    attributes = [
        AttributeType(name, types.get(name, "text"), is_multi=name in cluster.multi)
        for name in cluster.attributes
    ]
    pages = [ClusterPage(name, tree) for name, tree in list(cluster.trees.items())[:MAX_PAGES]]
    trees = [page.tree for page in pages]
    finder = SlotFinder(trees)
    fields = fields_of_labels(
        finder.find(), label_declared(trees, finder.texts, attributes), attributes
    )
    rule = learn_from_marks(pages, marks_of_labels(len(pages), fields), attributes)
    rule = without_refuted(rule, pages, fields)
    drafted = [attribute for attribute in rule.attributes if attribute.alternatives]
    figures = DeclaredFigures(cluster.name, len(attributes), len(drafted))
    index = number_nodes(cluster.trees.values())
    columns = Columns(index)
    for page, bits in zip(cluster.trees, index.page_bits, strict=True):
        for attribute in drafted:
            values = compared(values_on(columns, attribute, bits))
            wanted = compared(cluster.truth[page].get(attribute.attribute, []))
            figures.n_values += len(values)
            figures.n_right += len(values & wanted)
            figures.n_shown += len(wanted)
    return figures
