"""How sure values are: the probability that what a rule finds of an attribute on a page is right.

Notation:   The losers of a rule vote on each of its values. The agreement of a value is the share of
            those losers that find its text, of those that find anything; 1 where none finds anything.
            The log-odds of an attribute are a bias, what the mean agreement of its values adds,
            what it adds that an attribute has several values, and what their oddness takes away:
            how unlike the usual values of the attribute they look, see `value_looks`.
            Judged values of the installation then move the odds from those that were fitted
            elsewhere, as far as there are enough of them.
            A record is right if each of its attributes is: the product of their probabilities.

The weights are fitted on whole sites that people labelled, by `python -m benchmarks.confidence`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from math import exp, log, prod

from rules.algorithms.running.records import RawValue

WEIGHTS_FILE = files(__package__) / "weights" / "confidence.json"
# How many judged values the fitted odds are worth, and how many of those were right.
FITTED_VALUES = 5.0
FITTED_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What adds up to the log-odds that an attribute's values are right."""

    bias: float
    agreement: float  # times the mean agreement
    several: float  # for an attribute of several values
    oddness: float  # times the mean oddness

    def log_odds(self, agreement: float, oddness: float, *, is_multi: bool) -> float:
        """Return the log-odds that the values of an attribute are right."""
        several = self.several if is_multi else 0.0
        return self.bias + self.agreement * agreement + several + self.oddness * oddness

    def as_json(self) -> dict[str, float]:
        return asdict(self)


@cache
def fitted_weights() -> ConfidenceWeights:
    """Return the weights that come with the product."""
    return ConfidenceWeights(**json.loads(WEIGHTS_FILE.read_text()))


def confidence_in(
    values: Sequence[RawValue],
    *,
    is_multi: bool,
    trust: float = 0.0,
    oddness: float = 0.0,
    weights: ConfidenceWeights | None = None,
) -> float:
    """Return the probability that the values of an attribute are right; `trust` is added to the log-odds.

    >>> agreed, disputed = RawValue("x", n_rivals=2, n_agree=2), RawValue("x", n_rivals=2)
    >>> confidence_in([agreed], is_multi=False) > confidence_in([disputed], is_multi=False)
    True
    """
    weights = weights or fitted_weights()
    log_odds = weights.log_odds(agreement_of(values), oddness, is_multi=is_multi)
    return 1 / (1 + exp(-log_odds - trust))


def confidence_in_record(confidences: Iterable[float]) -> float:
    """Return the probability that all values of a record are right; 0 for a record without values.

    >>> confidence_in_record([0.9, 0.5]), confidence_in_record([])
    (0.45, 0.0)
    """
    known = list(confidences)
    return round(prod(known), 3) if known else 0.0


def agreement_of(values: Sequence[RawValue]) -> float:
    """Return the mean share of losers that find a value's text, of those that find anything.

    >>> agreement_of([RawValue("x", n_rivals=4, n_agree=3), RawValue("y")])
    0.75
    """
    shares = [value.n_agree / value.n_rivals for value in values if value.n_rivals]
    return sum(shares) / len(shares) if shares else 1.0


def trust_after(n_right: int, n_wrong: int) -> float:
    """Return what judged values add to the log-odds: nothing where there are none.

    >>> trust_after(0, 0), trust_after(95, 5) < 0 < trust_after(100, 0)
    (0.0, True)
    """
    right = n_right + FITTED_VALUES * FITTED_SHARE
    wrong = n_wrong + FITTED_VALUES * (1 - FITTED_SHARE)
    return log(right / wrong) - log(FITTED_SHARE / (1 - FITTED_SHARE))
