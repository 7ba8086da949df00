"""Learn an attribute's rule: one conjunction, alternatives by layout, a position, or a classifier.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.
Departures: Those of `learner`, `candidates` and `range_pruner`.
Cost:       That of a search for all annotated pages together; where it fails, one more for each page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning.features import features_of
from rules.algorithms.learning.naive_bayes import ClassifierUndecided, decimal, learn_classifier
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.odd_annotations import part_strangers
from rules.algorithms.learning.pinning import pin_rule
from rules.algorithms.learning.positional import learn_position, nth
from rules.algorithms.learning.samples import Samples, goal_of, nodes_of, wanted_marks
from rules.algorithms.learning.search import (
    GAIN,
    Conjunction,
    SearchGoal,
    find_singles,
    measure,
    numbers_of_candidate,
    search,
)
from rules.algorithms.learning.targets import BOUNDARY, TargetNode, Targets, as_element
from rules.algorithms.learning.text_selection import NoSelection, learn_part
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

BOUND = 2.0  # a rank above which a conjunction is taken for an accident
PER_POSITION = 0.1
MOST_ALTERNATIVES = 4
N_LOSERS = 5


class NoPreciseXPath(Exception):
    """Neither a conjunction, nor a position, nor a classifier selects the annotated nodes alone."""

    def __init__(self, step: str, page: int | None, reason: str) -> None:
        super().__init__(reason)
        self.step = step
        self.page = page


@dataclass(frozen=True, slots=True)
class AttributeTask:
    """The marks of an attribute that one kind of target serves."""

    samples: Samples
    targets: Targets
    spec: AttributeType
    marks: tuple[TargetNode, ...]
    claimed: NodeSet = 0  # nodes of unannotated pages that other attributes' rules select

    @property
    def goal(self) -> SearchGoal:
        return goal_of(
            self.samples,
            self.targets,
            self.marks,
            is_multi=self.spec.is_multi,
            is_mandatory=self.spec.is_mandatory,
            attribute=self.spec.name,
            claimed=self.claimed,
        )

    @property
    def wanted(self) -> list[TargetNode]:
        return wanted_marks(self.marks, is_multi=self.spec.is_multi)

    @property
    def pages(self) -> list[int]:
        return sorted({mark.positive.page for mark in self.marks})

    def of_page(self, page: int) -> AttributeTask:
        return replace(self, marks=tuple(mark for mark in self.marks if mark.positive.page == page))

    def search(self) -> tuple[SearchGoal, list[Conjunction]]:
        goal = self.goal
        features = features_of(self.samples.index, [mark.positive for mark in self.wanted])
        return goal, search(self.samples.columns, goal, features)


def learn_attributes(
    samples: Samples, asked: Sequence[tuple[Targets, AttributeType]]
) -> list[AttributeRule]:
    """Return the rules of a cluster's attributes; one that selects another's nodes is learnt again."""
    rules = [learn_attribute(samples, targets, spec) for targets, spec in asked]
    claims = [_claim(samples, rule) for rule in rules]
    for number, (targets, spec) in enumerate(asked):
        rank, claim = claims[number]
        claimed = 0
        for other_rank, other in claims:
            # Attributes that share a node where it is annotated may share one elsewhere.
            if other_rank < rank and not _on_annotated(samples, other & nodes_of(targets.marks)):
                claimed |= other
        if claim & claimed:
            rules[number] = learn_attribute(samples, targets, spec, claimed)
            claims[number] = _claim(samples, rules[number])
    return [pin_rule(samples, rule) for rule in rules]


def _claim(samples: Samples, rule: AttributeRule) -> tuple[float, NodeSet]:
    """Return the nodes that a rule selects, and its rank; a rule of another kind claims nothing."""
    if len(rule.alternatives) != 1 or rule.alternatives[0].kind != XPATH:
        return float("inf"), 0
    alternative = rule.alternatives[0]
    bits = samples.columns.targets(alternative.target)
    for feature in alternative.features:
        bits &= samples.columns.bits(feature)
    return alternative.numbers.rank, bits


def _on_annotated(samples: Samples, bits: NodeSet) -> NodeSet:
    return (
        bits & ((1 << samples.index.page_starts[len(samples.pages)]) - 1)
        if samples.has_others
        else bits
    )


def learn_attribute(
    samples: Samples, targets: Targets, spec: AttributeType, claimed: NodeSet = 0
) -> AttributeRule:
    """Return the attribute's rule, or the reason why there is none."""
    alternatives: list[Alternative] = []
    losers: list[Alternative] = []
    failures = list(targets.failures)
    for marks in _by_target(targets.marks):
        task = AttributeTask(samples, targets, spec, tuple(marks), claimed)
        try:
            found, lost = _learn_target(task)
        except NoPreciseXPath as error:
            page = "" if error.page is None else samples.pages[error.page].url
            failures.append(LearningFailure(spec.name, error.step, page, str(error)))
            found, lost, told = _learn_without_strangers(task)
            failures += told
        alternatives += found
        losers += lost
    return AttributeRule(
        attribute=spec.name,
        type=spec.type,
        is_multi=spec.is_multi,
        is_mandatory=spec.is_mandatory,
        alternatives=tuple(alternatives),
        regex=spec.regex,
        losers=tuple(losers),
        failures=tuple(failures),
    )


