"""Show a cluster's data slots as fields: overlapping ones folded, named, typed, in people's order.

Notation:   A field is a slot with a reading of its texts; the slots that mostly hold the same texts
            are folded into one that is shown.
Readings:   What most pages show comes first, and of two the one whose texts all have one label.
            Nothing is left out: what is folded follows after the fields, for one who looks for
            another reading. The paragraphs of a long text are one value. A number with the same
            words around it on all pages is a number, too: first of all where the words are no unit.
Cost:       Linear in the texts of the slots.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import islice
from statistics import fmean
from typing import Final, Literal, NamedTuple, TypeAlias

from lxml.etree import _Element

from clustering.algorithms.slots.finding import DataSlot, SlotFinder, SlotText
from clustering.algorithms.slots.nested_fields import entries_of, in_entries, leading_slots
from clustering.algorithms.slots.page_texts import IMAGE_TAG, read_images
from clustering.algorithms.tables.column_names import name_of, unique_names
from clustering.dom.visible import HEADINGS
from clustering.values.recognising import type_of_most

MOST_PAGES: Final = 60  # that fields are found on; more tell nothing new
FIRST_SHOWN: Final = 60  # fields of a cluster; the others are asked for
MAX_OVERLAP: Final = 0.7  # of the texts of two slots; above it one of them stands for both
WEIGHT_OF_LABEL: Final = 0.2  # beside the share of pages that show a slot
MIN_SHARE_WITH_SEVERAL: Final = 0.1  # of the pages that show a slot: fewer are odd pages
MIN_MEAN_CHARS_OF_PARAGRAPHS: Final = 60  # several shorter texts are rather a list
MIN_MEAN_CHARS_OF_SENTENCES: Final = 20  # still shorter ones surely are
MAX_WORDINGS_OF_NUMBER: Final = 3  # around a number: "1 comment", "2 comments"
MOST_EXAMPLES: Final = 5
MOST_TEXTS_TYPED: Final = 200
NAMING_LEVELS: Final = 3  # elements around a text whose classes may name it
LEVELS_OF_LIST: Final = 2  # elements around an entry whose classes may name its list
FALLBACK_OF_LIST: Final = "entries"  # where nothing names it
IDENTIFIER_CHARS: Final = 10

# How the texts of a slot on a page become values: each is one; all are one; their numbers are.
Reading: TypeAlias = Literal["texts", "joined", "number"]
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_LETTER: Final = re.compile(r"[^\W\d_]")
# A longer word behind a number is what is counted ("3 reviews"); a shorter one a unit, which
# belongs to the value.
_COUNTED_NOUN: Final = re.compile(r"^#\s.*[^\W\d_]{5}")


class FieldFinders(NamedTuple):
    """What finds the texts and what finds the images of a cluster's pages."""

    texts: SlotFinder
    images: SlotFinder


@dataclass(frozen=True, slots=True)
class FoundField:
    """A data slot as people see it."""

    slot: DataSlot
    identifier: str  # the same as long as the pages are the same
    name: str  # unique in its cluster
    type: str  # of an attribute
    reading: Reading
    is_multi: bool
    examples: tuple[str, ...]
    folded_into: str = ""  # the identifier of the field that stands for it; blank where it is shown
    list_name: str = ""  # of the list within a page whose entries it is a field of; blank for none
    leader: DataSlot | None = None  # that leads this list: each entry has a text of it

    def values(self, texts: Sequence[str]) -> list[str]:
        """Return what of the slot's texts on a page are the field's values."""
        if not texts:
            return []
        if self.reading == "joined":
            return [" ".join(texts)]
        if self.reading == "number":
            numbers = [_NUMBER.search(text) for text in texts]
            texts = [number[0] for number in numbers if number is not None]
        return list(texts) if self.is_multi else list(texts[:1])

    def values_of_entries(
        self, texts: Sequence[SlotText], leading: Sequence[SlotText]
    ) -> list[str | None]:
        """Return the value of each entry of the field's list on a page, None where it has none.

        Where a text stands in no entry of its own, the values without gaps. `leading` are the texts
        of the field that leads the list.
        """
        placed = in_entries(texts, entries_of(leading))
        if placed is None:
            return list(self.values([text.text.text for text in texts]))
        values = [self.values([text.text.text]) if text is not None else [] for text in placed]
        return [of_entry[0] if of_entry else None for of_entry in values]

    @property
    def label(self) -> str:
        """Return what the pages call it; blank for none.

        An image has none: what stands before it is another image.
        """
        return "" if self.is_image else self.slot.label

    @property
    def is_image(self) -> bool:
        return self.type == "image"


