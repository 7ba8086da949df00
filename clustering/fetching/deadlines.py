"""The time that a request may take in all, however slowly its answer drips."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import monotonic
from typing import Final

from clustering.fetching.refusals import FetchRefused, FetchStopped

POLL_SECONDS: Final = 0.25  # between two checks whether the work was called off


class DeadlinePassed(FetchRefused):
    """The answer was not complete in time."""

    code = "deadline"
    is_transient = True


@dataclass(slots=True)
class Deadline:
    """The end of all waiting, and an event that calls the work off before it."""

    seconds: float
    stop: threading.Event | None = None
    ends_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.ends_at = monotonic() + self.seconds

    def remaining(self) -> float:
        """Return the seconds left, or raise DeadlinePassed or FetchStopped."""
        if self.stop is not None and self.stop.is_set():
            raise FetchStopped("the work was called off")
        left = self.ends_at - monotonic()
        if left <= 0:
            raise DeadlinePassed(f"the answer was not complete after {self.seconds:g} seconds")
        return left

    def share(self, seconds: float) -> float:
        """Return how long a step of at most these seconds may take."""
        return min(seconds, self.remaining())

    def slice(self) -> float:
        """Return how long to wait before the next check whether to go on."""
        return min(POLL_SECONDS, self.remaining())


_current: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def within(deadline: Deadline) -> Iterator[None]:
    """Apply a deadline to all that this thread reads and writes meanwhile."""
    token = _current.set(deadline)
    try:
        yield
    finally:
        _current.reset(token)


def current() -> Deadline:
    """Return the deadline of this thread's request. Raises RuntimeError without one."""
    deadline = _current.get()
    if deadline is None:
        raise RuntimeError("connections are used within a deadline only")
    return deadline
