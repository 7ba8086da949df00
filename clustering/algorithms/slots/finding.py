"""Find the data slots of a cluster's pages, without a teacher.

Notation:   A data slot is a set of texts of the pages that stand alike: those with the same key.
            Eleven kinds of keys are asked side by side, and equal sets count once.
Readings:   No single kind of key finds all: a label is missing here, a row changes its order there.
            Slots overlap, so who shows them to a person folds them, and who looks for an attribute
            looks at all.
Cost:       Linear in the texts of the pages: eleven keys a text.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from lxml.etree import _Element

from clustering.algorithms.slots.page_texts import ReadText, TextPage, read_texts
from clustering.algorithms.slots.shared_markup import (
    SharedMarkup,
    first_labels_of_rows,
    learn_shared_markup,
)

MAX_SLOTS: Final = 1_000  # of a cluster
MIN_FILL: Final = 0.3  # the share of pages that show a slot
MAX_MEAN_TEXTS: Final = 25  # of a slot on a page
MAX_SHARE_OF_ONE_TEXT: Final = 0.95  # where one text is nearly all, nothing varies
MAX_ORDINAL_IN_LABEL: Final = 6
MAX_ORDINAL_ON_PAGE: Final = 12
N_LAST_STEPS: Final = 3
N_LAST_STEPS_WITH_LABEL: Final = 2
DECLARING: Final = ("itemprop", "property")
MAX_LEVELS_TO_DECLARATION: Final = 3
MAX_DECLARED_CHARS: Final = 60
MIN_SHARE_OF_NAME: Final = 0.5  # of a slot's texts, to be the slot's label or declared name
# A label at the beginning of the text itself: "Phone: 973-761-9332".
_OWN_LABEL: Final = re.compile(r"([^\W\d_][^:\uff1a]{0,28}?)\s*[:\uff1a]\s*\S")

MAX_WORDING_CHARS: Final = 40
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)*")
_PLURAL: Final = re.compile(r"(?<=[^\W\d_]{2})s\b")
_WORD: Final = re.compile(r"[^\W\d_]{2}")

Key: TypeAlias = tuple[Hashable, ...]
PageReader: TypeAlias = Callable[[_Element, int], TextPage]


@dataclass(frozen=True, slots=True)
class SlotText:
    """A text as slots see it: with its labels."""

    text: ReadText
    place: int
    label: str  # the nearest label before it on the page
    row_label: str  # the first label of its row
    number: int  # on its page
    label_number: int  # of that label; -1 for none


@dataclass(frozen=True, slots=True)
class DataSlot:
    """Texts that stand alike on the pages of a cluster."""

    texts: Mapping[int, tuple[SlotText, ...]]  # by the number of the page, those without left out
    n_pages: int  # looked at
    key: Key  # the first of those that give it
    place: str  # its last steps, readable
    label: str  # most of its texts have it; blank for none
    declared_name: str  # what the page's markup calls it: itemprop or property
    is_constant: bool = False  # all pages show the same

    @property
    def fill(self) -> float:
        """Return the share of the pages that show it."""
        return len(self.texts) / self.n_pages

    @property
    def is_multi(self) -> bool:
        """Return whether a page shows several."""
        return any(len(texts) > 1 for texts in self.texts.values())

    def values(self, page: int) -> list[str]:
        """Return what a page shows, in order."""
        return [slot_text.text.text for slot_text in self.texts.get(page, ())]


class SlotFinder:
    """What was learnt from pages of a cluster; it finds their slots and reads those on others."""

    def __init__(self, trees: Sequence[_Element], read: PageReader = read_texts) -> None:
        self._read_page = read  # or `read_images`
        self.pages = [read(tree, number) for number, tree in enumerate(trees)]
        self.markup = learn_shared_markup(self.pages)
        self.texts = [_slot_texts(page, self.markup) for page in self.pages]

    def find(
        self, *, min_fill: float = MIN_FILL, with_constants: bool = False, most: int = MAX_SLOTS
    ) -> list[DataSlot]:
        """Return the slots, the fullest first; those that do not vary only if asked for."""
        texts_by_key = self._texts_by_key()
        slots: dict[tuple[tuple[int, int], ...], DataSlot] = {}
        for key, texts in texts_by_key.items():
            if len({slot_text.text.page for slot_text in texts}) < min_fill * len(self.pages):
                continue
            slot = self._slot(key, texts)
            if slot is None or slot.fill < min_fill:
                continue
            if slot.is_constant and (not with_constants or slot.is_multi):
                continue
            slots.setdefault(_identity(slot), slot)
        return sorted(slots.values(), key=lambda slot: (slot.is_constant, -slot.fill))[:most]

    def read(self, tree: _Element, slots: Sequence[DataSlot]) -> list[tuple[SlotText, ...]]:
        """Return what another page of the cluster shows in each slot."""
        page = self._read_page(tree, 0)
        texts_by_key: defaultdict[Key, list[SlotText]] = defaultdict(list)
        for key, slot_text in _keys_of_page(page, _slot_texts(page, self.markup), self.markup):
            texts_by_key[key].append(slot_text)
        return [self._without_furniture(texts_by_key.get(slot.key, [])) for slot in slots]

    def _texts_by_key(self) -> dict[Key, list[SlotText]]:
        texts_by_key: defaultdict[Key, list[SlotText]] = defaultdict(list)
        for page, texts in zip(self.pages, self.texts, strict=True):
            for key, slot_text in _keys_of_page(page, texts, self.markup):
                texts_by_key[key].append(slot_text)
        return texts_by_key

    def _slot(self, key: Key, texts: Sequence[SlotText]) -> DataSlot | None:
        """Return the slot of all texts with one key.

        None where pages show very many of them, or only what nearly all pages show.
        """
        by_page: defaultdict[int, list[SlotText]] = defaultdict(list)
        for slot_text in texts:
            by_page[slot_text.text.page].append(slot_text)
        if len(texts) > MAX_MEAN_TEXTS * len(by_page):
            return None
        shown_by_page = {}
        for page, of_page in by_page.items():
            shown = self._without_furniture(of_page)
            if shown:
                shown_by_page[page] = shown
        if not shown_by_page:
            return None
        shown_texts = [slot_text for shown in shown_by_page.values() for slot_text in shown]
        n_by_text = Counter(slot_text.text.text for slot_text in shown_texts)
        n_commonest = max(n_by_text.values())
        return DataSlot(
            texts=shown_by_page,
            n_pages=len(self.pages),
            key=key,
            place=self._readable_place(shown_texts[0].place),
            label=_label_of(shown_texts),
            declared_name=_declared_name_of(shown_texts),
            is_constant=n_commonest > MAX_SHARE_OF_ONE_TEXT * len(shown_texts),
        )

    def _without_furniture(self, texts: Sequence[SlotText]) -> tuple[SlotText, ...]:
        """Leave out what nearly all pages show, where other texts stand beside it."""
        if len(texts) == 1:
            return tuple(texts)
        furniture = self.markup.furniture
        return tuple(text for text in texts if (text.place, text.text.text) not in furniture)

    def _readable_place(self, place: int) -> str:
        return "/".join(reversed(self.markup.places.steps(place, N_LAST_STEPS)))


def find_slots(trees: Sequence[_Element]) -> list[DataSlot]:
    """Return the data slots of the pages of a cluster, the fullest first; at most MAX_SLOTS."""
    return SlotFinder(trees).find()


def _slot_texts(page: TextPage, markup: SharedMarkup) -> list[SlotText]:
    """Return the texts of a page with their places and labels."""
    places = [place for place, _ in markup.place_numbers(page)]
    is_label = [(places[text.owner], text.text) in markup.labels for text in page.texts]
    label_by_row = first_labels_of_rows(page, is_label)
    slot_texts = []
    label, label_number = "", -1
    for number, text in enumerate(page.texts):
        row_label = _label_of_row(page, text, label_by_row)
        slot_texts.append(
            SlotText(text, places[text.owner], label, row_label, number, label_number)
        )
        if is_label[number]:
            label, label_number = text.text, number
    return slot_texts


def _label_of_row(page: TextPage, text: ReadText, label_by_row: Mapping[int, ReadText]) -> str:
    """Return the nearest row's first label; blank if no row has one, and for the label itself."""
    row = page.elements[text.owner].row
    while row >= 0:
        label = label_by_row.get(row)
        if label is not None:
            return "" if label is text else label.text
        parent = page.elements[row].parent
        row = page.elements[parent].row if parent >= 0 else -1
    return ""


