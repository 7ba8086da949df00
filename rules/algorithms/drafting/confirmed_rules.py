"""Learn a cluster's rule from the pages a person annotated, helped by other pages' slots.

Readings:   Two rules are learnt: from the annotated pages alone, and with the texts of the slots
            beside them. One wrong text among those spoils a field, so neither is always the better
            one. Per field the rule counts that shows what its slot shows on more pages; that of the
            person's pages alone where both do, where there is no likely slot, and where the other
            misses what was annotated.
Cost:       That of learning twice.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.drafting import FieldDraft
from clustering.values.displayed import displayed
from rules.algorithms.drafting.slot_rules import ClusterPage, learn_from_slots
from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.evaluating import values_on
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.rule import AttributeRule, ClusterRule

MIN_PROBABILITY: Final = 0.3  # of a slot that helps beside an annotated page


def learn_from_confirmed(
    pages: Sequence[ClusterPage],
    drafts: Sequence[FieldDraft],
    attributes: Sequence[AttributeType],
) -> ClusterRule:
    """Return the rule of a cluster of which some pages are annotated; `drafts` agree with those."""
    annotated = [page.annotated for page in pages if page.annotated is not None]
    others = [page.tree for page in pages if page.annotated is None]
    by_hand = learn_cluster(annotated, others, attributes)
    likely = [d for d in drafts if d.probability >= MIN_PROBABILITY or d.is_certain]
    helped = learn_from_slots(pages, likely, attributes)

    judge = _Judge(pages, likely, {a.name for a in attributes if a.is_multi})
    pairs = zip(by_hand.attributes, helped.attributes, strict=True)
    return replace(by_hand, attributes=tuple(judge.better(*pair) for pair in pairs))


class _Judge:
    """Compares two rules of an attribute by what its slot shows."""

    def __init__(
        self,
        pages: Sequence[ClusterPage],
        drafts: Sequence[FieldDraft],
        multi: Collection[str],
    ) -> None:
        index = number_nodes(page.tree for page in pages)
        self.columns = Columns(index)
        self.bits = index.page_bits
        self.annotated = [page.annotated is not None for page in pages]
        self.shown = {
            draft.field: [
                _compared(draft.slot.values(page)[: None if draft.field in multi else 1])
                for page in range(len(pages))
            ]
            for draft in drafts
        }

    def better(self, by_hand: AttributeRule, helped: AttributeRule) -> AttributeRule:
        """Return the rule that shows on more pages what the slot shows; by hand where neither does.

        What the rule by hand finds on annotated pages, the other must find there, too.
        """
        shown = self.shown.get(by_hand.attribute)
        if shown is None:  # no likely slot
            return by_hand
        values, helped_values = self._values(by_hand), self._values(helped)
        n_agreed = sum(map(frozenset.__eq__, values, shown))
        n_helped = sum(map(frozenset.__eq__, helped_values, shown))
        if n_helped <= n_agreed:
            return by_hand
        if not by_hand.alternatives:  # it finds nothing that could be missed
            return helped
        pairs = zip(values, helped_values, self.annotated, strict=True)
        misses = any(mine != other for mine, other, is_annotated in pairs if is_annotated)
        return by_hand if misses else helped

    def _values(self, rule: AttributeRule) -> list[frozenset[str]]:
        return [_compared(values_on(self.columns, rule, page)) for page in self.bits]


def _compared(values: Sequence[str]) -> frozenset[str]:
    """Return values without their blanks, which nobody sees alike."""
    return frozenset("".join(displayed(value).split()) for value in values)
