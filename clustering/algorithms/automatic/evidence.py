"""What a site offers to compare groups of its pages by: families of features, counts, addresses.

Notation:   A family is a set of features of one kind, each with a weight. Every family answers the
            same questions about two groups (`pair_features`), so a further kind of evidence is one
            more entry of FAMILIES.
Cost:       Linear in the features of the pages.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.automatic.feature_table import FeatureSet, FeatureTable, feature_set
from clustering.algorithms.automatic.page_features import PageFeatures, feature_names
from clustering.algorithms.automatic.page_walk import hash_text
from clustering.algorithms.url_patterns import beginnings

MAX_FRAME_SHARE = 0.97  # a path on more pages belongs to the frame of all of them
SKELETON_LEVELS = 4  # below the body
MAX_WORDS = 30  # of a title

FAMILIES = (
    "weighed",  # informative paths, fields and captions together
    "informative",
    "labelled",
    "captions",
    "labels",
    "fields",
    "paths",
    "skeleton",
    "frame",
    "titles",
    "declared",
    "address shape",
    "address pattern",
    "address words",
)

_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"\d+")
_EXTENSION = re.compile(r"\.[A-Za-z]{2,5}$")


class SiteEvidence(NamedTuple):
    """What is known of each page of a site."""

    families: Sequence[FeatureSet]  # in the order of FAMILIES
    counts: NDArray[np.float32]  # logarithms, a page a row
    patterns: Sequence[str]  # of the addresses

    def silencing(self, silenced: Collection[int]) -> SiteEvidence:
        """Return the evidence without the features of some families."""
        families = [
            family.select(np.zeros(len(family.hashes), np.bool_)) if number in silenced else family
            for number, family in enumerate(self.families)
        ]
        return self._replace(families=families)


def collect_evidence(
    table: FeatureTable,
    pages: Sequence[PageFeatures],
    urls: Sequence[str],
    patterns: Sequence[str],
) -> SiteEvidence:
    """Return all families of features of a site's pages."""
    n = len(pages)
    titles = [title_words(page.title) + title_words(page.heading, "h1 ") for page in pages]
    behind_host = [beginnings(pattern)[1:] for pattern in patterns]  # all have the host
    family_by_name = {
        "weighed": table.weighed,
        "informative": table.informative,
        "labelled": table.labelled,
        "captions": table.captions,
        "labels": table.texts,
        "fields": table.fields,
        "paths": table.paths.select(table.paths.df < MAX_FRAME_SHARE * n),
        "skeleton": _tokens(map(skeleton_of, pages)),
        "frame": _tokens(page.frame.split("\n") for page in pages),
        "titles": _tokens(titles),
        "declared": _tokens(page.declared.split("\n") for page in pages),
        "address shape": _tokens(map(address_shape, urls)),
        "address pattern": _tokens(behind_host),
        "address words": _tokens(map(address_words, urls)),
    }
    counts = np.log1p(np.stack([page.counts for page in pages]))
    return SiteEvidence([family_by_name[name] for name in FAMILIES], counts, patterns)


def skeleton_of(page: PageFeatures) -> list[str]:
    """Return the paths and token paths below the body down to a few levels, digits folded."""
    max_steps = SKELETON_LEVELS + 2  # html and body
    names = (name for name in feature_names(page) if name.count("/") <= max_steps)
    return [_NUMBER.sub("#", name) for name in names]


def title_words(title: str, sort: str = "") -> list[str]:
    """Return the words of a title with digits folded; its ends also as words of their own."""
    words = [_NUMBER.sub("#", word) for word in _WORD.findall(title.lower())[:MAX_WORDS]]
    if not words:
        return []
    return [
        *(sort + word for word in words),
        f"{sort}first {words[0]}",
        f"{sort}last {words[-1]}",
    ]


def address_shape(url: str) -> list[str]:
    """Return how an address is built, whatever its words are.

    >>> address_shape("http://a/shop/oak-17.html?page=2")
    ['2 segments', '1 *-#.html', 'key page']
    """
    parts = urlsplit(url)
    segments = parts.path.split("/")[1:]
    shapes = [f"{index} {_shape_of(segment)}" for index, segment in enumerate(segments) if index]
    keys = [f"key {key}" for key, _ in parse_qsl(parts.query, keep_blank_values=True)]
    return [f"{len(segments)} segments", *shapes, *keys]


def _shape_of(segment: str) -> str:
    """Return a segment with `#` for numbers and `*` for words; two words or more are `*-*`."""
    extension = _EXTENSION.search(segment)
    stem = segment[: extension.start()] if extension else segment
    shape = re.sub(r"[^\W\d_]+", "*", _NUMBER.sub("#", stem))
    shape = re.sub(r"\*(?:[-_+.]\*)+", "*-*", shape)
    return shape + (extension[0] if extension else "")


def address_words(url: str) -> list[str]:
    """Return the words of an address, each with the segment in which it stands.

    >>> address_words("http://a/shop/red-oak?id=2")
    ['0 shop', '1 red', '1 oak', '1 first red', '1 last oak', 'id #']
    """
    parts = urlsplit(url)
    words_of_address = []
    for index, segment in enumerate(parts.path.split("/")[1:]):
        words = [_NUMBER.sub("#", word) for word in _WORD.findall(segment.lower())]
        words_of_address += [f"{index} {word}" for word in words]
        if len(words) > 1:
            words_of_address += [f"{index} first {words[0]}", f"{index} last {words[-1]}"]
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        words_of_address.append(f"{key} {_NUMBER.sub('#', value)}")
    return words_of_address


def _tokens(tokens_by_page: Iterable[Iterable[str]]) -> FeatureSet:
    """Return the texts of pages as features, rarer ones heavier; those of one page are left out."""
    pages: list[int] = []
    hashes: list[int] = []
    n_pages = 0
    for page, tokens in enumerate(tokens_by_page):
        n_pages += 1
        for token in tokens:
            if token:
                pages.append(page)
                hashes.append(hash_text(token))
    keys = np.array(hashes, np.uint64)
    features = feature_set(n_pages, np.array(pages, np.intp), keys, keys, keys)
    features = features.weighing(1 - features.df / max(n_pages, 1))
    features = features.select((features.df > 1) & (features.df < n_pages))
    return features.strongest(features.df)
