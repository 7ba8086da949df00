"""Crawl what a site's sitemaps list: those pages, and none that only links lead to.

Sitemaps are fetched in turns with the pages of their host, as robots.txt lets them. A crawl that was
cut off reads them again, and goes on with what is left of their addresses.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from typing import Any, Final

from clustering.dom.addresses import BadAddress, join_url, normalise_url, origin_of, url_hash
from clustering.dom.sitemaps import SitemapEntry, read_sitemap, sitemaps_of_robots
from clustering.fetching.decompressing import decompress
from clustering.fetching.refusals import FetchRefused
from clustering.models import Host, Page
from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.engine import Engine
from clustering.services.crawl.frontier import LinkTarget
from clustering.services.crawl.limits import CrawlLimits, entry_at
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobFailed, JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest

MAX_SITEMAPS: Final = 1_000  # files that one crawl reads
MAX_ADDRESSES: Final = 5_000_000  # of all of them
MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024  # of one, as the protocol says
ADDRESSES_PER_STEP: Final = 1_000
USUAL_PLACE: Final = "/sitemap.xml"  # where robots.txt names none
GZIP: Final = b"\x1f\x8b"
OK: Final = 200


def sitemap_crawl_request(
    *, site: Site, sitemap: str = "", max_pages: int | None = None, delay: float | None = None
) -> JobRequest:
    """Describe the crawl of what a sitemap lists, or of all sitemaps that robots.txt names.

    Raises ValidationError where it cannot be done.
    """
    limits = CrawlLimits(max_pages, delay)
    params = {"sitemap": entry_at(site, sitemap) if sitemap else "", **asdict(limits)}
    return JobRequest(
        kind=CRAWL_SITEMAPS,
        title=f"Crawl sitemaps of {site.name}",
        site=site,
        params=params,
        key=f"crawl_sitemaps:{site.pk}",
        detail=params,
    )


def crawl_sitemaps(run: JobRun) -> dict[str, Any]:
    """Visit what the sitemaps of a job's site list and report a line for each page.

    Pages that are stored and have not changed since, as the sitemap says, are not visited. Raises JobFailed
    where there is no sitemap, or no page could be stored.
    """
    with Engine() as engine:
        crawler = engine.take(run, follows_links=False)
        crawler.begin()
        crawl = _SitemapCrawl(crawler)
        crawl.read_all()
        crawler.visit_due()
        figures = {"sitemaps": crawl.n_read, "addresses": crawl.n_addresses, "known": crawl.n_known}
        if not crawl.n_read:
            raise JobFailed(f"no sitemap could be read: {crawl.problem}")
        if crawl.n_known and not crawler.n_visited:
            return figures  # there was nothing to visit
        if not crawl.n_addresses:
            raise JobFailed(f"no address is listed in what was read, last {crawl.last_read}")
        crawler.check_has_pages(
            f"none of {crawl.n_addresses:,} listed address(es) is of the site; see the refusals"
        )
        return crawler.end() | figures


CRAWL_SITEMAPS = JobKind(
    "clustering.crawl_sitemaps", Job.Queue.FETCH, crawl_sitemaps, "sitemaps.crawled"
)


@dataclass(slots=True)
class _SitemapCrawl:
    """A crawl that reads sitemaps, each once, and makes due what they list."""

    crawler: Crawler
    n_read: int = 0
    last_read: str = ""
    n_addresses: int = 0
    n_known: int = 0  # not changed since they were stored
    problem: str = "robots.txt names none"  # the last one
    _waiting: deque[str] = field(default_factory=deque)
    _seen: set[str] = field(default_factory=set)

    def read_all(self) -> None:
        for url in self._first_sitemaps():
            self._expect(url, self.crawler.site.root_url)
        while self._waiting:
            self._read(self._waiting.popleft())

    def _first_sitemaps(self) -> list[str]:
        """Return the sitemap that was asked for, else those of robots.txt, else the usual place."""
        asked_for = self.crawler.run.job.params["sitemap"]
        if asked_for:
            return [str(asked_for)]
        root = self.crawler.site.root_url
        usual = origin_of(root) + USUAL_PLACE
        self.crawler.read_robots(root)
        host = Host.objects.get(name=origin_of(root))
        return sitemaps_of_robots(host.robots_text) or [usual]

    def _expect(self, written: str, listed_at: str) -> None:
        """Have a sitemap read, unless it was already or must not be."""
        try:
            url = normalise_url(join_url(listed_at, written))
        except BadAddress as error:
            self._refuse(written, "bad_url", str(error))
            return
        if url in self._seen:
            return
        self._seen.add(url)
        if not self.crawler.frontier.belongs_to_site(url):
            self._refuse(url, "sitemap", "the sitemap does not belong to the site")
        elif len(self._seen) > MAX_SITEMAPS:
            self._refuse(url, "sitemap", f"more than {MAX_SITEMAPS:,} sitemaps")
        else:
            self._waiting.append(url)

    def _read(self, url: str) -> None:
        try:
            answer = self.crawler.fetch_file(url, MAX_SITEMAP_BYTES)
            if answer.location:
                self._expect(answer.location, url)
                return
            if answer.status != OK:
                self._refuse(url, "sitemap", f"answers {answer.status}")
                return
            body = answer.body
            if body.startswith(GZIP):
                body = decompress([body], "gzip", MAX_SITEMAP_BYTES)
        except FetchRefused as error:
            self._refuse(url, error.code, str(error))
            return
        self.n_read, self.last_read = self.n_read + 1, url
        entries = read_sitemap(body)
        while step := list(islice(entries, ADDRESSES_PER_STEP)):
            for entry in step:
                if entry.is_sitemap:
                    self._expect(entry.url, url)
            self._add([entry for entry in step if not entry.is_sitemap], url)

    def _add(self, entries: list[SitemapEntry], sitemap: str) -> None:
        """Make listed pages due, but for those that have not changed since they were stored."""
        entries = entries[: MAX_ADDRESSES - self.n_addresses]
        self.n_addresses += len(entries)
        entry_by_url: dict[str, SitemapEntry] = {}
        refused: list[tuple[str, str, str]] = []
        for entry in entries:
            try:
                url = normalise_url(entry.url)
            except BadAddress as error:
                refused.append((entry.url, "bad_url", str(error)))
                continue
            if self.crawler.frontier.belongs_to_site(url):
                entry_by_url[url] = entry
            else:
                refused.append((url, "foreign", f"{sitemap} lists it, but it is of another site"))
        known = set(self._unchanged(entry_by_url))
        self.n_known += len(known)
        targets = [LinkTarget(url, 0) for url in entry_by_url if url not in known]
        self.crawler.add_all(targets, refused=refused)
        self.crawler.beat()

    def _unchanged(self, entry_by_url: dict[str, SitemapEntry]) -> Iterator[str]:
        """Yield the addresses whose stored pages are younger than their last change."""
        crawler = self.crawler
        rows = Page.objects.filter(
            site=crawler.site,
            url_hash__in=[
                url_hash(url) for url, each in entry_by_url.items() if each.last_modified
            ],
            state=Page.State.STORED,
        )
        stored = rows.exclude(crawl=crawler.run.job)
        for url, fetched_at in stored.values_list("url", "latest_snapshot__fetched_at"):
            changed_at = entry_by_url[url].last_modified
            if fetched_at is not None and changed_at is not None and fetched_at > changed_at:
                yield url

    def _refuse(self, subject: str, code: str, reason: str) -> None:
        self.problem = f"{subject}: {reason}"
        self.crawler.writer.refuse(subject, code, reason)
