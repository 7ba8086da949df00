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
from clustering.fetching.politeness import BUSY, pause_asked
from clustering.fetching.refusals import FetchRefused
from clustering.services.crawl.crawl_results import takes_page
from clustering.services.crawl.site_sessions import session_of
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

    def __enter__(self) -> Self:
        self._session = session_of(self._site)
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
            if why := self._forbidden(url, origin):
                return why
            answer = self._fetch(url, origin)
        except FetchRefused as error:
            self._silences[origin] += error.is_transient
            return error.code
        self._silences[origin] = 0
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
            if self._renderer:
                answer = self._renderer.render(url, takes=takes_page, session=self._session)
            else:
                answer = self._fetcher.fetch(url, tries=self._tries, seconds=PAGE_SECONDS)
            if answer.status in BUSY:
                pause = pause_asked(answer.headers.get("retry-after", ""), datetime.now(UTC))
            return answer
        finally:
            self._leases.pause(origin, pause)

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