def _learn_without_strangers(
    task: AttributeTask,
) -> tuple[list[Alternative], list[Alternative], list[LearningFailure]]:
    """Return alternatives for nearly all annotations, and who the others are; nothing if all stand alike."""
    alike, strangers = part_strangers(task.samples.index, task.marks)
    if not strangers:
        return [], [], []
    try:
        found, lost = _learn_target(replace(task, marks=tuple(alike)))
    except NoPreciseXPath:
        return [], [], []
    return found, lost, _told(task, strangers)


def _told(task: AttributeTask, strangers: Sequence[TargetNode]) -> list[LearningFailure]:
    pages = [task.samples.pages[mark.positive.page].url for mark in strangers]
    reason = "of its annotations stand elsewhere than those that the rule is learnt from"
    name = task.spec.name
    return [
        LearningFailure(name, "annotations", page, f"{pages.count(page)} {reason}")
        for page in dict.fromkeys(pages)
    ]


def learn_boundary(
    samples: Samples, targets: Targets, n_siblings: int
) -> tuple[Boundary | None, list[LearningFailure]]:
    """Return where the records of a list begin, None where nothing was marked or nothing is precise."""
    rule = (
        learn_attribute(samples, targets, AttributeType(BOUNDARY, is_multi=True))
        if targets.marks
        else None
    )
    if rule is None or len(rule.alternatives) != 1:
        return None, list(rule.failures if rule else targets.failures)
    return Boundary(rule.alternatives[0], n_siblings), list(rule.failures)


def _by_target(marks: Iterable[TargetNode]) -> list[list[TargetNode]]:
    """Return the marks by their kind of target, those with most pages first."""
    found: dict[str, list[TargetNode]] = {}
    for mark in marks:
        found.setdefault(mark.positive.target, []).append(mark)
    return sorted(found.values(), key=lambda group: -len({mark.positive.page for mark in group}))


def _learn_target(task: AttributeTask) -> tuple[list[Alternative], list[Alternative]]:
    """Return the alternatives for one kind of target, and what they beat. Raises NoPreciseXPath."""
    try:
        return _learn_in_steps(task)
    except NoPreciseXPath:
        if task.marks[0].positive.target != TEXT_TARGET or not all(
            mark.is_whole for mark in task.marks
        ):
            raise
        marks = [as_element(mark) for mark in task.marks]
        targets = Targets([as_element(mark) for mark in task.targets.marks], task.targets.judged)
        return _learn_in_steps(replace(task, marks=tuple(marks), targets=targets))


def _learn_in_steps(task: AttributeTask) -> tuple[list[Alternative], list[Alternative]]:
    goal, candidates = task.search()
    joint = [candidate for candidate in candidates if _is_borne_out(candidate, goal)]
    refusals: list[NoPreciseXPath | NoSelection] = []
    of_one = () if task.spec.is_multi else (_learn_position, _learn_classifier)
    for step in (_learn_joint, _learn_layouts, *of_one, _learn_joint):
        try:
            found = step(task, goal, candidates if refusals else joint)
        except (NoPreciseXPath, NoSelection) as error:
            refusals.append(error)
            continue
        return found[:1] if step is _learn_joint else found, found[
            1:
        ] if step is _learn_joint else []
    raise _as_one(refusals)


def _as_one(refusals: Sequence[NoPreciseXPath | NoSelection]) -> NoPreciseXPath:
    """Return what to tell: the value that cannot be cut out, or else why each step failed."""
    for refusal in refusals:
        if isinstance(refusal, NoSelection):
            return NoPreciseXPath(refusal.step, refusal.page, str(refusal))
    last = refusals[-2]  # the last step repeats the first
    page = next((refusal.page for refusal in reversed(refusals) if refusal.page is not None), None)
    return NoPreciseXPath(last.step, page, "; ".join(dict.fromkeys(str(r) for r in refusals)))


def _is_borne_out(candidate: Conjunction, goal: SearchGoal) -> bool:
    return not goal.unannotated or candidate.rank <= BOUND


def _learn_joint(
    task: AttributeTask, goal: SearchGoal, candidates: Sequence[Conjunction]
) -> list[Alternative]:
    """Return one alternative for all pages, and those that it beats. Raises NoPreciseXPath, NoSelection."""
    if not candidates:
        raise NoPreciseXPath(
            "xpath", None, "no precise XPath: other nodes have all that the annotated ones share"
        )
    return [_alternative(task, goal, candidate) for candidate in candidates[: N_LOSERS + 1]]


