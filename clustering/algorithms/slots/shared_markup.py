"""Learn what the pages of a cluster share: the names of their elements, their labels, their texts.

Notation:   The place of a text is the way from the root to the element that holds it: tags with
            those ids and classes that many pages have. A label is a text at a place that names what
            follows.
Readings:   Ids and classes of single pages would break every path, so they are no part of a place.
            A text is counted with its place: what is popular appears in navigation on most pages
            and is no label for that. A text that stands where many different ones stand is a value.
Cost:       Linear in the texts and elements of the pages.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import Final, TypeAlias

from clustering.algorithms.slots.page_texts import ReadText, TextElement, TextPage

MIN_PAGES_WITH_NAME: Final = 0.5  # the share of pages that makes an id or class part of places
MIN_PAGES_WITH_LABEL: Final = 0.3
MIN_LABEL_PAGES: Final = 3
MAX_LABEL_CHARS: Final = 60
MIN_LABEL_LETTERS: Final = 2
MIN_PAGES_WITH_FURNITURE: Final = 0.85  # a text of so many pages says nothing of any of them
# Where so many different texts stand behind a label, and none nearly always, they are its values.
MIN_DIFFERENT_TEXTS: Final = 3
MIN_SHARE_DIFFERENT: Final = 0.12
MAX_SHARE_OF_VALUE: Final = 0.8
# Of the texts at one place: so many are labels where all are, and where some are.
MIN_TEXTS_AMONG_LABELS: Final = 2  # on a page
MIN_SHARE_ALL_LABELS: Final = 0.8
MIN_SHARE_WITH_LABELS: Final = 0.2

PlacedText: TypeAlias = tuple[int, str]  # the number of a place, and a text there


class PlaceNumbers:
    """Numbers for ways from the root; equal ways have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str], int] = {}
        self._steps: list[tuple[int, str]] = []

    def below(self, place: int, step: str) -> int:
        """Return the place that a step leads to; the root is -1."""
        key = (place, step)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._steps)
            self._steps.append(key)
        return number

    def steps(self, place: int, n_last: int) -> tuple[str, ...]:
        """Return at most the last steps of a place, the last one first."""
        steps: list[str] = []
        while place >= 0 and len(steps) < n_last:
            place, step = self._steps[place]
            steps.append(step)
        return tuple(steps)


@dataclass(slots=True)
class SharedMarkup:
    """What the pages of a cluster share."""

    names: Collection[str]  # ids and classes
    places: PlaceNumbers = field(default_factory=PlaceNumbers)
    labels: Collection[PlacedText] = frozenset()
    furniture: Collection[PlacedText] = frozenset()  # the texts of nearly all pages

    def place_numbers(self, page: TextPage) -> list[tuple[int, int]]:
        """Return of each element its place, and the same counted from the last id on."""
        numbers: list[tuple[int, int]] = []
        for element in page.elements:
            step = self._step(element)
            above, above_from_id = numbers[element.parent] if element.parent >= 0 else (-1, -1)
            place = self.places.below(above, step)
            from_id = self.places.below(-1 if "#" in step else above_from_id, step)
            numbers.append((place, from_id))
        return numbers

    def _step(self, element: TextElement) -> str:
        return element.tag + "".join(name for name in element.names if name in self.names)


def learn_shared_markup(pages: Sequence[TextPage]) -> SharedMarkup:
    """Learn what pages share.

    1. Count on how many pages each id and class stands.
    2. Count on how many pages each text stands at its place: the frequent ones may be labels.
    3. Leave out of them those that are values.
    4. Add the labels of layouts that fewer pages have.
    """
    markup = SharedMarkup(_shared_names(pages))
    places = [[place for place, _ in markup.place_numbers(page)] for page in pages]
    n_pages_by_text: Counter[PlacedText] = Counter()
    for page, page_places in zip(pages, places, strict=True):
        n_pages_by_text.update({(page_places[text.owner], text.text) for text in page.texts})
    least = max(MIN_LABEL_PAGES, MIN_PAGES_WITH_LABEL * len(pages))
    candidates = {
        placed
        for placed, n_pages in n_pages_by_text.items()
        if n_pages >= least and _may_be_label(placed[1])
    }
    labels = _labels_among(candidates, pages, places)
    markup.labels = labels | _labels_of_other_layouts(labels, pages, places)
    least_furniture = max(MIN_LABEL_PAGES, MIN_PAGES_WITH_FURNITURE * len(pages))
    markup.furniture = {
        placed for placed, n_pages in n_pages_by_text.items() if n_pages >= least_furniture
    }
    return markup


