"""What values became that all changed, by how they look."""

from __future__ import annotations

import random

from lxml import html
from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.changed_values import (
    MIN_CERTAINTY,
    ChosenSlot,
    candidates_of,
    choose,
    find_slots,
    shipped_weights,
)

N = 20
CHANCE = random.Random(7)
PRICES = CHANCE.sample(range(40, 4_000), N)
NOW = [round(price * CHANCE.uniform(0.8, 1.2)) for price in PRICES]
PRICE = AttributeType("price", "price")
STORED = {number: [f"${price}"] for number, price in enumerate(PRICES)}


def trees(*lines: str) -> list[_Element]:
    """Return pages with these lines; `{now}` and the like stand for what a page shows."""
    chance = random.Random(1)
    pages = []
    for number, now in enumerate(NOW):
        shown = {"now": now, "other": chance.randrange(5, 90), "dearer": round(now * 1.01)}
        body = "".join(f"<p>{line.format(number=number, **shown)}</p>" for line in lines)
        pages.append(html.document_fromstring(f"<h1>Rope {number}</h1>{body}"))
    return pages


def chosen(
    pages: list[_Element], other_values: frozenset[tuple[int, str]] = frozenset()
) -> ChosenSlot:
    choice = choose(
        candidates_of(find_slots(pages), PRICE, STORED), shipped_weights(), other_values
    )
    assert choice is not None
    return choice


def test_the_amounts_that_keep_their_order_are_the_prices() -> None:
    choice = chosen(trees("<b>Fee</b> <i>${other}</i>", "<b>Cost</b> <u>${now}</u>"))

    assert {number: [f"${now}"] for number, now in enumerate(NOW)} == choice.candidate.texts
    assert choice.certainty >= MIN_CERTAINTY


def test_a_number_is_cut_out_of_a_longer_text() -> None:
    choice = chosen(trees("<b>Cost</b> <u>Today ${now} instead of ${other}</u>"))

    assert {number: [f"${now}"] for number, now in enumerate(NOW)} == choice.candidate.texts
    assert not any(value.is_whole for values in choice.candidate.shown.values() for value in values)


def test_of_two_amounts_that_nothing_tells_apart_none_is_certain() -> None:
    choice = chosen(trees("<b>Cost</b> <i>${now}</i>", "<b>Total</b> <u>${dearer}</u>"))

    assert choice.certainty < MIN_CERTAINTY


def test_what_another_attribute_has_is_no_candidate() -> None:
    pages = trees("<b>Fee</b> <i>${other}</i>", "<b>Cost</b> <u>${now}</u>")
    other_values = frozenset((number, f"${now}") for number, now in enumerate(NOW))

    assert not chosen(pages, other_values).candidate.plain_texts & other_values


def test_few_pages_say_nothing() -> None:
    slots = find_slots(trees("<b>Cost</b> <u>${now}</u>"))
    few = dict(list(STORED.items())[:4])

    assert [] == candidates_of(slots, PRICE, few)
    assert choose([], shipped_weights()) is None


def test_weights_are_read_as_they_were_written() -> None:
    weights = shipped_weights()

    assert weights.as_json() == type(weights).from_json(weights.as_json()).as_json()
