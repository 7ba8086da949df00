"""Apply a learnt rule to the pages of a node index: which nodes it selects, which values they hold.

Departures: None; what a stylesheet selects is the same, which a test of both holds.
Cost:       An AND of integers for each feature; much less than running XPaths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clustering.values.typed_regexes import select
from rules.algorithms.learning.columns import Columns, numbers_of
from rules.algorithms.learning.naive_bayes import choose
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.positional import nth
from rules.algorithms.learning.range_pruner import select_parts
from rules.algorithms.learning.samples import Samples
from rules.algorithms.learning.targets import Targets
from rules.algorithms.learning.text_selection import text_of
from rules.algorithms.rule.rule import NAIVE_BAYES, Alternative, AttributeRule


def selected_nodes(columns: Columns, alternative: Alternative, page: NodeSet) -> NodeSet:
    """Return the nodes of a page that an alternative selects."""
    bits = columns.bits_of_all(alternative.target, alternative.features) & page
    if alternative.position:
        return nth(bits, alternative.position)
    if alternative.kind == NAIVE_BAYES:
        return choose(columns, bits, float(alternative.bias), alternative.weights)
    return bits


class SelectedNode(NamedTuple):
    """A node that a rule takes a value from, by one of its alternatives."""

    node: int
    alternative: Alternative


def nodes_on(columns: Columns, rule: AttributeRule, page: NodeSet) -> list[SelectedNode]:
    """Return the nodes of a page that a rule takes values from, in document order."""
    if not rule.is_union:
        for alternative in rule.alternatives:
            bits = selected_nodes(columns, alternative, page)
            if bits:
                nodes = list(numbers_of(bits))
                serving = nodes if rule.is_multi else nodes[:1]
                return [SelectedNode(node, alternative) for node in serving]
        return []
    selected: dict[int, Alternative] = {}
    for alternative in rule.alternatives:
        for node in numbers_of(selected_nodes(columns, alternative, page)):
            selected.setdefault(node, alternative)
    return [SelectedNode(node, selected[node]) for node in sorted(selected)]


def values_on(columns: Columns, rule: AttributeRule, page: NodeSet) -> list[str]:
    """Return the values that a rule finds on a page."""
    values = [
        value
        for node, alternative in nodes_on(columns, rule, page)
        for value in select_parts(
            alternative.selection, text_of(columns.index, node, alternative.target)
        )
    ]
    if not rule.regex:
        return values
    selected = [select(rule.regex, value) for value in values]
    return [value for value in selected if value is not None]


def compared(values: Iterable[str]) -> frozenset[str]:
    """Return values without their blanks, which nobody sees alike."""
    return frozenset("".join(value.split()) for value in values)


def n_read_right(samples: Samples, targets: Targets, rule: AttributeRule) -> int:
    """Return on how many annotated pages a rule finds what was annotated and nothing else."""
    return sum(values == annotated for values, annotated in _readings(samples, targets, rule))


def f1_of_values(samples: Samples, targets: Targets, rule: AttributeRule) -> float:
    """Return the F1 of the values that a rule finds on the annotated pages, all pages together."""
    n_right = n_found = n_annotated = 0
    for values, annotated in _readings(samples, targets, rule):
        n_right += len(values & annotated)
        n_found += len(values)
        n_annotated += len(annotated)
    return 2 * n_right / (n_found + n_annotated) if n_found + n_annotated else 1.0


def _readings(
    samples: Samples, targets: Targets, rule: AttributeRule
) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """Yield what a rule finds on each annotated page, and what was annotated there."""
    for page in targets.judged:
        annotated = {mark.value for mark in targets.marks if mark.positive.page == page}
        values = values_on(samples.columns, rule, samples.index.page_bits[page])
        yield compared(values), compared(annotated)
