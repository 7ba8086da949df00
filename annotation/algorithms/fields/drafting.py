"""Decide jointly, once for each field, which slot of a new site is which field of its vertical.

Readings:   The best pair of field and slot is decided first. A slot that shares most of its texts
            with one that is another field already is unlikely then; of a slot that is a single
            value, only the first text of each page counts. For a field of several values the
            widest slot counts among those that hold the chosen one's texts and are nearly as
            likely. Two slots may both be likely and show different things ("$38,695 MSRP",
            "$39,485 with destination"), so certainty asks for a margin over the best slot that
            shows another value.
Cost:       Fields times slots for each decision.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Final, TypeAlias

import numpy as np

from annotation.algorithms.fields.matching import KnownFields, Table
from annotation.algorithms.fields.slot_features import SlotDescription, SlotNumbers
from clustering.algorithms.slots.finding import DataSlot

MIN_PROBABILITY: Final = 0.05  # of a slot that is drafted at all
MIN_CERTAINTY: Final = 0.9  # of what is called certain
# What remains of the probability where another field has the texts.
SHARE_OF_TAKEN_SLOT: Final = 0.2
MIN_SHARED_TEXTS: Final = 0.5  # of two slots that are taken for one
MIN_HELD_TEXTS: Final = 0.95  # of the chosen slot, in a wider one
MAX_LOSS_OF_WIDER: Final = 0.5  # in log-odds
MIN_SHARED_PAGES: Final = 0.5  # with a value in common, of two slots that show the same
MIN_CLIPPED: Final = 1e-4  # probabilities are bounded by it and by 1 minus it
MIN_SHARE_OF_TYPE: Final = 0.6  # of the values, to say that they look like one
MIN_TOKEN_SHARE: Final = 0.3  # of the known slots' labels or values

Texts: TypeAlias = frozenset[tuple[int, int]]  # of a slot: their pages and numbers

_LOOKS: Final = {
    "price": "a price",
    "date": "a date",
    "phone": "a phone number",
    "isbn": "an ISBN",
    "street": "a street",
    "height": "a height",
    "url": "a web address",
    "number_and_unit": "a number with its unit",
    "zip": "a postal code",
    "person": "a name",
    "year": "a year",
    "number": "a number",
}


@dataclass(frozen=True, slots=True)
class FieldDraft:
    """The slot that is taken for a field."""

    field: str
    description: SlotDescription
    probability: float
    certainty: float
    why: str  # "its label is “MSRP” and it looks like a price"

    @property
    def slot(self) -> DataSlot:
        return self.description.slot

    @property
    def is_certain(self) -> bool:
        return self.certainty >= MIN_CERTAINTY


@dataclass(frozen=True, slots=True)
class SlotChoice:
    """A decision before its certainty is known: indexes of field and slot, and the two log-odds."""

    field: int
    slot: int
    log_odds: float
    margin: float


def draft_fields(
    known: KnownFields,
    slots: Sequence[SlotDescription],
    log_odds: Table,
    calibration: tuple[float, float, float],
) -> list[FieldDraft]:
    """Return the slots taken for the fields, in the fields' order; none for what is not found.

    `log_odds` says of each field and slot how likely they belong together.
    """
    drafts = []
    for choice in choose_slots(log_odds, known, [description.slot for description in slots]):
        field, description = known.fields[choice.field], slots[choice.slot]
        drafts.append(
            FieldDraft(
                field,
                description,
                _sigmoid(choice.log_odds),
                certainty_of(choice, calibration),
                why(known, field, description),
            )
        )
    return drafts


def certainty_of(choice: SlotChoice, calibration: tuple[float, float, float]) -> float:
    """Return how sure a decision is: a logistic on its log-odds and on its margin."""
    constant, of_log_odds, of_margin = calibration
    return _sigmoid(constant + of_log_odds * choice.log_odds + of_margin * choice.margin)


def choose_slots(
    log_odds: Table, known: KnownFields, slots: Sequence[DataSlot]
) -> list[SlotChoice]:
    """Return which slot is which field, the fields in their order."""
    probabilities = 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
    remaining = probabilities.copy()
    all_texts = [_texts_of(slot) for slot in slots]
    first_texts = [_first_texts_of(slot) for slot in slots]
    texts_by_field = [all_texts if field in known.multi else first_texts for field in known.fields]
    choices: list[SlotChoice] = []
    open_fields = set(range(len(known.fields)))
    while open_fields:
        field, best_slot = divmod(int(remaining.argmax()), len(slots))
        if remaining[field, best_slot] < MIN_PROBABILITY:
            break
        open_fields.discard(field)
        if known.fields[field] in known.multi:
            best_slot = _widest(best_slot, log_odds[field], all_texts)
        margin = _margin(best_slot, log_odds[field], slots)
        choices.append(SlotChoice(field, best_slot, _clipped(log_odds[field, best_slot]), margin))
        remaining[field] = 0.0
        chosen_texts = texts_by_field[field][best_slot]
        for other in open_fields:
            for slot, texts in enumerate(texts_by_field[other]):
                if _is_shared(texts, chosen_texts):
                    remaining[other, slot] *= SHARE_OF_TAKEN_SLOT
    return sorted(choices, key=lambda choice: choice.field)


def _is_shared(texts: Texts, chosen_texts: Texts) -> bool:
    """Return whether two slots have most texts of the smaller one in common."""
    smaller = min(len(texts), len(chosen_texts))
    return len(texts & chosen_texts) > MIN_SHARED_TEXTS * smaller


def _texts_of(slot: DataSlot) -> Texts:
    return frozenset((page, text.number) for page, texts in slot.texts.items() for text in texts)


def _first_texts_of(slot: DataSlot) -> Texts:
    return frozenset((page, texts[0].number) for page, texts in slot.texts.items())


def _widest(best_slot: int, log_odds: Table, texts: Sequence[Texts]) -> int:
    """Return the slot with most texts that holds the chosen one's and is nearly as likely."""
    best = best_slot
    for index, own_texts in enumerate(texts):
        if log_odds[index] < log_odds[best_slot] - MAX_LOSS_OF_WIDER:
            continue
        if len(own_texts) <= len(texts[best]):
            continue
        if len(own_texts & texts[best_slot]) >= MIN_HELD_TEXTS * len(texts[best_slot]):
            best = index
    return best


