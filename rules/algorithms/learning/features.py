"""Generate the features of a target: small functions in a tuple, each of which looks at one thing.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            III-C.1.
Notation:   F(a, p) = {(T, l, V)} -> `Feature(kind, level, values)`; a slot is a feature without
            its value.
Readings:   "Every preceding sibling" is the first ten each side, at levels up to 5: a list has
            thousands; two for the default learner. A disjunction joins the values of one slot on
            several pages, at most three.
Departures: Class words, features of any ancestor, weak attributes, and text anchors that the paper
            has not: `GENERATORS`. The paper's own set is `PUBLISHED`. In a list all items of a
            page share a value.
Cost:       Linear in the depth of the target.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final, Literal

from rules.algorithms.learning.node_index import NodeIndex
from rules.algorithms.learning.nodes import ITSELF, MAX_ANCHOR_CHARS, MAX_OPENING_CHARS
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET
from rules.algorithms.rule.xpaths import label_of, shape_of

MAX_DISJUNCTS = 3  # values of a disjunction
MAX_SIBLING_DISTANCE = 2
MAX_DISTANCE_OF_EACH_SIBLING = 10
MAX_LEVEL = 39  # of a chain; what is farther away is no feature
MAX_SIBLING_LEVEL = 5
MAX_ANCHOR_LEVEL = 4
MAX_WEAK_LEVEL = 3
MAX_HTML_VALUE_CHARS = 120
MIN_SHAPE_CHARS, MAX_SHAPE_CHARS = 2, 24  # of a text whose form can be its kind
ID_AND_CLASS = {"id", "class"}
# Set on the elements above the record in a record's sample; its name is one that no page's feature
# has.
ABOVE_RECORD: Final = "vertex.above"
# HTML attributes that hold the page's own content, or say where it leads.
CONTENT_ATTRIBUTES = {
    "href",
    "src",
    "srcset",
    "content",
    "value",
    "datetime",
    "alt",
    "title",
    "action",
    "style",
    "data",
}

_SHAPED = re.compile(r"(?=.*[0-9])[\W\d_]+")  # no letter, and a digit

Axis = Literal["self", "ancestor", "preceding-sibling", "following-sibling"]


@dataclass(frozen=True, slots=True)
class Positive:
    """An annotated node with the text around its value."""

    node: int
    page: int
    left: str = ""  # the text before the value within the node
    right: str = ""
    target: str = TEXT_TARGET


@dataclass(frozen=True, slots=True)
class Chain:
    """A positive and its ancestors, from the target up."""

    index: NodeIndex
    positive: Positive
    nodes: tuple[int, ...]

    @property
    def elements(self) -> Iterator[tuple[int, int]]:
        """The levels that are elements, with their nodes."""
        for level, number in enumerate(self.nodes):
            if self.index.nodes[number].text is None:
                yield level, number

    def attributes(self, number: int) -> list[tuple[str, str]]:
        """Return an element's HTML attributes that XPath can name."""
        node = self.index.nodes[number]
        if node.part != ITSELF:
            return []
        named = [(str(name), str(value)) for name, value in node.element.items()]
        return [
            (name, value)
            for name, value in named
            if name.replace("-", "").replace("_", "").isalnum()
        ]

    def tag(self, number: int) -> str:
        """Return an element's tag, empty where XPath cannot name it."""
        tag = str(self.index.nodes[number].element.tag)
        return tag if tag.isalnum() else ""


def chain_of(index: NodeIndex, positive: Positive) -> Chain:
    nodes = [positive.node]
    parent = index.nodes[positive.node].parent
    while parent >= 0 and len(nodes) <= MAX_LEVEL:
        nodes.append(parent)
        parent = index.nodes[parent].parent
    return Chain(index, positive, tuple(nodes))


def tags(chain: Chain) -> Iterator[Feature]:
    for level, number in chain.elements:
        tag = chain.tag(number)
        if tag:
            yield Feature("tag", level, (tag,))


def ids_and_classes(chain: Chain) -> Iterator[Feature]:
    for level, number in chain.elements:
        yield from _ids_and_classes(chain, number, level)


def _ids_and_classes(
    chain: Chain, number: int, level: int, axis: Axis = "self", distance: int = 0
) -> Iterator[Feature]:
    for name, value in chain.attributes(number):
        if name in ID_AND_CLASS:
            yield Feature(name, level, (value,), axis=axis, distance=distance)
            yield Feature("has", level, name=name, axis=axis, distance=distance)


def tokens(chain: Chain) -> Iterator[Feature]:
    for level, number in chain.elements:
        for token in _tokens(chain, number):
            yield Feature("token", level, (token,))


def _tokens(chain: Chain, number: int) -> list[str]:
    return sorted(set(dict(chain.attributes(number)).get("class", "").split()))


