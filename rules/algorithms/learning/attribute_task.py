"""What the default learner looks for: the values of an attribute that one kind of target serves.

Departures: Those of `search` and `same_value`.
Cost:       Features are generated anew for each search; nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.columns import union
from rules.algorithms.learning.features import features_of
from rules.algorithms.learning.naming import is_same_label, names_attribute
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.pinning import pin_alternative
from rules.algorithms.learning.same_value import ValueGroup, doubles_of, groups_of
from rules.algorithms.learning.samples import Samples, goal_of, wanted_marks
from rules.algorithms.learning.search import (
    Conjunction,
    SearchGoal,
    numbers_of_conjunction,
    search,
)
from rules.algorithms.learning.targets import TargetNode, Targets
from rules.algorithms.learning.text_selection import NoSelection, learn_part
from rules.algorithms.learning.vote_costs import vote_cost
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import MAX_VOTE_COST, XPATH, Alternative, Kind

MAX_CONFIRMED_RANK: Final = 2.0  # above it a conjunction is taken for an accident
# Beaten candidates that stay with a rule: how many of them find the same says how sure a value is.
MAX_LOSERS: Final = 3
# Features of a text that can be a field's label, in the singular on one page and in the plural
# on another.
LABELS: Final = frozenset({"label", "before", "sibling_text", "first_text", "heading"})


class NoPreciseXPath(Exception):
    """Neither conjunctions, nor a position, nor a classifier find the annotated values alone."""

    def __init__(self, step: str, page: int | None, reason: str) -> None:
        super().__init__(reason)
        self.step = step
        self.page = page


class TargetRule(NamedTuple):
    """What was learnt for the marks of one kind of target."""

    alternatives: Sequence[Alternative] = ()  # in the order in which a page tries them
    losers: Sequence[Alternative] = ()  # the best of the others; they vote for the confidence


@dataclass(frozen=True, slots=True)
class AttributeTask:
    """The marks of an attribute that one kind of target serves."""

    samples: Samples
    targets: Targets
    attribute: AttributeType
    marks: tuple[TargetNode, ...]
    claimed: NodeSet = 0  # nodes of unannotated pages that other attributes' rules select

    @property
    def goal(self) -> SearchGoal:
        return goal_of(
            self.samples,
            self.targets,
            self.marks,
            is_multi=self.attribute.is_multi,
            is_mandatory=self.attribute.is_mandatory,
            attribute=self.attribute.name,
            claimed=self.claimed,
        )

    @property
    def wanted(self) -> list[TargetNode]:
        return wanted_marks(self.marks, is_multi=self.attribute.is_multi)

    @property
    def groups(self) -> list[ValueGroup]:
        """The values, whatever the order in which the pages were annotated."""
        pages = self.samples.pages
        groups = groups_of(self.samples.index, self.wanted)
        return sorted(groups, key=lambda group: (pages[group.page].url, group.marked))

    @property
    def judged(self) -> list[NodeSet]:
        """The nodes of each page that was annotated for the attribute, be it as absent."""
        return [self.samples.index.page_bits[page] for page in self.targets.judged]

    def with_values(self, groups: Iterable[ValueGroup]) -> AttributeTask:
        """Return the task with the marks of some values alone."""
        marked = union(group.marked for group in groups)
        marks = tuple(mark for mark in self.marks if marked >> mark.positive.node & 1)
        return replace(self, marks=marks)

    @property
    def features(self) -> list[Feature]:
        """The features that all values share, wherever the page shows them."""
        index, wanted = self.samples.index, self.wanted
        doubles = {mark.positive: doubles_of(index, mark) for mark in wanted}
        features = features_of(index, [mark.positive for mark in wanted], doubles=doubles)
        return features + self._with_other_endings(features)

    def _with_other_endings(self, features: Iterable[Feature]) -> list[Feature]:
        """Return the labels naming the attribute, each with its plural or singular elsewhere."""
        naming = [
            feature
            for feature in features
            if feature.kind in LABELS
            and len(feature.values) == 1
            and names_attribute(self.attribute.name, feature.values[0])
        ]
        if not naming:
            return []
        shown = sorted(set(self.samples.index.labels))
        either = []
        for feature in naming:
            (label,) = feature.values
            others = [other for other in shown if is_same_label(label, other)]
            either += [replace(feature, values=tuple(sorted((label, other)))) for other in others]
        return either

    def search(self) -> tuple[SearchGoal, list[Conjunction]]:
        goal = self.goal
        return goal, search(self.samples.columns, goal, self.features)


def alternative_of(
    task: AttributeTask, goal: SearchGoal, conjunction: Conjunction, kind: Kind = XPATH
) -> Alternative:
    """Return a conjunction with the part of the text that is the value. Raises NoSelection."""
    return Alternative(
        kind=kind,
        target=goal.target,
        features=conjunction.features,
        selection=learn_part(task.samples, task.wanted, conjunction, task.attribute),
        numbers=numbers_of_conjunction(conjunction, goal),
    )


def is_confirmed(candidate: Conjunction, goal: SearchGoal) -> bool:
    """Return whether pages that nobody annotated bear a conjunction out."""
    return not goal.unannotated or candidate.rank <= MAX_CONFIRMED_RANK


def losers_of(
    task: AttributeTask,
    goal: SearchGoal,
    winning: Collection[Feature],
    beaten: Sequence[Conjunction],
) -> list[Alternative]:
    """Return beaten candidates as alternatives: cheap ones first, of them those of other features.

    What shares a feature with the winner is wrong where that is wrong, so its vote says little.
    """
    with_costs = [(candidate, _cost_of_vote(task.samples, goal, candidate)) for candidate in beaten]

    def preference(with_cost: tuple[Conjunction, float]) -> tuple[bool, bool]:
        candidate, cost = with_cost
        return cost > MAX_VOTE_COST, not set(winning).isdisjoint(candidate.features)

    losers: list[Alternative] = []
    for candidate, cost in sorted(with_costs, key=preference):
        if len(losers) == MAX_LOSERS:
            break
        with suppress(NoSelection):
            loser = alternative_of(task, goal, candidate)
            losers.append(replace(loser, numbers=replace(loser.numbers, cost=cost)))
    return losers


def _cost_of_vote(samples: Samples, goal: SearchGoal, candidate: Conjunction) -> float:
    """Return what a vote costs once the candidate is narrowed, as a rule's losers are."""
    narrowed = pin_alternative(samples, Alternative(XPATH, goal.target, candidate.features))
    return vote_cost(samples, goal.target, narrowed.features)
