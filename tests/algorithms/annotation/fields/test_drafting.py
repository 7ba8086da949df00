"""Deciding which slot is which field."""

import numpy as np

from annotation.algorithms.fields.drafting import certainty_of, choose_slots, why
from annotation.algorithms.fields.matching import KnownFields
from annotation.algorithms.fields.recognising import find_described_slots
from tests.algorithms.annotation.fields.pages import (
    FIELDS,
    profile_of,
    site_of_cells,
    site_of_lists,
    truth,
)

KNOWN = KnownFields(FIELDS, frozenset(), [profile_of("cells", site_of_cells(), truth(0))])
SLOTS = find_described_slots(site_of_lists())
PLAIN = [slot.slot for slot in SLOTS]


def number_of(field: str) -> int:
    """Return the first slot that shows a field."""
    wanted = [page[field] for page in truth(20)]
    return next(
        number
        for number, slot in enumerate(PLAIN)
        if [slot.values(page) for page in range(8)] == wanted
    )


def texts_of(number: int) -> set[tuple[int, int]]:
    """Return the texts of a slot by page and number."""
    slot = PLAIN[number]
    return {(page, text.number) for page, texts in slot.texts.items() for text in texts}


def log_odds(**likely: dict[int, float]) -> np.ndarray:
    """Return log-odds of -9 but for the slots given by field."""
    table = np.full((len(FIELDS), len(PLAIN)), -9.0)
    for field, odds_by_slot in likely.items():
        for slot, odds in odds_by_slot.items():
            table[FIELDS.index(field), slot] = odds
    return table


def test_the_likeliest_slot_is_taken_and_an_unlikely_field_left_out() -> None:
    price, name = number_of("price"), number_of("name")
    choices = choose_slots(log_odds(price={price: 3.0, name: 1.0}), KNOWN, PLAIN)

    assert [(FIELDS[choice.field], choice.slot) for choice in choices] == [("price", price)]


def test_no_two_fields_get_one_slot_where_there_is_another() -> None:
    price, name = number_of("price"), number_of("name")
    table = log_odds(price={price: 3.0}, maker={price: 2.0, name: 1.5})

    choices = {FIELDS[choice.field]: choice.slot for choice in choose_slots(table, KNOWN, PLAIN)}
    assert choices == {"price": price, "maker": name}


def test_of_a_slot_that_is_a_single_value_only_the_first_texts_are_taken() -> None:
    price = number_of("price")
    own = texts_of(price)
    holds_price_later = next(
        number
        for number, slot in enumerate(PLAIN)
        if own < texts_of(number) and slot.values(0)[0] != PLAIN[price].values(0)[0]
    )
    table = log_odds(maker={holds_price_later: 3.0}, price={price: -2.0})

    choices = {FIELDS[choice.field]: choice.slot for choice in choose_slots(table, KNOWN, PLAIN)}
    assert choices == {"maker": holds_price_later, "price": price}


def test_certainty_asks_for_a_margin_over_another_value() -> None:
    price, name = number_of("price"), number_of("name")
    (alone,) = choose_slots(log_odds(price={price: 3.0}), KNOWN, PLAIN)
    (rivalled,) = choose_slots(log_odds(price={price: 3.0, name: 2.9}), KNOWN, PLAIN)

    calibration = (0.0, 0.2, 1.0)
    assert certainty_of(alone, calibration) > 0.9 > certainty_of(rivalled, calibration)


def test_a_slot_with_the_same_values_is_no_rival() -> None:
    price = number_of("price")
    same = [
        number
        for number, slot in enumerate(PLAIN)
        if number != price and slot.values(0) == PLAIN[price].values(0)
    ]
    table = log_odds(price={price: 3.0, **dict.fromkeys(same, 2.9)})

    (choice,) = choose_slots(table, KNOWN, PLAIN)
    assert choice.margin > 5


def test_a_field_of_several_values_takes_the_wider_slot() -> None:
    several = KnownFields(FIELDS, frozenset({"price"}), KNOWN.profiles)
    price = number_of("price")
    own = texts_of(price)
    wider = [number for number in range(len(PLAIN)) if own < texts_of(number)]
    table = log_odds(price={price: 3.0, **dict.fromkeys(wider, 2.8)})

    assert wider
    (narrow,) = choose_slots(table, KNOWN, PLAIN)
    (wide,) = choose_slots(table, several, PLAIN)
    assert narrow.slot == price
    assert len(texts_of(wide.slot)) == max(len(texts_of(number)) for number in wider)


def test_it_says_why() -> None:
    price = SLOTS[number_of("price")]

    assert why(KNOWN, "price", price) == "its label is “Our price” and it looks like a price"
    assert "it is the heading" in why(KNOWN, "name", SLOTS[number_of("name")])
