"""Search the conjunctions that find all annotated values and nothing else, by price and support.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.2.
Notation:   P+ -> `positives`, P- -> `negatives`, sup(X) -> `Conjunction.support`.
Departures: A value is found where a node is selected that shows it (`same_value`). The rank is
            the price of the features minus WORTH_OF_SUPPORT times the share of
            unannotated pages with exactly one value, plus the share with several; for lists the
            share with at least one. Nodes there that stand in other tags than the positives, show
            another kind of text, or which another attribute's rule selects, cost more. A label
            that names the attribute, or that annotated pages share, is measured on the pages that
            have it. All pairs are tried, exactly; three and four features by a narrow beam, where
            pairs do not do.
Cost:       Pairs: one AND of the short integers of P- each; the few without a negative are counted
            on pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from rules.algorithms.learning.columns import Columns, union
from rules.algorithms.learning.feature_prices import ANCHORS, has_digit, is_bound_to_item, price_of
from rules.algorithms.learning.naming import is_one_label, names_attribute
from rules.algorithms.learning.node_index import NodeSet
from rules.algorithms.learning.same_value import ShownTexts, ValueGroup
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import Numbers

WORTH_OF_SUPPORT: Final = 4.0  # what unique nodes on all unannotated pages are worth
WORTH_OF_LISTS: Final = 1.0  # what several nodes on all of them are worth, for a list
# Where each page has the attribute, a page without a node is a miss and no absence: what all such
# pages would cost; beyond some share of them it is the pages that differ.
COST_OF_MISSES: Final = 12.0
MAX_MISSED_SHARE: Final = 0.25
# What it costs if all nodes on unannotated pages stand in other tags than the positives, show a
# text of another kind, or are selected by rules of other attributes.
COST_OF_OTHER_TAGS: Final = 2.0
COST_OF_ODD_TEXTS: Final = 4.0
COST_OF_CLAIMED_NODES: Final = 3.0
# What it costs if a rule selects doubles of all annotated nodes and none of them itself: the place
# that a person marked is more likely to last.
COST_OF_DOUBLES: Final = 0.5
# How much more support counts on the pages that have an anchor which names the attribute, or which
# annotated pages share.
TRUST_IN_NAMING_ANCHORS: Final = 4.0
TRUST_IN_SHARED_ANCHORS: Final = 1.0
NAMING_DISCOUNT: Final = 0.8  # of a feature whose value names the attribute
MIN_ANCHOR_SHARE: Final = 0.2  # of the unannotated pages, which must have an anchor's text
MAX_RESULTS: Final = 8  # that are surely the best
MAX_MEASURED: Final = 60  # with those that were measured on the way, among which are cheap voters
MAX_SINGLES: Final = 250
BEAM_WIDTH: Final = 30
MAX_FEATURES: Final = 4
GOOD_RANK: Final = 0.0  # no beam is needed where a candidate is at least so good


@dataclass(frozen=True, slots=True)
class SearchGoal:
    """What is looked for: all positives, no negatives, and the pages that give support."""

    target: str
    positives: NodeSet  # the annotated nodes
    negatives: NodeSet
    unannotated: tuple[NodeSet, ...]  # the nodes of each page
    is_multi: bool = False
    is_mandatory: bool = False
    n_annotated: int = 1  # pages with positives
    attribute: str = ""
    claimed: NodeSet = 0  # the nodes that rules of other attributes select
    same_tags: NodeSet = -1  # the nodes whose tag and parent's tag are those of a positive
    groups: tuple[ValueGroup, ...] = ()  # each positive with the nodes that show the same
    odd: NodeSet = 0  # the nodes whose text is not of the kind of the positives'
    texts: ShownTexts | None = None

    def is_right(self, bits: NodeSet) -> bool:
        """Return whether a rule that selects these nodes finds all values."""
        return all(group.is_hit(bits) for group in self.groups)

    @property
    def right(self) -> NodeSet:
        """The nodes that show a value."""
        return union(group.nodes for group in self.groups)

    def is_one(self, selected: NodeSet) -> bool:
        """Return whether the nodes that are selected on a page show one value."""
        if not selected & (selected - 1):
            return True
        return self.texts is not None and self.texts.is_one_text(selected)


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
    """Return precise conjunctions, the best first; none where there is no precise one.

    The first MAX_RESULTS are the best there are; behind them are others that were measured
    on the way.
    """
    singles = find_singles(columns, goal, features)
    best = _Best(goal)
    for single in singles:
        if not single.bits & goal.negatives:
            best.offer(single)
    imprecise_pairs = _try_pairs(singles, goal, best)
    if best.lowest_rank > GOOD_RANK:
        _try_beam(singles, imprecise_pairs, goal, best)
    return list(best.conjunctions)


def find_singles(
    columns: Columns, goal: SearchGoal, features: Iterable[Feature]
) -> list[Conjunction]:
    """Return the features that select all positives, one for each set of nodes: the cheapest."""
    cheapest: dict[NodeSet, Conjunction] = {}
    for feature in features:
        bits = columns.select(goal.target, feature)
        if not goal.is_right(bits):
            continue
        if not has_support(columns, goal, feature, bits):
            continue
        single = _single(goal, feature, bits)
        known = cheapest.get(bits)
        if known is None or single.price < known.price:
            cheapest[bits] = single
    return sorted(cheapest.values(), key=lambda single: single.price)[:MAX_SINGLES]


def has_support(columns: Columns, goal: SearchGoal, feature: Feature, bits: NodeSet) -> bool:
    """Return whether unannotated pages show an anchor's text, and each value of a disjunction."""
    pages = goal.unannotated
    if not pages:
        return True
    if len(feature.values) > 1:
        for value in feature.values:
            of_value = columns.select(goal.target, replace(feature, values=(value,)))
            if not any(of_value & page for page in pages):
                return False
    if feature.kind not in ANCHORS:
        return True
    n_pages = sum(1 for page in pages if bits & page)
    is_trusted = len(feature.values) == 1 and (
        goal.n_annotated > 1 or names_attribute(goal.attribute, feature.values[0])
    )
    return n_pages >= (1 if is_trusted else MIN_ANCHOR_SHARE * len(pages))


