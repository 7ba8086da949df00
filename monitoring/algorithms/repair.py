"""Find golden values again on new versions of their pages, so that a rule can be learnt from them.

Paper:      None; it takes the place of "otherwise C is scheduled for annotation" in section IV-C of
            Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011).
Notation:   Places, shapes and labels are those of `value_places`. The support of a shape is the
            share of the pages with a golden value on which a place of that shape shows it.
Readings:   Anchors of a value: the value itself, in any form that its type allows; the shape at
            which the values of the other pages stand; the label, that of the other pages and that
            of the old page; whether the value is all that the node shows; the tag of the old node;
            the neighbourhood, which is the distance from where most constant values of the page
            stand; of a multi-valued attribute the share of what stands at the shape that is golden.
Departures: The pages decide together: a place whose shape has little support is not proposed,
            however well it fits alone. Pages on which no such place is found are asked again among
            themselves, so that another layout has a shape of its own. A shape at which many texts
            of a page stand counts only with a label of its own: what stands in menus shows any
            value. Values that may have changed are found on fewer pages; the support of their
            shapes is measured against the best of them, and must come from several pages. A number
            that changed is looked for between the words that stood around it, whatever it is now;
            without such words among those near it; a page where only such a one is found
            counts half. Of a multi-valued attribute all values of a page are found at one shape;
            where that leaves pages out, at several slots that together show the values of more
            pages and hardly anything else; or none is proposed. An attribute is absent from a page
            where the golden record has none and nothing stands at its shape and label.
Cost:       Linear in pages, attributes and places.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import median
from typing import Final, NamedTuple

from annotation.algorithms.attribute_types import AttributeType
from monitoring.algorithms.known_values import plain
from monitoring.algorithms.value_places import ValueFrame, ValueIndex, ValuePlace

# What a page counts for, by whether it shows the value or a number near it.
WEIGHT_OF_VALUE, WEIGHT_OF_NEAR_NUMBER = 2, 1
MIN_SCORE: Final = 0.5  # of a place that is proposed
MIN_SUPPORT: Final = 0.5  # of a shape, as a share of that of the attribute's best one
MIN_AGREEING_PAGES: Final = 2  # on a shape, where there are as many
MIN_SUPPORT_OF_CHANGING: Final = 0.15  # of the best shape of an attribute that may change
WEIGHTS: Final = {
    "shape": 0.4,
    "label": 0.15,
    "old_label": 0.1,
    "whole": 0.15,
    "tag": 0.05,
    "near": 0.15,
}
WEIGHTS_OF_LISTS: Final = WEIGHTS | {"shape": 0.35, "near": 0.1, "specific": 0.1}
PAGES_PER_ABSENCE: Final = 2  # that show the lack of an attribute
MIN_SHARE_OF_LABEL: Final = 0.8  # of the values at a shape that have one label
MAX_FRAMES: Final = 8  # of an attribute, such as "1 review" and "2 reviews"
MIN_SHARE_OF_FRAME: Final = 0.03  # of the values, that stand between the same words
MAX_PIECES: Final = 5  # shapes that serve one after the other, each the pages left by those before
MIN_PAGES_OF_PIECE: Final = 3
MAX_TEXTS_OF_SHAPE: Final = 5.0  # on a page, on average: more, and it shows any value
MIN_SHARE_OF_CROWD_LABEL: Final = 0.5  # of the values at such a shape, that one label stands before
MIN_GAIN_OF_SLOT: Final = 0.04  # of the values, that a further slot of several has to show
VALUES_PER_OTHER_TEXT: Final = 3  # that a slot must show for each text that is no stored value
REACH: Final = 0.25  # of the page around the constant values that counts as near


@dataclass(frozen=True, slots=True)
class KnownPage:
    """The new version of a page, with the golden values of the old one."""

    url: str
    page: ValueIndex
    golden: Mapping[str, str | Sequence[str]]
    labels: Mapping[str, str] = field(default_factory=dict)  # of the old nodes, by attribute
    tags: Mapping[str, str] = field(default_factory=dict)  # of the old nodes
    # The words around the old values.
    frames: Mapping[str, ValueFrame] = field(default_factory=dict)


class TextSlot(NamedTuple):
    """Where values stand: at a shape, behind a label unless that is None."""

    shape: str
    label: str | None


class FoundValue(NamedTuple):
    """A golden value found again."""

    place: ValuePlace
    score: float
    why: Mapping[str, float]  # by anchor, from 0 to 1


@dataclass(frozen=True, slots=True)
class ProposedPage:
    """What is proposed to annotate on a page."""

    url: str
    values: Mapping[str, Sequence[FoundValue]]
    absent: frozenset[str]
    records: Sequence[Sequence[str]] = ()  # of a list, the XPaths of each one's elements

    @property
    def score(self) -> float:
        return sum(value.score for values in self.values.values() for value in values)


@dataclass(slots=True)
class _SoughtAttribute:
    """The places of an attribute's values on all pages, and what they agree on."""

    attribute: AttributeType
    places: list[list[list[ValuePlace]]]  # by page, by value
    near: list[list[ValuePlace]] = field(default_factory=list)  # by page: what a number became
    n_known: int = 0
    shapes: Counter[str] = field(default_factory=Counter)
    labelled: Counter[tuple[str, str]] = field(default_factory=Counter)
    n_texts: Counter[str] = field(default_factory=Counter)  # at each shape, weighed as pages are
    n_labelled_texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    values_at: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    is_further: bool = False  # it serves what an earlier one left

    def count_support(self, pages: Sequence[KnownPage]) -> None:
        """Count the pages with a golden value, and weigh each shape by the pages showing one there.

        A page that only shows a number near a golden one counts half.
        """
        for page, places_by_value in zip(pages, self.places, strict=True):
            if places_by_value:
                self.n_known += 1
                self._add_page(page, list(chain.from_iterable(places_by_value)), WEIGHT_OF_VALUE)
        if self.near:
            for page, places in zip(pages, self.near, strict=True):
                self._add_page(page, places, WEIGHT_OF_NEAR_NUMBER)
        if not self.attribute.is_multi:
            self._leave_crowds_out()

    def _add_page(self, page: KnownPage, places: Sequence[ValuePlace], weight: int) -> None:
        """Add a page's weight, once for each of its shapes and pairs of shape and label."""
        for shape in {place.shape for place in places}:
            self.shapes[shape] += weight
            self.n_texts[shape] += weight * page.page.n_at(shape, None)
        for pair in {(place.shape, place.label) for place in places}:
            self.labelled[pair] += weight
            self.n_labelled_texts[pair] += weight * page.page.n_at(*pair)
        for place in places:
            self.values_at[place.shape, place.label].add(plain(place.text))

    def _leave_crowds_out(self) -> None:
        """Leave out the shapes of crowds, where another shape has support or has to have it."""
        crowds = [shape for shape in self.shapes if self._is_crowd(shape)]
        others = [n for shape, n in self.shapes.items() if shape not in crowds]
        if self.is_further or max(others, default=0) >= MIN_SUPPORT * self.best:
            for shape in crowds:
                del self.shapes[shape]

    def _is_crowd(self, shape: str) -> bool:
        """Return whether so many texts stand at an unlabelled shape that any value does."""
        if self.n_texts[shape] <= MAX_TEXTS_OF_SHAPE * self.shapes[shape]:
            return False
        pairs = [pair for pair in self.labelled if pair[0] == shape and not self._is_fixed(pair)]
        if not pairs:
            return True
        pair = max(pairs, key=self.labelled.__getitem__)
        if self.labelled[pair] < MIN_SHARE_OF_CROWD_LABEL * self.shapes[shape]:
            return True
        return self.n_labelled_texts[pair] > MAX_TEXTS_OF_SHAPE * self.labelled[pair]

    def _is_fixed(self, pair: tuple[str, str]) -> bool:
        """Return whether a label has but one value, as in a menu, and other labels have others."""
        return len(self.values_at[pair]) == 1 and len(set().union(*self.values_at.values())) > 1

    @property
    def best(self) -> int:
        return max(self.shapes.values(), default=0)

    def is_steady(self) -> bool:
        """Return whether enough pages agree on a shape."""
        if self.is_further:
            least = max(MIN_PAGES_OF_PIECE, MIN_SUPPORT * self.n_known)
            return self.best >= WEIGHT_OF_VALUE * least
        if self.best < WEIGHT_OF_VALUE * min(MIN_AGREEING_PAGES, self.n_known):
            return False
        if self.attribute.is_constant:
            return True
        return self.best >= WEIGHT_OF_VALUE * MIN_SUPPORT_OF_CHANGING * self.n_known

    def covers(self, number: int) -> bool:
        """Return whether a page shows a value, or what a number became, at a shape with support."""
        places = list(chain.from_iterable(self.places[number]))
        if self.near:
            places += self.near[number]
        return any(self.shapes[place.shape] >= MIN_SUPPORT * self.best for place in places)

    def main(self) -> tuple[str, str | None]:
        """Return the shape with the most support, and its label where it has a steady one."""
        best = max(self.shapes, key=lambda shape: (self.shapes[shape], shape))
        labels = {label: n for (shape, label), n in self.labelled.items() if shape == best}
        label = max(labels, key=lambda text: (labels[text], text))
        is_steady = labels[label] >= MIN_SHARE_OF_LABEL * self.shapes[best]
        return best, label if label and is_steady else None


