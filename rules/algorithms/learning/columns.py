"""Return the nodes of an index that have a feature: those of its XPath test, found all at once.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.1.
Readings:   Those of `feature` and `xpaths`; a test holds that both select the same nodes.
Cost:       A few passes over arrays of n numbers for each feature, remembered for the next
            attribute.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rules.algorithms.learning.node_index import NodeIndex, NodeSet
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET
from rules.algorithms.rule.xpaths import shape_of

Mask: TypeAlias = "NDArray[np.bool_]"
Key = TypeVar("Key")


@dataclass
class Columns:
    """The nodes of each feature that was asked for."""

    index: NodeIndex
    bits_by_feature: dict[Feature, NodeSet] = field(default_factory=dict)
    bits_by_target: dict[str, NodeSet] = field(default_factory=dict)

    def select(self, target: str, feature: Feature) -> NodeSet:
        """Return the nodes of a target's kind that have the feature."""
        return self.bits(feature) & self.targets(target)

    def bits(self, feature: Feature) -> NodeSet:
        """Return all nodes that have the feature."""
        bits = self.bits_by_feature.get(feature)
        if bits is None:
            mask = self.index.lift(_MASKS[feature.kind](self.index, feature), feature.level)
            bits = self.bits_by_feature[feature] = pack(mask)
        return bits

    def bits_of_all(self, target: str, features: Iterable[Feature]) -> NodeSet:
        """Return the nodes of a target's kind that have all of the features."""
        bits = self.targets(target)
        for feature in features:
            bits &= self.bits(feature)
        return bits

    def targets(self, target: str) -> NodeSet:
        """Return all nodes of a target's kind."""
        bits = self.bits_by_target.get(target)
        if bits is None:
            bits = self.bits_by_target[target] = pack(_target_mask(self.index, target))
        return bits


def pack(mask: Mask) -> NodeSet:
    """Return a mask as an integer; its last item stands for the node that does not exist."""
    return int.from_bytes(np.packbits(mask[:-1], bitorder="little").tobytes(), "little")


