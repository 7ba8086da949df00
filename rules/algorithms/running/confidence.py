"""How sure values are: the probability that what a rule finds of an attribute on a page is right.

Notation:   The losers of a rule vote on each of its values. The agreement of a value is the share
            of those losers that find its text, of those that find anything; 1 where none finds
            anything. A single value is refuted where all losers that find anything find another
            text. The weakness of a rule is how far the rank at which it was learnt is above the
            usual one; 0 where it is not known, as of a rule by hand. The log-odds of an attribute
            are a bias, what the mean agreement of its values adds, and what takes away: that the
            value is refuted, that the attribute has several values, the weakness of the rule, and
            the oddness of the values: how unlike the usual values of the attribute they look, see
            `value_looks`. Judged values of the installation then move the odds from those that were
            fitted elsewhere, as far as there are enough of them. A record is right if each of its
            attributes is: the product of their probabilities.

The weights are fitted on whole sites that people labelled, by `python -m benchmarks.confidence`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from importlib.resources import files
from math import exp, log, prod
from typing import Final, NamedTuple

from rules.algorithms.running.records import RawValue

WEIGHTS_FILE = files(__package__) / "weights" / "confidence.json"
# How many judged values the fitted odds are worth, and how many of those were right.
FITTED_VALUES = 5.0
FITTED_SHARE = 0.99
# What most rules rank at, and between which ranks a difference says something.
USUAL_RANK: Final = -3.0
LEAST_RANK, MOST_RANK = -4.0, 1.0


class ValueSigns(NamedTuple):
    """What tells how sure values on a page are; by default nothing speaks against them."""

    agreement: float = 1.0
    is_refuted: bool = False
    is_multi: bool = False
    weakness: float = 0.0
    oddness: float = 0.0


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What adds up to the log-odds that an attribute's values are right."""

    bias: float
    agreement: float  # times the mean agreement
    refuted: float  # for a single value with which no loser agrees
    several: float  # for an attribute of several values
    weakness: float  # times that of the rule
    oddness: float  # times the mean oddness

    def log_odds(self, signs: ValueSigns) -> float:
        """Return the log-odds that the values of an attribute are right."""
        return (
            self.bias
            + self.agreement * signs.agreement
            + self.refuted * signs.is_refuted
            + self.several * signs.is_multi
            + self.weakness * signs.weakness
            + self.oddness * signs.oddness
        )

    def as_json(self) -> dict[str, float]:
        return asdict(self)


# Saves reading a file for each attribute of each page, 0.7 % of extracting (benchmarks.caches).
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
    rank: float | None = None,
) -> float:
    """Return the probability that an attribute's values are right.

    `trust` is added to the log-odds.

    >>> agreed, disputed = RawValue("x", n_rivals=2, n_agree=2), RawValue("x", n_rivals=2)
    >>> confidence_in([agreed], is_multi=False) > confidence_in([disputed], is_multi=False)
    True
    """
    log_odds = fitted_weights().log_odds(
        signs_of(values, is_multi=is_multi, oddness=oddness, rank=rank)
    )
    return 1 / (1 + exp(-log_odds - trust))


def signs_of(
    values: Sequence[RawValue], *, is_multi: bool, oddness: float, rank: float | None
) -> ValueSigns:
    """Return what the votes, the looks and the rule's rank say of the values of an attribute."""
    agreement = agreement_of(values)
    return ValueSigns(
        agreement=agreement,
        is_refuted=not is_multi and agreement == 0,
        is_multi=is_multi,
        weakness=0.0 if rank is None else weakness_of(rank),
        oddness=oddness,
    )


def weakness_of(rank: float) -> float:
    """Return how far a rule's rank is above the usual one; beyond the bounds it counts as they do.

    >>> weakness_of(-1.0), weakness_of(-9.0), weakness_of(7.0)
    (2.0, -1.0, 4.0)
    """
    return max(LEAST_RANK, min(MOST_RANK, rank)) - USUAL_RANK


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
