"""Find what is new on pages nobody annotated: kinds of texts and images, and labels, not met before.

Notation:   The kind of a text node or image is the tags and classes of its parent and of two elements above
            it, with the id of the parent.
Readings:   A kind or label is the template's where at least two samples have it; what one page has alone is
            its content. A label is a short text.
Cost:       One look at each text node.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Sequence
from typing import Final, Literal, NamedTuple

from clustering.dom.visible import INVISIBLE_TAGS
from rules.algorithms.learning.naming import names_attribute
from rules.algorithms.learning.node_index import NodeIndex, NodeSet

FEWEST_PAGES: Final = 2
PLACEHOLDER: Final = 3  # pages that must show the same text
DISTINCT: Final = 0.8  # share of the other values that must differ
_NOTHING = re.compile(r"\W+|n/?a|none|unknown|tb[acd]|null|nil", re.IGNORECASE)
WORDS: Final = 3  # of a label that names an attribute
LONGEST_LABEL: Final = 40
LEVELS: Final = 3
_DIGIT = re.compile(r"\d")
UNSEEN: Final = INVISIBLE_TAGS | {"title", "option"}


class New(NamedTuple):
    """A text node or image of a kind, or with a label, that no annotated page has."""

    node: int
    text: str
    what: Literal["text", "label", "image"]
    pages: frozenset[int]  # that have it


def find_news(
    index: NodeIndex, pages: Sequence[NodeSet], annotated: Sequence[bool]
) -> list[list[New]]:
    """Return what is new on each page; nothing on annotated ones."""
    keys_by_page = [_keys_of(index, bits) for bits in pages]
    having: dict[Hashable, set[int]] = defaultdict(set)
    seen: set[Hashable] = set()
    for number, (keys, is_annotated) in enumerate(zip(keys_by_page, annotated, strict=True)):
        for key in keys:
            having[key].add(number)
        if is_annotated:
            seen.update(keys)
    return [
        []
        if is_annotated
        else [
            New(node, index.nodes[node].shown, _what(index, key, node), frozenset(having[key]))
            for key, node in keys.items()
            if key not in seen and len(having[key]) >= FEWEST_PAGES
        ]
        for keys, is_annotated in zip(keys_by_page, annotated, strict=True)
    ]


def richest(index: NodeIndex, pages: Sequence[NodeSet], attributes: Collection[str] = ()) -> int:
    """Return the page to annotate first: it labels most attributes, and shows most of what many show."""
    keys_by_page = [_keys_of(index, bits) for bits in pages]
    n_pages: dict[Hashable, int] = defaultdict(int)
    for keys in keys_by_page:
        for key in keys:
            n_pages[key] += 1
    worth = [
        sum(n_pages[key] for key in keys if n_pages[key] >= FEWEST_PAGES) for keys in keys_by_page
    ]
    named = [
        sum(
            any(isinstance(key, str) and is_named(name, key) for key in keys) for name in attributes
        )
        for keys in keys_by_page
    ]
    return max(range(len(pages)), key=lambda page: (named[page], worth[page], -page))


def find_placeholders(found: Sequence[Sequence[str]], confirmed: Collection[str]) -> frozenset[str]:
    """Return the values that several pages show where nearly all others differ, and nobody confirmed.

    >>> sorted(find_placeholders([["a b"], ["c"], ["d"], ["e"], ["f"], *[["No text"]] * 3], ()))
    ['No text']
    """
    counts = Counter(values[0] for values in found if values)
    alone = [value for value, n in counts.items() if n < PLACEHOLDER]
    n_alone = sum(counts[value] for value in alone)
    if not n_alone or len(alone) < DISTINCT * n_alone or n_alone * 2 < sum(counts.values()):
        return frozenset()
    often = [value for value, n in counts.items() if n >= PLACEHOLDER]
    return frozenset(v for v in often if " " in v or _NOTHING.fullmatch(v)) - frozenset(confirmed)


def is_named(attribute: str, label: str) -> bool:
    """Say whether a label of a few words names an attribute."""
    return len(label.split()) <= WORDS and names_attribute(attribute, label)


def _keys_of(index: NodeIndex, bits: NodeSet) -> dict[Hashable, int]:
    """Return the kinds and labels of a page, each with the first text node that has it."""
    numbers = _range_of(bits)
    if not numbers:
        return {}
    page = index.pages[index.nodes[numbers[0]].page]
    counted = page.once("keys", lambda: _read_keys(index, numbers))
    return {key: page.first + number for key, number in counted.items()}


def _read_keys(index: NodeIndex, numbers: range) -> dict[Hashable, int]:
    """Return the kinds and labels of a page, with their nodes counted from its first one."""
    found: dict[Hashable, int] = {}
    kinds: dict[int, tuple[str, ...] | None] = {}
    labels = index.labels
    for number in numbers:
        node = index.nodes[number]
        if node.text is None:
            if node.element.tag == "img":
                found.setdefault(("img", *_kind(index, number)), number)
            continue
        if node.parent not in kinds:
            is_unseen = index.nodes[node.parent].element.tag in UNSEEN
            kinds[node.parent] = None if is_unseen else _kind(index, number)
        kind = kinds[node.parent]
        if kind is None:
            continue
        found.setdefault(kind, number)
        label = labels[number]
        if label and len(label) <= LONGEST_LABEL and not _DIGIT.search(label):
            found.setdefault(label, number)
    return {key: number - numbers[0] for key, number in found.items()}


def _range_of(bits: NodeSet) -> range:
    """Return the numbers of a page's nodes, which follow one another."""
    return range((bits & -bits).bit_length() - 1, bits.bit_length()) if bits else range(0)


def _what(index: NodeIndex, key: Hashable, node: int) -> Literal["text", "label", "image"]:
    if isinstance(key, str):
        return "label"
    return "text" if index.nodes[node].text is not None else "image"


def _kind(index: NodeIndex, number: int) -> tuple[str, ...]:
    steps = []
    parent = index.nodes[number].parent
    for _ in range(LEVELS):
        if parent < 0:
            break
        element = index.nodes[parent].element
        attributes = element.attrib
        steps.append(f"{element.tag}.{attributes.get('class', '')}")
        if len(steps) == 1:
            steps[0] += f"#{attributes.get('id', '')}"
        parent = index.nodes[parent].parent
    return tuple(steps)
