"""Recognise a vertical's fields on the pages of a cluster, and again when a page is confirmed.

Notation:   A page is confirmed when a person has put all its fields right.
Readings:   The odds of a slot fall where it shows another value on that page, less where it shows
            nothing or too many: a slot may be one of several that make the field. Full slots are
            preferred then, since a slot of few pages may agree by chance.
Cost:       That of finding and describing the slots.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Final

import numpy as np
from lxml.etree import _Element

from annotation.algorithms.fields.drafting import FieldDraft, draft_fields
from annotation.algorithms.fields.matching import (
    KnownFields,
    MatchingWeights,
    Table,
    match_slots,
)
from annotation.algorithms.fields.slot_features import SlotDescription, describe_slots
from clustering.algorithms.slots.finding import DataSlot, SlotFinder

MAX_PAGES: Final = 24  # of a cluster; more tell hardly anything new
MAX_SLOTS: Final = 1_000
MIN_FILL: Final = 0.1  # of a slot that may be a field
# What the odds of a slot are worth where it shows on a confirmed page:
ODDS_OF_ANOTHER_VALUE: Final = 0.01  # or one where the page has none
ODDS_OF_TOO_FEW: Final = 0.05  # or too many, or nothing


@dataclass(frozen=True, slots=True)
class ConfirmedPage:
    """What a page shows, as a person says."""

    number: int  # among the pages of the cluster
    values: Mapping[str, Sequence[str]]  # by field; empty where the page has none


def recognise_fields(
    trees: Sequence[_Element],
    known: KnownFields,
    weights: MatchingWeights,
    confirmed: Sequence[ConfirmedPage] = (),
) -> list[FieldDraft]:
    """Return which slot of some pages is which field, in the fields' order."""
    slots = find_described_slots(trees)
    if not slots or not known.profiles:
        return []
    log_odds = weights.log_odds(match_slots(known, slots, weights.spreads))
    for page in confirmed:
        log_odds = log_odds + _worth_on(page, known, [slot.slot for slot in slots])
    return draft_fields(known, slots, log_odds, weights.certainty)


def find_described_slots(trees: Sequence[_Element]) -> list[SlotDescription]:
    """Return the slots of some pages as fields are compared with them."""
    finder = SlotFinder(trees)
    slots = finder.find(min_fill=MIN_FILL, with_constants=True, most=MAX_SLOTS)
    return describe_slots(finder, slots, trees)


def _worth_on(page: ConfirmedPage, known: KnownFields, slots: Sequence[DataSlot]) -> Table:
    """Return what a confirmed page adds to the log-odds of each field and slot."""
    added = np.zeros((len(known.fields), len(slots)))
    for index, field in enumerate(known.fields):
        if field not in page.values:
            continue
        wanted = _plain(page.values[field])
        for number, slot in enumerate(slots):
            shown = slot.values(page.number)
            if field not in known.multi:
                shown = shown[:1]
            added[index, number] = log(_odds(wanted, _plain(shown))) + 2 * log(slot.fill)
    return added


def _odds(wanted: frozenset[str], shown: frozenset[str]) -> float:
    if wanted == shown:
        return 1.0
    if wanted and (shown <= wanted or wanted < shown):
        return ODDS_OF_TOO_FEW
    return ODDS_OF_ANOTHER_VALUE


def _plain(texts: Sequence[str]) -> frozenset[str]:
    """Return texts without their blanks, which nobody sees alike."""
    return frozenset("".join(text.split()) for text in texts)
