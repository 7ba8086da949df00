"""Choose pages from all parts of a site, so that a type of few pages is among them.

Paper:      None; Vertex samples pages at random (III-A), by which a type of 5 pages among 100,000
            is nearly always missed.
Notation:   A stratum is a set of pages that what is known without reading them does not tell apart:
            the pattern of the address, the depth, where the page is linked from, and once more the
            pattern, with words that only few pages share.
Readings:   Strata are split by one of these after the other, those with the fewest parts first, as
            long as there are no more than a quarter of the sample. Each stratum gives MIN_PAGES, or
            equally many where these are more than half of the sample; the rest comes from the
            strata in proportion to the square roots of their sizes, so that the largest does not
            take it all. Of a stratum, the pages of least hash are taken.
Cost:       The address patterns, 20 microseconds a page, and a sort.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from clustering.algorithms.url_patterns import MIN_PAGES_WITH_WORD, address_patterns

MIN_PAGES = 20  # of a stratum
MAX_STRATA_SHARE = 0.25  # of the size of the sample


class Candidate(NamedTuple):
    """What is known of a page without reading it."""

    url: str
    url_hash: bytes
    depth: int = 0  # links from the entry
    place: str = ""  # where a link to it stands: tags without positions


def sample_by_strata(pages: Sequence[Candidate], size: int) -> list[int]:
    """Return the indices of so many pages, those of least hash first; all where there are no more.

    The same pages are chosen whatever order they come in.
    """
    by_hash = sorted(range(len(pages)), key=lambda index: (pages[index].url_hash, pages[index].url))
    if len(pages) <= size:
        return by_hash
    strata = _strata([pages[index] for index in by_hash], round(MAX_STRATA_SHARE * size))
    shares = share_out([len(stratum) for stratum in strata], size)
    sampled: list[int] = []
    for stratum, share in zip(strata, shares, strict=True):
        sampled += stratum[:share]
    return [by_hash[index] for index in sorted(sampled)]


def share_out(sizes: Sequence[int], n: int) -> list[int]:
    """Return how many pages each stratum gives, so many together; all where there are no more.

    >>> share_out([99_000, 995, 5], 2_000)
    [1798, 197, 5]
    """
    has = np.array(sizes, np.intp)
    if has.sum() <= n:
        return list(sizes)
    least = MIN_PAGES
    while least > 0 and np.minimum(has, least).sum() > n // 2:
        least -= 1
    gives = np.minimum(has, least)
    while n_left := n - int(gives.sum()):
        wanted = np.where(gives < has, np.sqrt(has), 0)
        more = np.minimum((n_left * wanted / wanted.sum()).astype(np.intp), has - gives)
        if not more.any():  # fewer are left than there are strata: one each, the largest first
            more[np.argsort(-wanted, kind="stable")[:n_left]] = 1
        gives += more
    return [int(share) for share in gives]


def _strata(pages: Sequence[Candidate], max_strata: int) -> list[list[int]]:
    """Return the indices of the pages of each stratum."""
    urls = [page.url for page in pages]
    strata = [list(range(len(pages)))]
    for labels in (
        address_patterns(urls),
        [page.depth for page in pages],
        [page.place for page in pages],
        address_patterns(urls, min_pages=MIN_PAGES_WITH_WORD),
    ):
        strata = _split(strata, labels, max_strata)
    return strata


def _split(
    strata: Sequence[list[int]], labels: Sequence[Hashable], max_strata: int
) -> list[list[int]]:
    """Split strata by a label of their pages, those with the fewest parts first."""
    parts_by_stratum = [_parts(stratum, labels) for stratum in strata]
    n_strata = len(strata)
    split = [[stratum] for stratum in strata]
    for index in np.argsort([len(parts) for parts in parts_by_stratum], kind="stable").tolist():
        parts = parts_by_stratum[index]
        if n_strata + len(parts) - 1 <= max_strata:
            n_strata += len(parts) - 1
            split[index] = parts
    return [part for parts in split for part in parts]


def _parts(stratum: Sequence[int], labels: Sequence[Hashable]) -> list[list[int]]:
    """Return the pages of each label; the labels are in the order of their first pages."""
    pages_by_label: dict[Hashable, list[int]] = {}
    for page in stratum:
        pages_by_label.setdefault(labels[page], []).append(page)
    return list(pages_by_label.values())