def propose_annotations(
    pages: Sequence[KnownPage], attributes: Iterable[AttributeType]
) -> list[ProposedPage]:
    """Return what to annotate on each page, the pages in their order."""
    pieces_by_name = {attribute.name: _seek(pages, attribute) for attribute in attributes}
    first_pieces = [pieces[0] for pieces in pieces_by_name.values()]
    values_by_page = []
    for number, page in enumerate(pages):
        centre = _centre(number, first_pieces)
        values: dict[str, list[FoundValue]] = {}
        for name, pieces in pieces_by_name.items():
            for sought in pieces:
                found_values = _choose(page, sought, number, centre)
                if found_values:
                    values[name] = found_values
                    break
        values_by_page.append(values)
    for pieces in pieces_by_name.values():
        if pieces[0].attribute.is_multi:
            _find_at_several_slots(pages, pieces[0], values_by_page)
    return [
        ProposedPage(page.url, values, _absent(page, pieces_by_name.values()))
        for page, values in zip(pages, values_by_page, strict=True)
    ]


def choose_pages(
    proposed: Sequence[ProposedPage], n: int, *, per_attribute: int = 3
) -> list[ProposedPage]:
    """Return the pages to learn from: some that show or lack each attribute, then the surest."""
    left = sorted(proposed, key=lambda page: (-len(page.values), -page.score, page.url))
    n_shown: Counter[tuple[str, str]] = Counter()  # by attribute and shape; blank: absent

    def worth(page: ProposedPage) -> int:
        """Count the values and absences that too few of the chosen pages show yet."""
        n_values = sum(
            n_shown[name, values[0].place.shape] < per_attribute
            for name, values in page.values.items()
        )
        n_absences = sum(n_shown[name, ""] < PAGES_PER_ABSENCE for name in page.absent)
        return n_values + n_absences

    pages: list[ProposedPage] = []
    while left and len(pages) < n:
        best = max(left, key=worth)
        left.remove(best)
        if best.values:
            pages.append(best)
            n_shown.update((name, values[0].place.shape) for name, values in best.values.items())
            n_shown.update((name, "") for name in best.absent)
    return pages


