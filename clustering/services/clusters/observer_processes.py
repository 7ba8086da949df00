"""Observe many pages at once, in limited children, as many as the machine has cores.

What was observed before is read from its store, whichever algorithm asks; only what is missing
there is parsed. A page that ends two children is marked as too heavy, and is as good as empty.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple

from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.grouping import Clusterer, RawPage
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.packed_observations import is_packable, observation_for, unpack_page
from clustering.algorithms.plain_messages import BadMessage, read_plain
from clustering.services.children.limits import (
    MAX_CHILDREN,
    PATIENCE_OF_JOBS,
    CallStopped,
    lent_child,
)
from clustering.services.children.stored import mark_too_heavy
from clustering.services.clusters.observation_store import observation_store
from clustering.services.clusters.observer_child import observe_bodies
from clustering.services.pages.stored_pages import StoredPage, read_pages

PAGES_PER_BATCH: Final = 50
PAGES_PER_CALL, BYTES_PER_CALL = 10, 4 * 1024 * 1024  # of a child, which has five seconds for it
FEW_PAGES: Final = 300  # are observed by one child before a second one has started
OBSERVING: Final = "observing"  # what these children are for


class HeavyPage(NamedTuple):
    """A page that ended two children, and why."""

    page: StoredPage
    why: str


ObserveBatch = Callable[[Sequence[StoredPage], list[HeavyPage]], list[ObservedPage]]


def observe_stored(
    pages: Sequence[StoredPage],
    algorithm: str,
    n_processes: int | None = None,
    parameters: Mapping[str, object] | None = None,
) -> Generator[list[tuple[StoredPage, ObservedPage]]]:
    """Yield the pages in their order with what was observed of them, batch by batch.

    A parameter of the algorithm that is not named has its default. Never more than a few batches
    are in memory. Raises ChildrenBusy.
    """
    clusterer = clusterer_with(algorithm, parameters or {})
    observe: ObserveBatch
    if is_packable(clusterer):
        observe = partial(_observe_missing, clusterer)
        n_missing = count_missing(pages)
    else:
        observe = partial(_observe_anew, algorithm, parameters or {})
        n_missing = len(pages)
    batches = [
        pages[start : start + PAGES_PER_BATCH] for start in range(0, len(pages), PAGES_PER_BATCH)
    ]
    n = n_processes if n_processes is not None else len(os.sched_getaffinity(0))
    is_quick = n_missing <= (FEW_PAGES if n_processes is None else 0)
    if is_quick:
        n = 1
    n = max(1, min(n, MAX_CHILDREN, -(-n_missing // PAGES_PER_BATCH)))
    heavy: list[HeavyPage] = []
    with ThreadPoolExecutor(n) as threads:
        waiting = []
        for batch in batches:
            waiting.append((batch, threads.submit(observe, batch, heavy)))
            if len(waiting) > 2 * n:
                first, observed = waiting.pop(0)
                yield list(zip(first, observed.result(), strict=True))
                _mark(heavy)
        for first, observed in waiting:
            yield list(zip(first, observed.result(), strict=True))
            _mark(heavy)


def observe_few(pages: Sequence[StoredPage]) -> list[ObservedPage]:
    """Return the signatures, paths and texts of some pages, without any algorithm's observation.

    Raises ChildrenBusy.
    """
    heavy: list[HeavyPage] = []
    observed = _observe_missing(clusterer_with("shingles", {}), pages, heavy)
    _mark(heavy)
    return observed


def count_missing(pages: Sequence[StoredPage]) -> int:
    """Return how many pages are not in the store of what was observed."""
    store = observation_store()
    return sum(not store.has(page.body, page.content_type) for page in pages)


def _observe_missing(
    clusterer: Clusterer, pages: Sequence[StoredPage], heavy: list[HeavyPage]
) -> list[ObservedPage]:
    """Read what was observed of pages; observe the others, and store that.

    A page without bytes, or too heavy, is observed as an empty one; that is not stored, since its
    bytes may be restored later. `heavy`, to which other threads add and from which pages are taken
    away meanwhile, gets those that are found too heavy here.
    """
    store = observation_store()
    stored = [store.read(page.body, page.content_type) for page in pages]
    missing = [page for page, seen in zip(pages, stored, strict=True) if seen is None]
    read = _read_light(missing)
    heavy_here: list[HeavyPage] = []
    answers = _observe(None, {}, read, heavy_here)
    heavy.extend(heavy_here)
    too_heavy = {entry.page.body for entry in heavy_here}
    for (page, raw_page), packed in zip(read, answers, strict=True):
        if raw_page.body and page.body not in too_heavy:
            store.write(page.body, page.content_type, packed)
    observed_now = iter(answers)
    observed = [unpack_page(next(observed_now)) if seen is None else seen for seen in stored]
    return [observation_for(clusterer, seen) for seen in observed]


def _observe_anew(
    algorithm: str,
    parameters: Mapping[str, object],
    pages: Sequence[StoredPage],
    heavy: list[HeavyPage],
) -> list[ObservedPage]:
    """Observe pages for an algorithm whose observations are not stored."""
    return _observe(algorithm, parameters, _read_light(pages), heavy)


def _read_light(pages: Sequence[StoredPage]) -> list[tuple[StoredPage, RawPage]]:
    """Return pages with their bytes; those of pages that are too heavy stay where they are."""
    light = iter(read_pages([page for page in pages if not page.is_heavy]))
    return [
        (page, RawPage(page.url, b"", page.content_type) if page.is_heavy else next(light))
        for page in pages
    ]


def _observe(
    algorithm: str | None,
    parameters: Mapping[str, object],
    pages: Sequence[tuple[StoredPage, RawPage]],
    heavy: list[HeavyPage],
) -> list[Any]:
    """Return what a child observes of pages; `heavy` gets those that end children."""
    observed: list[Any] = []
    for few in _calls(pages):
        try:
            observed += _ask(algorithm, parameters, [raw for _, raw in few])
        except CallStopped:  # one of them: each by itself tells which
            for page, raw in few:
                observed += _observe_alone(algorithm, parameters, page, raw, heavy)
    return observed


def _observe_alone(
    algorithm: str | None,
    parameters: Mapping[str, object],
    page: StoredPage,
    raw: RawPage,
    heavy: list[HeavyPage],
) -> Sequence[Any]:
    try:
        return _ask(algorithm, parameters, [raw])
    except CallStopped as stopped:
        heavy.append(HeavyPage(page, str(stopped)))
        return _ask(algorithm, parameters, [RawPage(page.url, b"", page.content_type)])


def _calls(
    pages: Sequence[tuple[StoredPage, RawPage]],
) -> Iterator[list[tuple[StoredPage, RawPage]]]:
    """Yield the pages in parts of which a child observes each in one call."""
    part: list[tuple[StoredPage, RawPage]] = []
    n_bytes = 0
    for page, raw in pages:
        if part and (len(part) == PAGES_PER_CALL or n_bytes + len(raw.body) > BYTES_PER_CALL):
            yield part
            part, n_bytes = [], 0
        part.append((page, raw))
        n_bytes += len(raw.body)
    if part:
        yield part


def _ask(
    algorithm: str | None, parameters: Mapping[str, object], pages: list[RawPage]
) -> list[Any]:
    """Return what a child observes of pages. Raises CallStopped."""
    bodies = b"".join([page.body for page in pages])
    sizes = [(len(page.body), page.url, page.content_type) for page in pages]
    with lent_child(OBSERVING, PATIENCE_OF_JOBS) as child:
        answer = child.call(observe_bodies, bodies, sizes, algorithm, dict(parameters))
    try:
        observed: list[Any] = read_plain(answer)
    except BadMessage as error:
        raise CallStopped(f"its process answers something else: {error}") from None
    return observed


def _mark(heavy: list[HeavyPage]) -> None:
    """Mark pages as too heavy, and forget them."""
    while heavy:
        entry = heavy.pop()
        mark_too_heavy(entry.page.body, "observing", entry.why)
