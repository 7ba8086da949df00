"""Observe many pages at once, in as many processes as the machine has cores.

What was observed before is read from its store, whichever algorithm asks; only what is missing
there is parsed. The processes are programs of their own, not forks: a worker of the queue may not
fork, and one that is killed leaves none behind, for each ends with its input.
"""

from __future__ import annotations

import os
import queue
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any, BinaryIO, cast

from django.conf import settings

from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.grouping import Clusterer, RawPage
from clustering.algorithms.observation import ObservedPage
from clustering.algorithms.packed_observations import is_packable, observation_for, unpack_page
from clustering.algorithms.plain_messages import BadMessage, read_plain, write_plain
from clustering.services.clusters.observation_store import observation_store
from clustering.services.clusters.observer_child import observe_batch, receive, send
from clustering.services.pages.stored_pages import StoredPage, read_pages

# What `observe_batch` takes and returns, here or in another process.
Ask = Callable[[str | None, Mapping[str, object], list[RawPage]], list[Any]]
ObserveBatch = Callable[[Sequence[StoredPage], Ask], list[ObservedPage]]

PAGES_PER_BATCH = 50
COMMAND = [sys.executable, "-m", "clustering.services.clusters.observer_child"]
MAX_PAGES_IN_PROCESS = 300  # are observed before a process has started


class ObserverEnded(Exception):
    """A process that observes pages ended in the middle: out of memory, or killed."""

    def __init__(self, status: int) -> None:
        super().__init__(
            f"a process that observes pages ended with status {status}; is there memory enough?"
        )


def observe_stored(
    pages: Sequence[StoredPage],
    algorithm: str,
    n_processes: int | None = None,
    parameters: Mapping[str, object] | None = None,
) -> Generator[list[tuple[StoredPage, ObservedPage]]]:
    """Yield the pages in their order with what was observed of them, batch by batch.

    A parameter of the algorithm that is not named has its default. Never more than a few batches are
    in memory. Raises ObserverEnded.
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
    is_quick = n_missing <= (MAX_PAGES_IN_PROCESS if n_processes is None else 0)
    if n < 2 or is_quick:
        for batch in batches:
            yield list(zip(batch, observe(batch, observe_batch), strict=True))
        return
    n = min(n, -(-n_missing // PAGES_PER_BATCH))
    with _observers(n) as ask, ThreadPoolExecutor(n) as threads:
        waiting = []
        for batch in batches:
            waiting.append((batch, threads.submit(observe, batch, ask)))
            if len(waiting) > 2 * n:
                first, observed = waiting.pop(0)
                yield list(zip(first, observed.result(), strict=True))
        for first, observed in waiting:
            yield list(zip(first, observed.result(), strict=True))


def observe_few(pages: Sequence[StoredPage]) -> list[ObservedPage]:
    """Return the signatures, paths and texts of some pages, without any algorithm's observation."""
    return _observe_missing(clusterer_with("shingles", {}), pages, observe_batch)


def count_missing(pages: Sequence[StoredPage]) -> int:
    """Return how many pages are not in the store of what was observed."""
    store = observation_store()
    return sum(not store.has(page.body, page.content_type) for page in pages)


def _observe_missing(
    clusterer: Clusterer, pages: Sequence[StoredPage], ask: Ask
) -> list[ObservedPage]:
    """Read what was observed of pages; observe the others, and store that."""
    store = observation_store()
    observed = [store.read(page.body, page.content_type) for page in pages]
    missing = [index for index, seen in enumerate(observed) if seen is None]
    raw_pages = list(read_pages([pages[index] for index in missing]))
    answers = ask(None, {}, raw_pages) if raw_pages else []
    for index, raw_page, packed in zip(missing, raw_pages, answers, strict=True):
        if raw_page.body:  # else the bytes may be missing now, and be restored later
            store.write(pages[index].body, pages[index].content_type, packed)
        observed[index] = unpack_page(packed)
    return [observation_for(clusterer, seen) for seen in observed if seen is not None]


def _observe_anew(
    algorithm: str, parameters: Mapping[str, object], pages: Sequence[StoredPage], ask: Ask
) -> list[ObservedPage]:
    """Observe pages for an algorithm whose observations are not stored."""
    return ask(algorithm, parameters, list(read_pages(pages)))


@contextmanager
def _observers(n: int) -> Iterator[Ask]:
    """Start so many processes, and yield a function by which a free one observes pages."""
    free: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
    with ExitStack() as stack:
        for _ in range(n):
            free.put(stack.enter_context(_observer()))

        def ask(
            algorithm: str | None, parameters: Mapping[str, object], pages: list[RawPage]
        ) -> list[Any]:
            process = free.get()
            try:
                return _ask_process(process, (algorithm, dict(parameters), pages))
            finally:
                free.put(process)

        yield ask


@contextmanager
def _observer() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(  # noqa: S603 - our own program
        COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=settings.BASE_DIR,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _ask_process(process: subprocess.Popen[bytes], request: tuple[object, ...]) -> list[Any]:
    requests, answers = cast("BinaryIO", process.stdin), cast("BinaryIO", process.stdout)
    try:
        send(requests, write_plain(request))
        answer: list[Any] = read_plain(receive(answers))
    except (EOFError, BrokenPipeError, BadMessage):
        process.kill()  # so that nobody waits for the other half of an answer
        raise ObserverEnded(process.wait()) from None
    return answer
