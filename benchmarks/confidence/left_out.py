"""What rules find on pages without annotations, and weights of confidence fitted without a site.

Beside it the weights are fitted on values that are wrong on a page alone, see `lone_values`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from lxml.etree import _Element
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from benchmarks.confidence.diagram import write_diagram
from benchmarks.confidence.lone_values import RIGHT, LoneValue, oddness_beside
from benchmarks.report import markdown_table
from benchmarks.rule_learning import compared
from benchmarks.unseen_sites import KS, N_SAMPLES, Site
from rules.algorithms.learning.learner import learn_cluster
from rules.algorithms.review.reliability import EDGES, ReliabilityBin
from rules.algorithms.rule.rule import ClusterRule
from rules.algorithms.running.confidence import ConfidenceWeights, ValueSigns, signs_of
from rules.algorithms.running.records import RawValue
from rules.algorithms.running.run_rule import run_stylesheet
from rules.algorithms.stylesheet.stylesheet import stylesheet_of

N_ORDERS: Final = 2  # the drawn one and one at random
N_BINS: Final = 20
RATHER_WRONG: Final = 0.6  # below it a value is marked
LOOKED_AT: Final = 0.12  # share of the values, the least sure ones, that a person looks at

INTRODUCTION: Final = (
    f"All pages of a site of SWDE are one cluster; rules are learnt from its first {KS[0]} to "
    f"{KS[-1]} samples, in "
    "the drawn order and in one at random, and run as stylesheets on the pages that were not "
    "annotated. A line is what "
    "a rule finds of an attribute on a page; it is right if that is all that the page shows. "
    "Left out are lines whose "
    "labelled value is no text of the page: nobody could see it. Each site is judged by "
    "weights that were fitted without it; each attribute of a site, "
    "number of pages and order weighs the same.\n\n"
)
# Values that are wrong on a page alone, to one that is right; so many are fitted.
LONE_WRONG_SHARE: Final = 0.005

Floats = NDArray[np.float64]
RawValues = dict[str, list[RawValue]]  # of a page, by attribute


@dataclass(frozen=True, slots=True)
class FoundValues:
    """What a rule found of an attribute on a page, its losers' votes, and whether it is right."""

    rule: tuple[str, str, int, int]  # site, attribute, annotated pages, order
    signs: ValueSigns  # oddness is beside what the rule finds on the samples
    is_right: bool

    @property
    def site(self) -> str:
        return self.rule[0]


def found_on_sites(sites: Iterable[Site]) -> Iterator[FoundValues]:
    """Yield what rules find on the pages of sites that were not annotated."""
    for site in sites:
        pages = list(site.pages.trees)
        shuffled = random.Random(site.pages.name).sample(pages, len(pages))
        orders = [site.samples(tuple(pages)), shuffled[:N_SAMPLES]]
        # A stylesheet strips blank texts from a tree, so all rules are learnt before one runs.
        rules = [
            (number, k, order, _learn(site, order, k))
            for number, order in enumerate(orders[:N_ORDERS])
            for k in KS
        ]
        for number, k, order, rule in rules:
            raw_by_page = _run(rule, site.pages.trees)
            for page in pages:
                if page not in order[: max(KS)]:
                    samples = [raw_by_page[sample] for sample in order if sample != page]
                    yield from _found_on_page(
                        site, rule, page, raw_by_page[page], samples, (k, number)
                    )


def _run(rule: ClusterRule, trees: Mapping[str, _Element]) -> dict[str, RawValues]:
    """Return what a rule finds on each page, by attribute; of a single value the first."""
    stylesheet = stylesheet_of(rule)
    raw_by_page: dict[str, RawValues] = {}
    for page, tree in trees.items():
        (record,) = run_stylesheet(stylesheet, tree)
        raw_by_page[page] = {
            attribute.attribute: record.values.get(attribute.attribute, [])[
                : None if attribute.is_multi else 1
            ]
            for attribute in rule.attributes
        }
    return raw_by_page


def _learn(site: Site, order: Sequence[str], k: int) -> ClusterRule:
    annotated = [site.pages.annotated(page) for page in order[:k]]
    unannotated = [site.pages.trees[page] for page in order[k:]]
    return learn_cluster(annotated, unannotated, site.pages.specs, learner="default")


def _found_on_page(
    site: Site,
    rule: ClusterRule,
    page: str,
    raw: RawValues,
    samples: Sequence[RawValues],
    learnt_from: tuple[int, int],
) -> Iterator[FoundValues]:
    for attribute in rule.attributes:
        name = attribute.attribute
        values = raw[name]
        comparison = compared([value.text for value in values])
        labelled = site.pages.truth[page].get(name, [])
        is_shown = len(site.pages.marks[page].get(name, [])) == len(labelled)
        if not comparison or not is_shown:
            continue
        usual = [value.text for sample in samples for value in sample[name]]
        oddness = oddness_beside(name, [value.text for value in values], usual)
        yield FoundValues(
            (site.pages.name, name, *learnt_from),
            signs_of(
                values,
                is_multi=attribute.is_multi,
                oddness=oddness,
                rank=attribute.alternatives[0].numbers.rank,
            ),
            comparison == compared(labelled),
        )


