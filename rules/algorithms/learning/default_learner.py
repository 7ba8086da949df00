"""Learn an attribute's rule: one conjunction, several together, a position, or a classifier.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.
Departures: Those of `learner`, `search`, `same_value`, `covering` and `range_pruner`. Where nothing
            finds all annotated values, what finds most of them is a draft: it is told on how
            many annotated pages it reads right.
Cost:       That of a search for all annotated pages together; where it fails, those of a cover.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.attribute_task import (
    AttributeTask,
    NoPreciseXPath,
    TargetRule,
    alternative_of,
    is_confirmed,
    losers_of,
)
from rules.algorithms.learning.covering import cover_values
from rules.algorithms.learning.evaluating import f1_of_values, n_read_right
from rules.algorithms.learning.naive_bayes import ClassifierUndecided, decimal, learn_classifier
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.pinning import pin_rule
from rules.algorithms.learning.positional import commonest_position, learn_position, nth
from rules.algorithms.learning.samples import Samples, nodes_of
from rules.algorithms.learning.search import (
    WORTH_OF_SUPPORT,
    Conjunction,
    SearchGoal,
    find_singles,
    measure,
)
from rules.algorithms.learning.targets import (
    BOUNDARY,
    MIN_ALIKE_SHARE,
    TargetNode,
    Targets,
    as_element,
    part_odd_marks,
)
from rules.algorithms.learning.text_selection import NoSelection
from rules.algorithms.rule.rule import (
    NAIVE_BAYES,
    POSITIONAL,
    TEXT_TARGET,
    XPATH,
    Alternative,
    AttributeRule,
    Boundary,
    LearningFailure,
)

COST_PER_POSITION: Final = 0.1
MAX_DRAFTS: Final = 20  # imprecise conjunctions that are tried where nothing is precise


def learn_attributes(
    samples: Samples, requested: Sequence[tuple[Targets, AttributeType]]
) -> list[AttributeRule]:
    """Return the rules of a cluster's attributes; one that takes another's nodes is relearnt."""
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
    if not samples.has_unannotated:
        return bits
    n_annotated_nodes = samples.index.page_starts[len(samples.pages)]
    return bits & ((1 << n_annotated_nodes) - 1)


def learn_attribute(
    samples: Samples, targets: Targets, attribute: AttributeType, claimed: NodeSet = 0
) -> AttributeRule:
    """Return the attribute's rule; its failures say which annotations it does not read, and why.

    Marks in elements, texts and attributes of elements are learnt apart. Where no rule is precise:

    1. Learn from all marks but the odd ones.
    2. Where that fails too, take the draft that reads most annotated pages right.

    A rare kind of mark is odd where a more frequent kind had no precise rule.
    """
    alternatives: list[Alternative] = []
    losers: list[Alternative] = []
    failures = list(targets.failures)
    is_precise = True
    for marks in _marks_by_target(targets.marks):
        task = AttributeTask(samples, targets, attribute, tuple(marks), claimed)
        is_rare = len(marks) < (1 - MIN_ALIKE_SHARE) * len(targets.marks)
        if is_rare and attribute.is_multi and not is_precise:
            # A rule of its own for a wrong click would find more that is wrong.
            failures += _failures_of_odd_marks(task, marks)
            continue
        try:
            learnt = _learn_target(task)
        except NoPreciseXPath as error:
            is_precise = False
            page = "" if error.page is None else samples.pages[error.page].url
            failures.append(LearningFailure(attribute.name, error.step, page, str(error)))
            learnt, odd_marks = _learn_without_odd_marks(task)
            failures += _failures_of_odd_marks(task, odd_marks)
            if not learnt.alternatives:
                learnt = _best_draft(task)
        alternatives += learnt.alternatives
        losers += learnt.losers
    rule = rule_of(attribute, alternatives)
    return replace(
        rule,
        losers=tuple(losers),
        failures=tuple(failures),
        n_annotated=len(targets.judged),
        n_right=n_read_right(samples, targets, rule),
    )


def rule_of(attribute: AttributeType, alternatives: Sequence[Alternative]) -> AttributeRule:
    """Return an attribute's rule as far as its alternatives say."""
    return AttributeRule(
        attribute=attribute.name,
        type=attribute.type,
        is_multi=attribute.is_multi,
        is_mandatory=attribute.is_mandatory,
        alternatives=tuple(alternatives),
        regex=attribute.regex,
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
    """Return a rule for nearly all marks, and the odd ones; no rule if none is odd or precise."""
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
    """Return the rule for one kind of target.

    It is of elements where there is none of texts. Raises NoPreciseXPath.
    """
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
    """Return the first of these rules that finds all values and no others. Raises NoPreciseXPath.

    1. One conjunction for all pages, confirmed on pages that nobody annotated.
    2. Conjunctions that together cover all values.
    3. For a single value: a position, then a classifier.
    4. One conjunction for all pages, unconfirmed.
    """
    goal, candidates = task.search()
    confirmed = [candidate for candidate in candidates if is_confirmed(candidate, goal)]
    attempts: list[Callable[[], TargetRule]] = [
        partial(_learn_conjunction, task, goal, confirmed),
        partial(_learn_cover, task),
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


def _learn_conjunction(
    task: AttributeTask, goal: SearchGoal, candidates: Sequence[Conjunction]
) -> TargetRule:
    """Return one alternative for all pages: the best. Raises NoPreciseXPath, NoSelection."""
    if not candidates:
        raise NoPreciseXPath(
            "xpath", None, "no precise XPath: other nodes have all that the annotated ones share"
        )
    best = alternative_of(task, goal, candidates[0])
    return TargetRule([best], losers_of(task, goal, best.features, candidates[1:]))


def _learn_cover(task: AttributeTask) -> TargetRule:
    """Return alternatives that together serve all values. Raises NoPreciseXPath."""
    if len(task.groups) == 1:
        page = task.groups[0].page
        raise NoPreciseXPath("xpath", page, "there is one annotated value only")
    if task.attribute.is_multi:
        # An odd one may be a wrong click: an alternative for it would find more wrong values.
        _, odd_marks = part_odd_marks(task.samples.index, task.marks)
        if odd_marks:
            page = odd_marks[0].positive.page
            raise NoPreciseXPath("annotations", page, "few of the annotations stand elsewhere")
    cover, _ = cover_values(task)
    if cover.uncovered:
        reason = "no precise XPath for what this page shows"
        raise NoPreciseXPath("xpath", cover.uncovered[0].page, reason)
    return cover.rule


def _best_draft(task: AttributeTask) -> TargetRule:
    """Return the imprecise rule that best reads annotated values; none if none can be cut out."""
    _, cover = cover_values(task)
    drafts = [cover.rule] if cover.parts else []
    goal = task.goal
    for conjunction in _imprecise(task, goal)[:MAX_DRAFTS]:
        with suppress(NoSelection):
            alternative = alternative_of(task, goal, conjunction)
            drafts.append(TargetRule([alternative]))
            position = commonest_position(conjunction.bits, goal.right, task.judged)
            if position and not task.attribute.is_multi:
                by_position = replace(alternative, kind=POSITIONAL, position=position)
                drafts.append(TargetRule([by_position]))
    return max(drafts, key=partial(_reading_of, task), default=TargetRule())


def _reading_of(task: AttributeTask, draft: TargetRule) -> tuple[int, float]:
    """Return how many annotated pages a draft reads right, and its values' F1 on all of them."""
    rule = rule_of(task.attribute, draft.alternatives)
    return (
        n_read_right(task.samples, task.targets, rule),
        f1_of_values(task.samples, task.targets, rule),
    )


def _imprecise(task: AttributeTask, goal: SearchGoal) -> list[Conjunction]:
    """Return the features that select all positives, most precise first; the last is no feature."""
    columns = task.samples.columns
    singles = [measure(single, goal) for single in find_singles(columns, goal, task.features)]
    singles.append(Conjunction((), columns.targets(goal.target), 0.0))
    return sorted(
        singles, key=lambda single: ((single.bits & goal.negatives).bit_count(), single.price)
    )


def _learn_position(task: AttributeTask, goal: SearchGoal) -> TargetRule:
    """Return an alternative by position. Raises NoPreciseXPath, NoSelection."""
    lowest_cost = float("inf")
    best: tuple[Conjunction, int] | None = None
    for candidate in _imprecise(task, goal):
        position = learn_position(candidate.bits, goal.right, task.judged)
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
    alternative = alternative_of(task, goal, conjunction, POSITIONAL)
    return TargetRule([replace(alternative, position=position)])


def _learn_classifier(task: AttributeTask, goal: SearchGoal) -> TargetRule:
    """Return a classifier on the most precise conjunction. Raises NoPreciseXPath, NoSelection."""
    conjunction = _imprecise(task, goal)[0]
    try:
        classifier = learn_classifier(
            task.samples.columns, goal.target, conjunction.bits, goal.right, task.judged
        )
    except ClassifierUndecided as error:
        raise NoPreciseXPath("classifier", task.targets.judged[error.page], str(error)) from None
    alternative = alternative_of(task, goal, conjunction, NAIVE_BAYES)
    return TargetRule(
        [replace(alternative, bias=decimal(classifier.bias), weights=classifier.weights())]
    )