def _margin(best_slot: int, log_odds: Table, slots: Sequence[DataSlot]) -> float:
    """Return the log-odds of a slot above those of the likeliest that shows something else."""
    order = np.argsort(-log_odds)
    own = _clipped(log_odds[best_slot])
    for index in order.tolist():
        if index != best_slot and not _shows_same(slots[best_slot], slots[index]):
            return own - _clipped(log_odds[index])
    return own - _clipped(-30.0)


def _shows_same(slot: DataSlot, other: DataSlot) -> bool:
    """Return whether two slots share a value on at least half of the pages that both have."""
    pages = slot.texts.keys() & other.texts.keys()
    if not pages:
        return False
    n_same = sum(not set(slot.values(page)).isdisjoint(other.values(page)) for page in pages)
    return n_same >= MIN_SHARED_PAGES * len(pages)


def _clipped(log_odds: float) -> float:
    bound = log((1 - MIN_CLIPPED) / MIN_CLIPPED)
    return float(min(bound, max(-bound, log_odds)))


def _sigmoid(log_odds: float) -> float:
    return 1 / (1 + exp(-max(-30.0, min(30.0, log_odds))))


def why(known: KnownFields, field: str, slot: SlotDescription) -> str:
    """Return why a slot is taken for a field, as people read it."""
    reasons = []
    if slot.label and _has_known_token(known, field, slot, "label words"):
        reasons.append(f"its label is “{slot.label}”")
    elif _has_known_token(known, field, slot, "class words"):
        reasons.append("its class or id is called as on other sites")
    look = _look(slot.numbers)
    if look:
        reasons.append(f"it looks like {look}")
    if slot.numbers.in_main_heading >= MIN_SHARE_OF_TYPE:
        reasons.append("it is the heading")
    elif slot.numbers.in_title >= MIN_SHARE_OF_TYPE:
        reasons.append("the title repeats it")
    if _has_known_token(known, field, slot, "values"):
        reasons.append("other sites show the same values")
    if not reasons:
        reasons.append("its values are like those of other sites")
    return " and ".join(reasons[:2])


def _has_known_token(known: KnownFields, field: str, slot: SlotDescription, bag: str) -> bool:
    """Return whether a token of the slot is frequent in the field's slots."""
    examples = known.examples(field)
    own: Mapping[str, float] = slot.bags[bag]
    return any(
        share >= MIN_TOKEN_SHARE and own.get(token, 0.0) >= MIN_TOKEN_SHARE
        for example in examples
        for token, share in example.bags[bag].items()
    )


def _look(numbers: SlotNumbers) -> str:
    shares = {name: getattr(numbers, name) for name in _LOOKS}
    name = max(shares, key=lambda key: shares[key])
    return _LOOKS[name] if shares[name] >= MIN_SHARE_OF_TYPE else ""
