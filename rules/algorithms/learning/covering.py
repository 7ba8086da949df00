"""Cover annotated values by several conjunctions where no single one finds them all.

Departures: The paper has one XPath for an attribute (III-C.2). Values that stand in different
            places share none: two phones in two cells, a genre in three layouts. Each value by
            itself has conjunctions that find it and nothing wrong. Of them the cover takes the one
            with the best rank, for which the share of all values that it finds counts, and goes on
            with the values that are left. Several values of a page are the union of what the parts
            select; a single value is what the first part that selects something shows.
Readings:   Many values of a list stand alike: of more than MAX_SEARCHED, only those are searched
            for that nothing yet finds.
Cost:       Two searches for each value that is searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from rules.algorithms.learning.attribute_task import (
    AttributeTask,
    TargetRule,
    alternative_of,
    is_confirmed,
    losers_of,
)
from rules.algorithms.learning.same_value import ValueGroup
from rules.algorithms.learning.search import Conjunction, SearchGoal
from rules.algorithms.learning.text_selection import NoSelection
from rules.algorithms.rule.rule import Alternative

MAX_PARTS: Final = 6
MAX_SEARCHED: Final = 12  # values that are searched for, each by itself
WORTH_OF_SHARE: Final = 3.0  # what a part is worth that finds all values


@dataclass(frozen=True, slots=True)
class PartCandidate:
    """A conjunction that was found for one value, and the goal by which it is measured."""

    conjunction: Conjunction
    goal: SearchGoal
    source: ValueGroup
    hit: tuple[ValueGroup, ...]
    worth: float

    @property
    def rank(self) -> float:
        """The lowest is the best, wherever it stands in the cover."""
        return self.conjunction.rank - self.worth


@dataclass(slots=True)
class Cover:
    """The parts that were chosen so far, and the values that none of them finds."""

    parts: list[Alternative] = field(default_factory=list)
    losers: list[Alternative] = field(default_factory=list)
    uncovered: list[ValueGroup] = field(default_factory=list)

    @property
    def rule(self) -> TargetRule:
        return TargetRule(self.parts, self.losers)


def cover_values(task: AttributeTask) -> tuple[Cover, Cover]:
    """Return the cover by what other pages bear out, and one that goes as far as it can."""
    groups = task.groups
    candidates = sorted(_candidates(task, groups), key=lambda candidate: candidate.rank)
    confirmed = [
        candidate for candidate in candidates if is_confirmed(candidate.conjunction, candidate.goal)
    ]
    cover = _extend(task, Cover(uncovered=groups), confirmed)
    if not cover.uncovered:
        return cover, cover
    started = Cover(list(cover.parts), list(cover.losers), list(cover.uncovered))
    as_far_as_it_goes = _extend(task, started, candidates)
    if not as_far_as_it_goes.parts:
        _add_for_one_value(task, as_far_as_it_goes, candidates)
    return cover, as_far_as_it_goes


def _candidates(task: AttributeTask, groups: Sequence[ValueGroup]) -> list[PartCandidate]:
    """Return the conjunctions of the values, each of which finds nothing wrong."""
    candidates: list[PartCandidate] = []
    is_found: set[ValueGroup] = set()
    for number, group in enumerate(groups):
        if number >= MAX_SEARCHED and group in is_found:
            continue
        own = task.with_values([group])
        # The rule of one value of a list may be one that pages have once, or several times.
        goals = {False, task.attribute.is_multi}
        for is_multi in sorted(goals):
            of_value = replace(own, attribute=replace(own.attribute, is_multi=is_multi))
            goal, conjunctions = of_value.search()
            for conjunction in conjunctions:
                hit = tuple(other for other in groups if other.is_hit(conjunction.bits))
                worth = WORTH_OF_SHARE * len(hit) / len(groups)
                candidates.append(PartCandidate(conjunction, goal, group, hit, worth))
                is_found.update(hit)
    return candidates


def _extend(task: AttributeTask, cover: Cover, candidates: Sequence[PartCandidate]) -> Cover:
    """Add the best part for what is uncovered, until all is covered or nothing helps."""
    left = list(candidates)
    while cover.uncovered and len(cover.parts) < MAX_PARTS:
        uncovered = set(cover.uncovered)
        best = next((part for part in left if uncovered.intersection(part.hit)), None)
        if best is None:
            break
        left.remove(best)
        part = _part_of(task, best, best.hit)
        if part is not None:
            cover.parts.append(part)
            cover.uncovered = [group for group in cover.uncovered if group not in best.hit]
    if left:
        winning = {feature for part in cover.parts for feature in part.features}
        beaten = [candidate.conjunction for candidate in left]
        of_first = task.with_values([left[0].source])
        cover.losers = losers_of(of_first, left[0].goal, winning, beaten)
    return cover


def _add_for_one_value(
    task: AttributeTask, cover: Cover, candidates: Sequence[PartCandidate]
) -> None:
    """Add the best part that is right for the value it was found for, though not for others."""
    for candidate in candidates:
        part = _part_of(task, candidate, [candidate.source])
        if part is not None:
            cover.parts.append(part)
            cover.uncovered.remove(candidate.source)
            return


def _part_of(
    task: AttributeTask, candidate: PartCandidate, groups: Sequence[ValueGroup]
) -> Alternative | None:
    """Return a part of the cover, None where these values cannot be cut out alike."""
    try:
        return alternative_of(task.with_values(groups), candidate.goal, candidate.conjunction)
    except NoSelection:
        return None
