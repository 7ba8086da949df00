"""The fetch of a page: sent by a crawl, settled on the loop of the network, stored by the engine."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

import structlog

from clustering.fetching.client import Fetched
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.robots import RobotsFile
from clustering.fetching.sessions import LoggedOut
from clustering.services.crawl.frontier import DuePage

FIRST_ERROR_STATUS: Final = 400  # the first status of an error

log = structlog.get_logger(__name__)


class FetchingBroke(FetchRefused):
    """The page made the fetcher itself fail: a mistake in this product, logged and recorded."""

    code = "internal"


@dataclass(slots=True, eq=False)
class FileFetch:
    """A file that is no page, such as a sitemap: fetched in the turns of its host, and not stored."""

    url: str
    max_bytes: int
    is_log_in: bool = False  # the address is that of a form, which is filled in and sent
    answer: Fetched | None = None
    refused: FetchRefused | None = None


@dataclass(slots=True, eq=False)
class FetchTask:
    """The fetch of a page or a file, answered or refused in the end. One of neither is for robots.txt."""

    job: int
    page: DuePage | None
    file: FileFetch | None = None
    ask: Callable[[], Coroutine[Any, Any, Fetched | RobotsFile]] | None = None
    answer: Fetched | RobotsFile | None = None
    refused: FetchRefused | None = None
    asked_at: float = field(default_factory=monotonic)
    ready_at: float = 0.0
    is_ready: bool = False  # settled, and seen by the crawl's own thread

    @property
    def was_asked(self) -> bool:
        """Return whether a request was made at all."""
        return self.ask is not None

    @property
    def is_logged_out(self) -> bool:
        """Return whether the page came as those see it who are not logged in."""
        return isinstance(self.refused, LoggedOut)

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
