"""Learn an attribute's rule as published: Algorithm 3, a position, Naive Bayes, word offsets.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.
Readings:   Annotated nodes are texts where one text holds the value, else elements: the paper's
            XPaths end in `node()`, which selects both, and one of Table II in `/text()`. The
            classifier always answers: it takes the candidate of the highest score above 0. A pair
            of nodes is their common ancestor, of whose text a part is taken.
Cost:       That of `apriori`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from annotation.algorithms.attribute_types import AttributeType
from rules.algorithms.learning import naive_bayes
from rules.algorithms.learning.apriori import LearntXPath, learn_xpath
from rules.algorithms.learning.evaluating import n_read_right
from rules.algorithms.learning.features import PUBLISHED, features_of
from rules.algorithms.learning.naive_bayes import decimal, fit_classifier
from rules.algorithms.learning.positional import learn_position
from rules.algorithms.learning.range_pruner import learn_offsets
from rules.algorithms.learning.samples import Samples, goal_of, wanted_marks
from rules.algorithms.learning.search import SearchGoal
from rules.algorithms.learning.targets import TargetNode, Targets
from rules.algorithms.learning.text_selection import examples_of
from rules.algorithms.rule.rule import (
    NAIVE_BAYES,
    POSITIONAL,
    XPATH,
    Alternative,
    AttributeRule,
    LearningFailure,
    Numbers,
)


def learn_all_as_published(
    samples: Samples, requested: Iterable[tuple[Targets, AttributeType]]
) -> list[AttributeRule]:
    """Return the rules of a cluster's attributes, each learnt by itself."""
    return [learn_as_published(samples, targets, attribute) for targets, attribute in requested]


def learn_as_published(
    samples: Samples, targets: Targets, attribute: AttributeType
) -> AttributeRule:
    """Return the attribute's rule as the paper learns it, or the reason why there is none."""
    marks = [replace(mark, is_only_here=True) for mark in targets.marks]
    targets = Targets(marks, targets.judged, targets.failures)
    wanted = [mark for mark in marks if mark.positive.target == marks[0].positive.target]
    goal = goal_of(samples, targets, wanted, is_multi=attribute.is_multi)
    positives = [mark.positive for mark in wanted_marks(wanted, is_multi=attribute.is_multi)]
    features = features_of(samples.index, positives, PUBLISHED)
    xpaths = learn_xpath(samples.columns, goal, features)
    failures = list(targets.failures)
    alternatives: list[Alternative] = []
    if not xpaths:
        reason = "the annotated nodes share no feature"
        failures.append(LearningFailure(attribute.name, "xpath", "", reason))
    else:
        alternatives = [_alternative(samples, targets, wanted, goal, xpaths[0])]
    rule = AttributeRule(
        attribute=attribute.name,
        type=attribute.type,
        is_multi=attribute.is_multi,
        is_mandatory=attribute.is_mandatory,
        alternatives=tuple(alternatives),
        regex=attribute.regex,
        failures=tuple(failures),
        n_annotated=len(targets.judged),
    )
    return replace(rule, n_right=n_read_right(samples, targets, rule))


def _alternative(
    samples: Samples,
    targets: Targets,
    marks: list[TargetNode],
    goal: SearchGoal,
    learnt: LearntXPath,
) -> Alternative:
    """Return the pXPath, the rXPath with a position, or with a classifier."""
    pxpath = Alternative(
        kind=XPATH,
        target=goal.target,
        features=learnt.features,
        selection=learn_offsets(examples_of(samples.index, marks)),
        numbers=Numbers(learnt.precision, learnt.distance, learnt.support),
    )
    if learnt.is_precise or goal.is_multi:
        return pxpath
    judged = [samples.index.page_bits[page] for page in targets.judged]
    position = learn_position(learnt.bits, goal.positives, judged)
    if position:
        return replace(pxpath, kind=POSITIONAL, position=position)
    classifier = fit_classifier(
        samples.columns, goal.target, learnt.bits, goal.positives, judged, naive_bayes.PUBLISHED
    )
    return replace(
        pxpath,
        kind=NAIVE_BAYES,
        bias=decimal(classifier.bias),
        weights=classifier.weights(),
    )
