"""Count on the samples what the vote of a loser costs, so that only cheap ones are asked.

Notation:   The cost of a vote is the share of a page's elements that are looked at for it, weighed
            by what a look costs (`fast_paths.visits_of`). It is counted, not timed: the same
            samples give the same rule on every machine.
Cost:       One set of nodes for each tag that is looked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from rules.algorithms.learning.samples import Samples
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import ELEMENT_TARGET
from rules.algorithms.stylesheet.fast_paths import visits_of


def vote_cost(samples: Samples, target: str, features: Sequence[Feature]) -> float:
    """Return what finding the nodes that have the features costs on a page."""
    visits = visits_of(target, features)
    if not visits.tags:
        return visits.weight
    columns = samples.columns
    n_elements = columns.targets(ELEMENT_TARGET).bit_count()
    of_tags = columns.select(ELEMENT_TARGET, Feature("tag", 0, tuple(visits.tags)))
    return round(visits.weight * of_tags.bit_count() / max(1, n_elements), 3)
