"""Apply a learnt rule to the pages of a node index: which nodes it selects there, and which values they hold.

Departures: None; what a stylesheet selects is the same, which a test of both holds.
Cost:       An AND of integers for each feature; much less than running XPaths.
"""

from __future__ import annotations

from clustering.values.typed_regexes import select
from rules.algorithms.learning.columns import Columns, numbers_of
from rules.algorithms.learning.naive_bayes import choose
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.positional import nth
from rules.algorithms.learning.range_pruner import select_parts
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


def serving_alternative(
    columns: Columns, rule: AttributeRule, page: NodeSet
) -> tuple[Alternative | None, list[int]]:
    """Return the first alternative that selects something on a page, and its nodes."""
    for alternative in rule.alternatives:
        bits = selected_nodes(columns, alternative, page)
        if bits:
            nodes = list(numbers_of(bits))
            return alternative, nodes if rule.is_multi else nodes[:1]
    return None, []


def values_on(columns: Columns, rule: AttributeRule, page: NodeSet) -> list[str]:
    """Return the values that a rule finds on a page."""
    alternative, nodes = serving_alternative(columns, rule, page)
    if alternative is None:
        return []
    texts = [text_of(columns.index, node, alternative.target) for node in nodes]
    values = [value for text in texts for value in select_parts(alternative.selection, text)]
    if not rule.regex:
        return values
    selected = [select(rule.regex, value) for value in values]
    return [value for value in selected if value is not None]