def numbers_of(bits: NodeSet) -> Iterator[int]:
    """Yield the nodes of a set in document order."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def union(sets: Iterable[NodeSet]) -> NodeSet:
    bits = 0
    for nodes in sets:
        bits |= nodes
    return bits


def _target_mask(index: NodeIndex, target: str) -> Mask:
    """Return the nodes a target names: texts, the attributes of a name, or else all but texts."""
    if target == TEXT_TARGET:
        return index.is_text.copy()
    if target.startswith("@"):
        return index.mask(index.nodes_by_name.get(target[1:], []))
    mask = ~index.is_text
    mask[-1] = False  # the last item stands for the node that does not exist
    return mask


def _by_axis(index: NodeIndex, feature: Feature, mask: Mask) -> Mask:
    """Return the nodes of which the element that the axis leads to is in the mask."""
    if feature.axis == "ancestor":
        return _inside(index, mask)
    if feature.axis != "self":
        steps = index.befores if feature.axis == "preceding-sibling" else index.afters
        for _ in range(feature.distance):
            mask = mask[steps]
    return mask


def _inside(index: NodeIndex, mask: Mask) -> Mask:
    """Return the nodes within the elements of the mask."""
    changes = np.zeros(index.n + 2, dtype=np.int32)
    numbers = np.flatnonzero(mask)
    np.add.at(changes, numbers + 1, 1)
    np.add.at(changes, index.ends[numbers], -1)
    inside = np.cumsum(changes)[:-1] > 0
    inside[-1] = False
    return np.asarray(inside, dtype=np.bool_)


def _mask_of(
    index: NodeIndex, nodes_by_value: Mapping[Key, list[int]], values: Iterable[Key]
) -> Mask:
    """Return the nodes that a table has for any of the values."""
    return index.mask(number for value in values for number in nodes_by_value.get(value, ()))


def _tag(index: NodeIndex, feature: Feature) -> Mask:
    return _by_axis(index, feature, _mask_of(index, index.nodes_by_tag, feature.values))


def _token(index: NodeIndex, feature: Feature) -> Mask:
    return _by_axis(index, feature, _mask_of(index, index.nodes_by_token, feature.values))


def _attribute(index: NodeIndex, feature: Feature) -> Mask:
    name = feature.name or feature.kind
    pairs = [(name, value) for value in feature.values]
    return _by_axis(index, feature, _mask_of(index, index.nodes_by_attribute, pairs))


def _has(index: NodeIndex, feature: Feature) -> Mask:
    return _by_axis(index, feature, index.mask(index.nodes_by_name.get(feature.name, ())))


def _label(index: NodeIndex, feature: Feature) -> Mask:
    return _before(index, feature) | _begins(index, feature)


def _begins(index: NodeIndex, feature: Feature) -> Mask:
    """Return the nodes whose text begins with the label and goes on."""
    return index.mask(
        number for label in feature.values for number in _nodes_that_begin(index, label)
    )


def _nodes_that_begin(index: NodeIndex, label: str) -> Iterator[int]:
    opening = f"{label} "
    for text in index.texts_by_initial.get(label[0], ()):
        text_opening = index.openings[text]
        if text_opening.startswith(opening):
            yield text
        if text_opening.startswith(opening) or opening.startswith(text_opening):
            yield from _elements_that_begin(index, text, opening)


def _elements_that_begin(index: NodeIndex, text: int, opening: str) -> Iterator[int]:
    """Yield the elements of which this is the first text, and which begin so."""
    number = index.nodes[text].parent
    while number >= 0 and index.first_text[number] == text:
        if index.opening(number).startswith(opening):
            yield number
        number = index.nodes[number].parent


def _texts(index: NodeIndex, feature: Feature) -> Mask:
    return _mask_of(index, index.texts_by_label, feature.values)


def _before(index: NodeIndex, feature: Feature) -> Mask:
    texts = _texts(index, feature)
    if feature.name:
        texts &= _mask_of(index, index.nodes_by_tag, feature.name.split())[index.parents]
    return texts[index.text_before]


def _after(index: NodeIndex, feature: Feature) -> Mask:
    return _texts(index, feature)[index.text_after]


def _first_text(index: NodeIndex, feature: Feature) -> Mask:
    return _texts(index, feature)[index.first_text]


def _sibling_text(index: NodeIndex, feature: Feature) -> Mask:
    return _mask_of(index, index.elements_by_label, feature.values)[index.befores]


def _heading(index: NodeIndex, feature: Feature) -> Mask:
    """Return the elements of tag `name` that follow an element of the text, or one another."""
    same_tag = index.mask(index.nodes_by_tag.get(feature.name, ()))
    headings = _mask_of(index, index.elements_by_label, feature.values) & ~same_tag
    reached = headings[index.befores] & same_tag
    under_heading = reached
    while reached.any():  # each round reaches the next siblings of those reached before
        reached = reached[index.befores] & same_tag & ~under_heading
        under_heading = under_heading | reached
    return under_heading


def _starts(index: NodeIndex, feature: Feature) -> Mask:
    return _by_text(index, lambda text: text.startswith(feature.values))


def _ends(index: NodeIndex, feature: Feature) -> Mask:
    return _by_text(index, lambda text: text.endswith(feature.values))


def _before_ends(index: NodeIndex, feature: Feature) -> Mask:
    mask = index.mask(
        n for n, node in enumerate(index.nodes) if node.shown.endswith(feature.values)
    )
    return mask[index.text_before]


def _after_starts(index: NodeIndex, feature: Feature) -> Mask:
    mask = index.mask(
        n for n, node in enumerate(index.nodes) if node.shown.startswith(feature.values)
    )
    return mask[index.text_after]


def _contains(index: NodeIndex, feature: Feature) -> Mask:
    return _by_text(index, lambda text: any(value in text for value in feature.values))


def _by_text(index: NodeIndex, holds: Callable[[str], bool]) -> Mask:
    return index.mask(number for number, text in enumerate(index.shown_texts) if holds(text))


def _shape(index: NodeIndex, feature: Feature) -> Mask:
    """Return the nodes whose text has the form; of long ones the text is not read."""
    sums = np.concatenate([[0], np.cumsum(index.text_lengths[:-1])])
    n_shown = sums[index.ends[:-1]] - sums[:-1]  # at least so many characters does a node show
    is_short = (n_shown > 0) & (n_shown <= max(map(len, feature.values)))
    return index.mask(
        number
        for number in np.flatnonzero(is_short).tolist()
        if shape_of(index.shown_of(number, TEXT_TARGET)) in feature.values
    )


def _first(index: NodeIndex, _feature: Feature) -> Mask:
    mask = index.befores == index.n
    mask[-1] = False
    return np.asarray(mask, dtype=np.bool_)


def _last(index: NodeIndex, _feature: Feature) -> Mask:
    mask = index.afters == index.n
    mask[-1] = False
    return np.asarray(mask, dtype=np.bool_)


def _position(index: NodeIndex, feature: Feature) -> Mask:
    return np.asarray(index.n_befores == feature.distance - 1, dtype=np.bool_)


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
    "shape": _shape,
    "before_ends": _before_ends,
    "after_starts": _after_starts,
    "first": _first,
    "last": _last,
    "position": _position,
}
