"""Generate the features of a target: small functions in a tuple, each of which looks at one thing.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section III-C.1.
Notation:   F(a, p) = {(T, l, V)} -> `Feature(kind, level, values)`; a slot is a feature without its value.
Readings:   "Every preceding sibling" is the first two each side, at levels up to 5: a list has thousands.
            A disjunction joins the values of one slot on several pages, at most three.
Departures: Class words, features of any ancestor, weak attributes, and text anchors that the paper has not:
            `GENERATORS`. The paper's own set is `PUBLISHED`. In a list all items of a page share a value.
Cost:       Linear in the depth of the target.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from rules.algorithms.learning.node_index import NodeIndex
from rules.algorithms.learning.nodes import ITSELF, LONGEST_ANCHOR
from rules.algorithms.rule.feature import Feature
from rules.algorithms.rule.rule import TEXT_TARGET
from rules.algorithms.rule.xpaths import label_of

MOST_VALUES = 3  # of a disjunction
MOST_SIBLINGS = 2
MOST_LEVELS = 40  # of a chain; what is farther away is no feature
SIBLING_LEVELS = 5
ANCHOR_LEVELS = 4
WEAK_LEVELS = 3
LONGEST_VALUE = 120  # characters of an attribute's value
PLAIN = {"id", "class"}
# Set on the elements above the record in a record's sample; its name is one that no page's feature has.
ABOVE_RECORD: Final = "vertex.above"
# HTML attributes that hold the page's own content, or say where it leads.
CONTENT = {
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

    universe: NodeIndex
    positive: Positive
    nodes: tuple[int, ...]

    @property
    def elements(self) -> Iterator[tuple[int, int]]:
        """The levels that are elements, with their nodes."""
        for level, number in enumerate(self.nodes):
            if self.universe.nodes[number].text is None:
                yield level, number

    def attributes(self, number: int) -> list[tuple[str, str]]:
        """Return an element's HTML attributes that XPath can name."""
        element, part = self.universe.nodes[number].place
        if part != ITSELF:
            return []
        named = ((str(name), str(value)) for name, value in element.items())
        return [
            (name, value)
            for name, value in named
            if name.replace("-", "").replace("_", "").isalnum()
        ]

    def tag(self, number: int) -> str:
        return str(self.universe.nodes[number].place[0].tag)


def chain_of(universe: NodeIndex, positive: Positive) -> Chain:
    nodes = [positive.node]
    while (parent := universe.nodes[nodes[-1]].parent) >= 0 and len(nodes) < MOST_LEVELS:
        nodes.append(parent)
    return Chain(universe, positive, tuple(nodes))


def tags(chain: Chain) -> Iterator[Feature]:
    for level, number in chain.elements:
        if (tag := chain.tag(number)).isalnum():
            yield Feature("tag", level, (tag,))


def ids_and_classes(chain: Chain) -> Iterator[Feature]:
    for level, number in chain.elements:
        yield from _ids_and_classes(chain, number, level)


def _ids_and_classes(
    chain: Chain, number: int, level: int, axis: Axis = "self", distance: int = 0
) -> Iterator[Feature]:
    for name, value in chain.attributes(number):
        if name in PLAIN:
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
        if (tag := chain.tag(number)).isalnum():
            yield Feature("tag", 0, (tag,), axis="ancestor")
        for name, value in chain.attributes(number):
            if name in PLAIN:
                yield Feature(name, 0, (value,), axis="ancestor")
        for token in _tokens(chain, number):
            yield Feature("token", 0, (token,), axis="ancestor")


def siblings(chain: Chain) -> Iterator[Feature]:
    universe = chain.universe
    axes: list[tuple[Axis, Sequence[int]]] = [
        ("preceding-sibling", universe.befores),  # type: ignore[list-item]
        ("following-sibling", universe.afters),  # type: ignore[list-item]
    ]
    for level, number in enumerate(chain.nodes[: SIBLING_LEVELS + 1]):
        for axis, steps in axes:
            sibling = number
            for distance in range(1, MOST_SIBLINGS + 1):
                sibling = int(steps[sibling])
                if sibling == universe.n:
                    break
                yield from _of_sibling(chain, sibling, level, axis, distance)


def _of_sibling(
    chain: Chain, sibling: int, level: int, axis: Axis, distance: int
) -> Iterator[Feature]:
    if (tag := chain.tag(sibling)).isalnum():
        yield Feature("tag", level, (tag,), axis=axis, distance=distance)
    yield from _ids_and_classes(chain, sibling, level, axis, distance)


def places(chain: Chain) -> Iterator[Feature]:
    """Yield whether a node is the first, the last or the n-th child; where a record stands is no feature."""
    universe = chain.universe
    for level, number in enumerate(chain.nodes[: SIBLING_LEVELS + 1]):
        node = universe.nodes[number]
        if node.place[0].get(ABOVE_RECORD) is not None:
            break
        if node.n_before == 0:
            yield Feature("first", level)
        if universe.afters[number] == universe.n:
            yield Feature("last", level)
        yield Feature("position", level, distance=node.n_before + 1)


def weak_attributes(chain: Chain) -> Iterator[Feature]:
    return (feature for feature in all_attributes(chain) if feature.level <= WEAK_LEVELS)


def all_attributes(chain: Chain) -> Iterator[Feature]:
    """Yield all HTML attributes but id and class, at all levels."""
    for level, number in chain.elements:
        for name, value in chain.attributes(number):
            if name not in PLAIN and f"@{name}" != chain.positive.target:
                yield Feature("has", level, name=name)
                if name.partition("-")[0] not in CONTENT and len(value) <= LONGEST_VALUE:
                    yield Feature("attribute", level, (value,), name=name)