def _seek(pages: Sequence[KnownPage], attribute: AttributeType) -> list[_SoughtAttribute]:
    """Return the pieces of an attribute: what the pages agree on, then what the pages left do."""
    frames = [] if attribute.is_constant or attribute.is_multi else _frames(pages, attribute)
    if frames:
        places, near = _framed(pages, attribute, frames), []
    else:
        places = [_places(page, attribute) for page in pages]
        is_fixed = attribute.is_constant or attribute.is_multi
        near = [] if is_fixed else _near(pages, attribute, places)
    first = _SoughtAttribute(attribute, places, near)
    first.count_support(pages)
    pieces = [first]
    while len(pieces) < MAX_PIECES and pieces[-1].is_steady():
        left = [
            [] if any(piece.covers(number) for piece in pieces) else values
            for number, values in enumerate(places)
        ]
        further = _SoughtAttribute(attribute, left, is_further=True)
        further.count_support(pages)
        if not further.is_steady():
            break
        pieces.append(further)
    return pieces


def _places(page: KnownPage, attribute: AttributeType) -> list[list[ValuePlace]]:
    """Return, value by value, where a page shows the golden values of an attribute."""
    value = page.golden.get(attribute.name)
    if value is None:
        return []
    texts = [value] if isinstance(value, str) else value
    return [page.page.find(attribute.type, text) for text in texts]


