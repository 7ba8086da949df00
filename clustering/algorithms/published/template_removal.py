"""Separate the content that a site's templates repeat from what is a page's own.

Paper:      Bar-Yossef and Rajagopalan, "Template Detection via Data Mining and its Applications"
            (WWW 2002), the local form; named in section 3.4 of Chakrabarti and Mehta, "The Paths
            More Taken" (WWW 2010). The definition of a pagelet is also in Crescenzi, Merialdo,
            Missier (DKE 2005), section 5.
Notation:   pagelet -> a span of a page's terms, made in `attributed_paths`; template, a set of
            pagelets with equal shingles on several pages -> `repeated_pagelets`.
Readings:   Removing an instance means that its terms count neither as content nor as matches; the
            path itself stays. A pagelet counts once a page. Pages with the same content throughout
            are one page.
Departures: A pagelet's shingle is the hash of its terms in their order and of the addresses of its
            links. A menu leads to the same places everywhere and is a template; the tabs of a
            product bear the same words everywhere but lead to the product's own pages, and stay. A
            template is on at least 1 % of the pages and on 3, not on 2: a product's name is on its
            reviews too.
Cost:       Linear in the pagelets, but for a sort of their hashes.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from math import ceil

import numpy as np
from numpy.typing import NDArray

from clustering.algorithms.published.attributed_paths import PathPage

MIN_PAGES = 3  # of a template
MIN_SHARE = 0.01


def repeated_pagelets(pages: Sequence[PathPage]) -> frozenset[int]:
    """Return the shingles of the pagelets that so many pages have that they are a template's."""
    page_by_content = {(page.terms.tobytes(), page.shingles.tobytes()): page for page in pages}
    shingles = [np.unique(page.shingles) for page in page_by_content.values()]
    values, counts = np.unique(
        np.concatenate([np.empty(0, np.uint64), *shingles]), return_counts=True
    )
    return frozenset(values[counts >= min_pages_of_template(len(shingles))].tolist())


def min_pages_of_template(n_pages: int) -> int:
    """Return on how many of a site's pages a pagelet is a template's."""
    return max(MIN_PAGES, ceil(n_pages * MIN_SHARE))


def own_terms(page: PathPage, repeated: AbstractSet[int]) -> NDArray[np.bool_]:
    """Return of each term of a page whether it is the page's own."""
    is_own = np.ones(len(page.terms), dtype=bool)
    for (first, end), shingle in zip(page.pagelets.tolist(), page.shingles.tolist(), strict=True):
        if shingle in repeated:
            is_own[first:end] = False
    return is_own
