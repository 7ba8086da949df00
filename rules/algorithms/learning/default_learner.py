"""Learn an attribute's rule: one conjunction, alternatives by layout, a position, or a classifier.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.
Departures: Those of `learner`, `search` and `range_pruner`.
Cost:       That of a search for all annotated pages together; where it fails, one more for each
            page.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.features import features_of
from rules.algorithms.learning.naive_bayes import ClassifierUndecided, decimal, learn_classifier
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.pinning import pin_rule
from rules.algorithms.learning.positional import learn_position, nth
from rules.algorithms.learning.samples import Samples, goal_of, nodes_of, wanted_marks
from rules.algorithms.learning.search import (
    WORTH_OF_SUPPORT,
    Conjunction,
    SearchGoal,
    find_singles,
    measure,
    numbers_of_conjunction,
    search,
)
from rules.algorithms.learning.targets import (
    BOUNDARY,
    TargetNode,
    Targets,
    as_element,
    part_odd_marks,
)
from rules.algorithms.learning.text_selection import NoSelection, learn_part
from rules.algorithms.rule.rule import (
    NAIVE_BAYES,
    POSITIONAL,
    TEXT_TARGET,
    XPATH,
    Alternative,
    AttributeRule,
    Boundary,
    Kind,
    LearningFailure,
)

MAX_CONFIRMED_RANK: Final = 2.0  # above it a conjunction is taken for an accident
COST_PER_POSITION: Final = 0.1
MAX_LAYOUTS: Final = 4
MAX_LOSERS: Final = 5


class NoPreciseXPath(Exception):
    """Neither a conjunction, nor a position, nor a classifier selects the annotated nodes alone."""

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
    def pages(self) -> list[int]:
        return sorted({mark.positive.page for mark in self.marks})

    @property
    def judged(self) -> list[NodeSet]:
        """The nodes of each page that was annotated for the attribute, be it as absent."""
        return [self.samples.index.page_bits[page] for page in self.targets.judged]

    def on_pages(self, pages: Iterable[int]) -> AttributeTask:
        """Return the task with the marks of these pages alone."""
        marks = tuple(mark for mark in self.marks if mark.positive.page in pages)
        return replace(self, marks=marks)

    def search(self) -> tuple[SearchGoal, list[Conjunction]]:
        goal = self.goal
        features = features_of(self.samples.index, [mark.positive for mark in self.wanted])
        return goal, search(self.samples.columns, goal, features)


def learn_attributes(
    samples: Samples, requested: Sequence[tuple[Targets, AttributeType]]
) -> list[AttributeRule]:
    """Return the rules of a cluster's attributes; one that selects another's nodes is learnt again."""
    rules = [learn_attribute(samples, targets, attribute) for targets, attribute in requested]
    claims = [_claim_of(samples, rule) for rule in rules]
    for number, (targets, attribute) in enumerate(requested):
        claim = claims[number]
        annotated = nodes_of(targets.marks)
        claimed = 0
        for other in claims:
            # Attributes that share a node where it is annotated may share one elsewhere.
            shares_annotated = _on_annotated_pages(samples, other.nodes & annotated)
            if other.rank < claim.rank and not shares_annotated:
                claimed |= other.nodes
        if claim.nodes & claimed:
            rules[number] = learn_attribute(samples, targets, attribute, claimed)
            claims[number] = _claim_of(samples, rules[number])
    return [pin_rule(samples, rule) for rule in rules]


class Claim(NamedTuple):
    """The nodes that a rule selects, and how sure it is of them: the lowest rank has them."""

    rank: float
    nodes: NodeSet


def _claim_of(samples: Samples, rule: AttributeRule) -> Claim:
    """Return what a rule of one conjunction claims; a rule of another kind claims nothing."""
    if len(rule.alternatives) != 1 or rule.alternatives[0].kind != XPATH:
        return Claim(float("inf"), 0)
    alternative = rule.alternatives[0]
    nodes = samples.columns.bits_of_all(alternative.target, alternative.features)
    return Claim(alternative.numbers.rank, nodes)


def _on_annotated_pages(samples: Samples, bits: NodeSet) -> NodeSet:
    if not samples.has_others:
        return bits
    n_annotated_nodes = samples.index.page_starts[len(samples.pages)]
    return bits & ((1 << n_annotated_nodes) - 1)


def learn_attribute(
    samples: Samples, targets: Targets, attribute: AttributeType, claimed: NodeSet = 0
) -> AttributeRule:
    """Return the attribute's rule, or the reason why there is none."""
    alternatives: list[Alternative] = []
    losers: list[Alternative] = []
    failures = list(targets.failures)
    for marks in _marks_by_target(targets.marks):
        task = AttributeTask(samples, targets, attribute, tuple(marks), claimed)
        try:
            learnt = _learn_target(task)
        except NoPreciseXPath as error:
            page = "" if error.page is None else samples.pages[error.page].url
            failures.append(LearningFailure(attribute.name, error.step, page, str(error)))
            learnt, odd_marks = _learn_without_odd_marks(task)
            failures += _failures_of_odd_marks(task, odd_marks)
        alternatives += learnt.alternatives
        losers += learnt.losers
    return AttributeRule(
        attribute=attribute.name,
        type=attribute.type,
        is_multi=attribute.is_multi,
        is_mandatory=attribute.is_mandatory,
        alternatives=tuple(alternatives),
        regex=attribute.regex,
        losers=tuple(losers),
        failures=tuple(failures),
    )


