"""Find what is new on pages nobody annotated: kinds of texts and images, labels not met before.

Notation:   The kind of a text node or image is the tags and classes of its parent and of two
            elements above it, with the id of the parent.
Readings:   A kind or label is the template's where at least two samples have it; what one page has
            alone is its content. A label is a short text.
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

MIN_PAGES: Final = 2  # that have what belongs to the template
MIN_PLACEHOLDER_PAGES: Final = 3  # that show the same text
MIN_DISTINCT_SHARE: Final = 0.8  # of the other values, which must differ
MAX_LABEL_WORDS: Final = 3  # of a label that names an attribute
MAX_LABEL_CHARS: Final = 40
KIND_LEVELS: Final = 3  # elements above a node that make its kind
INVISIBLE_PARENTS: Final = INVISIBLE_TAGS | {"title", "option"}
_NO_VALUE = re.compile(r"\W+|n/?a|none|unknown|tb[acd]|null|nil", re.IGNORECASE)
_DIGIT = re.compile(r"\d")


class New(NamedTuple):
    """A text node or image of a kind, or with a label, that no annotated page has."""

    node: int
    text: str
    what: Literal["text", "label", "image"]
    pages: frozenset[int]  # that have it
    kind: Hashable = None  # what is new


def find_news(
    index: NodeIndex, pages: Sequence[NodeSet], annotated: Sequence[bool]
) -> list[list[New]]:
    """Return what is new on each page; nothing on annotated ones."""
    keys_by_page = [_keys_of(index, bits) for bits in pages]
    pages_by_key: dict[Hashable, set[int]] = defaultdict(set)
    annotated_keys: set[Hashable] = set()
    for number, (keys, is_annotated) in enumerate(zip(keys_by_page, annotated, strict=True)):
        for key in keys:
            pages_by_key[key].add(number)
        if is_annotated:
            annotated_keys.update(keys)

    news_by_page: list[list[New]] = []
    for keys, is_annotated in zip(keys_by_page, annotated, strict=True):
        news: list[New] = []
        news_by_page.append(news)
        if is_annotated:
            continue
        for key, node in keys.items():
            having = pages_by_key[key]
            if key not in annotated_keys and len(having) >= MIN_PAGES:
                text = index.nodes[node].shown
                news.append(New(node, text, _what(index, key, node), frozenset(having), key))
    return news_by_page


def richest(index: NodeIndex, pages: Sequence[NodeSet], attributes: Collection[str] = ()) -> int:
    """Return the page to annotate first: with most labelled attributes, most of what many show."""
    keys_by_page = [_keys_of(index, bits) for bits in pages]
    twice_by_page = [_kinds_shown_twice(index, bits) for bits in pages]
    n_pages_by_key = Counter(key for keys in keys_by_page for key in keys)
    n_pages_by_kind_twice = Counter(kind for kinds in twice_by_page for kind in kinds)

    def richness(page: int) -> tuple[int, int, int]:
        keys = keys_by_page[page]
        labels = [key for key in keys if isinstance(key, str)]
        n_named = sum(any(is_named(name, label) for label in labels) for name in attributes)
        counts = [n_pages_by_key[key] for key in keys]
        counts += [n_pages_by_kind_twice[kind] for kind in twice_by_page[page]]
        n_shared = sum(count for count in counts if count >= MIN_PAGES)
        return n_named, n_shared, -page

    return max(range(len(pages)), key=richness)


def find_placeholders(
    values_by_page: Sequence[Sequence[str]], confirmed: Collection[str]
) -> frozenset[str]:
    """Return values that several pages show where nearly all others differ, and nobody confirmed.

    >>> sorted(find_placeholders([["a b"], ["c"], ["d"], ["e"], ["f"], *[["No text"]] * 3], ()))
    ['No text']
    """
    counts = Counter(values[0] for values in values_by_page if values)
    rare = [value for value, n in counts.items() if n < MIN_PLACEHOLDER_PAGES]
    n_with_rare = sum(counts[value] for value in rare)
    if not rare or n_with_rare * 2 < sum(counts.values()):
        return frozenset()
    if len(rare) < MIN_DISTINCT_SHARE * n_with_rare:
        return frozenset()
    placeholders = set()
    for value, n in counts.items():
        has_words = " " in value and not _DIGIT.search(value)
        if n >= MIN_PLACEHOLDER_PAGES and (has_words or _NO_VALUE.fullmatch(value)):
            placeholders.add(value)
    return frozenset(placeholders - set(confirmed))


def is_named(attribute: str, label: str) -> bool:
    """Return whether a label of a few words names an attribute."""
    return len(label.split()) <= MAX_LABEL_WORDS and names_attribute(attribute, label)


def _keys_of(index: NodeIndex, bits: NodeSet) -> dict[Hashable, int]:
    """Return the kinds and labels of a page, each with the first text node that has it."""
    numbers = _range_of(bits)
    if not numbers:
        return {}
    page = index.pages[index.nodes[numbers[0]].page]
    keys = page.once("keys", lambda: _read_keys(index, numbers))
    return {key: page.first + number for key, number in keys.items()}


def _kinds_shown_twice(index: NodeIndex, bits: NodeSet) -> set[Hashable]:
    """Return the kinds of which a page has several texts: fields may differ in place alone."""
    n_by_kind = Counter(
        kind_of_node(index, number)
        for number in _range_of(bits)
        if index.nodes[number].text is not None
    )
    return {kind for kind, n in n_by_kind.items() if n > 1}


def _read_keys(index: NodeIndex, numbers: range) -> dict[Hashable, int]:
    """Return the kinds and labels of a page, with their nodes counted from its first one."""
    first_by_key: dict[Hashable, int] = {}
    kind_by_parent: dict[int, tuple[str, ...] | None] = {}  # None where nobody sees the texts
    labels = index.labels
    for number in numbers:
        node = index.nodes[number]
        if node.text is None:
            if node.element.tag == "img":
                first_by_key.setdefault(("img", *kind_of_node(index, number)), number)
            continue
        if node.parent not in kind_by_parent:
            is_invisible = index.nodes[node.parent].element.tag in INVISIBLE_PARENTS
            kind_by_parent[node.parent] = None if is_invisible else kind_of_node(index, number)
        kind = kind_by_parent[node.parent]
        if kind is None:
            continue
        first_by_key.setdefault(kind, number)
        label = labels[number]
        if label and len(label) <= MAX_LABEL_CHARS and not _DIGIT.search(label):
            first_by_key.setdefault(label, number)
    return {key: number - numbers[0] for key, number in first_by_key.items()}


def _range_of(bits: NodeSet) -> range:
    """Return the numbers of a page's nodes, which follow one another."""
    return range((bits & -bits).bit_length() - 1, bits.bit_length()) if bits else range(0)


def _what(index: NodeIndex, key: Hashable, node: int) -> Literal["text", "label", "image"]:
    if isinstance(key, str):
        return "label"
    return "text" if index.nodes[node].text is not None else "image"


def kind_of_node(index: NodeIndex, number: int) -> tuple[str, ...]:
    """Return the tags and classes of the elements above a node, and the id of its parent."""
    steps = []
    parent = index.nodes[number].parent
    for _ in range(KIND_LEVELS):
        if parent < 0:
            break
        element = index.nodes[parent].element
        attributes = element.attrib
        steps.append(f"{element.tag}.{attributes.get('class', '')}")
        if len(steps) == 1:
            steps[0] += f"#{attributes.get('id', '')}"
        parent = index.nodes[parent].parent
    return tuple(steps)