def _single(goal: SearchGoal, feature: Feature, bits: NodeSet) -> Conjunction:
    """Return a feature as a conjunction.

    It is cheaper if it names the attribute, and its own anchor if it is trusted as one.
    """
    price = price_of([feature], is_multi=goal.is_multi)
    if goal.is_multi and is_bound_to_item(feature):
        return Conjunction((feature,), bits, price)
    is_naming = any(names_attribute(goal.attribute, value) for value in feature.values)
    if is_naming:
        price -= NAMING_DISCOUNT
    trust = _trust_in(goal, feature, is_naming=is_naming)
    return Conjunction((feature,), bits, price, anchor=bits if trust else 0, trust=trust)


def _trust_in(goal: SearchGoal, feature: Feature, *, is_naming: bool) -> float:
    """Return how far a feature is trusted to be a label; 0 where it is no text."""
    # What several pages share may be a label; digits are of one page's content.
    has_digits = any(map(has_digit, feature.values))
    if feature.kind not in ANCHORS or not is_one_label(feature.values) or has_digits:
        return 0.0
    if is_naming:
        return TRUST_IN_NAMING_ANCHORS
    return TRUST_IN_SHARED_ANCHORS if goal.n_annotated > 1 else 0.0


def measure(candidate: Conjunction, goal: SearchGoal) -> Conjunction:
    """Return the candidate with its support and its rank; the lowest rank is the best."""
    pages = goal.unannotated
    n_some = n_one = n_good = n_nodes = n_other_tags = n_odd = n_claimed = n_without = 0
    for page in pages:
        selected = candidate.bits & page
        if selected:
            n_some += 1
            is_one = goal.is_one(selected)
            n_one += is_one
            n_good += is_one and not selected & goal.odd
            n_nodes += selected.bit_count()
            n_other_tags += (selected & ~goal.same_tags).bit_count()
            n_odd += (selected & goal.odd).bit_count()
            n_claimed += (selected & goal.claimed).bit_count()
        elif candidate.anchor and not candidate.anchor & page:
            n_without += 1
    n = max(1, len(pages))
    support, unique = n_some / n, n_one / n

    worth = support if goal.is_multi else n_good / n
    if n_without < n and not goal.is_mandatory:
        trust = candidate.trust
        worth = (worth + trust * worth * n / (n - n_without)) / (1 + trust)

    cost_of_several = support - unique
    if goal.is_multi:
        # Where each annotated page shows one value, the rule that finds more elsewhere finds the
        # list.
        is_one_each = len(goal.groups) == goal.n_annotated
        cost_of_several *= -WORTH_OF_LISTS * is_one_each

    is_named = candidate.trust == TRUST_IN_NAMING_ANCHORS  # its label says what it is
    cost_of_other_tags = 0.0 if is_named else COST_OF_OTHER_TAGS
    blame = (
        cost_of_other_tags * n_other_tags
        + COST_OF_ODD_TEXTS * n_odd
        + COST_OF_CLAIMED_NODES * n_claimed
    ) / max(1, n_nodes)
    if goal.is_mandatory:
        blame += COST_OF_MISSES * min(1 - worth, MAX_MISSED_SHARE)
    n_passed_over = (goal.positives & ~candidate.bits).bit_count()
    blame += COST_OF_DOUBLES * n_passed_over / max(1, goal.positives.bit_count())
    rank = candidate.price - WORTH_OF_SUPPORT * worth + cost_of_several + blame
    return replace(candidate, rank=rank, support=support, unique=unique)


