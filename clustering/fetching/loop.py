"""The asyncio loop on which all connections of this process are opened and read.

It runs in one thread, which starts with the first request. What must wait for an answer in another
thread asks by `wait_for`; a crawl sends its requests and takes the answers as they come.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import Any, Final, Generic, Protocol, TypeVar

from clustering.fetching.refusals import FetchStopped

T = TypeVar("T")

MAX_HEAVY: Final = 4  # pieces of work at a time that take much memory
MAX_BROWSERS: Final = 2  # of a process, at once
POLL_SECONDS: Final = 0.25  # between two looks whether the work was called off

_starting = threading.Lock()
# Of this process: none or one.
_loops: list[asyncio.AbstractEventLoop] = []
_threads_by_work: dict[str, ThreadPoolExecutor] = {}


def network_loop() -> asyncio.AbstractEventLoop:
    """Return the loop of this process; its thread is started by the first caller."""
    with _starting:
        if not _loops:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="network", daemon=True).start()
            _loops.append(loop)
        return _loops[0]


def wait_for(work: Coroutine[Any, Any, T], stop: threading.Event | None = None) -> T:
    """Do work on the loop, wait for it and return what it returns.

    Raises what the work raises, and FetchStopped as soon as `stop` is set.
    """
    future = asyncio.run_coroutine_threadsafe(work, network_loop())
    try:
        while True:
            if stop is not None and stop.is_set():
                raise FetchStopped("the work was called off")
            if wait([future], None if stop is None else POLL_SECONDS).done:
                return future.result()
    finally:
        future.cancel()


async def do_in_thread(work: Callable[[], T]) -> T:
    """Return what work returns that takes long, done where it holds up nobody on the loop."""
    return await asyncio.to_thread(work)


async def do_in_few_threads(work: Callable[[], T]) -> T:
    """Return what work returns that takes much memory: little of it is done at a time."""
    return await _do_in("heavy", MAX_HEAVY, work)


async def do_with_browser(work: Callable[[], T]) -> T:
    """Return what work returns that has a browser draw a page, which may take a minute.

    It waits for its turn beside nothing but other such work.
    """
    return await _do_in("browser", MAX_BROWSERS, work)


async def _do_in(name: str, n_threads: int, work: Callable[[], T]) -> T:
    """Return what work returns, done in one of the threads for work of its name."""
    if name not in _threads_by_work:
        _threads_by_work[name] = ThreadPoolExecutor(n_threads, thread_name_prefix=name)
    return await asyncio.get_running_loop().run_in_executor(_threads_by_work[name], work)


class Request(Protocol):
    """Something to be asked for; it holds its answer once it is settled."""

    async def settle(self) -> None: ...


R = TypeVar("R", bound=Request)


class Requests(Generic[R]):
    """The requests of one thread: it sends them and takes the settled ones as they come."""

    def __init__(self) -> None:
        self.settled: SimpleQueue[R] = SimpleQueue()
        self._under_way: dict[R, asyncio.Task[None]] = {}  # of the loop's thread

    def send(self, request: R) -> None:
        """Have the loop settle a request; it comes back through `settled`."""
        network_loop().call_soon_threadsafe(self._start, request)

    def call_off(self, requests: Iterable[R]) -> None:
        """Stop requests; they do not come back."""
        network_loop().call_soon_threadsafe(self._cancel, list(requests))

    def _start(self, request: R) -> None:
        self._under_way[request] = asyncio.get_running_loop().create_task(self._settle(request))

    async def _settle(self, request: R) -> None:
        try:
            await request.settle()
            self.settled.put(request)
        finally:
            self._under_way.pop(request, None)

    def _cancel(self, requests: list[R]) -> None:
        for request in requests:
            if request in self._under_way:
                self._under_way[request].cancel()


def _forget_loop() -> None:
    """Have a forked process start a loop of its own: threads do not come along."""
    global _starting  # noqa: PLW0603 - another thread may have held it when the process was forked
    _starting = threading.Lock()
    _loops.clear()
    _threads_by_work.clear()


os.register_at_fork(after_in_child=_forget_loop)
