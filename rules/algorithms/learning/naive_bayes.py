"""Choose among the nodes of an imprecise XPath with a Naive-Bayes classifier.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.3.
Notation:   rXPath -> the conjunction whose nodes are the candidates; + -> the positives, - -> the
            others.
Readings:   SMOOTHING = 1 is added to each count; the MAX_FEATURES of the highest mutual
            information remain. P(+) > 0.5 is a sum of log-odds above 0. Level 0 becomes the node
            itself, 1 its parent, 2 and more any ancestor.
Departures: The default learner refuses a classifier that does not choose the annotated node
            of each page; its features are words of classes and labels instead of siblings and
            the texts around. Weights are rounded to four decimals, which is what the
            stylesheet computes with.
Cost:       One test of each feature on each candidate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import log
from typing import Final, TypeAlias

from rules.algorithms.learning.columns import Columns, numbers_of, union
from rules.algorithms.learning.features import (
    Chain,
    Positive,
    all_attributes,
    chain_of,
    ids_and_classes,
    labels,
    siblings,
    tags,
    texts_outside,
    tokens,
)
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Weight

SMOOTHING = 1.0
MAX_FEATURES = 20
MAX_CANDIDATES = 200  # whose features are generated

Generator: TypeAlias = Callable[[Chain], Iterator[Feature]]

GENERATORS: Final = (tags, ids_and_classes, tokens, all_attributes, labels)
# Of the paper: the strong features that a candidate can be asked for by itself, and the attributes
# that are too weak for an XPath.
PUBLISHED: Final = (tags, ids_and_classes, siblings, texts_outside, all_attributes)


class ClassifierUndecided(Exception):
    """The classifier does not choose the annotated node on a page."""

    def __init__(self, page: int) -> None:
        super().__init__(
            "the classifier is undecided: another node scores higher than the annotated one"
        )
        self.page = page


@dataclass(frozen=True, slots=True)
class Classifier:
    """The log-odds of the features that tell most."""

    bias: float
    features: tuple[Feature, ...]
    if_true: tuple[float, ...]
    if_false: tuple[float, ...]

    def weights(self) -> tuple[Weight, ...]:
        return tuple(
            Weight(feature, decimal(true), decimal(false))
            for feature, true, false in zip(self.features, self.if_true, self.if_false, strict=True)
        )

    def choose(self, columns: Columns, candidates: NodeSet) -> NodeSet:
        return choose(columns, candidates, self.bias, self.weights())


def learn_classifier(
    columns: Columns,
    target: str,
    candidates: NodeSet,
    positives: NodeSet,
    judged: Sequence[NodeSet],
) -> Classifier:
    """Return the classifier choosing each judged page's positive. Raises ClassifierUndecided."""
    classifier = fit_classifier(columns, target, candidates, positives, judged)
    for number, page in enumerate(judged):
        node = classifier.choose(columns, candidates & page)
        is_right = bool(node & positives) if positives & page else not node
        if not is_right:
            raise ClassifierUndecided(number)
    return classifier


def fit_classifier(
    columns: Columns,
    target: str,
    candidates: NodeSet,
    positives: NodeSet,
    judged: Sequence[NodeSet],
    generators: Iterable[Generator] = GENERATORS,
) -> Classifier:
    """Return the classifier, whatever it chooses on the judged pages."""
    seen = candidates & union(judged)
    ranked = sorted(
        _candidate_features(columns, target, seen, tuple(generators)),
        key=lambda feature: (-_information(columns.bits(feature), seen, positives), str(feature)),
    )
    return _fit(columns, tuple(ranked[:MAX_FEATURES]), seen, positives)


def choose(
    columns: Columns, candidates: NodeSet, bias: float, weights: Sequence[Weight]
) -> NodeSet:
    """Return the candidate with the highest score above 0, the empty set where there is none."""
    tests = [(columns.bits(w.feature), float(w.if_true), float(w.if_false)) for w in weights]
    best_score, best_node = 0.0, 0
    for number in numbers_of(candidates):
        node = 1 << number
        log_odds = sum(true if bits & node else false for bits, true, false in tests)
        score = round(bias + log_odds, 4)
        if score > best_score:
            best_score, best_node = score, node
    return best_node


def decimal(number: float) -> str:
    """Return a number as XPath reads it: without an exponent."""
    return f"{number:.4f}"


def relative(feature: Feature) -> Feature | None:
    """Return the feature as a candidate tests it: level 0 self, 1 parent, 2 and more any ancestor.

    None for what would be tested beside an ancestor.
    """
    if feature.level <= 1:
        return feature
    return replace(feature, level=0, axis="ancestor") if feature.axis == "self" else None


def _candidate_features(
    columns: Columns, target: str, seen: NodeSet, generators: Sequence[Generator]
) -> Iterator[Feature]:
    """Yield the features of the candidates that do not hold for all or none of them."""
    features: set[Feature | None] = set()
    for number in islice(numbers_of(seen), MAX_CANDIDATES):
        chain = chain_of(columns.index, Positive(number, 0, target=target))
        for generate in generators:
            features.update(map(relative, generate(chain)))
    for feature in features:
        if feature is None:
            continue
        having = columns.bits(feature) & seen
        if having not in {0, seen}:
            yield feature


def _information(bits: NodeSet, seen: NodeSet, positives: NodeSet) -> float:
    """Return the mutual information of a feature with the labels + and -."""
    n = seen.bit_count()
    information = 0.0
    for having in (bits & seen, seen & ~bits):
        for labelled in (positives & seen, seen & ~positives):
            n_both = (having & labelled).bit_count()
            if n_both:
                ratio = n_both * n / (having.bit_count() * labelled.bit_count())
                information += n_both / n * log(ratio)
    return round(information, 9)


def _fit(
    columns: Columns, features: tuple[Feature, ...], seen: NodeSet, positives: NodeSet
) -> Classifier:
    right, wrong = seen & positives, seen & ~positives
    n_right, n_wrong = right.bit_count(), wrong.bit_count()
    if_true, if_false = [], []
    for feature in features:
        bits = columns.bits(feature)
        p = ((bits & right).bit_count() + SMOOTHING) / (n_right + 2 * SMOOTHING)
        q = ((bits & wrong).bit_count() + SMOOTHING) / (n_wrong + 2 * SMOOTHING)
        if_true.append(round(log(p / q), 4))
        if_false.append(round(log((1 - p) / (1 - q)), 4))
    bias = round(log((n_right + SMOOTHING) / (n_wrong + SMOOTHING)), 4)
    return Classifier(bias, features, tuple(if_true), tuple(if_false))
