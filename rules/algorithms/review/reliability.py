"""Whether values are right as often as the rule was sure of them, by how sure it was. Pure.

*Readings*: of a page that is wrong without a mark all values are wrong. The ends of a bin's
interval are those of `validity.lower_end`, one-sided on either side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from rules.algorithms.review.validity import lower_end

EDGES: Final = (0.0, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0)  # nearly all values lie at the top


class ValueJudgement(NamedTuple):
    """How sure a rule was of a value, and whether a person found it right."""

    confidence: float
    is_right: bool


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """The values of which a rule was about as sure."""

    low: float
    high: float
    n: int
    confidence: float  # in the mean
    right: float  # the share

    @property
    def interval(self) -> tuple[float, float]:
        """Return between which shares all such values may lie."""
        return lower_end(self.right, self.n), 1.0 - lower_end(1.0 - self.right, self.n)


def reliability_of(
    values: Iterable[ValueJudgement], edges: Sequence[float] = EDGES
) -> list[ReliabilityBin]:
    """Return the bins that have a value, the least sure first.

    >>> bins = reliability_of([ValueJudgement(0.97, True), ValueJudgement(0.97, False)])
    >>> bins[0].low, bins[0].n, bins[0].right
    (0.95, 2, 0.5)
    """
    judged = list(values)
    bins = []
    for low, high in pairwise(edges):
        is_last = high == edges[-1]
        inside = [
            v for v in judged if low <= v.confidence < high or (is_last and v.confidence == high)
        ]
        if inside:
            confidence = sum(value.confidence for value in inside) / len(inside)
            right = sum(value.is_right for value in inside) / len(inside)
            bins.append(ReliabilityBin(low, high, len(inside), confidence, right))
    return bins