def _marks_by_target(marks: Iterable[TargetNode]) -> list[list[TargetNode]]:
    """Return the marks by their kind of target, those with most pages first."""
    by_target: dict[str, list[TargetNode]] = {}
    for mark in marks:
        by_target.setdefault(mark.positive.target, []).append(mark)
    return sorted(
        by_target.values(), key=lambda group: -len({mark.positive.page for mark in group})
    )


def _learn_without_odd_marks(task: AttributeTask) -> tuple[TargetRule, Sequence[TargetNode]]:
    """Return a rule for nearly all marks, and the odd ones; no rule where none is odd or precise."""
    alike, odd_marks = part_odd_marks(task.samples.index, task.marks)
    if not odd_marks:
        return TargetRule(), []
    try:
        return _learn_target(replace(task, marks=tuple(alike))), odd_marks
    except NoPreciseXPath:
        return TargetRule(), []


def _failures_of_odd_marks(
    task: AttributeTask, odd_marks: Iterable[TargetNode]
) -> list[LearningFailure]:
    """Return a failure for each page with odd marks."""
    n_by_page = Counter(task.samples.pages[mark.positive.page].url for mark in odd_marks)
    reason = "of its annotations stand elsewhere than those that the rule is learnt from"
    return [
        LearningFailure(task.attribute.name, "annotations", page, f"{n} {reason}")
        for page, n in n_by_page.items()
    ]


def learn_boundary(
    samples: Samples, targets: Targets, n_siblings: int
) -> tuple[Boundary | None, list[LearningFailure]]:
    """Return where the records of a list begin, None where nothing is marked or nothing precise."""
    if not targets.marks:
        return None, targets.failures
    rule = learn_attribute(samples, targets, AttributeType(BOUNDARY, is_multi=True))
    failures = list(rule.failures)
    if len(rule.alternatives) != 1:
        return None, failures
    return Boundary(rule.alternatives[0], n_siblings), failures


def _learn_target(task: AttributeTask) -> TargetRule:
    """Return the rule for one kind of target, of elements where texts have none. Raises NoPreciseXPath."""
    try:
        return _learn_in_steps(task)
    except NoPreciseXPath:
        is_text = task.marks[0].positive.target == TEXT_TARGET
        if not is_text or not all(mark.is_whole for mark in task.marks):
            raise
        marks = tuple(as_element(mark) for mark in task.marks)
        targets = Targets([as_element(mark) for mark in task.targets.marks], task.targets.judged)
        return _learn_in_steps(replace(task, marks=marks, targets=targets))


def _learn_in_steps(task: AttributeTask) -> TargetRule:
    """Return the first of these rules that is precise. Raises NoPreciseXPath.

    1. One conjunction for all pages, confirmed on pages that nobody annotated.
    2. A conjunction for each layout.
    3. For a single value: a position, then a classifier.
    4. One conjunction for all pages, unconfirmed.
    """
    goal, candidates = task.search()
    confirmed = [candidate for candidate in candidates if _is_confirmed(candidate, goal)]
    attempts: list[Callable[[], TargetRule]] = [
        partial(_learn_conjunction, task, goal, confirmed),
        partial(_learn_layouts, task),
    ]
    if not task.attribute.is_multi:
        attempts += [
            partial(_learn_position, task, goal),
            partial(_learn_classifier, task, goal),
        ]
    attempts.append(partial(_learn_conjunction, task, goal, candidates))

    refusals: list[NoPreciseXPath | NoSelection] = []
    for attempt in attempts:
        try:
            return attempt()
        except (NoPreciseXPath, NoSelection) as refusal:
            refusals.append(refusal)
    raise _joined_refusal(refusals)


def _joined_refusal(refusals: Sequence[NoPreciseXPath | NoSelection]) -> NoPreciseXPath:
    """Return what to report: the value that cannot be cut out, or else why each step failed."""
    for refusal in refusals:
        if isinstance(refusal, NoSelection):
            return NoPreciseXPath(refusal.step, refusal.page, str(refusal))
    last = refusals[-2]  # the last step repeats the first
    page = next((refusal.page for refusal in reversed(refusals) if refusal.page is not None), None)
    return NoPreciseXPath(last.step, page, "; ".join(dict.fromkeys(map(str, refusals))))


