"""Find the paths whose content says which tab of a page is open.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for Accurate
            Webpage Clustering" (WWW 2010), sections 3.4 and 4.4.
Notation:   tab, a (path, content) pair; here a tab path, and the content by its hash.
Readings:   "Present on many pages": on at least 5 % of them and on 10. "Content of only a few types": 2 to 10
            distinct texts, each on 5 pages in the mean, so that the titles of a rare type are none.
            Candidates are the first paths of RF: they match queries. "Of which only one is currently open":
            the others stand beside it, so on half of the pages at least the nearest ancestor with more
            content has another of the texts; without this the brand or the rubric of a page would be a tab.
            Numbers alone (page 2, four stars) name no tab. A page is split by its first tab path.
Departures: none.
Cost:       Pages x candidates; a candidate with an eleventh text is given up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np
import xxhash
from numpy.typing import NDArray

from clustering.algorithms.published.attributed_paths import NUMBER, PathPage

FEWEST_CONTENTS, MOST_CONTENTS = 2, 10
FEWEST_PAGES = 10
SMALLEST_SHARE = 0.05
PAGES_A_CONTENT = 5
BESIDE_SHARE = 0.5


def find_tabs(pages: Sequence[PathPage], candidates: Sequence[int]) -> list[int]:
    """Return those of some paths that are tab paths, in their order."""
    contents: dict[int, list[NDArray[np.uint32]]] = {path: [] for path in candidates}
    distinct: dict[int, set[bytes]] = {path: set() for path in candidates}
    few = set(candidates)
    for page in pages:
        for path, content in contents_at(page, few):
            contents[path].append(content)
            distinct[path].add(content.tobytes())
            if len(distinct[path]) > MOST_CONTENTS:
                few.discard(path)
    few = {
        path
        for path in few
        if has_few_contents(len(contents[path]), len(distinct[path]), len(pages))
    }
    return [
        path
        for path in candidates
        if path in few and stands_beside_others(pages, path, distinct[path])
    ]


def has_few_contents(n_present: int, n_contents: int, n_pages: int) -> bool:
    """Say whether a path is on many pages but has a few contents only."""
    return (
        FEWEST_CONTENTS <= n_contents <= MOST_CONTENTS
        and n_present >= max(FEWEST_PAGES, SMALLEST_SHARE * n_pages)
        and n_present >= PAGES_A_CONTENT * n_contents
    )


def stands_beside_others(
    pages: Sequence[PathPage], path: int, contents: AbstractSet[bytes]
) -> bool:
    """Say whether on most pages another of a path's contents stands next to the one that is open."""
    n_present = n_beside = 0
    for page in pages:
        for place in np.flatnonzero(page.paths == np.uint64(path)).tolist():
            own = page.content(place)
            if own.tobytes() in contents:
                around = surrounding(page, place, len(own)).tobytes()
                n_present += 1
                n_beside += any(_occurs(other, around) for other in contents - {own.tobytes()})
    return n_beside >= BESIDE_SHARE * n_present


def surrounding(page: PathPage, place: int, n_terms: int) -> NDArray[np.uint32]:
    """Return the content of the nearest ancestor of a path that has more terms."""
    while place >= 0:
        content = page.content(place)
        if len(content) > n_terms:
            return content
        place = int(page.parents[place])
    return page.terms[:0]


def _occurs(part: bytes, whole: bytes) -> bool:
    """Say whether terms occur in a row among others; both are arrays of 4 bytes a term."""
    at = whole.find(part)
    while at >= 0 and at % 4:
        at = whole.find(part, at + 1)
    return at >= 0


def open_tab(page: PathPage, tabs: Sequence[int]) -> tuple[int, int] | None:
    """Return the first tab path that a page has, with the hash of its content."""
    found = dict(contents_at(page, set(tabs))) if tabs else {}
    return next(
        ((path, xxhash.xxh64_intdigest(found[path].tobytes())) for path in tabs if path in found),
        None,
    )


def contents_at(
    page: PathPage, wanted: AbstractSet[int]
) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """Yield the wanted paths of a page that have a word as content, each with it."""
    for place, path in enumerate(page.paths.tolist()):
        if path in wanted:
            content = page.content(place)
            if (content < NUMBER).any():
                yield path, content
