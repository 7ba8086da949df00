"""Fetch a host's pages in threads of its own, so that a slow host holds up nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import Final

import structlog

from clustering.fetching.client import Fetched
from clustering.fetching.refusals import FetchRefused, FetchStopped
from clustering.fetching.robots import RobotsFile
from clustering.services.crawl.frontier import DuePage

JOIN_SECONDS: Final = 2.0

log = structlog.get_logger(__name__)


class FetchingBroke(FetchRefused):
    """The page made the fetcher itself fail: a mistake in this product, logged and recorded."""

    code = "internal"


@dataclass(slots=True, eq=False)
class FetchTask:
    """The fetch of a page, answered or refused in the end. One without a page is for robots.txt."""

    page: DuePage | None
    ask: Callable[[], Fetched | RobotsFile] | None = None
    answer: Fetched | RobotsFile | None = None
    refused: FetchRefused | None = None
    asked_at: float = field(default_factory=monotonic)
    ready_at: float = 0.0
    is_ready: bool = False  # settled, and seen by the crawl's own thread

    @property
    def was_asked(self) -> bool:
        """Return whether a request was made at all."""
        return self.ask is not None

    def settle(self) -> None:
        """Make the request, and record the answer or the refusal."""
        try:
            if self.ask is not None:
                self.answer = self.ask()
        except FetchRefused as error:
            self.refused = error
        except Exception as error:  # one page may fail: the failure becomes its row
            log.exception("fetching_broke", url=self.page and self.page.url)
            self.refused = FetchingBroke(f"{type(error).__name__}: {error}")
        self.ready_at = monotonic()

    @property
    def was_stopped(self) -> bool:
        return isinstance(self.refused, FetchStopped)


class FetchThreads:
    """The threads that fetch from one host; they start when there is work for them."""

    def __init__(self, n_threads: int, ready: SimpleQueue[FetchTask]) -> None:
        self._n_threads = n_threads
        self._ready = ready
        self._todo: SimpleQueue[FetchTask | None] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._n_asked = 0

    def send(self, task: FetchTask) -> None:
        """Have one of the threads settle a task, which then comes back through the queue."""
        self._n_asked += 1
        if len(self._threads) < min(self._n_asked, self._n_threads):
            thread = threading.Thread(target=self._work, name="fetcher", daemon=True)
            self._threads.append(thread)
            thread.start()
        self._todo.put(task)

    def dismiss(self) -> None:
        """Have the threads end after what they are doing."""
        for _ in self._threads:
            self._todo.put(None)

    def join(self) -> None:
        """Wait a moment for the threads to end."""
        ends_at = monotonic() + JOIN_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, ends_at - monotonic()))

    def _work(self) -> None:
        while (task := self._todo.get()) is not None:
            task.settle()
            self._ready.put(task)