def _keys_of_page(
    page: TextPage, texts: Sequence[SlotText], markup: SharedMarkup
) -> Iterator[tuple[Key, SlotText]]:
    """Yield each text of a page with each of its keys."""
    from_id_by_element = [from_id for _, from_id in markup.place_numbers(page)]
    n_at_place: Counter[int] = Counter()
    n_behind_label: Counter[tuple[int, int]] = Counter()  # by place and label
    for slot_text in texts:
        place, label, text = slot_text.place, slot_text.label, slot_text.text
        ordinal = n_behind_label[place, slot_text.label_number]
        n_behind_label[place, slot_text.label_number] += 1
        ordinal_on_page = n_at_place[place]
        n_at_place[place] += 1
        yield ("place and label", place, label), slot_text
        if ordinal < MAX_ORDINAL_IN_LABEL:
            yield ("place, label, ordinal", place, label, ordinal), slot_text
        if ordinal_on_page < MAX_ORDINAL_ON_PAGE:
            yield ("place, ordinal", place, ordinal_on_page), slot_text
        yield ("place, text of element", place, text.nth), slot_text
        yield ("last steps", *markup.places.steps(place, N_LAST_STEPS)), slot_text
        n_since_label = slot_text.number - slot_text.label_number - 1
        if label and n_since_label < MAX_ORDINAL_IN_LABEL:
            yield ("texts since label", label, n_since_label), slot_text
        if slot_text.row_label:
            yield ("label of row", slot_text.row_label), slot_text
        if label:
            last_steps = markup.places.steps(place, N_LAST_STEPS_WITH_LABEL)
            yield ("last steps and label", label, *last_steps), slot_text
        own_label = _OWN_LABEL.match(text.text)
        if own_label:
            yield ("label in text", own_label[1], *markup.places.steps(place, 1)), slot_text
        wording = _wording(text.text)
        if wording:
            yield ("words behind a number", wording), slot_text
        yield ("place from id", from_id_by_element[text.owner]), slot_text


