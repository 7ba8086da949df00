"""Search the conjunctions that select all positives and no negative, by price and support.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.2.
Notation:   P+ -> `positives`, P- -> `negatives`, sup(X) -> `Conjunction.support`.
Departures: The rank is the price of the features minus GAIN times the share of unannotated pages with exactly
            one node, plus the share with several; for lists the share with at least one. Nodes there that
            stand in other tags than the positives, show another kind of text, or which another attribute's
            rule selects, cost more. A label that names the attribute, or that annotated pages share, is
            measured on the pages that have it. All pairs are tried, exactly; three and four features by a
            narrow beam, where pairs do not do.
Cost:       Pairs: one AND of the short integers of P- each; the few without a negative are counted on pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rules.algorithms.learning.columns import Columns
from rules.algorithms.learning.feature_prices import ANCHORS, has_digit, is_bound_to_item, price_of
from rules.algorithms.learning.naming import names_attribute
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Numbers

GAIN = 4.0  # what unique nodes on all unannotated pages are worth
# Where each page has the attribute, a page without a node is a miss and no absence: what all such pages would
# cost; beyond some share of them it is the pages that differ.
MISSED = 12.0
MOST_MISSED = 0.25
STRANGER = (
    2.0  # what it costs if all nodes on unannotated pages stand in other tags than the positives
)
ODD = 4.0  # what it costs if all of them show a text of another kind than the positives
CLAIMED = 3.0  # what it costs if rules of other attributes select all of them
# How much more support counts on the pages that have an anchor which names the attribute, or which annotated
# pages share.
TRUST_IN_NAMES = 4.0
TRUST_IN_SHARED = 1.0
NAMED = 0.8  # what a feature is cheaper whose value names the attribute
LISTED = 1.0  # what several nodes on all unannotated pages are worth
N_KEPT = 8
MOST_SINGLES = 250
BEAM = 30
MOST_FEATURES = 4
GOOD_RANK = 0.0  # no beam is needed where a candidate is at least so good
ANCHOR_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class SearchGoal:
    """What is looked for: all of the positives, none of the negatives, and the pages that give support."""

    target: str
    positives: NodeSet
    negatives: NodeSet
    unannotated: tuple[NodeSet, ...]  # the nodes of each page
    is_multi: bool = False
    is_mandatory: bool = False
    n_annotated: int = 1  # pages with positives
    attribute: str = ""
    claimed: NodeSet = 0  # the nodes that rules of other attributes select
    same_tags: NodeSet = -1  # the nodes whose tag and parent's tag are those of a positive
    odd: NodeSet = 0  # the nodes whose text is not of the kind of the positives'


@dataclass(frozen=True, slots=True)
class Conjunction:
    """A conjunction with the nodes that it selects."""

    features: tuple[Feature, ...]
    bits: NodeSet
    price: float
    rank: float = 0.0
    support: float = 0.0
    unique: float = 0.0
    anchor: NodeSet = 0  # the nodes at a trusted anchor; pages without it say less about support
    trust: float = 0.0

    @property
    def distance(self) -> int:
        return max((feature.level for feature in self.features), default=0)


def search(columns: Columns, goal: SearchGoal, features: Iterable[Feature]) -> list[Conjunction]:
    """Return the best precise conjunctions, the best first; none where there is no precise one."""
    singles = find_singles(columns, goal, features)
    found = _Best(goal)
    for single in singles:
        if not single.bits & goal.negatives:
            found.offer(single)
    imprecise = _try_pairs(singles, goal, found)
    if found.worst_of_good() > GOOD_RANK:
        _try_beam(singles, imprecise, goal, found)
    return found.sorted()


def find_singles(
    columns: Columns, goal: SearchGoal, features: Iterable[Feature]
) -> list[Conjunction]:
    """Return the features that select all positives, one for each set of nodes: the cheapest."""
    cheapest: dict[NodeSet, Conjunction] = {}
    for feature in features:
        bits = columns.select(goal.target, feature)
        if bits & goal.positives != goal.positives:
            continue
        if not has_support(columns, goal, feature, bits):
            continue
        price = price_of([feature], is_multi=goal.is_multi)
        single = _anchored(goal, Conjunction((feature,), bits, price), feature)
        known = cheapest.get(bits)
        if known is None or single.price < known.price:
            cheapest[bits] = single
    return sorted(cheapest.values(), key=lambda single: single.price)[:MOST_SINGLES]


def has_support(columns: Columns, goal: SearchGoal, feature: Feature, bits: NodeSet) -> bool:
    """Say whether unannotated pages bear witness to an anchor's text, and to each value of a disjunction."""
    pages = goal.unannotated
    if not pages:
        return True
    if len(feature.values) > 1 and not all(
        any(columns.select(goal.target, replace(feature, values=(value,))) & page for page in pages)
        for value in feature.values
    ):
        return False
    if feature.kind not in ANCHORS:
        return True
    n_pages = sum(1 for page in pages if bits & page)
    is_trusted = len(feature.values) == 1 and (
        goal.n_annotated > 1 or names_attribute(goal.attribute, feature.values[0])
    )
    return n_pages >= (1 if is_trusted else ANCHOR_SHARE * len(pages))


def _anchored(goal: SearchGoal, single: Conjunction, feature: Feature) -> Conjunction:
    """Return the candidate with its anchor, where that is sure to be a label, and cheaper if it names."""
    if goal.is_multi and is_bound_to_item(feature):
        return single
    is_named = any(names_attribute(goal.attribute, value) for value in feature.values)
    trust = TRUST_IN_NAMES if is_named else TRUST_IN_SHARED if goal.n_annotated > 1 else 0.0
    # What several pages share may be a label; digits are of one page's content.
    if (
        feature.kind not in ANCHORS
        or len(feature.values) > 1
        or any(map(has_digit, feature.values))
    ):
        trust = 0.0
    anchor = single.bits if trust else 0
    return replace(single, price=single.price - NAMED * is_named, anchor=anchor, trust=trust)


