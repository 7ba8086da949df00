"""Stored values that all changed since, and which texts of their pages the model takes for them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from benchmarks.wrong_values import StoredPages, SwdeSite
from clustering.algorithms.slots.finding import DataSlot
from clustering.values.numbers import find_number_span, read_number
from clustering.values.recognising import find_typed, is_whole
from monitoring.algorithms.change_signs import TextsByPage, are_amounts
from monitoring.algorithms.changed_values import (
    SlotCandidate,
    candidates_of,
    find_slots,
)
from monitoring.services.checks.tested_pages import read_tree

# What changes on a page in life; names, numbers of identity and addresses do not.
CHANGING: Final = frozenset(
    {
        "company",
        "cuisine",
        "date_posted",
        "engine",
        "fuel_economy",
        "genre",
        "height",
        "location",
        "manufacturer",
        "mpaa_rating",
        "price",
        "publication_date",
        "team",
        "type",
        "weight",
    }
)
DATES: Final = frozenset({"date_posted", "publication_date"})  # whose numbers are no values
MIN_VALUES: Final = 5
MAX_DISTINCT_SHARE: Final = 0.6  # of values of which a page may get another one
MIN_SHARE_WITH_NUMBER: Final = 0.8
N_NUMBERS: Final = 2  # of a text, that are sought for themselves


class Move(NamedTuple):
    """How amounts change."""

    name: str
    share: float  # up or down at most
    is_common: bool = False  # all by one factor


DRAWN: Final = Move("drawn again from the site's values", 0.0)
MOVES: Final = (
    Move("each by up to 5 %", 0.05),
    Move("each by up to 20 %", 0.2),
    Move("each by up to 50 %", 0.5),
    Move("all by one factor, up to 20 %", 0.2, is_common=True),
)


@dataclass(frozen=True)
class ChangedAttribute:
    """An attribute of a site whose values all changed, and where they may stand now."""

    site: str
    name: str
    is_number_of_text: bool
    move: Move
    candidates: Sequence[SlotCandidate]
    fits: Sequence[float]  # of each candidate: F1 over the pages


def changed_attributes(site: SwdeSite) -> Iterator[ChangedAttribute]:
    """Yield the attributes of a site that may change, changed in each way."""
    trees = [read_tree(page)[0] for page in site.fresh.values()]
    slots = find_slots([tree for tree in trees if tree is not None])
    for attribute in site.attributes:
        if attribute.name not in CHANGING:
            continue
        truth = _truth_of(site, attribute)
        for move in MOVES:
            own_move = _move_of(attribute, truth, move)
            if own_move == DRAWN:
                yield _changed(site, slots, attribute, truth, DRAWN)
                break
            if own_move is not None:
                yield _changed(site, slots, attribute, truth, own_move)
        if attribute.name not in DATES and not attribute.is_multi:
            yield from _numbers(site, slots, attribute, truth)


def changed_site(site: SwdeSite, move: Move) -> tuple[SwdeSite, StoredPages]:
    """Return a site whose values may change, and what is stored of its pages from before."""
    stored: StoredPages = {url: {} for url in site.fresh}
    attributes = []
    for attribute in site.attributes:
        truth = _truth_of(site, attribute)
        own_move = _move_of(attribute, truth, move)
        attributes.append(replace(attribute, is_constant=own_move is None))
        chance = random.Random(f"{site.name} {attribute.name} {move.name}")
        before = truth if own_move is None else stored_before(truth, own_move, chance)
        for number, url in enumerate(site.fresh):
            if number in before:
                texts: list[str | None] = list(before[number])
                stored[url][attribute.name] = texts if attribute.is_multi else before[number][0]
    return SwdeSite(site.name, site.fresh, site.truth, attributes), stored


def _move_of(attribute: AttributeType, truth: TextsByPage, move: Move) -> Move | None:
    """Return how an attribute's values change: amounts as given; None for values that do not."""
    texts = [text for values in truth.values() for text in values]
    if attribute.name not in CHANGING or len(truth) < MIN_VALUES:
        return None
    if attribute.name not in DATES and are_amounts(attribute, texts):
        return move
    return DRAWN if len(set(texts)) <= MAX_DISTINCT_SHARE * len(texts) else None


def _truth_of(site: SwdeSite, attribute: AttributeType) -> TextsByPage:
    """Return what the pages of a site show of an attribute, by their number."""
    return {
        number: values
        for number, url in enumerate(site.fresh)
        if (values := site.truth[url].get(attribute.name))
    }


def _numbers(
    site: SwdeSite, slots: Sequence[DataSlot], attribute: AttributeType, truth: TextsByPage
) -> Iterator[ChangedAttribute]:
    """Yield the first and the second number of an attribute's texts as attributes of their own."""
    kind = "price" if attribute.type == "price" else "number"
    of_number = AttributeType(attribute.name, kind)
    for index in range(N_NUMBERS):
        numbers = {}
        for page, texts in truth.items():
            spans = find_typed(kind, texts[0])
            if index < len(spans) and not is_whole(kind, texts[0]):
                start, end = spans[index]
                numbers[page] = [texts[0][start:end]]
        if len(numbers) >= MIN_SHARE_WITH_NUMBER * len(truth):
            for move in MOVES:
                yield _changed(site, slots, of_number, numbers, move, is_number_of_text=True)


def _changed(
    site: SwdeSite,
    slots: Sequence[DataSlot],
    attribute: AttributeType,
    truth: TextsByPage,
    move: Move,
    *,
    is_number_of_text: bool = False,
) -> ChangedAttribute:
    chance = random.Random(f"{site.name} {attribute.name} {is_number_of_text} {move.name}")
    stored = stored_before(truth, move, chance)
    candidates = candidates_of(slots, attribute, stored)
    fits = [fit_of(truth, candidate.texts) for candidate in candidates]
    return ChangedAttribute(
        site.name,
        attribute.name,
        is_number_of_text,
        move,
        candidates,
        fits,
    )


def stored_before(
    truth: TextsByPage, move: Move, chance: random.Random
) -> dict[int, Sequence[str]]:
    """Return what may have been stored of pages that show the truth now."""
    if move == DRAWN:
        pages = list(truth)
        return {page: truth[chance.choice(pages)] for page in pages}
    common = 1 + chance.uniform(-move.share, move.share)
    stored: dict[int, Sequence[str]] = {}
    for page, texts in truth.items():
        factor = common if move.is_common else 1 + chance.uniform(-move.share, move.share)
        stored[page] = [_with_factor(text, factor) for text in texts]
    return stored


def _with_factor(text: str, factor: float) -> str:
    """Return a text with another amount, written as the first number of the text is."""
    span = find_number_span(text)
    if span is None:
        return text
    start, end = span
    amount = read_number(text[start:end])
    if amount is None:
        return text
    n_decimals = max(0, -int(amount.as_tuple().exponent))
    thousands_mark = "," if "," in text[start:end] else ""
    number = f"{float(amount) * factor:{thousands_mark}.{n_decimals}f}"
    return text[:start] + number + text[end:]


def fit_of(truth: TextsByPage, shown: TextsByPage) -> float:
    """Return F1 over pages: right is one that shows exactly what it should."""
    n_right = sum(
        _compared(texts) == _compared(shown.get(page, ())) for page, texts in truth.items()
    )
    return 2 * n_right / (len(truth) + len(shown))


def _compared(texts: Sequence[str]) -> set[str]:
    return {"".join(text.split()) for text in texts}
