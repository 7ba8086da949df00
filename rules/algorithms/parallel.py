"""Spread the pages of a source over processes and give the lines back in the order of the pages.

A few batches are on their way at a time, so that memory stays flat. A process is replaced after a while:
running stylesheets for long makes it slow. A page that ends its process gets a line that says so, and the
others go on.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from importlib import import_module
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rules.algorithms.record_lines import line_not_taken

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clustering.services.found_pages import Item
    from rules.algorithms.record_lines import Line

BATCH = 16  # pages
AHEAD = 3  # batches for each process
BATCHES_A_PROCESS = 200

_bundle: Any = None  # of a child process


class _Pool:
    """Processes that hold a bundle; they are started anew when one of them broke."""

    def __init__(self, folder: str, n_jobs: int) -> None:
        self._folder = folder
        self._n_jobs = n_jobs
        self._executor = self._start()

    def _start(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            self._n_jobs,
            mp_context=get_context("spawn"),
            initializer=_open_bundle,
            initargs=(self._folder,),
            max_tasks_per_child=BATCHES_A_PROCESS,
        )

    def submit(self, batch: list[Item]) -> Future[list[Line]]:
        try:
            return self._executor.submit(_lines_of_batch, batch)
        except BrokenProcessPool:
            self.restart()
            return self._executor.submit(_lines_of_batch, batch)

    def restart(self) -> None:
        self.close()
        self._executor = self._start()

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)


def spread(folder: str, items: Iterable[Item], n_jobs: int) -> Iterator[Line]:
    """Yield the lines of a bundle for all items of a source."""
    pool = _Pool(folder, n_jobs)
    waiting: deque[tuple[list[Item], Future[list[Line]]]] = deque()
    rest = iter(items)
    try:
        while batch := list(islice(rest, BATCH)):
            waiting.append((batch, pool.submit(batch)))
            if len(waiting) >= AHEAD * n_jobs:
                yield from _finished(pool, *waiting.popleft())
        while waiting:
            yield from _finished(pool, *waiting.popleft())
    finally:
        pool.close()


def _finished(pool: _Pool, batch: list[Item], future: Future[list[Line]]) -> list[Line]:
    """Return the lines of a batch; where a process ended, those of its items one by one."""
    try:
        return future.result()
    except BrokenProcessPool:
        pool.restart()
    except CancelledError:
        pass  # it waited in a pool that was started anew
    lines: list[Line] = []
    for item in batch:
        try:
            lines += pool.submit([item]).result()
        except BrokenProcessPool:
            pool.restart()
            url, place = getattr(item, "url", ""), getattr(item, "place", "")
            lines.append(line_not_taken(url, place, "crashed", "extracting it ended the process"))
    return lines


def _open_bundle(folder: str) -> None:
    global _bundle  # noqa: PLW0603  # a process holds one bundle for its lifetime
    _bundle = import_module("rules.algorithms.bundle").read_bundle(Path(folder))


def _lines_of_batch(batch: list[Item]) -> list[Line]:
    return [line for item in batch for line in _bundle.lines_of_item(item)]