def _wording(text: str) -> str:
    """Return the words behind the number that begins a short text, in the singular; else blank.

    >>> _wording("3 reviews"), _wording("4.5 out of 5"), _wording("250")
    ('# review', '# out of #', '')
    """
    if len(text) > MAX_WORDING_CHARS:
        return ""
    wording = _PLURAL.sub("", _NUMBER.sub("#", text))
    if not wording.startswith("#") or not _WORD.search(wording):
        return ""
    return wording


def _identity(slot: DataSlot) -> tuple[tuple[int, int], ...]:
    return tuple(
        (page, slot_text.number)
        for page, texts in sorted(slot.texts.items())
        for slot_text in texts
    )


def _label_of(texts: Sequence[SlotText]) -> str:
    """Return the label that most texts have: that of their rows, else that before them."""
    for labels in (
        [slot_text.row_label for slot_text in texts],
        [slot_text.label for slot_text in texts],
    ):
        label, n = Counter(labels).most_common(1)[0]
        if label and n >= MIN_SHARE_OF_NAME * len(texts):
            return label
    return ""


def _declared_name_of(texts: Sequence[SlotText]) -> str:
    names = [_declared_name(slot_text.text.element) for slot_text in texts]
    name, n = Counter(names).most_common(1)[0]
    return name if n >= MIN_SHARE_OF_NAME * len(texts) else ""


def _declared_name(element: _Element) -> str:
    """Return what the nearest elements around a text declare it to be."""
    current: _Element | None = element
    for _ in range(MAX_LEVELS_TO_DECLARATION):
        if current is None:
            return ""
        for attribute in DECLARING:
            name = current.get(attribute)
            if name:
                return name[:MAX_DECLARED_CHARS]
        current = current.getparent()
    return ""
