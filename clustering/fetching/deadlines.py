"""The time that a browser and its proxy may take in all, however slowly an answer drips."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from time import monotonic

from clustering.fetching.loop import POLL_SECONDS
from clustering.fetching.refusals import FetchRefused, FetchStopped


class DeadlinePassed(FetchRefused):
    """The answer was not complete in time."""

    code = "deadline"
    is_transient = True

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the answer was not complete after {seconds:g} seconds")


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
            raise DeadlinePassed(self.seconds)
        return left

    def share(self, seconds: float) -> float:
        """Return how long a step of at most these seconds may take."""
        return min(seconds, self.remaining())

    def slice(self) -> float:
        """Return how long to wait before the next check whether to go on."""
        return min(POLL_SECONDS, self.remaining())