def _shared_names(pages: Sequence[TextPage]) -> frozenset[str]:
    n_pages_by_name: Counter[str] = Counter()
    for page in pages:
        n_pages_by_name.update({name for element in page.elements for name in element.names})
    least = ceil(MIN_PAGES_WITH_NAME * len(pages))
    return frozenset(name for name, n_pages in n_pages_by_name.items() if n_pages >= least)


def _may_be_label(text: str) -> bool:
    if len(text) > MAX_LABEL_CHARS:
        return False
    return sum(map(str.isalpha, text)) >= MIN_LABEL_LETTERS


def _labels_among(
    candidates: Collection[PlacedText],
    pages: Sequence[TextPage],
    places: Sequence[Sequence[int]],
) -> set[PlacedText]:
    """Return the candidates that are no values.

    1. Where several texts of a page stand, and nearly all are candidates, all of these are labels.
    2. Where hardly any is, none is a label.
    3. Elsewhere a candidate is a value if most of its occurrences stand where the text varies.
    """
    n_pages_by_place: Counter[int] = Counter()
    n_by_place: Counter[int] = Counter()
    n_candidates_by_place: Counter[int] = Counter()
    n_by_spot: defaultdict[PlacedText, Counter[str]] = defaultdict(Counter)
    for page, page_places in zip(pages, places, strict=True):
        n_pages_by_place.update({page_places[text.owner] for text in page.texts})
    for place, label, text in _labelled(candidates, pages, places):
        n_by_place[place] += 1
        n_candidates_by_place[place] += (place, text) in candidates
        n_by_spot[place, label][text] += 1
    varying = {spot for spot, n_by_text in n_by_spot.items() if _varies(n_by_text)}
    n_seen: Counter[PlacedText] = Counter()
    n_varying: Counter[PlacedText] = Counter()
    for (place, label), n_by_text in n_by_spot.items():
        for text, n in n_by_text.items():
            n_seen[place, text] += n
            n_varying[place, text] += n if (place, label) in varying else 0
    labels = set()
    for placed in candidates:
        place = placed[0]
        share = n_candidates_by_place[place] / n_by_place[place]
        stands_among_others = n_by_place[place] >= MIN_TEXTS_AMONG_LABELS * n_pages_by_place[place]
        if stands_among_others and share >= MIN_SHARE_ALL_LABELS:
            labels.add(placed)
            continue
        if share >= MIN_SHARE_WITH_LABELS and 2 * n_varying[placed] <= n_seen[placed]:
            labels.add(placed)
    return labels


def _labels_of_other_layouts(
    labels: Collection[PlacedText],
    pages: Sequence[TextPage],
    places: Sequence[Sequence[int]],
) -> set[PlacedText]:
    """Return the labels' words at other places, on pages without them at the labels' places."""
    words = {text for _, text in labels}
    n_pages_by_label: Counter[PlacedText] = Counter()
    for page, page_places in zip(pages, places, strict=True):
        placed = {(page_places[text.owner], text.text) for text in page.texts if text.text in words}
        present = {text for place, text in placed if (place, text) in labels}
        n_pages_by_label.update(each for each in placed if each[1] not in present)
    return {placed for placed, n_pages in n_pages_by_label.items() if n_pages >= MIN_LABEL_PAGES}


def _labelled(
    candidates: Collection[PlacedText],
    pages: Sequence[TextPage],
    places: Sequence[Sequence[int]],
) -> Iterator[tuple[int, str, str]]:
    """Yield each text as its place, the candidate before it, and itself."""
    for page, page_places in zip(pages, places, strict=True):
        label = ""
        for text in page.texts:
            place = page_places[text.owner]
            yield place, label, text.text
            if (place, text.text) in candidates:
                label = text.text


def _varies(n_by_text: Counter[str]) -> bool:
    n = n_by_text.total()
    if len(n_by_text) < max(MIN_DIFFERENT_TEXTS, MIN_SHARE_DIFFERENT * n):
        return False
    return max(n_by_text.values()) < MAX_SHARE_OF_VALUE * n


def first_labels_of_rows(page: TextPage, is_label: Sequence[bool]) -> dict[int, ReadText]:
    """Return the first label in each row, by the number of the row."""
    label_by_row: dict[int, ReadText] = {}
    for text, text_is_label in zip(page.texts, is_label, strict=True):
        if not text_is_label:
            continue
        row = page.elements[text.owner].row
        while row >= 0 and row not in label_by_row:
            label_by_row[row] = text
            parent = page.elements[row].parent
            row = page.elements[parent].row if parent >= 0 else -1
    return label_by_row
