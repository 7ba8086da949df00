"""Prices of kinds of features from how often each kind outlived a change of its site.

After Dalvi, Bohannon and Sha (SIGMOD 2009): the cost of a test is the logarithm of the probability
that it still holds on a later version of the page.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import log
from statistics import fmean, pstdev
from typing import Final

from lxml.etree import _Element

from benchmarks.survival.histories import History
from rules.algorithms.learning import feature_prices
from rules.algorithms.learning.features import GENERATORS, Positive, chain_of
from rules.algorithms.learning.node_index import number_nodes
from rules.algorithms.rule.feature import Feature

SIBLING: Final = "sibling"
NAMING: Final = "naming attribute"
MAX_LEVEL: Final = 4  # of the features that are counted; labels go no farther
MAX_TARGETS: Final = 25  # of a page
MAX_SHARE_OF_PAGES: Final = 0.3  # that show a text: what more show is no value
MIN_COUNTED: Final = 50  # features of a kind; of rarer ones nothing is known
PRIOR: Final = 5.0  # features more, kept as often as all kinds are


@dataclass
class Kept:
    """How many features of each kind were there, and how many of them later."""

    there: Counter[str] = field(default_factory=Counter)
    kept: Counter[str] = field(default_factory=Counter)


def kind_of(feature: Feature) -> str:
    """Return what a feature's price goes by."""
    if feature.axis.endswith("sibling"):
        return SIBLING
    if feature.kind == "attribute" and feature.name in feature_prices.NAMING_ATTRIBUTES:
        return NAMING
    return feature.kind


def count_kept(history: History) -> Kept:
    """Count which features of values that stand on a page before and after are there on both."""
    counts = Kept()
    n_pages_by_text: Counter[str] = Counter()
    for tree in history.first.values():
        n_pages_by_text.update(set(_unique_texts(tree)))
    most = max(1.0, MAX_SHARE_OF_PAGES * len(history.first))
    for trees in history.later.values():
        for page, new in trees.items():
            old = history.first[page]
            old_texts, new_texts = _unique_texts(old), _unique_texts(new)
            values = [t for t in old_texts if t in new_texts and n_pages_by_text[t] <= most]
            step = max(1, len(values) // MAX_TARGETS)
            _compare(old, new, [(old_texts[t], new_texts[t]) for t in values[::step]], counts)
    return counts


def _unique_texts(tree: _Element) -> dict[str, int]:
    """Return the text nodes that show what no other one of the page shows, by their texts."""
    index = number_nodes([tree])
    n_by_text = Counter(node.shown for node in index.nodes if node.text is not None)
    return {
        node.shown: number
        for number, node in enumerate(index.nodes)
        if node.text is not None and n_by_text[node.shown] == 1
    }


def _compare(old: _Element, new: _Element, pairs: Iterable[tuple[int, int]], counts: Kept) -> None:
    before, after = number_nodes([old]), number_nodes([new])
    for old_node, new_node in pairs:
        chain = chain_of(before, Positive(old_node, 0))
        later = chain_of(after, Positive(new_node, 0))
        remaining = {feature for generate in GENERATORS for feature in generate(later)}
        for generate in GENERATORS:
            for feature in generate(chain):
                if feature.level <= MAX_LEVEL:
                    counts.there[kind_of(feature)] += 1
                    counts.kept[kind_of(feature)] += feature in remaining


def survival(histories: Iterable[Kept]) -> dict[str, float]:
    """Return the share of each kind's features that were kept, each history weighing the same."""
    shares: dict[str, list[float]] = defaultdict(list)
    n_there: Counter[str] = Counter()
    for counts in histories:
        if not counts.there:
            continue
        overall = counts.kept.total() / counts.there.total()
        n_there.update(counts.there)
        for kind, there in counts.there.items():
            shares[kind].append((counts.kept[kind] + PRIOR * overall) / (there + PRIOR))
    return {kind: fmean(of) for kind, of in shares.items() if n_there[kind] >= MIN_COUNTED}


def evidence_prices(histories: Iterable[Kept]) -> dict[str, float]:
    """Return prices with the mean and spread of those set by hand; unknown kinds keep theirs."""
    by_hand = hand_prices()
    costs = {kind: -log(share) for kind, share in survival(histories).items() if kind in by_hand}
    known = [by_hand[kind] for kind in costs]
    scale = pstdev(known) / (pstdev(costs.values()) or 1.0)
    middle = fmean(costs.values())
    return by_hand | {
        kind: max(0.1, fmean(known) + scale * (cost - middle)) for kind, cost in costs.items()
    }


def hand_prices() -> dict[str, float]:
    return {
        **feature_prices.PRICES,
        SIBLING: feature_prices.PRICE_OF_SIBLING,
        NAMING: feature_prices.PRICE_OF_NAMING_ATTRIBUTE,
    }


def mixed(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """Return the means of two tables of prices."""
    return {kind: (price + second[kind]) / 2 for kind, price in first.items()}


def table_rows(histories: Iterable[Kept]) -> Iterator[list[str]]:
    """Yield each kind with its share kept, its price by evidence and that set by hand."""
    counted = list(histories)
    remaining, priced, by_hand = survival(counted), evidence_prices(counted), hand_prices()
    for kind in sorted(remaining, key=lambda kind: -remaining[kind]):
        yield [kind, f"{remaining[kind]:.3f}", f"{priced[kind]:.2f}", f"{by_hand[kind]:.2f}"]
