"""Read newer versions of a site's pages: from an archive, or from the site through the guarded fetcher."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Self

from clustering.algorithms.grouping import RawPage
from clustering.dom.addresses import BadAddress, normalise_url, origin_of
from clustering.fetching.browser.rendering import open_renderer
from clustering.fetching.client import Fetched, open_fetcher
from clustering.fetching.log_in import LogInFailed, check_logged_in, log_in
from clustering.fetching.loop import wait_for
from clustering.fetching.politeness import BUSY, pause_asked
from clustering.fetching.refusals import FetchRefused
from clustering.fetching.sessions import LoggedOut, SiteLogIn, SiteSession
from clustering.services.crawl import site_sessions
from clustering.services.crawl.crawl_results import takes_page
from clustering.services.pages.archives import open_source
from clustering.services.pages.source_pages import SourcePage
from monitoring.services.checks.host_leases import HostLeases, patience_of
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobRun

MAX_TRIES = 3
PAGE_SECONDS = 30.0  # for one page
MAX_SECONDS = 3_600.0  # for all pages
MAX_SILENCES = 3  # of a host in a row
SILENT, OUT_OF_TIME = "silent", "out_of_time"
MAX_PAGES_OF_SOURCE = 20_000


@dataclass(frozen=True)
class FreshPage(RawPage):
    """A page as it is now, at its normalised address."""

    status: int = HTTPStatus.OK
    final_url: str = ""  # where redirects led, if anywhere
    given_url: str = ""  # as a source has it; blank where the page was fetched

    @property
    def is_error(self) -> bool:
        return self.status >= HTTPStatus.BAD_REQUEST


def base_url_of(site: Site) -> str:
    """Return where the files of a folder without a manifest stand."""
    base = normalise_url(site.root_url).partition("?")[0]
    return base if base.endswith("/") else f"{base}/"


def pages_of_source(
    source: Path, site: Site, wanted: Collection[str] | None = None, *, renew: Callable[[], None]
) -> dict[str, FreshPage]:
    """Return the pages of an archive by address, or those that are wanted; of several versions the newest.

    Raises UnreadableFile.
    """
    pages: dict[str, FreshPage] = {}
    newest: dict[str, float] = {}
    with open_source(source, base_url_of(site)) as opened:
        for number, item in enumerate(opened.items):
            if number % 500 == 0:
                renew()
            if not isinstance(item, SourcePage):
                continue
            try:
                url = normalise_url(item.url)
            except BadAddress:
                continue
            if wanted is not None and url not in wanted:
                continue
            fetched_at = item.fetched_at.timestamp() if item.fetched_at else float("inf")
            if url in pages and fetched_at < newest[url]:
                continue
            if len(pages) >= MAX_PAGES_OF_SOURCE:
                continue
            newest[url] = fetched_at
            pages[url] = FreshPage(
                url, item.body, item.content_type, status=item.status, given_url=item.url
            )
    return pages


class PageFetcher:
    """Fetch pages of a site one after the other, as its robots.txt lets it, in turns with crawls.

    A host that does not answer several times in a row is not asked again, and after a while none
    is: a site that hangs holds nobody up.
    """

    def __init__(
        self, site: Site, run: JobRun, *, seconds: float = MAX_SECONDS, tries: int = MAX_TRIES
    ) -> None:
        self._site = site
        self._tries = tries
        self._until = time.monotonic() + seconds
        self._silences: Counter[str] = Counter()  # in a row, by host
        self._robots_errors: dict[str, str] = {}  # by host, why its robots.txt could not be read
        self._leases = HostLeases(site, run.job, patience=patience_of(run))
        self._has_logged_in = False

    def __enter__(self) -> Self:
        self._session = site_sessions.session_of(self._site)
        self._fetcher = open_fetcher(session=self._session)
        self._renderer = open_renderer() if self._site.render else None
        return self

    def __exit__(self, *_: object) -> None:
        self._fetcher.close()
        self._leases.release()

    def fetch(self, url: str) -> FreshPage | str:
        """Return the page, or a word for why there is none. Raises HostTaken."""
        origin = origin_of(url)
        if time.monotonic() > self._until:
            return OUT_OF_TIME
        if self._silences[origin] >= MAX_SILENCES:
            return SILENT
        try:
            why = self._forbidden(url, origin)
            if why:
                self._leases.count(origin, was_asked=False, n_bytes=0, problem=why)
                return why
            answer = self._fetch(url, origin)
        except FetchRefused as error:
            self._silences[origin] += error.is_transient
            self._leases.count(origin, was_asked=True, n_bytes=0, problem=error.code)
            return error.code
        self._silences[origin] = 0
        is_error = answer.status >= HTTPStatus.BAD_REQUEST
        problem = str(answer.status) if is_error else ""
        self._leases.count(origin, was_asked=True, n_bytes=len(answer.body), problem=problem)
        return FreshPage(
            url,
            answer.body,
            answer.content_type,
            status=answer.status,
            final_url=answer.final_url,
        )

    def _fetch(self, url: str, origin: str) -> Fetched:
        """Fetch or render a page in a turn of its own. Raises FetchRefused, HostTaken."""
        self._leases.take(origin)
        pause: timedelta | None = None
        try:
            answer = self._ask_logged_in(url)
            if answer.status in BUSY:
                pause = pause_asked(answer.headers.get("retry-after", ""), datetime.now(UTC))
            return answer
        finally:
            self._leases.pause(origin, pause)

    def _ask(self, url: str) -> Fetched:
        if self._renderer:
            return self._renderer.render(url, takes=takes_page, session=self._session)
        return self._fetcher.fetch(url, tries=self._tries, seconds=PAGE_SECONDS)

    def _ask_logged_in(self, url: str) -> Fetched:
        """Return the answer as those get it who are logged in, where the site needs that.

        Raises FetchRefused: LoggedOut, LogInFailed or another.
        """
        session = self._session
        if session is None or session.log_in is None:
            return self._ask(url)
        if not session.is_logged_in:
            self._log_in(session, session.log_in)
        answer = self._ask(url)
        try:
            wait_for(check_logged_in(answer, session.log_in))
        except LoggedOut:
            if self._has_logged_in:
                raise
            session.forget_cookies()
            self._log_in(session, session.log_in)
            answer = self._ask(url)
            wait_for(check_logged_in(answer, session.log_in))
        return answer

    def _log_in(self, session: SiteSession, form: SiteLogIn) -> None:
        """Log in, at most once for all pages. Raises FetchRefused."""
        if self._has_logged_in:
            raise LogInFailed(f"logged out again after logging in at {form.url}")
        self._has_logged_in = True
        try:
            wait_for(log_in(self._fetcher.client, session, form))
        except LogInFailed as error:
            site_sessions.keep_log_in_problem(site=self._site, session=session, problem=str(error))
            raise
        site_sessions.keep_log_in(site=self._site, session=session)

    def _forbidden(self, url: str, origin: str) -> str:
        """Return why an address may not be fetched; blank where it may. Raises FetchRefused, HostTaken."""
        if not self._site.obey_robots:
            return ""
        if origin in self._robots_errors:
            return self._robots_errors[origin]
        try:
            rules = self._leases.robots_of(origin, self._fetcher)
        except FetchRefused as error:
            self._robots_errors[origin] = error.code
            raise
        return "" if rules.allows(url) else "robots"
