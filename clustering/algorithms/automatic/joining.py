"""Join groups of pages, one pair at a time, in the order of the odds that one template made both.

Notation:   The log-odds of a pair are the model's; those of a decision are what the pair's are
            worth, as the likeliest of so many pairs. Above 0 two groups are rather one. A doubt is
            a decision that may be wrong; its weight is the number of page pairs that are expected
            to be misjudged by it: the chance of the other answer times the product of both sides.
Readings:   A person's answer holds whatever the model says. Two sides that are different never come
            into one group; two that are one are joined when nothing else is left to join, so that
            what the model is sure of comes first.
Cost:       Quadratic in the first groups, of which there are tens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.join_model import Likeliest
from clustering.algorithms.automatic.pair_features import GroupPairs
from clustering.algorithms.automatic.profiles import Matrix

STOP = 0.0

Groups = NDArray[np.intp]  # indices of first groups


class PairModel(Protocol):
    @property
    def likeliest(self) -> Likeliest: ...

    def log_odds(self, pairs: Matrix) -> Matrix: ...


class GroupAnswer(NamedTuple):
    """What a person says of two sets of first groups, neither empty, the larger groups first."""

    left: Sequence[int]
    right: Sequence[int]
    is_same: bool


class Decision(NamedTuple):
    """Two groups that were joined, or kept apart, and how sure that is."""

    left: Groups
    right: Groups
    log_odds: float  # that they are one
    is_joined: bool
    n_left: int  # pages
    n_right: int
    columns: NDArray[np.float32]  # what the model was asked with

    @property
    def probability(self) -> float:
        """How likely the two are one."""
        return float(1 / (1 + np.exp(-self.log_odds)))

    @property
    def certainty(self) -> float:
        """How likely the likelier of the two answers is."""
        return max(self.probability, 1 - self.probability)

    @property
    def weight(self) -> float:
        """How many page pairs are expected to be misjudged."""
        p = self.probability
        return (1 - p if self.is_joined else p) * self.n_left * self.n_right


class Joined(NamedTuple):
    group: Groups  # of each first group
    decisions: Sequence[Decision]  # those that no person made


def join_groups(
    pairs: GroupPairs, model: PairModel, answers: Sequence[GroupAnswer] = (), stop: float = STOP
) -> Joined:
    """Join the two groups of the highest log-odds until those of a decision are below `stop`."""
    k = len(pairs.sizes)
    group = np.arange(k)
    columns: dict[tuple[int, int], NDArray[np.float32]] = {}
    L = np.full((k, k), -np.inf, np.float32)

    def renew(a: int, others: Groups) -> None:
        if len(others) == 0:
            return
        rows = pairs.compare(a, others)
        L[a, others] = L[others, a] = model.log_odds(rows)
        for b, row in zip(others.tolist(), rows, strict=True):
            columns[min(a, b), max(a, b)] = row

    def worth(log_odds: np.float32) -> float:
        return model.likeliest.log_odds(float(log_odds), len(pairs.live))

    def decision(a: int, b: int, *, is_joined: bool) -> Decision:
        return Decision(
            np.flatnonzero(group == a),
            np.flatnonzero(group == b),
            worth(L[a, b]),
            is_joined,
            int(pairs.sizes[a]),
            int(pairs.sizes[b]),
            columns[min(a, b), max(a, b)],
        )

    for a in range(k - 1):
        renew(a, np.arange(a + 1, k))
    decisions = []
    while pairs.is_live.sum() > 1:
        free = np.where(_kept_apart(group, answers), -np.inf, L)
        a, b = sorted(map(int, np.unravel_index(int(free.argmax()), L.shape)))
        if worth(free[a, b]) < stop:
            pair = _answered_pair(group, answers)
            if pair is None:
                break
            a, b = pair
        else:
            decisions.append(decision(a, b, is_joined=True))
        pairs.join(a, b)
        group[group == b] = a
        L[b, :] = L[:, b] = -np.inf
        renew(a, pairs.live[pairs.live != a])
    live = pairs.live.tolist()
    decisions += [
        decision(a, b, is_joined=False) for index, a in enumerate(live) for b in live[index + 1 :]
    ]
    return Joined(group, [each for each in decisions if not _is_answered(each, answers)])


def _is_answered(decision: Decision, answers: Sequence[GroupAnswer]) -> bool:
    """Return whether a person answered about the largest groups of both sides."""
    left, right = set(decision.left.tolist()), set(decision.right.tolist())
    for answer in answers:
        first, second = answer.left[0], answer.right[0]
        if (first in left and second in right) or (second in left and first in right):
            return True
    return False


def _kept_apart(group: Groups, answers: Sequence[GroupAnswer]) -> NDArray[np.bool_]:
    """Return which groups an answer keeps apart."""
    k = len(group)
    is_apart = np.zeros((k, k), np.bool_)
    for answer in answers:
        if not answer.is_same:
            left, right = group[list(answer.left)], group[list(answer.right)]
            is_apart[np.ix_(left, right)] = is_apart[np.ix_(right, left)] = True
    return is_apart


def _answered_pair(group: Groups, answers: Sequence[GroupAnswer]) -> tuple[int, int] | None:
    """Return two groups that an answer calls one, that are not joined yet and that may be."""
    is_apart = _kept_apart(group, answers)
    for answer in answers:
        if answer.is_same:
            a, b = sorted((int(group[answer.left[0]]), int(group[answer.right[0]])))
            if a != b and not is_apart[a, b]:
                return a, b
    return None