def fit(values: Sequence[FoundValues], lone: Sequence[LoneValue]) -> ConfidenceWeights:
    """Return the logistic weights that best fit what rules find and values that are wrong alone."""
    wrong = [value for value in lone if value.kind != RIGHT]
    columns = np.array(
        [line.signs for line in values] + [ValueSigns(oddness=value.oddness) for value in wrong],
        dtype=float,
    )
    right = np.concatenate([_right(values), np.zeros(len(wrong), bool)])
    weight_of_wrong = LONE_WRONG_SHARE * len(values) / max(1, len(wrong))
    weights = np.concatenate([_weights(values), np.full(len(wrong), weight_of_wrong)])
    model = LogisticRegression(max_iter=500)
    model.fit(columns, right, sample_weight=weights)
    # The columns are in the order of the signs, as the weights behind the bias are.
    return ConfidenceWeights(
        *(round(float(number), 2) for number in (model.intercept_[0], *model.coef_[0]))
    )


def fit_left_out(
    values: Sequence[FoundValues], lone: Sequence[LoneValue]
) -> dict[str, ConfidenceWeights]:
    """Return for each site the weights that are fitted without it."""
    return {
        site: fit(
            [line for line in values if line.site != site],
            [value for value in lone if value.site != site],
        )
        for site in {line.site for line in values}
    }


def left_out(values: Sequence[FoundValues], weights: Mapping[str, ConfidenceWeights]) -> Floats:
    """Return for each line the confidence by weights that were fitted without its site."""
    log_odds = [weights[line.site].log_odds(line.signs) for line in values]
    confidence: Floats = 1 / (1 + np.exp(-np.array(log_odds)))
    return confidence


def report(values: Sequence[FoundValues], confidence: Floats) -> str:
    """Return the figures and the reliability of confidences."""
    right, weights = _right(values), _weights(values)
    wrong = ~right
    bins = list(reliability_bins(confidence, right, weights))
    write_diagram(bins)
    figures = [
        [
            "expected calibration error",
            f"{calibration_error(confidence, right, weights):.4f}",
            "<= .02",
        ],
        [
            f"right values below {RATHER_WRONG}",
            f"{_share(confidence < RATHER_WRONG, right, weights):.2%}",
            "<= 2 %",
        ],
        [
            f"wrong values among the least sure {LOOKED_AT:.0%}",
            f"{_caught(confidence, wrong):.0%}",
            ">= 80 %",
        ],
        [
            "area under the curve",
            f"{roc_auc_score(right, confidence, sample_weight=weights):.3f}",
            "",
        ],
    ]
    attributes = {line.rule[:2] for line in values if not line.is_right}
    return (
        f"{len(values):,} lines of {len({line.site for line in values})} sites, "
        f"{wrong.sum():,} of them wrong, "
        f"of {len(attributes)} attributes.\n\n"
        f"{markdown_table(['figure', 'have', 'wanted'], figures)}\n\n## Reliability\n\n"
        "![Share of right lines by confidence](confidence.svg)\n\nDot: the share that is right. "
        "Bar: the confidence. "
        "Below each: the confidence from where to where, and the lines.\n\n"
        f"{markdown_table(['confidence', 'lines', 'mean', 'right'], _reliability(bins))}"
    )


def calibration_error(confidence: Floats, right: NDArray[np.bool_], weights: Floats) -> float:
    """Return how far confidence is from the share of right lines, averaged over confidence bins."""
    bins = np.minimum((confidence * N_BINS).astype(int), N_BINS - 1)
    gaps = [abs((weights * (confidence - right))[bins == place].sum()) for place in range(N_BINS)]
    return float(sum(gaps) / weights.sum())


def reliability_bins(
    confidence: Floats, right: NDArray[np.bool_], weights: Floats
) -> Iterator[ReliabilityBin]:
    """Yield the lines by confidence, each rule counting the same."""
    for low, high in pairwise(EDGES):
        is_last = high == EDGES[-1]
        inside = (confidence >= low) & (is_last | (confidence < high))
        if inside.any():
            mean = float(np.average(confidence[inside], weights=weights[inside]))
            share = float(np.average(right[inside], weights=weights[inside]))
            yield ReliabilityBin(low, high, int(inside.sum()), mean, share)


def _reliability(bins: Iterable[ReliabilityBin]) -> Iterator[list[object]]:
    for of_bin in bins:
        edges = f"{of_bin.low:.2f} to {of_bin.high:.2f}"
        yield [edges, f"{of_bin.n:,}", f"{of_bin.confidence:.3f}", f"{of_bin.right:.3f}"]


def _share(chosen: NDArray[np.bool_], among: NDArray[np.bool_], weights: Floats) -> float:
    return float(weights[chosen & among].sum() / weights[among].sum())


def _caught(confidence: Floats, wrong: NDArray[np.bool_]) -> float:
    """Return the share of wrong lines among the least sure; equally sure ones in random order."""
    ties = np.random.default_rng(0).random(len(confidence))
    least_sure = np.lexsort((ties, confidence))[: int(LOOKED_AT * len(confidence))]
    return float(wrong[least_sure].sum() / max(1, wrong.sum()))


def _right(values: Sequence[FoundValues]) -> NDArray[np.bool_]:
    return np.array([line.is_right for line in values])


def _weights(values: Sequence[FoundValues]) -> Floats:
    """Return weights by which each rule counts the same."""
    n_by_rule = Counter(line.rule for line in values)
    weights: Floats = np.array([1 / n_by_rule[line.rule] for line in values])
    weights *= len(values) / weights.sum()
    return weights
