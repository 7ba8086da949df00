"""Find small groups of pages surely of one template: the ground on which groups are joined.

Notation:   Pages are joined by their profiles up to CLOSE; what came together is parted by address
            pattern, and by the first and the last word of the last segment, where both parts are
            large enough.
Readings:   The groups are meant to be pure, not few: a group that holds two templates cannot be
            parted later, and one template in many groups is joined by `joining`.
Cost:       Quadratic in the distinct pages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureTable
from clustering.algorithms.automatic.pair_features import structure_of
from clustering.algorithms.automatic.profiles import grouped, join_profiles, numbered

CLOSE = 0.40
MIN_PART_PAGES, MIN_PART_SHARE = 4, 0.02

_WORD = re.compile(r"[^\W\d_]+")


def find_structure(table: FeatureTable, close: float = CLOSE) -> NDArray[np.intp]:
    """Return the group of each page by structure alone."""
    dense = table.weighed.incidence.toarray()
    distinct, page_to_distinct, sizes = np.unique(
        dense, axis=0, return_inverse=True, return_counts=True
    )
    w = table.weighed.weights.astype(np.float32)
    joins = join_profiles(np.ascontiguousarray(distinct.T), w, sizes, close)
    return grouped(len(sizes), joins)[page_to_distinct.ravel()]


def part_by_addresses(
    structure: NDArray[np.intp], urls: Sequence[str], patterns: Sequence[str]
) -> NDArray[np.intp]:
    """Return the group of each page after what stands at different addresses is parted."""
    group = structure_of(structure, patterns)
    for word_of in (_first_word, _last_word):
        group = _part_by_word(group, urls, word_of)
    return group


def _part_by_word(
    group: NDArray[np.intp], urls: Sequence[str], word_of: Callable[[str], str]
) -> NDArray[np.intp]:
    """Part groups by a word of the last segment where at least two words have enough pages.

    Pages with other words stay together as the remainder.
    """
    min_pages = max(MIN_PART_PAGES, MIN_PART_SHARE * len(urls))
    words = [word_of(url) for url in urls]
    n_by_word = Counter(zip(group.tolist(), words, strict=True))
    n_by_group = Counter(group.tolist())
    labels = []
    for number, word in zip(group.tolist(), words, strict=True):
        n = n_by_word[number, word]
        is_part = n >= min_pages and n_by_group[number] - n >= min_pages
        labels.append(f"{number} {word if is_part else ''}")
    return numbered(np.array(labels))


def _first_word(url: str) -> str:
    words = _words(url)
    return words[0] if words else ""


def _last_word(url: str) -> str:
    words = _words(url)
    return words[-1] if words else ""


def _words(url: str) -> list[str]:
    """Return the words of an address's last segment without its extension."""
    segments = [segment for segment in urlsplit(url).path.split("/") if segment]
    if not segments:
        return []
    stem = re.sub(r"\.[A-Za-z]{2,5}$", "", segments[-1])
    return _WORD.findall(stem.lower())