def measure(candidate: Conjunction, goal: SearchGoal) -> Conjunction:
    """Return the candidate with its support and its rank; the lowest rank is the best."""
    pages = goal.unannotated
    n_some = n_one = n_good = n_nodes = n_strange = n_odd = n_claimed = n_without = 0
    for page in pages:
        selected = candidate.bits & page
        if selected:
            n_some += 1
            is_one = not selected & (selected - 1)
            n_one += is_one
            n_good += is_one and not selected & goal.odd
            n_nodes += selected.bit_count()
            n_strange += (selected & ~goal.same_tags).bit_count()
            n_odd += (selected & goal.odd).bit_count()
            n_claimed += (selected & goal.claimed).bit_count()
        elif candidate.anchor and not candidate.anchor & page:
            n_without += 1
    n = max(1, len(pages))
    support, unique = n_some / n, n_one / n
    gained = support if goal.is_multi else n_good / n
    if n_without < n and not goal.is_mandatory:
        trust = candidate.trust
        gained = (gained + trust * gained * n / (n - n_without)) / (1 + trust)
    several = support - unique
    if goal.is_multi:
        # Where each annotated page shows one value, the rule that finds more elsewhere finds the list.
        several *= -LISTED * (goal.positives.bit_count() == goal.n_annotated)
    stranger = 0.0 if candidate.trust == TRUST_IN_NAMES else STRANGER  # its label says what it is
    blame = (stranger * n_strange + ODD * n_odd + CLAIMED * n_claimed) / max(1, n_nodes)
    if goal.is_mandatory:
        blame += MISSED * min(1 - gained, MOST_MISSED)
    rank = candidate.price - GAIN * gained + several + blame
    return replace(candidate, rank=rank, support=support, unique=unique)


def numbers_of_candidate(candidate: Conjunction, goal: SearchGoal) -> Numbers:
    n_right = (candidate.bits & goal.positives).bit_count()
    n_wrong = (candidate.bits & goal.negatives).bit_count()
    return Numbers(
        precision=n_right / (n_right + n_wrong) if n_right else 0.0,
        distance=candidate.distance,
        support=round(candidate.support, 4),
        unique=round(candidate.unique, 4),
        price=round(candidate.price, 4),
        rank=round(candidate.rank, 4),
        n_selected=n_right + n_wrong,
    )


class _Best:
    """The best candidates so far."""

    def __init__(self, goal: SearchGoal) -> None:
        self.goal = goal
        self.kept: list[Conjunction] = []
        self.known: set[NodeSet] = set()

    def bound(self) -> float:
        """Return the price from which on no candidate can be among the best."""
        worst = self.kept[-1].rank if len(self.kept) == N_KEPT else float("inf")
        return worst + GAIN

    def worst_of_good(self) -> float:
        return self.kept[0].rank if self.kept else float("inf")

    def offer(self, candidate: Conjunction) -> None:
        if candidate.price >= self.bound() or candidate.bits in self.known:
            return
        measured = measure(candidate, self.goal)
        self.known.add(candidate.bits)
        self.kept.append(measured)
        self.kept.sort(key=_order)
        del self.kept[N_KEPT:]

    def sorted(self) -> list[Conjunction]:
        return list(self.kept)


def _order(candidate: Conjunction) -> tuple[float, int, int]:
    return (round(candidate.rank, 9), len(candidate.features), candidate.distance)


def _try_pairs(singles: Sequence[Conjunction], goal: SearchGoal, found: _Best) -> list[Conjunction]:
    """Offer the precise pairs, and return the best of the others."""
    lows = [single.bits & goal.negatives for single in singles]
    imprecise: list[tuple[int, float, int, int]] = []
    for i, one in enumerate(singles):
        bound = found.bound()
        if one.price * 2 >= bound:
            break
        for j in range(i + 1, len(singles)):
            price = one.price + singles[j].price
            if price >= bound:
                break
            left = lows[i] & lows[j]
            if not left:
                _offer_pair(one, singles[j], found)
            elif left != lows[i] and left != lows[j]:
                imprecise.append((left.bit_count(), price, i, j))
    imprecise.sort()
    return [_joined(singles[i], singles[j]) for _, _, i, j in imprecise[:BEAM]]


def _offer_pair(one: Conjunction, other: Conjunction, found: _Best) -> None:
    pair = _joined(one, other)
    if pair.bits not in {one.bits, other.bits}:
        found.offer(pair)


def _joined(one: Conjunction, other: Conjunction) -> Conjunction:
    features = (*one.features, *other.features)
    price, bits = one.price + other.price, one.bits & other.bits
    anchored = one if one.anchor else other
    return Conjunction(features, bits, price, anchor=anchored.anchor, trust=anchored.trust)


def _try_beam(
    singles: Sequence[Conjunction], beam: list[Conjunction], goal: SearchGoal, found: _Best
) -> None:
    """Offer precise sets of three and four features that grow from the least imprecise ones."""
    for _ in range(MOST_FEATURES - 2):
        grown: dict[NodeSet, Conjunction] = {}
        for candidate in beam:
            for single in singles:
                joined = _joined(candidate, single)
                if joined.bits in {candidate.bits, single.bits}:
                    continue
                if not joined.bits & goal.negatives:
                    found.offer(joined)
                elif joined.bits not in grown or joined.price < grown[joined.bits].price:
                    grown[joined.bits] = joined
        beam = sorted(
            grown.values(), key=lambda c: ((c.bits & goal.negatives).bit_count(), c.price)
        )[:BEAM]
