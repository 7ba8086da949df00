"""Label the texts of pages by what the pages declare, and by values that are known from elsewhere.

Readings:   A declared value is looked up in what the page displays, in whatever form its type
            allows. All places that show it are labelled: which of them is the field's is for the
            ranking to say. A part of a longer text is less likely meant than a whole text.
Cost:       That of finding a value, for each declaration.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from lxml.etree import _Element

from annotation.algorithms.attribute_types import AttributeType
from annotation.algorithms.fields.noisy_labels import DoubtfulLabel, Labels
from annotation.algorithms.suggestions.declared import JSON_LD, MICRODATA, Declared, read_declared
from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.algorithms.suggestions.names import implied_type, meaning_of
from annotation.algorithms.suggestions.spots import Spot, SpotIndex
from clustering.algorithms.slots.finding import SlotText

MIN_WEIGHT_OF_DECLARATION: Final = 0.5  # less speaks of something beside what the page is about
SHARE_OF_PART: Final = 0.7  # of a label's weight, where the value is a part of a text
MAX_SPOTS_OF_VALUE: Final = 8  # a value that stands at more places tells nothing

KnownByAttribute = Mapping[str, Sequence[KnownValue]]


def label_declared(
    trees: Sequence[_Element],
    texts: Sequence[Sequence[SlotText]],
    attributes: Sequence[AttributeType],
    known: Sequence[KnownByAttribute] = (),
) -> dict[str, Labels]:
    """Return the labels of each attribute, by page and number of the text; `known` is by page."""
    labels: dict[str, dict[int, dict[int, DoubtfulLabel]]] = {
        attribute.name: {} for attribute in attributes
    }
    for page, tree in enumerate(trees):
        declared = read_declared(tree)
        spots = SpotIndex(tree)
        number_by_node = {(text.text.element, text.text.nth): text.number for text in texts[page]}
        alone = _texts_alone(texts[page])
        for attribute in attributes:
            of_page: dict[int, DoubtfulLabel] = {}
            values = _declared_values(declared, attribute)
            if known:
                values += [(v.text, v.weight) for v in known[page].get(attribute.name, ())]
            for value, weight in values:
                for spot in _spots_of(spots, attribute, value):
                    number = _number_of(spot, number_by_node, alone)
                    if number is not None:
                        label = _label(spot, weight)
                        if number not in of_page or of_page[number].weight < label.weight:
                            of_page[number] = label
            labels[attribute.name][page] = of_page
    return dict(labels)


def _declared_values(
    declared: Sequence[Declared], attribute: AttributeType
) -> list[tuple[str, float]]:
    """Return what a page declares under the best name of an attribute, with how sure it is."""
    for name in meaning_of(attribute.name).properties:
        values = [
            (entry.value, entry.weight)
            for entry in declared
            if entry.source in {JSON_LD, MICRODATA}
            and entry.weight >= MIN_WEIGHT_OF_DECLARATION
            and _plain(entry.path) == _plain(name)
        ]
        if values:
            best = max(weight for _, weight in values)
            return [(value, weight) for value, weight in values if weight == best]
    return []


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _spots_of(page: SpotIndex, attribute: AttributeType, value: str) -> list[Spot]:
    typed = replace(attribute, type=implied_type(attribute.name, attribute.type))
    spots = page.find(typed.type, value)
    return spots if len(spots) <= MAX_SPOTS_OF_VALUE else []


def _texts_alone(texts: Sequence[SlotText]) -> dict[_Element, int]:
    """Return the numbers of the texts that are the only one of their element."""
    numbers: defaultdict[_Element, list[int]] = defaultdict(list)
    for text in texts:
        numbers[text.text.element].append(text.number)
    return {element: own[0] for element, own in numbers.items() if len(own) == 1}


def _number_of(
    spot: Spot,
    number_by_node: Mapping[tuple[_Element, int], int],
    alone: Mapping[_Element, int],
) -> int | None:
    """Return the number of the text in which a spot stands; None where it is no text."""
    if spot.node.name:
        return None
    if spot.node.number is not None:
        return number_by_node.get((spot.node.element, spot.node.number))
    return alone.get(spot.node.element)


def _label(spot: Spot, weight: float) -> DoubtfulLabel:
    if spot.start is None:
        return DoubtfulLabel(weight)
    return DoubtfulLabel(weight * SHARE_OF_PART, part=spot.text)
