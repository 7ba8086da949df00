"""Find wrong values that look right: the neighbour's price, the old price, a shifted field.

Notation:   A reading is what a rule gave on a page at a time. The baseline is readings of a time
            when all was well, a lagged one: were it yesterday's, a slow poisoning would become its
            own standard.
Readings:   Both tests of the paper compare constant values; a price that becomes another price
            passes them. Per attribute a model keeps how its values look (shapes, lengths, amounts),
            what stands before them, how often they change on a page, and which of two amounts is
            the greater one. Each is a witness: shape, range, words, changes, order, and three that
            compare a page with itself: `swapped` (the value is what another attribute was),
            `displaced` (the former one still stands there) and `factor` (nearly all amounts are
            the former ones times the same factor: a price that is now without tax).
Departures: A witness has to be both sure (a binomial tail below `MAX_CHANCE`) and large
            (`MIN_SHARE` of the pages). One witness is a warning, two are an alert, a swap or a
            broken order is one by itself.
Cost:       Linear in the readings; the range test sorts.
"""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, permutations
from typing import Any, Final, NamedTuple

from scipy.special import bdtrc

from monitoring.algorithms.known_values import Value, amount_of, plain, same_value
from rules.algorithms.running.value_looks import kind_of

MAX_CHANCE: Final = 1e-4  # of a witness that is none, per attribute and round
MIN_SHARE: Final = 0.4  # of the pages, that a witness has to see
MIN_PAGES: Final = 4  # for a witness
MAX_SHAPED_CHARS: Final = 40  # a longer value has no shape, only a length
MAX_RUNS: Final = 12  # of a shape
MIN_SHARE_OBEYING: Final = 0.98  # of the pages, on which one amount is not below another one
MIN_TELLING_CHARS: Final = 4  # of a value that a page does not show by chance
# Shares of the pages on which a witness is seen when all is well.
CHANGES_WITHOUT_HISTORY: Final = 0.2
EXPECTED_SWAPPED: Final = 0.02
EXPECTED_DISPLACED: Final = 0.05
# A change of meaning moves all amounts by one factor, a sale those of some pages.
MIN_SHARE_OF_FACTOR: Final = 0.7  # of the pages
FACTOR_TOLERANCE: Final = 0.01
MIN_FACTOR: Final = 0.06  # up or down; shops raise all prices by less
MAX_EXAMPLES: Final = 3
STRONG_WITNESSES: Final = frozenset({"swapped", "order"})
WITNESS_TEXTS: Final = {
    "shape": "look unlike those before",
    "range": "are amounts of another size",
    "words": "stand behind other words",
    "changes": "change far more often than they did",
    "factor": "are the former amounts times one factor",
    "order": "are on the wrong side of another amount",
    "swapped": "are what another attribute had",
    "displaced": "are others, while the former ones still stand on the page",
}
_RUN = re.compile(r"(.)\1*")


class Reading(NamedTuple):
    """What a rule gave on a page."""

    url: str
    record: Mapping[str, Value]
    words: Mapping[str, str] = {}  # per attribute, what stands before its value
    text: str = ""  # all that the page shows; blank: not known


class Pair(NamedTuple):
    """What a rule gave on a page at two times."""

    old: Reading
    new: Reading


@dataclass(frozen=True, slots=True)
class AttributeModel:
    """How the values of an attribute look when all is well."""

    value_type: str
    n: int
    shapes: Mapping[str, int]
    amounts: tuple[float, ...]
    words: Mapping[str, int]
    n_pairs: int  # pages of which two readings are known
    n_changed: int


class Order(NamedTuple):
    """How often one amount is not below another one."""

    n: int  # pages with both
    n_obeying: int


@dataclass(frozen=True, slots=True)
class ValueModels:
    """How the values of a cluster look when all is well."""

    attributes: Mapping[str, AttributeModel]
    orders: Mapping[tuple[str, str], Order]  # by names: (greater, smaller)