def finders_of(trees: Sequence[_Element]) -> FieldFinders:
    """Learn from some pages of a cluster what finds their fields."""
    return FieldFinders(SlotFinder(trees), SlotFinder(trees, read_images))


def find_fields(finders: FieldFinders) -> list[FoundField]:
    """Return the fields of the pages, those shown first, each part in the order for people."""
    slots = [*finders.texts.find(), *finders.images.find()]
    ranked = sorted(slots, key=_rank, reverse=True)
    folded_into = _fold(ranked)
    identifiers = [_identifier(slot) for slot in ranked]
    shown: list[FoundField] = []
    folded: list[FoundField] = []
    for slot, over, identifier in zip(ranked, folded_into, identifiers, strict=True):
        first, *others = _readings(slot, identifier)
        if over is None:
            shown.append(first)
        else:
            folded.append(replace(first, folded_into=identifiers[over]))
        stands_for_it = identifier if over is None else identifiers[over]
        folded += [replace(field, folded_into=stands_for_it) for field in others]
    fields = [*shown, *folded]
    names = unique_names([field.name for field in fields], range(len(fields), 0, -1))
    return _in_lists([replace(field, name=name) for field, name in zip(fields, names, strict=True)])


def _in_lists(fields: Sequence[FoundField]) -> list[FoundField]:
    """Return the fields, those of a list within a page with its name and with what leads it.

    One that is folded may lead: it holds all names of a list where the one that is
    shown lacks some.
    """
    slot_by_id = {id(field.slot): field.slot for field in fields if field.is_multi}
    slots = list(slot_by_id.values())
    leader_of = leading_slots(slots)
    leaders = sorted(set(leader_of.values()))
    names = [_name_of_list(slots[leader]) for leader in leaders]
    unique = unique_names(names, range(len(names), 0, -1))
    name_by_leader = dict(zip(leaders, unique, strict=True))
    leader_by_id = {id(slots[member]): leader for member, leader in leader_of.items()}
    in_lists = []
    for field in fields:
        leader = leader_by_id.get(id(field.slot)) if field.is_multi else None
        if leader is None:
            in_lists.append(field)
        else:
            named = replace(field, list_name=name_by_leader[leader], leader=slots[leader])
            in_lists.append(named)
    return in_lists


def _name_of_list(slot: DataSlot) -> str:
    """Return a name for the list that a slot leads: by what holds its entries, else by these."""
    fullest_first = sorted(slot.texts.values(), key=len, reverse=True)
    entries = [entry for texts in fullest_first for entry in entries_of(texts)]
    holders = [*islice(entries[0].iterancestors(), LEVELS_OF_LIST), entries[0]]
    words = [word for holder in holders for word in _words_of(holder)]
    return name_of(words, "", [], FALLBACK_OF_LIST)


def _words_of(element: _Element) -> list[str]:
    """Return the classes and the id of an element."""
    return [*(element.get("class") or "").split(), *filter(None, [element.get("id")])]


def _rank(slot: DataSlot) -> float:
    """Return how early a slot is shown."""
    if _is_image(slot):
        return slot.fill
    return slot.fill + WEIGHT_OF_LABEL * _share_with_one_label(slot)


def _is_image(slot: DataSlot) -> bool:
    return next(iter(slot.texts.values()))[0].text.element.tag == IMAGE_TAG


def _share_with_one_label(slot: DataSlot) -> float:
    labels = Counter(slot_text.row_label or slot_text.label for _, slot_text in _texts_of(slot))
    return max(labels.values()) / labels.total()


