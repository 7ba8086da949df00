"""Say which nodes of a universe have a feature: the same nodes as its XPath test, found at once for all.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.1.
Readings:   Those of `xpaths` and `feature_tests`; a test holds that both select the same nodes.
Cost:       A few passes over arrays of n numbers for each feature, remembered for the next attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rules.algorithms.learning.node_index import NodeIndex, NodeSet
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET

Mask: TypeAlias = "NDArray[np.bool_]"


@dataclass
class Columns:
    """The nodes of each feature that was asked for."""

    universe: NodeIndex
    bits_by_feature: dict[Feature, NodeSet] = field(default_factory=dict)
    bits_by_target: dict[str, NodeSet] = field(default_factory=dict)

    def select(self, target: str, feature: Feature) -> NodeSet:
        """Return the nodes of a target's kind that have the feature."""
        return self.bits(feature) & self.targets(target)

    def bits(self, feature: Feature) -> NodeSet:
        found = self.bits_by_feature.get(feature)
        if found is None:
            mask = self.universe.lift(_MASKS[feature.kind](self.universe, feature), feature.level)
            found = self.bits_by_feature[feature] = pack(mask)
        return found

    def targets(self, target: str) -> NodeSet:
        """Return all nodes of a target's kind."""
        found = self.bits_by_target.get(target)
        if found is None:
            found = self.bits_by_target[target] = pack(_target_mask(self.universe, target))
        return found


def pack(mask: Mask) -> NodeSet:
    """Return a mask as an integer; the last place stands for the node that does not exist."""
    return int.from_bytes(np.packbits(mask[:-1], bitorder="little").tobytes(), "little")