def ancestors(chain: Chain) -> Iterator[Feature]:
    """Yield what any ancestor has, without its level."""
    for level, number in chain.elements:
        if level == 0:
            continue
        tag = chain.tag(number)
        if tag:
            yield Feature("tag", 0, (tag,), axis="ancestor")
        for name, value in chain.attributes(number):
            if name in ID_AND_CLASS:
                yield Feature(name, 0, (value,), axis="ancestor")
        for token in _tokens(chain, number):
            yield Feature("token", 0, (token,), axis="ancestor")


def siblings(chain: Chain) -> Iterator[Feature]:
    return _siblings(chain, MAX_SIBLING_DISTANCE)


def each_sibling(chain: Chain) -> Iterator[Feature]:
    """Yield what siblings have, as far as a feature of the paper goes."""
    return _siblings(chain, MAX_DISTANCE_OF_EACH_SIBLING)


def _siblings(chain: Chain, max_distance: int) -> Iterator[Feature]:
    index = chain.index
    axes: list[tuple[Axis, Sequence[int]]] = [
        ("preceding-sibling", index.befores),  # type: ignore[list-item]
        ("following-sibling", index.afters),  # type: ignore[list-item]
    ]
    for level, number in enumerate(chain.nodes[: MAX_SIBLING_LEVEL + 1]):
        for axis, steps in axes:
            sibling = number
            for distance in range(1, max_distance + 1):
                sibling = int(steps[sibling])
                if sibling == index.n:
                    break
                yield from _of_sibling(chain, sibling, level, axis, distance)


def _of_sibling(
    chain: Chain, sibling: int, level: int, axis: Axis, distance: int
) -> Iterator[Feature]:
    tag = chain.tag(sibling)
    if tag:
        yield Feature("tag", level, (tag,), axis=axis, distance=distance)
    yield from _ids_and_classes(chain, sibling, level, axis, distance)


def positions(chain: Chain) -> Iterator[Feature]:
    """Yield whether a node is the first, last or n-th child; that of a record is no feature."""
    index = chain.index
    for level, number in enumerate(chain.nodes[: MAX_SIBLING_LEVEL + 1]):
        node = index.nodes[number]
        if node.element.get(ABOVE_RECORD) is not None:
            break
        if node.n_before == 0:
            yield Feature("first", level)
        if index.afters[number] == index.n:
            yield Feature("last", level)
        yield Feature("position", level, distance=node.n_before + 1)


def weak_attributes(chain: Chain) -> Iterator[Feature]:
    return (feature for feature in all_attributes(chain) if feature.level <= MAX_WEAK_LEVEL)


def all_attributes(chain: Chain) -> Iterator[Feature]:
    """Yield all HTML attributes but id and class, at all levels."""
    for level, number in chain.elements:
        for name, value in chain.attributes(number):
            if name not in ID_AND_CLASS and f"@{name}" != chain.positive.target:
                yield Feature("has", level, name=name)
                if (
                    name.partition("-")[0] not in CONTENT_ATTRIBUTES
                    and len(value) <= MAX_HTML_VALUE_CHARS
                ):
                    yield Feature("attribute", level, (value,), name=name)


def labels(chain: Chain) -> Iterator[Feature]:
    """Yield the text before the value: in the node, or else the nearest before it."""
    index = chain.index
    label = label_of(chain.positive.left)
    if not label:
        label = index.labels[index.text_before[chain.positive.node]]
    if label and len(label) <= MAX_ANCHOR_CHARS:
        yield Feature("label", 0, (label,))


def texts_before(chain: Chain) -> Iterator[Feature]:
    index = chain.index
    for level, number in enumerate(chain.nodes[: MAX_ANCHOR_LEVEL + 1]):
        label = index.labels[index.text_before[number]]
        if level > 0 and label:
            yield Feature("before", level, (label,))


def texts_after(chain: Chain) -> Iterator[Feature]:
    index = chain.index
    label = index.labels[index.text_after[chain.positive.node]]
    if not chain.positive.right and label:
        yield Feature("after", 0, (label,))


def texts_beside(chain: Chain) -> Iterator[Feature]:
    """Yield the text of the nearest sibling before, and of the nearest of another tag."""
    index = chain.index
    for level, number in enumerate(chain.nodes[: MAX_ANCHOR_LEVEL + 1]):
        sibling = int(index.befores[number])
        label = _label_of_element(index, sibling)
        if label:
            yield Feature("sibling_text", level, (label,))
        tag = chain.tag(number)
        if index.nodes[number].text is not None or not tag:
            continue
        while sibling < index.n and chain.tag(sibling) == tag:
            sibling = int(index.befores[sibling])
        heading = _label_of_element(index, sibling)
        if heading:
            yield Feature("heading", level, (heading,), name=tag)


def _label_of_element(index: NodeIndex, number: int) -> str:
    if number >= index.n:
        return ""
    label = label_of(index.string(number)[:MAX_OPENING_CHARS])
    return label if len(label) <= MAX_ANCHOR_CHARS else ""


def first_texts(chain: Chain) -> Iterator[Feature]:
    """Yield the first text within an ancestor, where it is not the target's own."""
    index = chain.index
    for level, number in enumerate(chain.nodes[: MAX_ANCHOR_LEVEL + 1]):
        text = int(index.first_text[number])
        label = index.labels[text]
        if level > 0 and text != chain.positive.node and label:
            yield Feature("first_text", level, (label,))


