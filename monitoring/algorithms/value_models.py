"""Say which values are wrong though they look right: the neighbour's price, the old price, a shifted field.

Notation:   A reading is what a rule gave on a page at a time. The baseline is readings of a time when all was
            well, a lagged one: were it yesterday's, a slow poisoning would become its own standard.
Readings:   Both tests of the paper compare constant values; a price that becomes another price passes them.
            Per attribute a model keeps how its values look (shapes, lengths, amounts), what stands before
            them, how often they change on a page, and which of two amounts is the greater one. Each is a
            witness: shape, range, words, changes, order, and two that compare a page with itself: `swapped`
            (the value is what another attribute was) and `displaced` (the former one still stands there).
Departures: A witness has to be both sure (a binomial tail below `SURE`) and large (`LARGE` of the pages). One
            witness is a warning, two are an alert, a swap or a broken order is one by itself.
Cost:       Linear in the readings; the range test sorts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from typing import Any, Final, NamedTuple

from scipy.stats import binom, ks_2samp

from monitoring.algorithms.known_values import Value, amount_of, plain, same_value

SURE: Final = 1e-4  # of a witness that is none, per attribute and round
LARGE: Final = 0.4  # share of the pages that a witness has to see
FEWEST: Final = 4  # pages; fewer say nothing
LONG: Final = 40  # characters above which a value has no shape, only a length
N_RUNS: Final = 12  # of a shape
ORDERED: Final = 0.98  # share of the pages on which one amount is not below another one
STRONG: Final = frozenset({"swapped", "order"})
TOLD: Final = {
    "shape": "look unlike those before",
    "range": "are amounts of another size",
    "words": "stand behind other words",
    "changes": "change far more often than they did",
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


@dataclass(frozen=True, slots=True)
class AttributeModel:
    """How the values of an attribute look when all is well."""

    kind: str
    n: int
    shapes: Mapping[str, int]
    amounts: tuple[float, ...]
    words: Mapping[str, int]
    n_pairs: int  # pages of which two readings are known
    n_changed: int


@dataclass(frozen=True, slots=True)
class ValueModels:
    """How the values of a cluster look when all is well."""

    attributes: Mapping[str, AttributeModel]
    orders: Mapping[
        tuple[str, str], tuple[int, int]
    ]  # (greater, smaller): pages with both, that obey


@dataclass(frozen=True, slots=True)
class Suspicion:
    """Why the values of an attribute may be wrong."""

    attribute: str
    witnesses: Mapping[str, float]  # the share of the pages that each one sees
    n: int
    examples: tuple[tuple[str, Any, Any], ...] = field(
        default=()
    )  # address, value before, value now

    @property
    def is_alert(self) -> bool:
        return len(self.witnesses) > 1 or bool(STRONG & set(self.witnesses))

    def __str__(self) -> str:
        seen = [f"{share:.0%} of {self.n} {TOLD[name]}" for name, share in self.witnesses.items()]
        return f"values of {self.attribute}: {'; '.join(seen)}"

    def as_json(self) -> dict[str, Any]:
        return {
            "attribute": self.attribute,
            "witnesses": {name: round(share, 3) for name, share in self.witnesses.items()},
            "n": self.n,
            "is_alert": self.is_alert,
            "examples": [{"url": url, "was": was, "now": now} for url, was, now in self.examples],
        }


def learn_models(
    baseline: Sequence[Reading], kinds: Mapping[str, str], later: Iterable[Reading] = ()
) -> ValueModels:
    """Return the models of readings of a good time; `later` are good ones of the same pages, some time on."""
    before = {reading.url: reading for reading in baseline}
    pairs = [(before[reading.url], reading) for reading in later if reading.url in before]
    return ValueModels(
        attributes={
            name: _learn_attribute(name, kind, baseline, pairs) for name, kind in kinds.items()
        },
        orders=_learn_orders(baseline, kinds),
    )


def suspicions(
    models: ValueModels, now: Sequence[Reading], before: Iterable[Reading] = ()
) -> list[Suspicion]:
    """Return the attributes whose values are not to be trusted, each with its witnesses.

    `before` are earlier readings of the same pages; without them nothing is said of changes.
    """
    earlier = {reading.url: reading for reading in before}
    pairs = [(earlier[reading.url], reading) for reading in now if reading.url in earlier]
    orders = _broken_orders(models, now)
    found = []
    for name, model in models.attributes.items():
        readings = [reading for reading in now if reading.record.get(name) is not None]
        if len(readings) < FEWEST:
            continue
        both = [
            pair for pair in pairs if all(reading.record.get(name) is not None for reading in pair)
        ]
        witnesses = {
            **_look_witnesses(name, model, readings),
            **_change_witnesses(name, model, both, models),
            **({"order": orders[name]} if name in orders else {}),
        }
        if witnesses:
            found.append(
                Suspicion(name, witnesses, len(readings), _examples(name, model, both, readings))
            )
    return found


def shape_of(value: Value) -> str:
    """Return how a value looks: runs of digits, capitals, letters and blanks; of a long one its length.

    >>> shape_of("Our Price: $1,299.00")
    'Aa Aa: $9,9.9'
    """
    text = value if isinstance(value, str) else " ".join(value or ())
    if len(text) > LONG:
        return f"text of 2^{int(math.log2(len(text)))}"
    kinds = "".join(_kind_of(character) for character in text.strip())
    return "".join(found[1] for found in list(_RUN.finditer(kinds))[:N_RUNS])


def _kind_of(character: str) -> str:
    if character.isdigit():
        return "9"
    if character.isspace():
        return " "
    if character.isalpha():
        return "A" if character.isupper() else "a"
    return character


def _learn_attribute(
    name: str, kind: str, baseline: Sequence[Reading], pairs: Sequence[tuple[Reading, Reading]]
) -> AttributeModel:
    readings = [reading for reading in baseline if reading.record.get(name) is not None]
    both = [pair for pair in pairs if all(reading.record.get(name) is not None for reading in pair)]
    return AttributeModel(
        kind=kind,
        n=len(readings),
        shapes=Counter(shape_of(reading.record[name]) for reading in readings),
        amounts=tuple(_amounts(name, kind, readings)),
        words=Counter(plain(reading.words.get(name, "")) for reading in readings),
        n_pairs=len(both),
        n_changed=sum(_is_changed(name, kind, pair) for pair in both),
    )


def _amounts(name: str, kind: str, readings: Iterable[Reading]) -> list[float]:
    found = (_amount(kind, reading.record.get(name)) for reading in readings)
    return [amount for amount in found if amount is not None]


def _amount(kind: str, value: Value) -> float | None:
    return amount_of(kind, value) if isinstance(value, str) else None


def _is_changed(name: str, kind: str, pair: tuple[Reading, Reading]) -> bool:
    return not same_value(kind, pair[0].record[name], pair[1].record[name])


def _learn_orders(
    baseline: Sequence[Reading], kinds: Mapping[str, str]
) -> dict[tuple[str, str], tuple[int, int]]:
    """Return the pairs of amounts of which one is nearly nowhere below the other and somewhere above it."""
    orders = {}
    for greater, smaller in permutations(kinds, 2):
        both = _both_amounts(greater, smaller, kinds, baseline)
        n_obeying = sum(one >= other for one, other in both)
        is_strict = any(one > other for one, other in both)
        if len(both) >= FEWEST and is_strict and n_obeying >= ORDERED * len(both):
            orders[greater, smaller] = (len(both), n_obeying)
    return orders


def _both_amounts(
    one: str, other: str, kinds: Mapping[str, str], readings: Sequence[Reading]
) -> list[tuple[float, float]]:
    found = (
        (
            _amount(kinds[one], reading.record.get(one)),
            _amount(kinds[other], reading.record.get(other)),
        )
        for reading in readings
    )
    return [(first, second) for first, second in found if first is not None and second is not None]


def _broken_orders(models: ValueModels, now: Sequence[Reading]) -> dict[str, float]:
    """Return the attributes that are on the wrong side of another amount, with the share of the pages."""
    kinds = {name: model.kind for name, model in models.attributes.items()}
    broken: dict[str, float] = {}
    for (greater, smaller), (n, n_obeying) in models.orders.items():
        both = _both_amounts(greater, smaller, kinds, now)
        n_broken = sum(one < other for one, other in both)
        if _is_witness(n_broken, len(both), (n - n_obeying + 1) / (n + 2)):
            for name in (greater, smaller):
                broken[name] = max(broken.get(name, 0.0), n_broken / len(both))
    return broken


def _look_witnesses(
    name: str, model: AttributeModel, readings: Sequence[Reading]
) -> dict[str, float]:
    """Return the witnesses that look at the values by themselves."""
    witnesses = {}
    shapes = [shape_of(reading.record[name]) for reading in readings]
    if share := _novelty(model.shapes, shapes):
        witnesses["shape"] = share
    words = [plain(reading.words.get(name, "")) for reading in readings]
    if any(words) and any(model.words) and (share := _novelty(model.words, words)):
        witnesses["words"] = share
    amounts = _amounts(name, model.kind, readings)
    if min(len(amounts), len(model.amounts)) >= 2 * FEWEST:
        apart, p = ks_2samp(amounts, model.amounts)
        if p < SURE and apart > LARGE:
            witnesses["range"] = float(apart)
    return witnesses


def _novelty(known: Mapping[str, int], seen: Sequence[str]) -> float:
    """Return the share of what was never seen before; 0 where so much was to be expected (Good-Turing)."""
    n_known = sum(known.values())
    if n_known < FEWEST:
        return 0.0
    n_new = sum(one not in known for one in seen)
    expected = (sum(n == 1 for n in known.values()) + 1) / (n_known + 2)
    return n_new / len(seen) if _is_witness(n_new, len(seen), expected) else 0.0


def _change_witnesses(
    name: str, model: AttributeModel, pairs: Sequence[tuple[Reading, Reading]], models: ValueModels
) -> dict[str, float]:
    """Return the witnesses that compare a page with itself."""
    if len(pairs) < FEWEST:
        return {}
    changed = [pair for pair in pairs if _is_changed(name, model.kind, pair)]
    witnesses = {}
    expected = (model.n_changed + 1) / (model.n_pairs + 2) if model.n_pairs else 0.2
    if _is_witness(len(changed), len(pairs), expected):
        witnesses["changes"] = len(changed) / len(pairs)
    n_swapped = sum(_is_swapped(name, pair, models) for pair in changed)
    if _is_witness(n_swapped, len(pairs), 0.02):
        witnesses["swapped"] = n_swapped / len(pairs)
    n_displaced = sum(_is_displaced(name, pair) for pair in changed)
    if "changes" in witnesses and _is_witness(n_displaced, len(pairs), 0.05):
        witnesses["displaced"] = n_displaced / len(pairs)
    return witnesses


def _is_swapped(name: str, pair: tuple[Reading, Reading], models: ValueModels) -> bool:
    """Say whether a value is what another attribute of the page had, and has no more or has still."""
    kind, value = models.attributes[name].kind, pair[1].record[name]
    return any(
        same_value(kind, pair[0].record.get(other), value)
        for other, model in models.attributes.items()
        if other != name and pair[0].record.get(other) is not None and model.kind == kind
    )


def _is_displaced(name: str, pair: tuple[Reading, Reading]) -> bool:
    was = pair[0].record[name]
    return isinstance(was, str) and len(was) >= FEWEST and f" {was} " in f" {pair[1].text} "


def _is_witness(n_seen: int, n: int, expected: float) -> bool:
    """Say whether so many of n are both a large share and far more than chance gives."""
    is_large = n >= FEWEST and n_seen >= LARGE * n
    return is_large and float(binom.sf(n_seen - 1, n, min(expected, 1.0))) < SURE


def _examples(
    name: str,
    model: AttributeModel,
    pairs: Sequence[tuple[Reading, Reading]],
    readings: Sequence[Reading],
) -> tuple[tuple[str, Any, Any], ...]:
    changed = [pair for pair in pairs if _is_changed(name, model.kind, pair)]
    if changed:
        return tuple((now.url, was.record[name], now.record[name]) for was, now in changed[:3])
    return tuple((reading.url, None, reading.record[name]) for reading in readings[:3])
