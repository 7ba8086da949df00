"""Whether an attribute has a slot."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.verticals.swde import SwdeSite, page_f1
from clustering.algorithms.slots.finding import DataSlot, find_slots


@dataclass(frozen=True)
class SlotFigures:
    """The slots of a site, and how well the best of them fits each attribute."""

    vertical: str
    site: str
    n_slots: int
    best_f1: dict[str, float]


def measure_slots(site: SwdeSite) -> SlotFigures:
    slots = find_slots(list(site.trees.values()))
    best = {a: max(slot_f1(slot, site, a) for slot in slots) for a in site.attributes}
    return SlotFigures(site.vertical, site.name, len(slots), best)


def slot_f1(slot: DataSlot, site: SwdeSite, attribute: str) -> float:
    """Return how well a slot fits an attribute; of a single value a page's first text counts."""
    is_multi = attribute in site.multi
    pages = [
        (number, truth[attribute])
        for number, truth in enumerate(site.truth.values())
        if attribute in truth
    ]
    values = [slot.values(number)[: None if is_multi else 1] for number, _ in pages]
    return page_f1([wanted for _, wanted in pages], values, is_multi=is_multi)