def _frames(pages: Sequence[KnownPage], attribute: AttributeType) -> list[ValueFrame]:
    """Return the words around the values of an attribute; none where some values stand alone."""
    n_by_frame = Counter(
        page.frames[attribute.name] for page in pages if attribute.name in page.frames
    )
    least = MIN_SHARE_OF_FRAME * n_by_frame.total()
    frames = [frame for frame, n in n_by_frame.most_common(MAX_FRAMES) if n >= least]
    return frames if all(frame.is_telling for frame in frames) else []


def stands_among_words(pages: Sequence[KnownPage], attribute: AttributeType) -> bool:
    """Return whether words around the values of a changing attribute tell where they stand."""
    return not attribute.is_multi and bool(_frames(pages, attribute))


def _framed(
    pages: Sequence[KnownPage], attribute: AttributeType, frames: Sequence[ValueFrame]
) -> list[list[list[ValuePlace]]]:
    """Return where a page shows a value between such words, for each page that had one."""
    return [
        [page.page.find_framed(attribute.type, frames)] if attribute.name in page.golden else []
        for page in pages
    ]


def _near(
    pages: Sequence[KnownPage],
    attribute: AttributeType,
    places: Sequence[Sequence[Sequence[ValuePlace]]],
) -> list[list[ValuePlace]]:
    """Return, page by page, what a value that is not there any more may have become."""
    near = []
    for page, values in zip(pages, places, strict=True):
        value = page.golden.get(attribute.name)
        if isinstance(value, str) and not any(values):
            near.append(page.page.find_near(attribute.type, value))
        else:
            near.append([])
    return near


def _centre(number: int, sought: Sequence[_SoughtAttribute]) -> float | None:
    """Return where on a page most of its constant values stand, by those that stand once."""
    positions = []
    for attribute in sought:
        values = attribute.places[number]
        if not attribute.attribute.is_constant or len(values) != 1 or len(values[0]) != 1:
            continue
        (place,) = values[0]
        if attribute.shapes[place.shape] >= MIN_SUPPORT * attribute.best:
            positions.append(place.position)
    return median(positions) if positions else None


def _choose(
    page: KnownPage, sought: _SoughtAttribute, number: int, centre: float | None
) -> list[FoundValue]:
    """Return where the values of an attribute stand on a page; nothing where one is not found."""
    values = sought.places[number]
    if not values or not sought.is_steady():
        return []
    if sought.near and sought.near[number]:
        values = [sought.near[number]]
    found_values: list[FoundValue] = []
    for places in values:
        scored = [
            _score(place, page, sought, centre)
            for place in places
            if sought.shapes[place.shape] >= MIN_SUPPORT * sought.best
            and _is_free(place, found_values)
        ]
        best = max(scored, key=lambda value: value.score, default=None)
        if best is None or best.score < MIN_SCORE:
            return []
        found_values.append(best)
    return found_values


def _find_at_several_slots(
    pages: Sequence[KnownPage],
    sought: _SoughtAttribute,
    values_by_page: Sequence[dict[str, list[FoundValue]]],
) -> None:
    """Put an attribute's values where several slots show them, if more pages show them there."""
    name = sought.attribute.name
    slots = _slots_of_values(pages, sought.places)
    if len(slots) < 2:
        return
    found_by_page = [
        _choose_at_slots(page, sought, number, slots) for number, page in enumerate(pages)
    ]
    n_found_at_one = sum(name in values for values in values_by_page)
    if sum(map(bool, found_by_page)) <= n_found_at_one:
        return
    for values, found_values in zip(values_by_page, found_by_page, strict=True):
        values.pop(name, None)
        if found_values:
            values[name] = found_values


def _slots_of_values(
    pages: Sequence[KnownPage], places: Sequence[Sequence[Sequence[ValuePlace]]]
) -> list[TextSlot]:
    """Return the slots that together show the values, each most of those that the ones before left.

    A slot that shows many texts that are no stored values is left out.
    """
    slots_by_value = [
        set(chain.from_iterable(map(_slots_of_place, value_places)))
        for values in places
        for value_places in values
    ]
    least = max(MIN_PAGES_OF_PIECE, MIN_GAIN_OF_SLOT * len(slots_by_value))
    n_values = Counter(chain.from_iterable(slots_by_value))
    frequent = [slot for slot, n in n_values.items() if n >= least]
    n_others = _count_other_texts(pages, places, frequent)

    slots: list[TextSlot] = []
    while True:
        gains = Counter(chain.from_iterable(slots_by_value))
        good = [
            slot
            for slot in frequent
            if gains[slot] >= least and gains[slot] > VALUES_PER_OTHER_TEXT * n_others[slot]
        ]
        if not good:
            return slots
        best = max(good, key=lambda slot: (gains[slot], slot.shape, slot.label or ""))
        slots.append(best)
        slots_by_value = [own for own in slots_by_value if best not in own]


