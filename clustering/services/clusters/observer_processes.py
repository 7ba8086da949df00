"""Observe many pages at once, in as many processes as the machine has cores.

The processes are programs of their own, not forks: a worker of the queue may not fork, and one that
is killed leaves none behind, for each ends with its input.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import IO, cast

from django.conf import settings

from clustering.algorithms.grouping import RawPage
from clustering.algorithms.observation import ObservedPage, observe_pages
from clustering.services.pages.stored_pages import StoredPage, read_pages

Observe = Callable[[list[RawPage]], list[ObservedPage]]
Choice = tuple[str, dict[str, object]]  # an algorithm's name, and values of its parameters

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
    n = n_processes if n_processes is not None else len(os.sched_getaffinity(0))
    batches = [
        pages[start : start + PAGES_PER_BATCH] for start in range(0, len(pages), PAGES_PER_BATCH)
    ]
    if n < 2 or (n_processes is None and len(pages) <= MAX_PAGES_IN_PROCESS):
        for batch in batches:
            observed_pages = observe_pages(algorithm, list(read_pages(batch)), parameters)
            yield list(zip(batch, observed_pages, strict=True))
        return
    choice = algorithm, dict(parameters or {})
    with _observers(choice, min(n, len(batches))) as observe, ThreadPoolExecutor(n) as threads:
        waiting = []
        for batch in batches:
            waiting.append(
                (batch, threads.submit(lambda some: observe(list(read_pages(some))), batch))
            )
            if len(waiting) > 2 * n:
                first, observed = waiting.pop(0)
                yield list(zip(first, observed.result(), strict=True))
        for first, observed in waiting:
            yield list(zip(first, observed.result(), strict=True))


@contextmanager
def _observers(choice: Choice, n: int) -> Iterator[Observe]:
    """Start so many processes, and yield a function by which a free one observes pages."""
    free: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
    with ExitStack() as stack:
        for _ in range(n):
            free.put(stack.enter_context(_observer()))

        def observe(pages: list[RawPage]) -> list[ObservedPage]:
            process = free.get()
            try:
                return _observe_in(process, choice, pages)
            finally:
                free.put(process)

        yield observe


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


def _observe_in(
    process: subprocess.Popen[bytes], choice: Choice, pages: list[RawPage]
) -> list[ObservedPage]:
    requests, answers = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
    try:
        pickle.dump((*choice, pages), requests, pickle.HIGHEST_PROTOCOL)
        requests.flush()
        observed: list[ObservedPage] = pickle.load(answers)  # noqa: S301 - written by our own program
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        process.kill()  # so that nobody waits for the other half of an answer
        raise ObserverEnded(process.wait()) from None
    return observed
