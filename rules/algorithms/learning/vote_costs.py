"""Measure on the samples what the vote of each loser costs, so that only cheap ones are asked.

Notation:   The cost of a vote is the share of a page's elements that are looked at for it, weighed by
            what a look costs (`fast_paths.visits_of`). It is counted, not timed: the same samples
            give the same rule on every machine. MAX_VOTE_COST is about a tenth of parsing a page.
Cost:       One set of nodes for each tag that is looked for.
"""

from __future__ import annotations

from dataclasses import replace

from rules.algorithms.learning.samples import Samples
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import ELEMENT_TARGET, Alternative, AttributeRule
from rules.algorithms.stylesheet.fast_paths import visits_of


def measure_votes(samples: Samples, rule: AttributeRule) -> AttributeRule:
    """Return a rule whose losers say what their votes cost."""
    losers = [
        replace(loser, numbers=replace(loser.numbers, cost=vote_cost(samples, loser)))
        for loser in rule.losers
    ]
    return replace(rule, losers=tuple(losers))


def vote_cost(samples: Samples, loser: Alternative) -> float:
    """Return what finding the nodes of a loser costs on a page."""
    visits = visits_of(loser.target, loser.features)
    if not visits.tags:
        return visits.weight
    columns = samples.columns
    n_elements = columns.targets(ELEMENT_TARGET).bit_count()
    of_tags = columns.select(ELEMENT_TARGET, Feature("tag", 0, tuple(visits.tags)))
    return round(visits.weight * of_tags.bit_count() / max(1, n_elements), 3)
