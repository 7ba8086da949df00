"""Reduce a page to what the default clusterer needs: tag paths, their contents, texts in order.

Notation:   Features, as in `page_walk`; the content of a feature is the sum of the hashes of the
            texts that stand at it.
Departures: At most MAX_TEXTS texts of a page count.
Cost:       The walk, and then linear in the features and texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.page_walk import (
    MAX_TEXTS,
    PageWalk,
    label_and_hash,
    walk_page,
)
from clustering.algorithms.grouping import RawPage

Hashes: TypeAlias = NDArray[np.uint64]

# What is counted on a page, and by which tags.
COUNTED = {
    "links": ("a",),
    "images": ("img", "svg", "picture"),
    "inputs": ("input", "select", "textarea", "button"),
    "rows": ("tr", "li"),
    "paragraphs": ("p", "br"),
    "names of fields": ("dt", "dd", "th"),
    "headings": ("h1", "h2", "h3", "h4", "h5", "h6"),
    "elements": (),
    "text": (),
    "link text": (),
}

_FRAME = frozenset({"html", "body", "main", "article"})
_NUMBER = re.compile(r"\d+")
_64_BITS = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class PageFeatures:
    """What is kept of a page; arrays, so that it is small and quick to pass between processes."""

    features: Hashes  # in the order in which they are first met
    contents: Hashes  # of each feature; 0 where no text stands
    owners: NDArray[np.uint32]  # of each feature, the index of its element's path
    places: NDArray[np.uint32]  # of each text, the index of its path among the features
    texts: Hashes  # in document order; 0 for what is too long to be a label
    steps: str  # of each feature: the index of its parent and its own step, one a line
    labels: str  # the short texts themselves, one a line
    title: str  # the text of the page's title element
    heading: str  # the text of its first h1
    frame: str  # class and id tokens of the elements that hold the page together, one a line
    declared: str  # types and generator that the page declares, one a line
    counts: NDArray[np.float32]  # how much there is of each of COUNTED


def observe(page: RawPage) -> PageFeatures:
    """Reduce a page to its features and texts; a page without a tree has none."""
    walk = walk_page(page.tree)
    index_by_hash: dict[int, int] = {}
    owners: list[int] = []
    steps: list[str] = []
    for kind in walk.kinds:
        for feature in kind.features:
            if feature.hash not in index_by_hash:
                index = index_by_hash[feature.hash] = len(steps)
                parent = "" if feature.parent is None else index_by_hash[feature.parent]
                owners.append(index if feature.is_path else index_by_hash[kind.path.feature.hash])
                steps.append(f"{parent} {feature.step}")
    contents = [0] * len(steps)
    indices_by_kind = {
        kind: [index_by_hash[hashed] for hashed in kind.hashes] for kind in walk.kinds
    }
    texts: list[int] = []
    label_by_hash: dict[int, str] = {}
    for kind, text in walk.texts:
        label, hashed = label_and_hash(text)
        for index in indices_by_kind[kind]:
            contents[index] += hashed
        if len(texts) < MAX_TEXTS:
            texts.append(hashed if label else 0)
            if label:
                label_by_hash[hashed] = label
    return PageFeatures(
        np.array(list(index_by_hash), dtype=np.uint64),
        np.array([content & _64_BITS for content in contents], dtype=np.uint64),
        np.array(owners, dtype=np.uint32),
        np.array([indices_by_kind[kind][0] for kind, _ in walk.texts[:MAX_TEXTS]], dtype=np.uint32),
        np.array(texts, dtype=np.uint64),
        "\n".join(steps),
        "\n".join(label_by_hash.values()),
        walk.title,
        walk.heading,
        "\n".join(_frame_of(walk)),
        "\n".join(walk.declared),
        _counts_of(walk),
    )


def _frame_of(walk: PageWalk) -> dict[str, None]:
    """Return the tokens of the elements that hold the page together, each once, in order."""
    tokens: dict[str, None] = {}
    for kind in walk.kinds:
        if kind.path.tag not in _FRAME:
            continue
        _path, *token_paths = kind.features
        for feature in token_paths:
            tokens[kind.path.tag + _NUMBER.sub("#", feature.step)] = None
    return tokens


def _counts_of(walk: PageWalk) -> NDArray[np.float32]:
    """Return how much there is of each of COUNTED."""
    n_by_tag = Counter(walk.tags)
    n = {name: sum(n_by_tag[tag] for tag in tags) for name, tags in COUNTED.items()}
    n |= {
        "elements": len(walk.tags),
        "text": sum(len(text) for _, text in walk.texts),
        "link text": walk.n_link_chars,
    }
    return np.array(list(n.values()), np.float32)


def feature_names(page: PageFeatures) -> Iterator[str]:
    """Yield the features as they are shown: `/html/body/div`, `/html/body/div.price`."""
    names: list[str] = []
    for line in page.steps.split("\n") if page.steps else ():
        parent, _, step = line.partition(" ")
        names.append((names[int(parent)] if parent else "") + step)
        yield names[-1]
