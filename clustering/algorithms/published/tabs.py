"""Find the paths whose content says which tab of a page is open.

Paper:      Chakrabarti and Mehta, "The Paths More Taken: Matching DOM Trees to Search Logs for
            Accurate Webpage Clustering" (WWW 2010), sections 3.4 and 4.4.
Notation:   tab, a (path, content) pair; here a tab path, and the content by its hash.
Readings:   "Present on many pages": on at least 5 % of them and on 10. "Content of only a few
            types": 2 to 10 distinct texts, each on 5 pages in the mean, so that the titles of a
            rare type are none. Candidates are the first paths of RF: they match queries. "Of which
            only one is currently open": the others stand beside it, so on half of the pages at
            least the nearest ancestor with more content has another of the texts; without this the
            brand or the rubric of a page would be a tab. Numbers alone (page 2, four stars) name no
            tab. A page is split by its first tab path.
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

MIN_CONTENTS, MAX_CONTENTS = 2, 10
MIN_PAGES = 10
MIN_SHARE_OF_PAGES = 0.05
MIN_PAGES_PER_CONTENT = 5
MIN_SHARE_BESIDE = 0.5


def find_tabs(pages: Sequence[PathPage], candidates: Sequence[int]) -> list[int]:
    """Return those of some paths that are tab paths, in their order."""
    n_present = dict.fromkeys(candidates, 0)
    distinct: dict[int, set[bytes]] = {path: set() for path in candidates}
    with_few_contents = set(candidates)
    for page in pages:
        for path, content in contents_at(page, with_few_contents):
            n_present[path] += 1
            distinct[path].add(content.tobytes())
            if len(distinct[path]) > MAX_CONTENTS:
                with_few_contents.discard(path)
    return [
        path
        for path in candidates
        if has_few_contents(n_present[path], len(distinct[path]), len(pages))
        and stands_beside_others(pages, path, distinct[path])
    ]


def has_few_contents(n_present: int, n_contents: int, n_pages: int) -> bool:
    """Return whether a path is on many pages but has a few contents only."""
    return (
        MIN_CONTENTS <= n_contents <= MAX_CONTENTS
        and n_present >= max(MIN_PAGES, MIN_SHARE_OF_PAGES * n_pages)
        and n_present >= MIN_PAGES_PER_CONTENT * n_contents
    )


def stands_beside_others(
    pages: Sequence[PathPage], path: int, contents: AbstractSet[bytes]
) -> bool:
    """Return whether on most pages another of a path's contents stands beside the open one."""
    n_present = n_beside = 0
    for page in pages:
        for index in np.flatnonzero(page.paths == np.uint64(path)).tolist():
            content = page.content(index)
            if content.tobytes() not in contents:
                continue
            other_contents = contents - {content.tobytes()}
            around = surrounding(page, index, len(content)).tobytes()
            n_present += 1
            n_beside += any(_occurs(other, around) for other in other_contents)
    return n_beside >= MIN_SHARE_BESIDE * n_present


def surrounding(page: PathPage, index: int, n_terms: int) -> NDArray[np.uint32]:
    """Return the content of the nearest ancestor of a path that has more terms; else nothing."""
    while index >= 0:
        content = page.content(index)
        if len(content) > n_terms:
            return content
        index = int(page.parents[index])
    return page.terms[:0]


def _occurs(part: bytes, whole: bytes) -> bool:
    """Return whether terms occur in a row among others; both are arrays of 4 bytes a term."""
    offset = whole.find(part)
    while offset >= 0 and offset % 4:
        offset = whole.find(part, offset + 1)
    return offset >= 0


def open_tab(page: PathPage, tabs: Sequence[int]) -> tuple[int, int] | None:
    """Return the first tab path that a page has, with the hash of its content, else None."""
    if not tabs:
        return None
    content_by_path = dict(contents_at(page, set(tabs)))
    for path in tabs:
        if path in content_by_path:
            return path, xxhash.xxh64_intdigest(content_by_path[path].tobytes())
    return None


def contents_at(
    page: PathPage, wanted: AbstractSet[int]
) -> Iterator[tuple[int, NDArray[np.uint32]]]:
    """Yield the wanted paths of a page that have a word as content, each with it."""
    for index, path in enumerate(page.paths.tolist()):
        if path in wanted:
            content = page.content(index)
            if (content < NUMBER).any():
                yield path, content
