"""What is fetched: pages of a crawl, which the engine stores, and errands, for whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import structlog

from clustering.fetching.client import (
    MAX_BYTES,
    PAGE_SECONDS,
    Fetched,
    RedirectRefused,
    takes_all,
)
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.robots import RobotsFile
from clustering.fetching.sessions import LoggedOut
from clustering.services.crawl.frontier import DuePage

FIRST_ERROR_STATUS: Final = 400  # the first status of an error
SERVER_ERROR: Final = 500  # the first status that may pass

log = structlog.get_logger(__name__)


class FetchingBroke(FetchRefused):
    """The page made the fetcher itself fail: a mistake in this product, logged and recorded."""

    code = "internal"


@dataclass(slots=True, eq=False)
class Errand:
    """An address that is fetched in its host's turns for whoever asks, and not stored as a visit.

    It is the page of a check, a style sheet or a sitemap. Redirects lead it into the turns
    of other hosts.
    """

    url: str
    max_bytes: int = MAX_BYTES
    max_redirects: int = 0  # with none, a redirect is an answer like any other
    max_tries: int = 1  # where the host is in trouble
    seconds: float = PAGE_SECONDS
    headers: Mapping[str, str] = field(default_factory=dict)
    takes: Callable[[int, str], bool] = takes_all
    is_page: bool = False  # fetched as the site's pages are: by a browser, by whoever is logged in
    is_log_in: bool = False  # the address is that of a form, which is filled in and sent
    answer: Fetched | None = None
    refused: FetchRefused | None = None
    n_tries: int = 0  # of the address where redirects have led
    redirects: list[str] = field(default_factory=list)  # where they led, in turn

    @property
    def address(self) -> str:
        """Return what is to be asked for: the last redirect leads there."""
        return self.redirects[-1] if self.redirects else self.url

    def take(self, task: FetchTask) -> bool:
        """Record what came; return whether it is to be asked for again, perhaps elsewhere."""
        self.n_tries += 1
        goes_on = self._goes_on(task)
        self.refused = task.refused
        self.answer = None
        if self.refused is None and isinstance(task.answer, Fetched):
            self.answer = task.answer
        return goes_on

    def refuse(self, refusal: FetchRefused) -> None:
        """Record why nothing comes."""
        self.answer, self.refused = None, refusal

    def _goes_on(self, task: FetchTask) -> bool:
        if task.is_trouble and self.n_tries < self.max_tries:
            return True
        return self._follows(task)

    def _follows(self, task: FetchTask) -> bool:
        """Turn to where a redirect leads, if it is one that is followed."""
        if not self.max_redirects or not isinstance(task.answer, Fetched):
            return False
        try:
            location = task.answer.location
        except RedirectRefused as error:
            task.refused = error
            return False
        if not location:
            return False
        if location in {self.url, *self.redirects}:
            task.refused = RedirectRefused(f"redirects in a circle: {location[:200]}")
            return False
        if len(self.redirects) >= self.max_redirects:
            task.refused = RedirectRefused(
                f"more than {self.max_redirects} redirects, the last one to {location[:200]}"
            )
            return False
        self.redirects.append(location)
        self.n_tries = 0
        return True


@dataclass(slots=True, eq=False)
class FetchTask:
    """The fetch of a page, an errand or else robots.txt, answered or refused in the end."""

    job: int
    page: DuePage | None
    errand: Errand | None = None
    ask: Callable[[], Coroutine[Any, Any, Fetched | RobotsFile]] | None = None
    answer: Fetched | RobotsFile | None = None
    refused: FetchRefused | None = None
    asked_at: float = field(default_factory=monotonic)
    ready_at: float = 0.0
    is_ready: bool = False  # settled, and seen by the crawl's own thread
    is_taken: bool = False  # it is being stored

    @property
    def was_asked(self) -> bool:
        """Return whether a request was made at all."""
        return self.ask is not None

    @property
    def is_logged_out(self) -> bool:
        """Return whether the page came as those see it who are not logged in."""
        return isinstance(self.refused, LoggedOut)

    @property
    def is_trouble(self) -> bool:
        """Return whether another try may go better."""
        if self.refused is not None:
            return self.refused.is_transient and not self.is_logged_out
        return isinstance(self.answer, Fetched) and self.answer.status >= SERVER_ERROR

    @property
    def n_bytes(self) -> int:
        return len(self.answer.body) if isinstance(self.answer, Fetched) else 0

    @property
    def problem(self) -> str:
        """Return a word for what went wrong, or the status of an error; blank where nothing did."""
        if self.refused is not None:
            return self.refused.code
        is_error = isinstance(self.answer, Fetched) and self.answer.status >= FIRST_ERROR_STATUS
        return str(self.answer.status) if self.answer is not None and is_error else ""

    async def settle(self) -> None:
        """Make the request, and record the answer or the refusal."""
        try:
            if self.ask is not None:
                self.answer = await self.ask()
        except FetchRefused as error:
            self.refused = error
        except Exception as error:  # one page may fail: the failure becomes its row
            log.exception("fetching_broke", url=self.page and self.page.url)
            self.refused = FetchingBroke(f"{type(error).__name__}: {error}")
        self.ready_at = monotonic()