def _is_confirmed(candidate: Conjunction, goal: SearchGoal) -> bool:
    return not goal.unannotated or candidate.rank <= MAX_CONFIRMED_RANK


def _learn_conjunction(
    task: AttributeTask, goal: SearchGoal, candidates: Sequence[Conjunction]
) -> TargetRule:
    """Return one alternative for all pages: the best. Raises NoPreciseXPath, NoSelection."""
    if not candidates:
        raise NoPreciseXPath(
            "xpath", None, "no precise XPath: other nodes have all that the annotated ones share"
        )
    best, *losers = [
        _alternative(task, goal, candidate) for candidate in candidates[: MAX_LOSERS + 1]
    ]
    return TargetRule([best], losers)


def _alternative(
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


def _learn_layouts(task: AttributeTask) -> TargetRule:
    """Return alternatives that together serve all annotated pages. Raises NoPreciseXPath, NoSelection."""
    pages = task.pages
    if len(pages) == 1:
        raise NoPreciseXPath("xpath", pages[0], "there is one annotated page only")
    candidates: list[Conjunction] = []
    for page in pages:
        goal, of_page = task.on_pages({page}).search()
        candidates += [candidate for candidate in of_page if _is_confirmed(candidate, goal)]
    return TargetRule(_cover_pages(task, candidates, pages))


class Offer(NamedTuple):
    """A conjunction, and the annotated pages that it would serve."""

    candidate: Conjunction
    pages: set[int]


def _cover_pages(
    task: AttributeTask, candidates: Sequence[Conjunction], pages: Iterable[int]
) -> list[Alternative]:
    """Choose greedily: most pages first, then the better rank. Raises NoPreciseXPath, NoSelection."""
    uncovered = set(pages)
    alternatives: list[Alternative] = []
    while uncovered:
        offers = [
            Offer(candidate, _covered_pages(task, candidate, uncovered)) for candidate in candidates
        ]
        best = min(
            offers, key=lambda offer: (-len(offer.pages), offer.candidate.rank), default=None
        )
        if best is None or not best.pages or len(alternatives) == MAX_LAYOUTS:
            reason = "no precise XPath for the layout of this page"
            raise NoPreciseXPath("xpath", min(uncovered), reason)
        layout = task.on_pages(best.pages)
        alternatives.append(_alternative(layout, layout.goal, best.candidate))
        uncovered -= best.pages
    return alternatives


def _covered_pages(task: AttributeTask, candidate: Conjunction, pages: Iterable[int]) -> set[int]:
    """Return the pages all of whose positives a candidate selects."""
    covered = set()
    for page in pages:
        positives = nodes_of(task.on_pages({page}).wanted)
        if positives & candidate.bits == positives:
            covered.add(page)
    return covered


def _imprecise(task: AttributeTask, goal: SearchGoal) -> list[Conjunction]:
    """Return the features that select all positives, the most precise first; the last is no feature."""
    columns = task.samples.columns
    features = features_of(task.samples.index, [mark.positive for mark in task.wanted])
    singles = [measure(single, goal) for single in find_singles(columns, goal, features)]
    singles.append(Conjunction((), columns.targets(goal.target), 0.0))
    return sorted(
        singles, key=lambda single: ((single.bits & goal.negatives).bit_count(), single.price)
    )


def _learn_position(task: AttributeTask, goal: SearchGoal) -> TargetRule:
    """Return an alternative by position. Raises NoPreciseXPath, NoSelection."""
    lowest_cost = float("inf")
    best: tuple[Conjunction, int] | None = None
    for candidate in _imprecise(task, goal):
        position = learn_position(candidate.bits, goal.positives, task.judged)
        if not position:
            continue
        n_pages = sum(1 for page in goal.unannotated if nth(candidate.bits & page, position))
        support = n_pages / max(1, len(goal.unannotated))
        cost = candidate.price + COST_PER_POSITION * abs(position) - WORTH_OF_SUPPORT * support
        if cost < lowest_cost:
            lowest_cost, best = cost, (candidate, position)
    if best is None:
        raise NoPreciseXPath("position", None, "no position is the same on all annotated pages")
    conjunction, position = best
    alternative = _alternative(task, goal, conjunction, POSITIONAL)
    return TargetRule([replace(alternative, position=position)])


def _learn_classifier(task: AttributeTask, goal: SearchGoal) -> TargetRule:
    """Return a classifier on the most precise conjunction. Raises NoPreciseXPath, NoSelection."""
    conjunction = _imprecise(task, goal)[0]
    try:
        classifier = learn_classifier(
            task.samples.columns, goal.target, conjunction.bits, goal.positives, task.judged
        )
    except ClassifierUndecided as error:
        raise NoPreciseXPath("classifier", task.targets.judged[error.page], str(error)) from None
    alternative = _alternative(task, goal, conjunction, NAIVE_BAYES)
    return TargetRule(
        [replace(alternative, bias=decimal(classifier.bias), weights=classifier.weights())]
    )
