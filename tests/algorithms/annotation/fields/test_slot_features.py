"""Descriptions of slots."""

from lxml import html

from annotation.algorithms.fields.recognising import find_described_slots
from annotation.algorithms.fields.slot_features import SlotDescription
from tests.algorithms.annotation.fields.pages import site_of_cells


def slot_labelled(label: str) -> SlotDescription:
    slots = find_described_slots(site_of_cells())
    return next(slot for slot in slots if slot.label == label)


def test_a_price_looks_like_one() -> None:
    price = slot_labelled("Price:")

    assert (price.numbers.price, price.numbers.phone, price.numbers.fill) == (1.0, 0.0, 1.0)
    assert price.bags["label words"]["price"] == 1.0


def test_the_heading_is_what_the_title_repeats() -> None:
    slots = find_described_slots(site_of_cells())
    headings = [slot for slot in slots if slot.numbers.in_main_heading == 1]

    assert [slot.numbers.begins_title for slot in headings] == [1.0] * len(headings)
    assert headings[0].numbers.after_heading == 0.0


def test_digits_are_folded_so_that_values_are_alike() -> None:
    assert set(slot_labelled("Stock:").bags["value words"]) == {"0", "pieces"}


def test_a_label_in_the_text_is_no_part_of_the_value() -> None:
    trees = [html.document_fromstring(f"<h1>{n}</h1><p>Phone: 555-01{n:02}") for n in range(6)]
    phones = [slot for slot in find_described_slots(trees) if slot.numbers.own_label]

    assert phones[0].label == "Phone"
    assert "phone" in phones[0].bags["label words"]
    assert "phone" not in phones[0].bags["value words"]


def test_words_of_classes_and_steps_are_known() -> None:
    trees = [html.document_fromstring(f"<div class=itemPrice><p><b>{n} EUR</b>") for n in range(6)]
    slot = find_described_slots(trees)[0]

    assert {"item", "price"} <= set(slot.bags["class words"])
    assert "b/p/div" in slot.bags["steps"]


def test_what_all_pages_show_is_constant() -> None:
    constants = [slot for slot in find_described_slots(site_of_cells()) if slot.slot.is_constant]

    assert {slot.numbers.is_constant for slot in constants} == {1.0}
    assert {"Home", "Help"} <= {slot.slot.values(0)[0] for slot in constants}