def labels(chain: Chain) -> Iterator[Feature]:
    """Yield the text before the value: in the node, or else the nearest before it."""
    own = label_of(chain.positive.left)
    label = own or chain.universe.labels[chain.universe.text_before[chain.positive.node]]
    if label and len(label) <= LONGEST_ANCHOR:
        yield Feature("label", 0, (label,))


def texts_before(chain: Chain) -> Iterator[Feature]:
    universe = chain.universe
    for level, number in enumerate(chain.nodes[: ANCHOR_LEVELS + 1]):
        if level and (label := universe.labels[universe.text_before[number]]):
            yield Feature("before", level, (label,))


def texts_after(chain: Chain) -> Iterator[Feature]:
    universe = chain.universe
    if not chain.positive.right and (
        label := universe.labels[universe.text_after[chain.positive.node]]
    ):
        yield Feature("after", 0, (label,))


def texts_beside(chain: Chain) -> Iterator[Feature]:
    """Yield the text of the nearest sibling before, and of the nearest of another tag."""
    universe = chain.universe
    for level, number in enumerate(chain.nodes[: ANCHOR_LEVELS + 1]):
        sibling = int(universe.befores[number])
        if label := _label_of_element(universe, sibling):
            yield Feature("sibling_text", level, (label,))
        if universe.nodes[number].text is None and (tag := chain.tag(number)).isalnum():
            while sibling < universe.n and chain.tag(sibling) == tag:
                sibling = int(universe.befores[sibling])
            if label := _label_of_element(universe, sibling):
                yield Feature("heading", level, (label,), name=tag)


def _label_of_element(universe: NodeIndex, number: int) -> str:
    if number >= universe.n:
        return ""
    label = label_of(universe.string(number)[: 4 * LONGEST_ANCHOR])
    return label if len(label) <= LONGEST_ANCHOR else ""


def first_texts(chain: Chain) -> Iterator[Feature]:
    """Yield the first text within an ancestor, where it is not the target's own."""
    universe = chain.universe
    for level, number in enumerate(chain.nodes[: ANCHOR_LEVELS + 1]):
        text = int(universe.first_text[number])
        if level and text != chain.positive.node and (label := universe.labels[text]):
            yield Feature("first_text", level, (label,))


def words_inside(chain: Chain) -> Iterator[Feature]:
    """Yield the text that stands before and after the value in its node."""
    left, right = chain.positive.left, chain.positive.right
    if left and len(left) <= LONGEST_ANCHOR:
        yield Feature("starts", 0, (left,))
    if left:
        _, blank, word = left.rpartition(" ")  # with the blank it divides no word
        yield Feature("contains", 0, (blank + word if word.isalnum() else word,))
    if right:
        yield Feature("contains", 0, (right.split()[0],))


def texts_outside(chain: Chain) -> Iterator[Feature]:
    """Yield the words and texts next to the node, where there are none beside the value within it."""
    universe, positive = chain.universe, chain.positive
    before, after = universe.text_before[positive.node], universe.text_after[positive.node]
    if not positive.left and before < universe.n:
        yield Feature("before_ends", 0, (universe.nodes[before].shown.split(" ")[-1],))
        if universe.labels[before]:
            yield Feature("before", 0, (universe.labels[before],))
    if not positive.right and after < universe.n:
        yield Feature("after_starts", 0, (universe.nodes[after].shown.split(" ")[0],))
        if universe.labels[after]:
            yield Feature("after", 0, (universe.labels[after],))


STRUCTURE: Final = (tags, ids_and_classes, siblings)
PUBLISHED: Final = (*STRUCTURE, words_inside, texts_outside)
GENERATORS: Final = (
    *STRUCTURE,
    tokens,
    ancestors,
    places,
    weak_attributes,
    labels,
    texts_before,
    texts_after,
    texts_beside,
    first_texts,
    words_inside,
)


def features_of(
    universe: NodeIndex,
    positives: Sequence[Positive],
    generators: Iterable[Callable[[Chain], Iterator[Feature]]] = GENERATORS,
) -> list[Feature]:
    """Return the features that all positives have, disjunctions included, in a fixed order."""
    generators = tuple(generators)
    by_page: dict[int, list[set[Feature]]] = defaultdict(list)
    for positive in positives:
        chain = chain_of(universe, positive)
        by_page[positive.page].append({f for generate in generators for f in generate(chain)})
    of_pages = [set.intersection(*found) for found in by_page.values()]
    shared = set.intersection(*of_pages)
    return sorted(shared | set(_disjunctions(of_pages)), key=_order)


def _disjunctions(of_pages: Sequence[set[Feature]]) -> Iterator[Feature]:
    """Yield the features of two or three values: one slot, of which each page has one value."""
    tables = [_by_slot(features) for features in of_pages]
    for slot in set.intersection(*(set(table) for table in tables)):
        if all(len(table[slot]) == 1 for table in tables):
            values = sorted({next(iter(table[slot])) for table in tables})
            if 1 < len(values) <= MOST_VALUES:
                yield replace(slot, values=tuple(values))


def _by_slot(features: Iterable[Feature]) -> dict[Feature, set[str]]:
    found: dict[Feature, set[str]] = defaultdict(set)
    for feature in features:
        if feature.values:
            found[replace(feature, values=())].add(feature.values[0])
    return found


def _order(feature: Feature) -> tuple[int, str, str, int, str, tuple[str, ...]]:
    return (
        feature.level,
        feature.kind,
        feature.axis,
        feature.distance,
        feature.name,
        feature.values,
    )
