"""Train the weights of changed values, and choose by weights that have not seen a site."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.changed_values.attributes import ChangedAttribute
from monitoring.algorithms.changed_values import WEIGHTS, ChangeWeights, ChosenSlot, choose

C: Final = 0.1
WEIGHT_OF_RIGHT: Final = 3.0  # all right candidates of an attribute together; a wrong one weighs 1
UNCALIBRATED: Final = (0.0, 0.0, 1.0)


class Decision(NamedTuple):
    """What the model chose for an attribute."""

    attribute: ChangedAttribute
    choice: ChosenSlot | None

    @property
    def fit(self) -> float:
        """Return how right the choice is, from 0 to 1."""
        if self.choice is None:
            return 0.0
        return self.attribute.fits[self.attribute.candidates.index(self.choice.candidate)]


def train(attributes: Sequence[ChangedAttribute]) -> ChangeWeights:
    """Return weights; their certainty is fitted on choices by weights without the judged site."""
    return replace(_fit(attributes), certainty=_calibrate(_choices_left_out(attributes)))


def decide_left_out(
    attributes: Sequence[ChangedAttribute],
) -> tuple[list[Decision], dict[str, ChangeWeights]]:
    """Return what is chosen on each site by weights fitted without it, and the weights by site."""
    choices = _choices_left_out(attributes)
    decisions = []
    weights_by_site = {}
    for site in _sites(attributes):
        others = [attribute for attribute in attributes if attribute.site != site]
        certainty = _calibrate([choice for choice in choices if choice.attribute.site != site])
        weights = replace(_fit(others), certainty=certainty)
        weights_by_site[site] = weights
        decisions += [_decide(own, weights) for own in attributes if own.site == site]
    return decisions, weights_by_site


def write_weights(weights: ChangeWeights) -> None:
    Path(str(WEIGHTS)).write_text(json.dumps(weights.as_json(), indent=1) + "\n")


def _choices_left_out(attributes: Sequence[ChangedAttribute]) -> list[Decision]:
    decisions = []
    for site in _sites(attributes):
        weights = _fit([attribute for attribute in attributes if attribute.site != site])
        decisions += [_decide(own, weights) for own in attributes if own.site == site]
    return decisions


def _sites(attributes: Sequence[ChangedAttribute]) -> list[str]:
    return sorted({attribute.site for attribute in attributes})


def _decide(attribute: ChangedAttribute, weights: ChangeWeights) -> Decision:
    return Decision(attribute, choose(attribute.candidates, weights))


def _fit(attributes: Sequence[ChangedAttribute]) -> ChangeWeights:
    """Return weights without certainty.

    Each attribute of a site weighs the same, in however many ways it changed.
    A candidate that shows the values on some pages is a row for and one against.
    """
    n_ways = Counter((own.site, own.name, own.is_number_of_text) for own in attributes)
    signs, counts, is_right = [], [], []
    for own in attributes:
        if not own.candidates:
            continue
        fits = np.array(own.fits)
        of_candidates = np.array([candidate.signs for candidate in own.candidates])
        weight = 1 / n_ways[own.site, own.name, own.is_number_of_text]
        signs += [of_candidates, of_candidates]
        counts += [weight * WEIGHT_OF_RIGHT * fits / max(1.0, fits.sum()), weight * (1 - fits)]
        is_right += [np.ones(len(fits)), np.zeros(len(fits))]
    rows, weights = np.concatenate(signs), np.concatenate(counts)
    means = np.average(rows, axis=0, weights=weights)
    scales = np.sqrt(np.average((rows - means) ** 2, axis=0, weights=weights))
    scales = np.where(scales > 0, scales, 1.0)
    model = LogisticRegression(C=C, max_iter=500)
    model.fit((rows - means) / scales, np.concatenate(is_right), sample_weight=weights)
    return ChangeWeights(means, scales, model.coef_[0], float(model.intercept_[0]), UNCALIBRATED)


def _calibrate(decisions: Sequence[Decision]) -> tuple[float, float, float]:
    """Return the logistic of certainty; a choice counts as right by its share of right values."""
    features, fits = [], []
    for decision in decisions:
        if decision.choice is not None:
            features.append([decision.choice.log_odds, decision.choice.margin])
            fits.append(decision.fit)
    rows, shares = np.array(features), np.array(fits)
    model = LogisticRegression()
    model.fit(
        np.concatenate([rows, rows]),
        [True] * len(rows) + [False] * len(rows),
        sample_weight=np.concatenate([shares, 1 - shares]),
    )
    return float(model.intercept_[0]), float(model.coef_[0][0]), float(model.coef_[0][1])