def _alternative(
    task: AttributeTask, goal: SearchGoal, candidate: Conjunction, kind: str = XPATH
) -> Alternative:
    """Return a candidate with the part of the text that is the value. Raises NoSelection."""
    return Alternative(
        kind=kind,  # type: ignore[arg-type]
        target=goal.target,
        features=candidate.features,
        selection=learn_part(task.samples, task.wanted, candidate, task.spec),
        numbers=numbers_of_candidate(candidate, goal),
    )


def _learn_layouts(
    task: AttributeTask, _question: SearchGoal, _candidates: Sequence[Conjunction]
) -> list[Alternative]:
    """Return alternatives that together serve all annotated pages. Raises NoPreciseXPath, NoSelection."""
    pages = task.pages
    if len(pages) == 1:
        raise NoPreciseXPath("xpath", pages[0], "there is one annotated page only")
    offers: list[tuple[AttributeTask, SearchGoal, Conjunction]] = []
    for page in pages:
        single = task.of_page(page)
        asked, candidates = single.search()
        offers += [(single, asked, found) for found in candidates if _is_borne_out(found, asked)]
    return _cover(task, offers, pages)


def _cover(
    task: AttributeTask,
    offers: Sequence[tuple[AttributeTask, SearchGoal, Conjunction]],
    pages: Iterable[int],
) -> list[Alternative]:
    """Choose greedily: most pages first, then the better rank."""
    left = set(pages)
    taken: list[Alternative] = []
    while left:
        served = [(_served(task, offer[2], left), offer) for offer in offers]
        best, (_, goal, candidate) = min(
            served,
            key=lambda one: (-len(one[0]), one[1][2].rank),
            default=(set(), (None, None, None)),
        )
        if not best or len(taken) == MOST_ALTERNATIVES or goal is None or candidate is None:
            raise NoPreciseXPath("xpath", min(left), "no precise XPath for the layout of this page")
        marks = tuple(mark for mark in task.marks if mark.positive.page in best)
        part = replace(task, marks=marks)
        taken.append(_alternative(part, part.goal, candidate))
        left -= best
    return taken


def _served(task: AttributeTask, candidate: Conjunction, pages: Iterable[int]) -> set[int]:
    """Return the pages all of whose positives a candidate selects."""
    found = set()
    for page in pages:
        positives = nodes_of(task.of_page(page).wanted)
        if positives & candidate.bits == positives:
            found.add(page)
    return found


def _imprecise(task: AttributeTask, goal: SearchGoal) -> list[Conjunction]:
    """Return the features that select all positives, the most precise first."""
    columns = task.samples.columns
    features = features_of(task.samples.index, [mark.positive for mark in task.wanted])
    singles = [measure(one, goal) for one in find_singles(columns, goal, features)]
    singles.append(Conjunction((), columns.targets(goal.target), 0.0))
    return sorted(singles, key=lambda one: ((one.bits & goal.negatives).bit_count(), one.price))


def _learn_position(
    task: AttributeTask, goal: SearchGoal, _candidates: Sequence[Conjunction]
) -> list[Alternative]:
    """Return an alternative by position. Raises NoPreciseXPath, NoSelection."""
    judged = [task.samples.index.page_bits[page] for page in task.targets.judged]
    found = []
    for candidate in _imprecise(task, goal):
        position = learn_position(candidate.bits, goal.positives, judged)
        if position:
            n = sum(1 for page in goal.unannotated if nth(candidate.bits & page, position))
            share = n / max(1, len(goal.unannotated))
            found.append(
                (candidate.price + PER_POSITION * abs(position) - GAIN * share, position, candidate)
            )
    if not found:
        raise NoPreciseXPath("position", None, "no position is the same on all annotated pages")
    _, position, candidate = min(found, key=lambda one: one[0])
    return [replace(_alternative(task, goal, candidate, POSITIONAL), position=position)]


def _learn_classifier(
    task: AttributeTask, goal: SearchGoal, _candidates: Sequence[Conjunction]
) -> list[Alternative]:
    """Return a classifier on the most precise conjunction. Raises NoPreciseXPath, NoSelection."""
    judged = [task.samples.index.page_bits[page] for page in task.targets.judged]
    candidate = _imprecise(task, goal)[0]
    try:
        classifier = learn_classifier(
            task.samples.columns, goal.target, candidate.bits, goal.positives, judged
        )
    except ClassifierUndecided as error:
        raise NoPreciseXPath("classifier", task.targets.judged[error.page], str(error)) from None
    made = _alternative(task, goal, candidate, NAIVE_BAYES)
    return [replace(made, bias=decimal(classifier.bias), weights=classifier.weights())]