def _fold(ranked: Sequence[DataSlot]) -> list[int | None]:
    """Return for each slot the number of the one that stands for it; None for those shown."""
    shown_by_text: defaultdict[_Element | tuple[_Element, int], list[int]] = defaultdict(list)
    n_texts: dict[int, int] = {}
    folded_into: list[int | None] = []
    for number, slot in enumerate(ranked):
        texts = [(text.text.element, text.text.nth) for _, text in _texts_of(slot)]
        n_shared = Counter(other for text in texts for other in shown_by_text[text])
        over = next(
            (
                other
                for other, n in n_shared.most_common()
                if n > MAX_OVERLAP * (len(texts) + n_texts[other] - n)
            ),
            None,
        )
        folded_into.append(over)
        if over is None:
            n_texts[number] = len(texts)
            for text in texts:
                shown_by_text[text].append(number)
    return folded_into


def _texts_of(slot: DataSlot) -> Iterator[tuple[int, SlotText]]:
    for page, shown in slot.texts.items():
        for slot_text in shown:
            yield page, slot_text


def _readings(slot: DataSlot, identifier: str) -> Iterator[FoundField]:
    """Yield a slot as a field in each way in which its texts can be read, the likeliest first."""
    texts = list(dict.fromkeys(slot_text.text.text for _, slot_text in _texts_of(slot)))
    n_several = sum(len(shown) > 1 for shown in slot.texts.values())
    is_multi = n_several >= MIN_SHARE_WITH_SEVERAL * len(slot.texts)
    is_image = _is_image(slot)
    field = FoundField(
        slot=slot,
        identifier=identifier,
        name=_name_of(slot, texts),
        type="image" if is_image else type_of_most(texts[:MOST_TEXTS_TYPED]) or "text",
        reading="texts",
        is_multi=is_multi,
        examples=tuple(islice(texts, MOST_EXAMPLES)),
    )
    if is_image:
        yield field
        return
    mean_chars = fmean(map(len, texts))
    if is_multi and mean_chars >= MIN_MEAN_CHARS_OF_SENTENCES:
        joined = _with_examples(replace(field, reading="joined", is_multi=False, type="text"))
        if mean_chars >= MIN_MEAN_CHARS_OF_PARAGRAPHS:
            yield joined
            yield replace(field, identifier=f"{identifier}-texts")
        else:
            yield field
            yield replace(joined, identifier=f"{identifier}-joined")
        return
    wordings = _wordings_of_numbers(texts)
    if not wordings:
        yield field
        return
    number = _with_examples(replace(field, reading="number", type="number"))
    if all(_COUNTED_NOUN.match(wording) for wording in wordings):
        yield number
        yield replace(field, identifier=f"{identifier}-texts")
    else:
        yield field
        yield replace(number, identifier=f"{identifier}-number")


def _with_examples(field: FoundField) -> FoundField:
    values = (value for page in field.slot.texts for value in field.values(field.slot.values(page)))
    return replace(field, examples=tuple(islice(dict.fromkeys(values), MOST_EXAMPLES)))


def _wordings_of_numbers(texts: Sequence[str]) -> set[str]:
    """Return the words around the number that all texts are; none where they are anything else."""
    wordings = {_NUMBER.sub("#", text, count=1) for text in texts}
    if len(wordings) > MAX_WORDINGS_OF_NUMBER or len(texts) <= len(wordings):
        return set()
    if all("#" in wording and _LETTER.search(wording) for wording in wordings):
        return wordings
    return set()


def _identifier(slot: DataSlot) -> str:
    """Return a name for the set of texts, which is the same for the same pages."""
    places = sorted((page, slot_text.number) for page, slot_text in _texts_of(slot))
    return sha256(repr((_is_image(slot), places)).encode()).hexdigest()[:IDENTIFIER_CHARS]


def _name_of(slot: DataSlot, texts: Sequence[str]) -> str:
    """Return a name: by what the page declares, by label, by class, else by the kind of text."""
    element: _Element | None = next(iter(slot.texts.values()))[0].text.element
    words: list[str] = []
    fallback = "text"
    for _ in range(NAMING_LEVELS):
        if element is None:
            break
        if element.tag in HEADINGS:
            fallback = "title"
        elif element.tag == IMAGE_TAG:
            fallback = "image"
        words += _words_of(element)
        element = element.getparent()
    label = slot.declared_name
    if not label and not _is_image(slot):
        label = slot.label
    return name_of(words, label, texts[:MOST_TEXTS_TYPED], fallback)