def numbers_of_conjunction(conjunction: Conjunction, goal: SearchGoal) -> Numbers:
    n_right = (conjunction.bits & goal.right).bit_count()
    n_wrong = (conjunction.bits & goal.negatives).bit_count()
    return Numbers(
        precision=n_right / (n_right + n_wrong) if n_right else 0.0,
        distance=conjunction.distance,
        support=round(conjunction.support, 4),
        unique=round(conjunction.unique, 4),
        price=round(conjunction.price, 4),
        rank=round(conjunction.rank, 4),
        n_selected=n_right + n_wrong,
    )


class _Best:
    """The best conjunctions so far."""

    def __init__(self, goal: SearchGoal) -> None:
        self.goal = goal
        self.conjunctions: list[Conjunction] = []  # the best first
        self.known: set[NodeSet] = set()

    @property
    def max_price(self) -> float:
        """The price from which on no conjunction can be among the best."""
        if len(self.conjunctions) < MAX_RESULTS:
            return float("inf")
        return self.conjunctions[MAX_RESULTS - 1].rank + WORTH_OF_SUPPORT

    @property
    def lowest_rank(self) -> float:
        return self.conjunctions[0].rank if self.conjunctions else float("inf")

    def offer(self, conjunction: Conjunction) -> None:
        if conjunction.price >= self.max_price or conjunction.bits in self.known:
            return
        self.known.add(conjunction.bits)
        self.conjunctions.append(measure(conjunction, self.goal))
        self.conjunctions.sort(key=_order)
        del self.conjunctions[MAX_MEASURED:]


def _order(conjunction: Conjunction) -> tuple[float, int, int]:
    return (round(conjunction.rank, 9), len(conjunction.features), conjunction.distance)


def _try_pairs(singles: Sequence[Conjunction], goal: SearchGoal, best: _Best) -> list[Conjunction]:
    """Offer the precise pairs, and return the least imprecise of the others."""
    negatives = [single.bits & goal.negatives for single in singles]
    # The number of negatives, the price, the pair.
    imprecise: list[tuple[int, float, int, int]] = []
    for i, single in enumerate(singles):
        max_price = best.max_price
        if single.price * 2 >= max_price:
            break
        for j in range(i + 1, len(singles)):
            price = single.price + singles[j].price
            if price >= max_price:
                break
            common = negatives[i] & negatives[j]
            if not common:
                _offer_pair(single, singles[j], goal, best)
            elif common != negatives[i] and common != negatives[j]:
                imprecise.append((common.bit_count(), price, i, j))
    imprecise.sort()
    pairs = (_joined(singles[i], singles[j]) for _, _, i, j in imprecise)
    return list(islice((pair for pair in pairs if goal.is_right(pair.bits)), BEAM_WIDTH))


def _offer_pair(first: Conjunction, second: Conjunction, goal: SearchGoal, best: _Best) -> None:
    # Two features may each find a value, and both together no node.
    pair = _joined(first, second)
    if pair.bits not in {first.bits, second.bits} and goal.is_right(pair.bits):
        best.offer(pair)


def _joined(first: Conjunction, second: Conjunction) -> Conjunction:
    anchored = first if first.anchor else second
    return Conjunction(
        features=(*first.features, *second.features),
        bits=first.bits & second.bits,
        price=first.price + second.price,
        anchor=anchored.anchor,
        trust=anchored.trust,
    )


def _try_beam(
    singles: Sequence[Conjunction], beam: list[Conjunction], goal: SearchGoal, best: _Best
) -> None:
    """Offer precise sets of three and four features that grow from the least imprecise ones."""
    for _ in range(MAX_FEATURES - 2):
        grown: dict[NodeSet, Conjunction] = {}
        for conjunction in beam:
            for single in singles:
                joined = _joined(conjunction, single)
                if joined.bits in {conjunction.bits, single.bits}:
                    continue
                if not goal.is_right(joined.bits):
                    continue
                if not joined.bits & goal.negatives:
                    best.offer(joined)
                elif joined.bits not in grown or joined.price < grown[joined.bits].price:
                    grown[joined.bits] = joined
        beam = sorted(
            grown.values(),
            key=lambda joined: ((joined.bits & goal.negatives).bit_count(), joined.price),
        )[:BEAM_WIDTH]