class Example(NamedTuple):
    """A page with a value that may be wrong."""

    url: str
    old: Value  # None: not known
    new: Value


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why the values of an attribute may be wrong."""

    attribute: str
    witnesses: Mapping[str, float]  # the share of the pages that each one sees
    n: int
    examples: tuple[Example, ...] = ()

    @property
    def is_alert(self) -> bool:
        return len(self.witnesses) > 1 or bool(STRONG_WITNESSES & set(self.witnesses))

    def __str__(self) -> str:
        seen = [
            f"{share:.0%} of {self.n} {WITNESS_TEXTS[name]}"
            for name, share in self.witnesses.items()
        ]
        return f"values of {self.attribute}: {'; '.join(seen)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "witnesses": {name: round(share, 3) for name, share in self.witnesses.items()},
            "n": self.n,
            "is_alert": self.is_alert,
            "examples": [
                {"url": example.url, "was": example.old, "now": example.new}
                for example in self.examples
            ],
        }


def learn_models(
    baseline: Sequence[Reading], types: Mapping[str, str], later: Iterable[Reading] = ()
) -> ValueModels:
    """Return the models of readings of a good time; `later` has good ones of the same pages."""
    pairs = _pairs(baseline, later)
    return ValueModels(
        attributes={
            name: _learn_attribute(name, value_type, baseline, pairs)
            for name, value_type in types.items()
        },
        orders=_learn_orders(baseline, types),
    )


def suspicions(
    models: ValueModels, new: Sequence[Reading], before: Iterable[Reading] = ()
) -> list[Suspicion]:
    """Return the attributes whose values are not to be trusted, each with its witnesses.

    `before` are earlier readings of the same pages; without them nothing is said of changes.
    """
    pairs = _pairs(before, new)
    broken_orders = _broken_orders(models, new)
    suspected = []
    for name, model in models.attributes.items():
        readings = _with_value(name, new)
        if len(readings) < MIN_PAGES:
            continue
        own_pairs = _pairs_with_value(name, pairs)
        witnesses = _look_witnesses(name, model, readings)
        witnesses |= _change_witnesses(name, model, own_pairs, models)
        if name in broken_orders:
            witnesses["order"] = broken_orders[name]
        if witnesses:
            examples = _examples(name, model, own_pairs, readings)
            suspected.append(Suspicion(name, witnesses, len(readings), examples))
    return suspected


def _pairs(old: Iterable[Reading], new: Iterable[Reading]) -> list[Pair]:
    """Return the readings of pages that are known from two times."""
    old_by_url = {reading.url: reading for reading in old}
    return [Pair(old_by_url[reading.url], reading) for reading in new if reading.url in old_by_url]


def _with_value(name: str, readings: Iterable[Reading]) -> list[Reading]:
    return [reading for reading in readings if reading.record.get(name) is not None]


def _pairs_with_value(name: str, pairs: Iterable[Pair]) -> list[Pair]:
    """Return the pairs in which both readings have a value."""
    return [
        pair
        for pair in pairs
        if pair.old.record.get(name) is not None and pair.new.record.get(name) is not None
    ]


def shape_of(value: Value) -> str:
    """Return how a value looks: runs of digits, capitals, letters, blanks; if long, its length.

    >>> shape_of("Our Price: $1,299.00")
    'Aa Aa: $9,9.9'
    """
    text = value if isinstance(value, str) else " ".join(value or ())
    if len(text) > MAX_SHAPED_CHARS:
        return f"text of 2^{int(math.log2(len(text)))}"
    kinds = "".join(kind_of(character) for character in text.strip())
    return "".join(run[1] for run in islice(_RUN.finditer(kinds), MAX_RUNS))


def _learn_attribute(
    name: str, value_type: str, baseline: Iterable[Reading], pairs: Iterable[Pair]
) -> AttributeModel:
    readings = _with_value(name, baseline)
    own_pairs = _pairs_with_value(name, pairs)
    return AttributeModel(
        value_type=value_type,
        n=len(readings),
        shapes=Counter(shape_of(reading.record[name]) for reading in readings),
        amounts=tuple(_amounts(name, value_type, readings)),
        words=Counter(plain(reading.words.get(name, "")) for reading in readings),
        n_pairs=len(own_pairs),
        n_changed=sum(_is_changed(name, value_type, pair) for pair in own_pairs),
    )


def _amounts(name: str, value_type: str, readings: Iterable[Reading]) -> list[float]:
    amounts = [_amount(value_type, reading.record.get(name)) for reading in readings]
    return [amount for amount in amounts if amount is not None]


def _amount(value_type: str, value: Value) -> float | None:
    return amount_of(value_type, value) if isinstance(value, str) else None


def _is_changed(name: str, value_type: str, pair: Pair) -> bool:
    return not same_value(value_type, pair.old.record[name], pair.new.record[name])


def _learn_orders(
    baseline: Sequence[Reading], types: Mapping[str, str]
) -> dict[tuple[str, str], Order]:
    """Return the pairs of amounts of which one is sometimes above, hardly ever below the other."""
    orders = {}
    for greater, smaller in permutations(types, 2):
        amounts = _both_amounts(greater, smaller, types, baseline)
        n_obeying = sum(first >= second for first, second in amounts)
        is_strict = any(first > second for first, second in amounts)
        if len(amounts) < MIN_PAGES or not is_strict:
            continue
        if n_obeying >= MIN_SHARE_OBEYING * len(amounts):
            orders[greater, smaller] = Order(len(amounts), n_obeying)
    return orders


def _both_amounts(
    first: str, second: str, types: Mapping[str, str], readings: Iterable[Reading]
) -> list[tuple[float, float]]:
    """Return the amounts of two attributes on the pages that have both."""
    amounts = []
    for reading in readings:
        first_amount = _amount(types[first], reading.record.get(first))
        second_amount = _amount(types[second], reading.record.get(second))
        if first_amount is not None and second_amount is not None:
            amounts.append((first_amount, second_amount))
    return amounts


def _broken_orders(models: ValueModels, new: Sequence[Reading]) -> dict[str, float]:
    """Return the attributes on the wrong side of another amount, with the share of such pages."""
    types = {name: model.value_type for name, model in models.attributes.items()}
    broken: dict[str, float] = {}
    for (greater, smaller), order in models.orders.items():
        amounts = _both_amounts(greater, smaller, types, new)
        n_broken = sum(first < second for first, second in amounts)
        expected = (order.n - order.n_obeying + 1) / (order.n + 2)
        if _is_witness(n_broken, len(amounts), expected):
            for name in (greater, smaller):
                broken[name] = max(broken.get(name, 0.0), n_broken / len(amounts))
    return broken


def _look_witnesses(
    name: str, model: AttributeModel, readings: Sequence[Reading]
) -> dict[str, float]:
    """Return the witnesses that look at the values by themselves."""
    witnesses = {}
    new_shapes = _novelty(model.shapes, [shape_of(reading.record[name]) for reading in readings])
    if new_shapes:
        witnesses["shape"] = new_shapes
    words = [plain(reading.words.get(name, "")) for reading in readings]
    if any(words) and any(model.words):
        new_words = _novelty(model.words, words)
        if new_words:
            witnesses["words"] = new_words
    amounts = _amounts(name, model.value_type, readings)
    if min(len(amounts), len(model.amounts)) >= 2 * MIN_PAGES:
        from scipy.stats import ks_2samp  # takes half a second, for which no other process waits

        distance, p = ks_2samp(amounts, model.amounts)
        if p < MAX_CHANCE and distance > MIN_SHARE:
            witnesses["range"] = float(distance)
    return witnesses


def _novelty(known: Mapping[str, int], seen: Sequence[str]) -> float:
    """Return the share of texts never seen before; 0 where so many were expected (Good-Turing)."""
    n_known = sum(known.values())
    if n_known < MIN_PAGES:
        return 0.0
    n_new = sum(text not in known for text in seen)
    expected = (sum(n == 1 for n in known.values()) + 1) / (n_known + 2)
    return n_new / len(seen) if _is_witness(n_new, len(seen), expected) else 0.0


def _change_witnesses(
    name: str, model: AttributeModel, pairs: Sequence[Pair], models: ValueModels
) -> dict[str, float]:
    """Return the witnesses that compare a page with itself."""
    n = len(pairs)
    if n < MIN_PAGES:
        return {}
    changed = [pair for pair in pairs if _is_changed(name, model.value_type, pair)]
    witnesses = {}
    expected = CHANGES_WITHOUT_HISTORY
    if model.n_pairs:
        expected = (model.n_changed + 1) / (model.n_pairs + 2)
    if _is_witness(len(changed), n, expected):
        witnesses["changes"] = len(changed) / n
    n_swapped = sum(_is_swapped(name, pair, models) for pair in changed)
    if _is_witness(n_swapped, n, EXPECTED_SWAPPED):
        witnesses["swapped"] = n_swapped / n
    n_displaced = sum(_is_displaced(name, pair) for pair in changed)
    if "changes" in witnesses and _is_witness(n_displaced, n, EXPECTED_DISPLACED):
        witnesses["displaced"] = n_displaced / n
    factor_share = share_of_one_factor(_amount_pairs(name, model.value_type, pairs))
    if factor_share >= MIN_SHARE_OF_FACTOR:
        witnesses["factor"] = factor_share
    return witnesses


def _amount_pairs(name: str, value_type: str, pairs: Iterable[Pair]) -> list[tuple[float, float]]:
    """Return the amounts of an attribute before and now, on the pages where both are above 0."""
    amounts = []
    for pair in pairs:
        old = _amount(value_type, pair.old.record[name])
        new = _amount(value_type, pair.new.record[name])
        if old and new and min(old, new) > 0:
            amounts.append((old, new))
    return amounts


def share_of_one_factor(amounts: Sequence[tuple[float, float]]) -> float:
    """Return on which share of the pages an amount is the former one times the same factor.

    It is the median factor of the amounts that changed; 0 where too few did, or by little.

    >>> share_of_one_factor([(119, 100), (59.5, 50), (23.8, 20), (11.9, 10), (8, 8)])
    0.8
    """
    factors = [math.log(new / old) for old, new in amounts]
    changed = [factor for factor in factors if abs(factor) > FACTOR_TOLERANCE]
    if len(changed) < MIN_PAGES:
        return 0.0
    middle = statistics.median(changed)
    if abs(middle) < MIN_FACTOR:
        return 0.0
    n_alike = sum(abs(factor - middle) <= FACTOR_TOLERANCE for factor in changed)
    return n_alike / len(amounts)


def _is_swapped(name: str, pair: Pair, models: ValueModels) -> bool:
    """Return whether a value is what another attribute of its type had on the page."""
    value_type = models.attributes[name].value_type
    value = pair.new.record[name]
    for other, model in models.attributes.items():
        old = pair.old.record.get(other)
        if other == name or old is None or model.value_type != value_type:
            continue
        if same_value(value_type, old, value):
            return True
    return False


def _is_displaced(name: str, pair: Pair) -> bool:
    """Return whether the page still shows the value that it had before."""
    old = pair.old.record[name]
    if not isinstance(old, str) or len(old) < MIN_TELLING_CHARS:
        return False
    return f" {old} " in f" {pair.new.text} "


def _is_witness(n_seen: int, n: int, expected: float) -> bool:
    """Return whether so many of n are both a large share and far more than chance gives."""
    is_large = n >= MIN_PAGES and n_seen >= MIN_SHARE * n
    return is_large and float(bdtrc(n_seen - 1, n, min(expected, 1.0))) < MAX_CHANCE


def _examples(
    name: str, model: AttributeModel, pairs: Iterable[Pair], readings: Sequence[Reading]
) -> tuple[Example, ...]:
    """Return some pages whose value changed; without any, some pages."""
    changed = [pair for pair in pairs if _is_changed(name, model.value_type, pair)]
    if changed:
        return tuple(
            Example(pair.new.url, pair.old.record[name], pair.new.record[name])
            for pair in changed[:MAX_EXAMPLES]
        )
    return tuple(
        Example(reading.url, None, reading.record[name]) for reading in readings[:MAX_EXAMPLES]
    )
