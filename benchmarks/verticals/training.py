"""Train the weights of matching over verticals: `python -m benchmarks.verticals DATA`."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from annotation.algorithms.fields.drafting import SlotChoice, choose_slots
from annotation.algorithms.fields.matching import (
    COLUMNS,
    MIN_SPREAD,
    WEIGHTS,
    MatchingWeights,
    Table,
)
from annotation.algorithms.fields.profiles import fit_of
from benchmarks.verticals.known_sites import KnownSite, Verticals

C = 0.05
N_STEPS = 300
# Columns beside the slot's own numbers that may count for a slot or against it.
OF_EITHER_SIGN = ("sites", "several")
ALL_OTHERS = 0  # sites; the other numbers are drawn
N_KNOWN_SITES = (ALL_OTHERS, 2, 1)
MAX_FIT_OF_NEGATIVE = 0.05
SHARE_OF_NEGATIVES = 0.15
UNCALIBRATED = (0.0, 0.0, 1.0)


class Rows(NamedTuple):
    """Matching features with what the slot is, and how much each row counts."""

    features: Table
    is_field: NDArray[np.bool_]
    weights: Table


class Decision(NamedTuple):
    """A slot taken for a field on a left-out site, and how many of its values are right."""

    vertical: str
    choice: SlotChoice
    n_right: int
    n_values: int


def train(verticals: Verticals, names: Sequence[str]) -> MatchingWeights:
    """Return the weights from some verticals.

    Their certainty is fitted on decisions that were made in each of them by weights
    from the others.
    """
    decisions = []
    for name in names:
        weights_of_others = fit(verticals, [other for other in names if other != name])
        decisions += decisions_of(verticals, name, weights_of_others)
    return replace(fit(verticals, names), certainty=calibrate(decisions))


def fit(verticals: Verticals, names: Sequence[str]) -> MatchingWeights:
    spreads = verticals.spreads(names, MIN_SPREAD)
    rows = [_rows_of(verticals, site, spreads) for name in names for site in verticals.sites[name]]
    features, is_field, weights = (
        np.concatenate(column)
        for column in zip(*(r for of_site in rows for r in of_site), strict=True)
    )
    scaler = StandardScaler().fit(features)
    *of_columns, intercept = fit_logistic(scaler.transform(features), is_field, weights)
    return MatchingWeights(
        spreads,
        scaler.mean_,
        np.where(scaler.scale_ > 0, scaler.scale_, 1.0),
        np.array(of_columns),
        intercept,
        UNCALIBRATED,
    )


def fit_logistic(features: Table, is_field: NDArray[np.bool_], counts: Table) -> Table:
    """Return a logistic regression's weights and intercept; likeness never counts against a slot.

    Without those bounds what one feature says of the sites learnt from is taken back
    by its neighbours.
    """
    signs = np.where(is_field, 1.0, -1.0)

    def loss(weights: Table) -> tuple[float, Table]:
        """Return what a logistic regression with squared weights makes least, and its gradient."""
        margins = signs * (features @ weights[:-1] + weights[-1])
        slopes = C * counts * signs * expit(-margins)
        gradient = np.append(weights[:-1] - features.T @ slopes, -slopes.sum())
        total = C * counts @ np.logaddexp(0.0, -margins) + weights[:-1] @ weights[:-1] / 2
        return float(total), gradient

    bounds = [*map(_bounds_of, COLUMNS), (None, None)]
    begin = np.zeros(len(COLUMNS) + 1)
    found = minimize(
        loss, begin, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": N_STEPS}
    )
    fitted: Table = found.x
    return fitted


def _bounds_of(column: str) -> tuple[float | None, float | None]:
    """Return the least and the greatest weight of a column."""
    if column in OF_EITHER_SIGN or column.startswith("slot: "):
        return None, None
    if column.endswith("distance"):  # against the best one it is a nearness
        return None, 0.0
    return 0.0, None


def _rows_of(verticals: Verticals, site: KnownSite, spreads: Table) -> list[Rows]:
    """Return the rows of a site, matched against all the others of its vertical and some of them.

    A slot that shows a field on some pages only is a row for and one against. Most of those that
    show nothing of it are left out, and the others count for them.
    """
    chance = random.Random(site.site.name)
    others = verticals.others(site)
    rows = []
    for n_sites in N_KNOWN_SITES:
        known_sites = chance.sample(others, n_sites) if n_sites else others
        matched = verticals.match(site, known_sites, spreads)
        for index, field in enumerate(verticals.fields(site.vertical)):
            if not any(other.profile.examples.get(field) for other in known_sites):
                continue
            fits = np.array(site.fits.get(field, [0.0] * len(site.slots)))
            is_negative = fits <= MAX_FIT_OF_NEGATIVE
            drawn = np.array([chance.random() < SHARE_OF_NEGATIVES for _ in fits])
            count = np.where(is_negative, 1 / SHARE_OF_NEGATIVES, 1.0)
            for is_field, share in ((True, fits), (False, 1 - fits)):
                weights = count * share
                used = (~is_negative | drawn) & (weights > 0)
                rows.append(
                    Rows(matched[index][used], np.full(used.sum(), is_field), weights[used])
                )
    return rows


def decisions_of(verticals: Verticals, vertical: str, weights: MatchingWeights) -> list[Decision]:
    """Return what is decided on each site of a vertical from the other sites of it."""
    decisions = []
    for site in verticals.sites[vertical]:
        known = verticals.known(vertical, verticals.others(site))
        log_odds = weights.log_odds(verticals.match(site, verticals.others(site), weights.spreads))
        for choice in choose_slots(log_odds, known, [slot.slot for slot in site.slots]):
            n_right, n_values = count_right(site, known.fields[choice.field], choice.slot)
            decisions.append(Decision(vertical, choice, n_right, n_values))
    return decisions


def count_right(site: KnownSite, field: str, slot: int) -> tuple[int, int]:
    """Return how many values of a slot are the field's, and how many there are."""
    n_right = n_values = 0
    is_multi = field in site.site.multi
    for number, truth in enumerate(site.site.truth.values()):
        values = site.slots[slot].slot.values(number)[: None if is_multi else 1]
        if field not in truth and field in site.fits:
            continue  # not known
        n_values += len(values)
        wanted = truth.get(field, [])
        n_right += sum(any(fit_of([[v]], [[w]], is_multi=True) for w in wanted) for v in values)
    return n_right, n_values


def calibrate(decisions: Sequence[Decision]) -> tuple[float, float, float]:
    """Return the logistic of certainty; a decision counts as right by its share of right values."""
    seen = [decision for decision in decisions if decision.n_values]
    features = np.array([[d.choice.log_odds, d.choice.margin] for d in seen])
    shares = np.array([d.n_right / d.n_values for d in seen])
    model = LogisticRegression()
    model.fit(
        np.concatenate([features, features]),
        [True] * len(seen) + [False] * len(seen),
        sample_weight=np.concatenate([shares, 1 - shares]),
    )
    return float(model.intercept_[0]), float(model.coef_[0][0]), float(model.coef_[0][1])


def write_weights(weights: MatchingWeights) -> None:
    Path(str(WEIGHTS)).write_text(json.dumps(weights.as_json(), indent=1) + "\n")
