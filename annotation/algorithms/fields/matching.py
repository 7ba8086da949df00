"""Compare the slots of a new site with the fields of a vertical: features, and the trained weights.

Notation:   A matching feature belongs to a field and a slot. The score of a bag is the mean
            log-odds of the slot's tokens, on the field's slots against all slots; its likeness is
            the cosine of both, tokens weighed by their rarity.
Readings:   One logistic regression serves all fields of all verticals: its weights are learnt over
            verticals and ship with the product, the profile is learnt on the spot. So the first
            published site helps the second already. Of a slot's own numbers only those of
            behaviour and place are features: what its values look like counts beside the field's
            alone, or the weights would say that digits are no field where the verticals learnt
            from have none.
Cost:       Linear in the tokens of the slots times the examples of the fields.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import log
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from annotation.algorithms.fields.profiles import FieldExample, SiteProfile
from annotation.algorithms.fields.slot_features import (
    BAGS,
    N_VALUE_AND_BEHAVIOUR_NUMBERS,
    N_VALUE_NUMBERS,
    SlotDescription,
    SlotNumbers,
)

Table = NDArray[np.float64]

WEIGHTS: Final = files(__package__) / "weights" / "matching.json"
PRIOR_SHARE: Final = 0.02  # of slots that have a token which was never seen
NUMBER_GROUPS: Final = {
    "value": slice(0, N_VALUE_NUMBERS),
    "behaviour": slice(N_VALUE_NUMBERS, N_VALUE_AND_BEHAVIOUR_NUMBERS),
    "place": slice(N_VALUE_AND_BEHAVIOUR_NUMBERS, len(SlotNumbers._fields)),
}
MIN_SPREAD: Final = 0.05  # of a number between sites
MAX_DISTANCE: Final = 25.0  # squared, of a group of numbers
COMPARED: Final = tuple(
    [f"{bag}: {kind}" for bag in BAGS for kind in ("score", "likeness", "greatest likeness")]
    + [f"{group}: {kind}" for group in NUMBER_GROUPS for kind in ("distance", "least distance")]
)
RANKED: Final = tuple(
    name for name in COMPARED if name.endswith((": score", ": likeness", ": least distance"))
)
COLUMNS: Final = (
    *COMPARED,
    "name in label",
    "name in class",
    *(f"{name}, against the best slot" for name in RANKED),
    *(f"{name}, against the best field" for name in RANKED),
    *(f"slot: {name}" for name in SlotNumbers._fields[N_VALUE_NUMBERS:]),
    "sites",
    "several",
)


@dataclass(frozen=True, slots=True)
class MatchingWeights:
    """The trained model: a logistic regression over the matching features."""

    spreads: Table  # of each number of a slot between the sites of a field
    means: Table
    scales: Table
    weights: Table
    intercept: float
    # Certainty from the log-odds of the best slot and its margin over another value.
    certainty: tuple[float, float, float]

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> MatchingWeights:
        """Return the weights that `as_json` describes. Raises KeyError where a column lacks."""
        columns = document["columns"]
        return cls(
            np.array([document["spreads"][name] for name in SlotNumbers._fields]),
            np.array([columns[name][0] for name in COLUMNS]),
            np.array([columns[name][1] for name in COLUMNS]),
            np.array([columns[name][2] for name in COLUMNS]),
            document["intercept"],
            tuple(document["certainty"]),
        )

    def as_json(self) -> dict[str, Any]:
        """Return the weights as they are stored: of each column its mean, scale and weight."""
        rows = zip(COLUMNS, self.means, self.scales, self.weights, strict=True)
        return {
            "columns": {
                name: [round(float(number), 5) for number in numbers] for name, *numbers in rows
            },
            "spreads": {
                name: round(float(spread), 5)
                for name, spread in zip(SlotNumbers._fields, self.spreads, strict=True)
            },
            "intercept": round(self.intercept, 5),
            "certainty": [round(number, 4) for number in self.certainty],
        }

    def log_odds(self, features: Table) -> Table:
        """Return the log-odds that a slot is a field, for rows of matching features."""
        result: Table = (features - self.means) / self.scales @ self.weights + self.intercept
        return result


def shipped_weights() -> MatchingWeights:
    """Return the weights that come with the product."""
    return MatchingWeights.from_json(json.loads(WEIGHTS.read_text()))


@dataclass(frozen=True, slots=True)
class KnownFields:
    """The profiles of a vertical's sites, prepared to be compared with slots."""

    fields: Sequence[str]
    multi: frozenset[str]
    profiles: Sequence[SiteProfile]

    def examples(self, field: str) -> list[FieldExample]:
        return [example for profile in self.profiles for example in profile.examples.get(field, ())]


def match_slots(known: KnownFields, slots: Sequence[SlotDescription], spreads: Table) -> Table:
    """Return the matching features: fields by slots by COLUMNS."""
    return matching_features(known, slots, compare_words(known, slots), spreads)


def compare_words(known: KnownFields, slots: Sequence[SlotDescription]) -> Table:
    """Return per field and slot how alike all their bags are."""
    return np.concatenate([_compare_bags(known, slots, bag) for bag in BAGS], axis=2)


