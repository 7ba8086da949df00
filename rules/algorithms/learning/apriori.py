"""Learn the most precise and robust XPath of an attribute, as published.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.2, Algorithm 3 (Learn_XSLT_Rule).
Notation:   S -> `features`; C_k, L_{k+1} as printed; X(F) -> `LearntXPath`; prec, dist, sup as
            printed.
Readings:   The text's four ordered properties are the specification: recall 1, then precision,
            distance, support. As printed, imprecise and precise XPaths share min_dist, so that the
            result depends on the order; here each kind has its own best, and L_{k+1} is pruned
            with the precise one only. Precise is what selects no negative and at most one node of
            each unannotated page; the second half does not hold for attributes with several
            values.
Departures: One feature is kept for each set of nodes (the nearest), and a set that selects what
            one of its parts selects is dropped: neither changes the result. There are at most
            MAX_SETS sets of a size.
Cost:       An AND of integers for each set.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.search import SearchGoal
from rules.algorithms.rule.feature import Feature

MAX_SETS = 20_000


@dataclass(frozen=True, slots=True)
class LearntXPath:
    """An XPath with its numbers."""

    features: tuple[Feature, ...]
    bits: NodeSet
    precision: float
    distance: int
    support: float
    is_precise: bool

    @property
    def order(self) -> tuple[float, int, float]:
        """Lower is better: the text's properties 2 to 4."""
        return (-self.precision, self.distance, -self.support)


def learn_xpath(
    columns: Columns, goal: SearchGoal, features: Iterable[Feature]
) -> list[LearntXPath]:
    """Return the best XPaths of recall 1: the best precise one, then the most precise other."""
    singles = _distinct_features(columns, goal, features)
    C_k: dict[tuple[int, ...], NodeSet] = {
        (number,): bits for number, (_, bits) in enumerate(singles)
    }
    best_XPath: LearntXPath | None = None
    max_prec_XPath: LearntXPath | None = None
    while C_k:
        L_next: dict[tuple[int, ...], LearntXPath] = {}
        for F, bits in C_k.items():
            X = _learnt(tuple(singles[number][0] for number in F), bits, goal)
            if not X.is_precise:
                L_next[F] = X
                if max_prec_XPath is None or X.order < max_prec_XPath.order:
                    max_prec_XPath = X
            elif best_XPath is None or X.order < best_XPath.order:
                best_XPath = X
        if best_XPath is not None:
            L_next = {F: X for F, X in L_next.items() if not _is_inferior(X, best_XPath)}
        C_k = _grow(L_next, [bits for _, bits in singles])
    return [X for X in (best_XPath, max_prec_XPath) if X is not None]


def _distinct_features(
    columns: Columns, goal: SearchGoal, features: Iterable[Feature]
) -> list[tuple[Feature, NodeSet]]:
    """Return the features that select all positives, the nearest of each set of nodes."""
    nearest: dict[NodeSet, Feature] = {}
    for feature in features:
        bits = columns.select(goal.target, feature)
        if bits & goal.positives == goal.positives:
            known = nearest.get(bits)
            if known is None or feature.level < known.level:
                nearest[bits] = feature
    return [(feature, bits) for bits, feature in nearest.items()]


def _learnt(features: tuple[Feature, ...], bits: NodeSet, goal: SearchGoal) -> LearntXPath:
    n_right = (bits & goal.positives).bit_count()
    n_wrong = (bits & goal.negatives).bit_count()
    n_some, is_single = 0, True
    for page in goal.unannotated:
        selected = bits & page
        n_some += selected != 0
        is_single = is_single and not selected & (selected - 1)
    return LearntXPath(
        features=features,
        bits=bits,
        precision=n_right / (n_right + n_wrong),
        distance=max(feature.level for feature in features),
        support=n_some / max(1, len(goal.unannotated)),
        is_precise=n_wrong == 0 and (is_single or goal.is_multi),
    )


def _is_inferior(X: LearntXPath, best: LearntXPath) -> bool:
    return X.distance > best.distance or (X.distance == best.distance and X.support <= best.support)


def _grow(
    L: Mapping[tuple[int, ...], LearntXPath], bits_of: Sequence[NodeSet]
) -> dict[tuple[int, ...], NodeSet]:
    """Return the sets of one more feature all of whose parts are in L."""
    grown: dict[tuple[int, ...], NodeSet] = {}
    starts: dict[tuple[int, ...], list[int]] = {}
    for F in sorted(L):
        starts.setdefault(F[:-1], []).append(F[-1])
    for start, ends in starts.items():
        for first, second in combinations(ends, 2):
            F = (*start, first, second)
            parts = [L.get(part) for part in combinations(F, len(F) - 1)]
            bits = L[*start, first].bits & bits_of[second]
            if all(part is not None and part.bits != bits for part in parts):
                grown[F] = bits
                if len(grown) >= MAX_SETS:
                    return grown
    return grown
