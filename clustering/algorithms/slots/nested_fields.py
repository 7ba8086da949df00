"""Tell which slots are of one list within a page: a product's offers, each with a name and price.

Notation:   The slot with most texts leads its list. An entry of the list is the largest element
            that holds one of these texts and no second.
Readings:   Another slot is of the list where nearly all its texts stand in entries, one in each at
            most: an offer may lack its price. A slot that repeats alone is a field of several
            values, and no list. Entries that are no elements, such as those of a table with an
            entry a column, are not seen.
Cost:       Slots that repeat, squared, times the texts of a few pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Final

from lxml.etree import _Element

from clustering.algorithms.slots.finding import DataSlot, SlotText

MAX_SLOTS: Final = 60  # of a cluster that are asked, those with most texts
MAX_PAGES: Final = 20  # of each slot
MIN_SHARE_IN_ENTRIES: Final = 0.95  # of the texts of a slot, to be of the list

NumberByEntry = Mapping[_Element, int]  # of a page, in the order of its texts


def leading_slots(slots: Sequence[DataSlot]) -> dict[int, int]:
    """Return for each slot that is of a list the number of the one that leads it.

    A slot that leads has its own number. Of the pages that show a slot, some show several texts of
    it.
    """
    n_texts = [sum(map(len, slot.texts.values())) for slot in slots]
    by_texts = sorted(range(len(slots)), key=lambda number: -n_texts[number])[:MAX_SLOTS]
    leader_of: dict[int, int] = {}
    for leader in by_texts:
        if leader in leader_of:
            continue
        entries_by_page = {page: entries_of(texts) for page, texts in slots[leader].texts.items()}
        members = [
            other
            for other in by_texts
            if other not in leader_of and _is_within(slots[other], entries_by_page)
        ]
        if any(_is_of_other_texts(slots[other], slots[leader]) for other in members):
            leader_of |= dict.fromkeys([leader, *members], leader)
    return leader_of


def entries_of(texts: Sequence[SlotText]) -> NumberByEntry:
    """Return the entries that texts of a page lead; none where an element directly holds two."""
    elements = [text.text.element for text in texts]
    n_held = Counter(holder for element in elements for holder in _with_ancestors(element))
    number_by_entry = {}
    for number, element in enumerate(elements):
        if n_held[element] > 1:
            return {}
        alone = [holder for holder in _with_ancestors(element) if n_held[holder] == 1]
        number_by_entry[alone[-1]] = number
    return number_by_entry


def in_entries(
    texts: Sequence[SlotText], number_by_entry: NumberByEntry
) -> list[SlotText | None] | None:
    """Return the text of each entry, None for a gap; None alone if a text has no own entry."""
    placed: list[SlotText | None] = [None] * len(number_by_entry)
    for text in texts:
        number = _entry_of(text, number_by_entry)
        if number is None or placed[number] is not None:
            return None
        placed[number] = text
    return placed


def _is_within(slot: DataSlot, entries_by_page: Mapping[int, NumberByEntry]) -> bool:
    """Return whether nearly all texts of a slot stand in entries, one in each at most."""
    texts_by_page = dict(islice(slot.texts.items(), MAX_PAGES))
    may_miss = (1 - MIN_SHARE_IN_ENTRIES) * sum(map(len, texts_by_page.values()))
    n_missed = 0
    for page, texts in texts_by_page.items():
        number_by_entry = entries_by_page.get(page, {})
        entries = {_entry_of(text, number_by_entry) for text in texts}
        n_missed += len(texts) - len(entries - {None})
        if n_missed > may_miss:
            return False
    return True


def _is_of_other_texts(slot: DataSlot, leader: DataSlot) -> bool:
    """Return whether most texts of a slot are not the leader's.

    Slots overlap: one field has several.
    """
    of_leader = {(page, text.number) for page, texts in leader.texts.items() for text in texts}
    own = {(page, text.number) for page, texts in slot.texts.items() for text in texts}
    return 2 * len(own & of_leader) < len(own)


def _entry_of(text: SlotText, number_by_entry: NumberByEntry) -> int | None:
    """Return the number of the entry in which a text stands."""
    for holder in _with_ancestors(text.text.element):
        if holder in number_by_entry:
            return number_by_entry[holder]
    return None


def _with_ancestors(element: _Element) -> list[_Element]:
    return [element, *element.iterancestors()]