def shapes(chain: Chain) -> Iterator[Feature]:
    """Yield how a text of digits and marks is written, which tells a phone number from a year."""
    text = chain.index.nodes[chain.positive.node].shown
    if MIN_SHAPE_CHARS <= len(text) <= MAX_SHAPE_CHARS and _SHAPED.fullmatch(text):
        yield Feature("shape", 0, (shape_of(text),))


def words_inside(chain: Chain) -> Iterator[Feature]:
    """Yield the text that stands before and after the value in its node."""
    left, right = chain.positive.left, chain.positive.right
    if left and len(left) <= MAX_ANCHOR_CHARS:
        yield Feature("starts", 0, (left,))
    if left:
        _, blank, word = left.rpartition(" ")
        if word.isalnum():
            word = blank + word  # with the blank it divides no word
        yield Feature("contains", 0, (word,))
    if right:
        yield Feature("contains", 0, (right.split()[0],))


def texts_behind(chain: Chain) -> Iterator[Feature]:
    """Yield the text that stands behind the value in its node, at its end."""
    right = chain.positive.right
    if right and len(right) <= MAX_ANCHOR_CHARS:
        yield Feature("ends", 0, (right,))


def texts_outside(chain: Chain) -> Iterator[Feature]:
    """Yield the words and texts next to the node, where none stand beside the value within it."""
    index, positive = chain.index, chain.positive
    before = index.text_before[positive.node]
    if not positive.left and before < index.n:
        yield Feature("before_ends", 0, (index.nodes[before].shown.split(" ")[-1],))
        if index.labels[before]:
            yield Feature("before", 0, (index.labels[before],))
    after = index.text_after[positive.node]
    if not positive.right and after < index.n:
        yield Feature("after_starts", 0, (index.nodes[after].shown.split(" ")[0],))
        if index.labels[after]:
            yield Feature("after", 0, (index.labels[after],))


STRUCTURE: Final = (tags, ids_and_classes, siblings)
PUBLISHED: Final = (
    tags,
    ids_and_classes,
    each_sibling,
    words_inside,
    texts_behind,
    texts_outside,
)
GENERATORS: Final = (
    *STRUCTURE,
    tokens,
    ancestors,
    positions,
    weak_attributes,
    labels,
    texts_before,
    texts_after,
    texts_beside,
    first_texts,
    words_inside,
    shapes,
)


def features_of(
    index: NodeIndex,
    positives: Sequence[Positive],
    generators: Iterable[Callable[[Chain], Iterator[Feature]]] = GENERATORS,
    doubles: Mapping[Positive, Sequence[Positive]] = MappingProxyType({}),
) -> list[Feature]:
    """Return the features that all positives have, disjunctions included, in a fixed order.

    A feature counts where a positive or one of its doubles has it. Disjunctions are made of
    what the positives of each page share, without their doubles. Without positives there
    are no features.
    """
    generators = tuple(generators)
    features_by_page: dict[int, set[Feature]] = {}
    shared: set[Feature] | None = None
    for positive in positives:
        features = _features_at(index, positive, generators)
        features_so_far = features_by_page.get(positive.page, features)
        features_by_page[positive.page] = features_so_far & features
        with_doubles = set(features)
        for double in doubles.get(positive, ()):
            with_doubles |= _features_at(index, double, generators)
        shared = with_doubles if shared is None else shared & with_doubles
    disjunctions = _disjunctions(list(features_by_page.values()))
    return sorted((shared or set()).union(disjunctions), key=_order)


def _features_at(
    index: NodeIndex, positive: Positive, generators: Iterable[Callable[[Chain], Iterator[Feature]]]
) -> set[Feature]:
    chain = chain_of(index, positive)
    return {feature for generate in generators for feature in generate(chain)}


def _disjunctions(features_of_pages: Sequence[set[Feature]]) -> Iterator[Feature]:
    """Yield features with two or three values: any of them may stand there.

    They are made of slots, features without their values, that have one value on each page.
    """
    tables = [_values_by_slot(features) for features in features_of_pages]
    for slot in set.intersection(*(set(table) for table in tables)):
        if any(len(table[slot]) > 1 for table in tables):
            continue
        values = sorted(set.union(*(table[slot] for table in tables)))
        if 1 < len(values) <= MAX_DISJUNCTS:
            yield replace(slot, values=tuple(values))


def _values_by_slot(features: Iterable[Feature]) -> dict[Feature, set[str]]:
    values_by_slot: dict[Feature, set[str]] = defaultdict(set)
    for feature in features:
        if feature.values:
            values_by_slot[replace(feature, values=())].add(feature.values[0])
    return values_by_slot


def _order(feature: Feature) -> tuple[int, str, str, int, str, tuple[str, ...]]:
    return (
        feature.level,
        feature.kind,
        feature.axis,
        feature.distance,
        feature.name,
        feature.values,
    )