def matching_features(
    known: KnownFields, slots: Sequence[SlotDescription], words: Table, spreads: Table
) -> Table:
    """Return the matching features; `words` is what `compare_words` returned for them."""
    comparisons = np.zeros((len(known.fields), len(slots), len(COMPARED)))
    comparisons[:, :, : words.shape[2]] = words
    numbers = np.array([slot.numbers for slot in slots]).reshape(len(slots), -1)
    for index, field in enumerate(known.fields):
        comparisons[index, :, 3 * len(BAGS) :] = _distances(known, field, numbers, spreads)
    ranked = comparisons[:, :, [COMPARED.index(name) for name in RANKED]]
    signs = np.array([-1.0 if "distance" in name else 1.0 for name in RANKED])
    ranked = ranked * signs
    against_slots = ranked - ranked.max(axis=1, keepdims=True, initial=-1e9)
    against_fields = ranked - _best_of_others(ranked)
    shape = (len(known.fields), len(slots), 1)
    names = np.array(
        [[_name_features(field, slot) for slot in slots] for field in known.fields]
    ).reshape(*shape[:2], 2)
    own_numbers = numbers[:, N_VALUE_NUMBERS:]
    n_sites = [
        sum(bool(profile.examples.get(field)) for profile in known.profiles)
        for field in known.fields
    ]
    constant = np.array(
        [[n, float(field in known.multi)] for n, field in zip(n_sites, known.fields, strict=True)]
    ).reshape(-1, 1, 2)
    return np.concatenate(
        [
            comparisons,
            names,
            against_slots,
            against_fields,
            np.broadcast_to(own_numbers, (*shape[:2], own_numbers.shape[1])),
            np.broadcast_to(constant, (*shape[:2], 2)),
        ],
        axis=2,
    )


def _compare_bags(known: KnownFields, slots: Sequence[SlotDescription], bag: str) -> Table:
    """Return per field and slot the score of a bag, its mean and its greatest likeness."""
    n_slots = sum(profile.n_slots for profile in known.profiles)
    n_by_token: defaultdict[str, float] = defaultdict(float)
    for profile in known.profiles:
        for token, n in profile.n_slots_by_token[bag].items():
            n_by_token[token] += n
    examples = [known.examples(field) for field in known.fields]
    vectors = [example.bags[bag] for of_field in examples for example in of_field]
    field_of_vector = [n for n, of_field in enumerate(examples) for _ in of_field]
    n_vectors = np.bincount(field_of_vector, minlength=len(known.fields)).clip(1)

    def rarity(token: str) -> float:
        return log((n_slots + 1) / (n_by_token[token] + 1)) if n_slots else 1.0

    shares_by_token: dict[str, Table] = {}
    for number, vector in enumerate(vectors):
        for token, share in vector.items():
            if token not in shares_by_token:
                shares_by_token[token] = np.zeros(len(vectors))
            shares_by_token[token][number] = share
    lengths = np.sqrt(
        sum((shares * rarity(token)) ** 2 for token, shares in shares_by_token.items())
        + np.full(len(vectors), 1e-9)
    )
    to_field = np.zeros((len(vectors), len(known.fields)))
    to_field[np.arange(len(vectors)), field_of_vector] = 1.0
    to_mean = to_field / n_vectors
    odds_by_token = {
        token: np.log(
            (shares @ to_mean + PRIOR_SHARE) / (n_by_token[token] / max(1, n_slots) + PRIOR_SHARE)
        )
        for token, shares in shares_by_token.items()
    }
    result = np.zeros((len(known.fields), len(slots), 3))
    for number, slot in enumerate(slots):
        odds, products = np.zeros(len(known.fields)), np.zeros(len(vectors))
        total = squares = 0.0
        for token, share in slot.bags[bag].items():
            weight = rarity(token)
            total += share
            squares += (share * weight) ** 2
            shares = shares_by_token.get(token)
            if shares is None:
                odds += share * log(
                    PRIOR_SHARE / (n_by_token[token] / max(1, n_slots) + PRIOR_SHARE)
                )
            else:
                odds += share * odds_by_token[token]
                products += share * weight * weight * shares
        likeness = products / (lengths * (squares**0.5 or 1.0))
        result[:, number, 0] = odds / (total or 1.0)
        result[:, number, 1] = likeness @ to_mean
        result[:, number, 2] = (likeness[:, np.newaxis] * to_field).max(axis=0, initial=0.0)
    return result


def _distances(known: KnownFields, field: str, numbers: Table, spreads: Table) -> Table:
    """Return of each slot how far its numbers are from the mean and the nearest of a field."""
    examples = known.examples(field)
    result = np.full((len(numbers), 2 * len(NUMBER_GROUPS)), MAX_DISTANCE)
    if not examples or not len(numbers):
        return result
    centres = np.array([example.numbers for example in examples])
    to_each = ((numbers[:, np.newaxis] - centres) / spreads) ** 2
    to_mean = ((numbers - centres.mean(axis=0)) / spreads) ** 2
    for index, group in enumerate(NUMBER_GROUPS.values()):
        result[:, 2 * index] = to_mean[:, group].mean(axis=1)
        result[:, 2 * index + 1] = to_each[:, :, group].mean(axis=2).min(axis=1)
    return result.clip(max=MAX_DISTANCE)


def _best_of_others(ranked: Table) -> Table:
    """Return for each field the best that another field reaches at a slot."""
    if len(ranked) < 2:
        return ranked
    best = np.empty_like(ranked)
    for index in range(len(ranked)):
        best[index] = np.delete(ranked, index, axis=0).max(axis=0)
    return best


def _name_features(field: str, slot: SlotDescription) -> tuple[float, float]:
    """Return how much of a field's name stands in the labels and in the classes of a slot."""
    words = [word for word in field.casefold().replace("-", "_").split("_") if word]
    if not words:
        return 0.0, 0.0
    in_label = sum(slot.bags["label words"].get(word, 0.0) for word in words) / len(words)
    in_class = sum(slot.bags["class words"].get(word, 0.0) for word in words) / len(words)
    return in_label, in_class
