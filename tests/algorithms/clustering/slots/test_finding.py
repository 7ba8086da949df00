"""Data slots of the pages of a cluster."""

from collections.abc import Sequence

from lxml import html
from lxml.etree import _Element

from clustering.algorithms.slots import finding
from clustering.algorithms.slots.finding import DataSlot, SlotFinder, find_slots

CITIES = ["Aachen", "Bonn", "Celle", "Dresden", "Essen", "Fulda"]


def trees_of(bodies: Sequence[str]) -> list[_Element]:
    return [html.document_fromstring(f"<body>{body}") for body in bodies]


def product(n: int) -> str:
    """Return a product: the second row is optional, prices have three places, sizes are many."""
    weight = f"<tr><th>Weight<td>{n * 3} kg" if n % 2 else ""
    sizes = "".join(f"<li>{n + size}</li>" for size in range(1 + n % 3))
    return (
        f"<h1 itemprop=name>Thing {CITIES[n]}</h1><table><tr><th>Price<td>{n * 11} EUR{weight}"
        f"<tr><th>Made in<td>{CITIES[n]}</table><h3>Sizes</h3><ul>{sizes}<li>Map "
        f"it</ul><p>Phone: 0{n}"
    )


PRODUCTS = trees_of([product(n) for n in range(6)])


def values_of(slot: DataSlot) -> list[list[str]]:
    return [slot.values(page) for page in range(slot.n_pages)]


def slot_with(slots: Sequence[DataSlot], values: Sequence[Sequence[str]]) -> DataSlot:
    """Return the slot with these values; fail where there is none."""
    return next(slot for slot in slots if values_of(slot) == values)


def test_each_attribute_has_a_slot_with_its_label() -> None:
    slots = find_slots(PRODUCTS)

    assert slot_with(slots, [[f"{n * 11} EUR"] for n in range(6)]).label == "Price"
    assert slot_with(slots, [[city] for city in CITIES]).label == "Made in"


def test_an_optional_row_does_not_shift_the_others() -> None:
    weights = slot_with(find_slots(PRODUCTS), [[], ["3 kg"], [], ["9 kg"], [], ["15 kg"]])

    assert (weights.label, weights.fill) == ("Weight", 0.5)


def test_a_list_is_one_slot_without_what_all_pages_show() -> None:
    sizes = slot_with(
        find_slots(PRODUCTS), [[str(n + size) for size in range(1 + n % 3)] for n in range(6)]
    )

    assert sizes.is_multi
    assert sizes.label == "Sizes"


def test_what_the_markup_declares_names_the_slot() -> None:
    names = slot_with(find_slots(PRODUCTS), [[f"Thing {city}"] for city in CITIES])

    assert names.declared_name == "name"


def test_what_stands_alike_on_all_pages_is_a_slot_only_where_asked_for() -> None:
    trees = trees_of([f"<h1>{city}</h1><b>Lions</b>" for city in CITIES])
    finder = SlotFinder(trees)

    constant = [["Lions"]] * 6
    assert constant not in map(values_of, finder.find())
    assert slot_with(finder.find(with_constants=True), constant).is_constant


def test_equal_sets_count_once() -> None:
    slots = find_slots(trees_of([f"<h1>{city}</h1>" for city in CITIES]))

    assert [values_of(slot) for slot in slots] == [[[city] for city in CITIES]]


def test_a_rare_slot_is_left_out() -> None:
    bodies = [f"<h1>{n}</h1>" + ("<h2>Sale</h2><i>now</i>" if n == 3 else "") for n in range(20)]

    slots = find_slots(trees_of(bodies))
    texts = {value for slot in slots for values in values_of(slot) for value in values}

    assert texts == {str(n) for n in range(20)}


def test_a_further_page_is_read() -> None:
    finder = SlotFinder(PRODUCTS[:5])
    slots = finder.find()
    prices = slot_with(slots, [[f"{n * 11} EUR"] for n in range(5)])

    texts = finder.read(PRODUCTS[5], slots)[slots.index(prices)]

    assert [slot_text.text.text for slot_text in texts] == ["55 EUR"]


def test_reading_a_page_again_gives_what_was_found() -> None:
    finder = SlotFinder(PRODUCTS)
    slots = finder.find()

    for number, tree in enumerate(PRODUCTS):
        read = [[text.text.text for text in texts] for texts in finder.read(tree, slots)]
        assert read == [slot.values(number) for slot in slots]


def test_pages_without_texts_have_no_slots() -> None:
    assert find_slots([]) == []
    assert find_slots(trees_of(["", ""])) == []


def test_more_slots_than_wanted_are_left_out() -> None:
    body = "".join(f"<div class=c{letter}>%d</div>" for letter in "abcdefghijklmnop")
    trees = trees_of([body.replace("%d", str(n)) for n in range(4)])

    assert len(SlotFinder(trees).find(most=5)) == 5


def test_a_label_in_the_text_joins_texts_wherever_they_stand() -> None:
    trees = trees_of(
        [f"<p>{'x<p>' * (n % 3)}{city}<p>Phone: 0{n}" for n, city in enumerate(CITIES)]
    )

    phones = slot_with(find_slots(trees), [[f"Phone: 0{n}"] for n in range(6)])

    assert phones.fill == 1


def test_slots_are_bounded_on_hostile_pages() -> None:
    deep = "<div class='a b c d e f g h i j'>" * 250 + "x"
    wide = "".join(f"<p class=c{n % 7} id=i{n}>Label {n % 50}: {n}" for n in range(9_000))

    slots = find_slots(trees_of([deep, wide, wide.replace("1", "2"), deep]))

    assert 0 < len(slots) <= finding.MAX_SLOTS


def test_words_behind_a_number_are_a_key_where_layouts_have_nothing_else_in_common() -> None:
    first = [f"<div><b>{n} days on market</b></div>" for n in range(2, 8)]
    other = [f"<p><i><u>{n} days on market</u></i></p>" for n in range(2, 6)]
    slots = find_slots([html.document_fromstring(body) for body in [*first, *other]])
    assert 1.0 == max(slot.fill for slot in slots)