def _count_other_texts(
    pages: Sequence[KnownPage],
    places: Sequence[Sequence[Sequence[ValuePlace]]],
    slots: Iterable[TextSlot],
) -> Counter[TextSlot]:
    """Count the texts at each slot that are no stored values, on the pages that have some."""
    n_others: Counter[TextSlot] = Counter()
    for page, values in zip(pages, places, strict=True):
        if not values:
            continue
        # A node may show one value as a whole, and another one as a part.
        places_once = {(place.xpath, place.shape): place for place in chain.from_iterable(values)}
        n_shown = Counter(chain.from_iterable(map(_slots_of_place, places_once.values())))
        for slot in slots:
            n_others[slot] += page.page.n_at(slot.shape, slot.label) - n_shown[slot]
    return n_others


def _slots_of_place(place: ValuePlace) -> tuple[TextSlot, TextSlot]:
    return TextSlot(place.shape, None), TextSlot(place.shape, place.label)


def _choose_at_slots(
    page: KnownPage, sought: _SoughtAttribute, number: int, slots: Sequence[TextSlot]
) -> list[FoundValue]:
    """Return where the values of an attribute stand on a page; nothing where one is at no slot."""
    found_values: list[FoundValue] = []
    for places in sought.places[number]:
        earlier_xpaths = {value.place.xpath for value in found_values}
        place = next(
            (
                place
                for slot in slots
                for place in places
                if slot in _slots_of_place(place) and place.xpath not in earlier_xpaths
            ),
            None,
        )
        if place is None:
            return []
        found_values.append(_score(place, page, sought, None))
    return found_values


def _is_free(place: ValuePlace, earlier_values: Sequence[FoundValue]) -> bool:
    """Return whether a place has the shape of earlier values and is not one of their nodes."""
    if not earlier_values:
        return True
    if place.shape != earlier_values[0].place.shape:
        return False
    return not place.is_whole or all(place.xpath != value.place.xpath for value in earlier_values)


def _score(
    place: ValuePlace, page: KnownPage, sought: _SoughtAttribute, centre: float | None
) -> FoundValue:
    name = sought.attribute.name
    old_label = page.labels.get(name, "")
    why = {
        "shape": sought.shapes[place.shape] / sought.best,
        "label": sought.labelled[place.shape, place.label] / sought.best,
        "old_label": float(bool(old_label) and old_label == place.label),
        "whole": float(place.is_whole),
        "tag": float(page.tags.get(name) == place.tag),
        "near": 0.5 if centre is None else max(0.0, 1 - abs(place.position - centre) / REACH),
    }
    weights = WEIGHTS
    if sought.attribute.is_multi:
        why["specific"], weights = _specificity(place, page, name), WEIGHTS_OF_LISTS
    return FoundValue(place, round(sum(weights[key] * share for key, share in why.items()), 4), why)


def _specificity(place: ValuePlace, page: KnownPage, name: str) -> float:
    """Return which share of what stands at a place's shape is golden: little in a tag cloud."""
    return min(1.0, len(page.golden.get(name, ())) / max(page.page.n_by_shape[place.shape], 1))


def _absent(
    page: KnownPage, pieces_by_attribute: Iterable[Sequence[_SoughtAttribute]]
) -> frozenset[str]:
    """Return the attributes that the page does not have."""
    absent = set()
    for pieces in pieces_by_attribute:
        name = pieces[0].attribute.name
        steady = [piece for piece in pieces if piece.is_steady() and piece.shapes]
        if name in page.golden or not steady:
            continue
        if not any(_stands_there(page, piece) for piece in steady):
            absent.add(name)
    return frozenset(absent)


def _stands_there(page: KnownPage, sought: _SoughtAttribute) -> bool:
    """Return whether anything stands at the main shape of an attribute, behind its label."""
    best, label = sought.main()
    return page.page.n_at(best, label) > 0