def numbers_of(bits: NodeSet) -> Iterator[int]:
    """Yield the nodes of a set in document order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def _target_mask(universe: NodeIndex, target: str) -> Mask:
    if target == TEXT_TARGET:
        return universe.is_text.copy()
    if target.startswith("@"):
        return universe.mask(universe.nodes_by_name.get(target[1:], []))
    mask = ~universe.is_text
    mask[-1] = False
    return mask


def _by_axis(universe: NodeIndex, feature: Feature, mask: Mask) -> Mask:
    """Return the nodes of which the element that the axis leads to is in the mask."""
    if feature.axis == "ancestor":
        return _inside(universe, mask)
    if feature.axis != "self":
        steps = universe.befores if feature.axis == "preceding-sibling" else universe.afters
        for _ in range(feature.distance):
            mask = mask[steps]
    return mask


def _inside(universe: NodeIndex, mask: Mask) -> Mask:
    """Return the nodes within the elements of the mask."""
    changes = np.zeros(universe.n + 2, dtype=np.int32)
    numbers = np.flatnonzero(mask)
    np.add.at(changes, numbers + 1, 1)
    np.add.at(changes, universe.ends[numbers], -1)
    inside = np.cumsum(changes)[:-1] > 0
    inside[-1] = False
    return np.asarray(inside, dtype=np.bool_)


def _tag(universe: NodeIndex, feature: Feature) -> Mask:
    return _elements(universe, feature, universe.nodes_by_tag)


def _token(universe: NodeIndex, feature: Feature) -> Mask:
    return _elements(universe, feature, universe.nodes_by_token)


def _elements(universe: NodeIndex, feature: Feature, nodes_by: Mapping[str, list[int]]) -> Mask:
    numbers = [number for value in feature.values for number in nodes_by.get(value, ())]
    return _by_axis(universe, feature, universe.mask(numbers))


def _attribute(universe: NodeIndex, feature: Feature) -> Mask:
    name = feature.name or feature.kind
    known = universe.nodes_by_attribute
    numbers = [number for value in feature.values for number in known.get((name, value), ())]
    return _by_axis(universe, feature, universe.mask(numbers))


def _has(universe: NodeIndex, feature: Feature) -> Mask:
    return _by_axis(universe, feature, universe.mask(universe.nodes_by_name.get(feature.name, ())))


def _label(universe: NodeIndex, feature: Feature) -> Mask:
    return _before(universe, feature) | _begins(universe, feature)


def _begins(universe: NodeIndex, feature: Feature) -> Mask:
    """Return the nodes whose text begins with the label and goes on."""
    return universe.mask(
        number for value in feature.values for number in _that_begin(universe, value)
    )


def _that_begin(universe: NodeIndex, label: str) -> Iterator[int]:
    opening = f"{label} "
    for text in universe.texts_by_initial.get(label[0], ()):
        known = universe.openings[text]
        if known.startswith(opening):
            yield text
        if known.startswith(opening) or opening.startswith(known):
            yield from _around(universe, text, opening)


def _around(universe: NodeIndex, text: int, opening: str) -> Iterator[int]:
    """Yield the elements of which this is the first text, and which begin so."""
    number = universe.nodes[text].parent
    while number >= 0 and universe.first_text[number] == text:
        if universe.opening(number).startswith(opening):
            yield number
        number = universe.nodes[number].parent


def _texts(universe: NodeIndex, feature: Feature) -> Mask:
    return universe.mask(
        n for value in feature.values for n in universe.texts_by_label.get(value, ())
    )


def _before(universe: NodeIndex, feature: Feature) -> Mask:
    texts = _texts(universe, feature)
    if feature.name:
        tags = [n for tag in feature.name.split() for n in universe.nodes_by_tag.get(tag, ())]
        texts &= universe.mask(tags)[universe.parents]
    return texts[universe.text_before]


def _after(universe: NodeIndex, feature: Feature) -> Mask:
    return _texts(universe, feature)[universe.text_after]


def _first_text(universe: NodeIndex, feature: Feature) -> Mask:
    return _texts(universe, feature)[universe.first_text]


def _sibling_text(universe: NodeIndex, feature: Feature) -> Mask:
    known = universe.elements_by_label
    return universe.mask(n for value in feature.values for n in known.get(value, ()))[
        universe.befores
    ]


def _heading(universe: NodeIndex, feature: Feature) -> Mask:
    """Return the elements of the tag `name` that follow an element of the text, or one another after it."""
    same = universe.mask(universe.nodes_by_tag.get(feature.name, ()))
    known = universe.elements_by_label
    numbers = [n for value in feature.values for n in known.get(value, ())]
    reached = universe.mask(n for n in numbers if not same[n])[universe.befores] & same
    found = reached
    while reached.any():
        reached = reached[universe.befores] & same & ~found
        found = found | reached
    return found


def _starts(universe: NodeIndex, feature: Feature) -> Mask:
    return _by_text(universe, lambda text: text.startswith(feature.values))


def _ends(universe: NodeIndex, feature: Feature) -> Mask:
    return _by_text(universe, lambda text: text.endswith(feature.values))


def _before_ends(universe: NodeIndex, feature: Feature) -> Mask:
    mask = universe.mask(
        n for n, node in enumerate(universe.nodes) if node.shown.endswith(feature.values)
    )
    return mask[universe.text_before]


def _after_starts(universe: NodeIndex, feature: Feature) -> Mask:
    mask = universe.mask(
        n for n, node in enumerate(universe.nodes) if node.shown.startswith(feature.values)
    )
    return mask[universe.text_after]


def _contains(universe: NodeIndex, feature: Feature) -> Mask:
    return _by_text(universe, lambda text: any(value in text for value in feature.values))


def _by_text(universe: NodeIndex, holds: Callable[[str], bool]) -> Mask:
    return universe.mask(number for number, text in enumerate(universe.shown_texts) if holds(text))


def _first(universe: NodeIndex, _feature: Feature) -> Mask:
    mask = universe.befores == universe.n
    mask[-1] = False
    return np.asarray(mask, dtype=np.bool_)


def _last(universe: NodeIndex, _feature: Feature) -> Mask:
    mask = universe.afters == universe.n
    mask[-1] = False
    return np.asarray(mask, dtype=np.bool_)


def _position(universe: NodeIndex, feature: Feature) -> Mask:
    return np.asarray(universe.n_befores == feature.distance - 1, dtype=np.bool_)


_MASKS: Final[Mapping[str, Callable[[NodeIndex, Feature], Mask]]] = {
    "tag": _tag,
    "id": _attribute,
    "class": _attribute,
    "token": _token,
    "attribute": _attribute,
    "has": _has,
    "label": _label,
    "before": _before,
    "after": _after,
    "sibling_text": _sibling_text,
    "heading": _heading,
    "first_text": _first_text,
    "starts": _starts,
    "ends": _ends,
    "contains": _contains,
    "before_ends": _before_ends,
    "after_starts": _after_starts,
    "first": _first,
    "last": _last,
    "position": _position,
}
