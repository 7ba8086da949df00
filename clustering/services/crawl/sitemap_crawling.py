"""Crawl what a site's sitemaps list: those pages, and none that only links lead to.

Sitemaps are fetched in turns with the pages of their host, as robots.txt lets them. Their addresses
become rows: a crawl that was cut off goes on with what is left of them, and reads again only the
sitemap in whose middle that was.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from itertools import islice
from typing import Any, Final

from django.db import transaction

from clustering.dom.addresses import BadAddress, join_url, normalise_url, origin_of, url_hash
from clustering.dom.sitemaps import SitemapEntry, read_sitemap, sitemaps_of_robots
from clustering.fetching.decompressing import decompress
from clustering.fetching.refusals import FetchRefused
from clustering.models import Host, Page
from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.engine import Engine
from clustering.services.crawl.errands import open_errands, postpones
from clustering.services.crawl.frontier import LinkTarget
from clustering.services.crawl.limits import CrawlLimits, entry_at
from clustering.services.crawl.listed_pages import figures_of, is_listed, keep_listed
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobFailed, JobRun, hand_back
from vertex.core.services.jobs.requests import JobKind, JobRequest

MAX_SITEMAPS: Final = 1_000  # files that one crawl reads
MAX_ADDRESSES: Final = 5_000_000  # of all of them
MAX_SITEMAP_BYTES: Final = 50 * 1024 * 1024  # of one, as the protocol says
ADDRESSES_PER_STEP: Final = 1_000
USUAL_PLACE: Final = "/sitemap.xml"  # where robots.txt names none
GZIP: Final = b"\x1f\x8b"
OK: Final = 200
READING: Final = "reading"  # the parameter of a job that holds how far it is with its sitemaps


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

    Pages that are stored and have not changed since, as the sitemap says, are not visited. Raises
    JobFailed where there is no sitemap, or no page could be stored.
    """
    with Engine() as engine:
        crawler = engine.take(run, follows_links=False)
        crawler.begin()
        if not is_listed(run.job) and not _list_pages(crawler):
            return figures_of(run.job)
        crawler.visit_due()
        return crawler.end() | figures_of(run.job)


@postpones
def read_sitemaps(run: JobRun) -> dict[str, Any]:
    """Make due what a job's sitemaps list, and leave the visits to whoever takes the job next.

    So a site whose visits take days holds up no other. Raises JobFailed where there is no sitemap.
    """
    with open_errands(run, takes_turns=True) as errands:
        errands.crawler.begin()
        if not _list_pages(errands.crawler):
            return figures_of(run.job)
    hand_back(run)
    return {}


CRAWL_SITEMAPS = JobKind(
    "clustering.crawl_sitemaps", Job.Queue.FETCH, crawl_sitemaps, "sitemaps.crawled"
)


def _list_pages(crawler: Crawler) -> bool:
    """Make due what a site's sitemaps list, keep how much; return whether there is any to visit.

    Raises JobFailed.
    """
    crawl = _SitemapCrawl(crawler, **crawler.run.job.params.get(READING, {}))
    crawl.read_all()
    if not crawl.n_read:
        raise JobFailed(f"no sitemap could be read: {crawl.problem}")
    if not crawl.n_addresses:
        raise JobFailed(f"no address is listed in what was read, last {crawl.last_read}")
    is_any = Page.objects.filter(crawl=crawler.run.job).exists()
    if not is_any and not crawl.n_known:
        raise JobFailed(
            f"none of {crawl.n_addresses:,} listed address(es) is of the site; see the refusals"
        )
    del crawler.run.job.params[READING]
    figures = {"sitemaps": crawl.n_read, "addresses": crawl.n_addresses, "known": crawl.n_known}
    keep_listed(crawler.run, figures)
    return is_any


@dataclass(slots=True)
class _SitemapCrawl:
    """A crawl that reads sitemaps, each once, and makes due what they list."""

    crawler: Crawler
    n_read: int = 0
    last_read: str = ""
    n_addresses: int = 0
    n_known: int = 0  # not changed since they were stored
    problem: str = "robots.txt names none"  # the last one
    waiting: list[str] = field(default_factory=list)  # for their turn to be read
    seen: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Take what was seen as JSON has it."""
        self.seen = set(self.seen)

    def read_all(self) -> None:
        if not self.seen:
            for url in self._first_sitemaps():
                self._expect(url, self.crawler.site.root_url)
        while self.waiting:
            self._read(self.waiting[0])
            del self.waiting[0]
            self._keep()

    def _keep(self) -> None:
        """Keep how far the reading is, so that whoever goes on with it reads what is left."""
        run = self.crawler.run
        read = {each.name: getattr(self, each.name) for each in fields(self)}
        del read["crawler"]
        read["seen"] = sorted(self.seen)
        with transaction.atomic():
            run.renew()
            run.job.params[READING] = read
            run.job.save(update_fields=["params"])

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
        if url in self.seen:
            return
        if len(self.seen) >= MAX_SITEMAPS:
            self._refuse(url, "sitemap", f"more than {MAX_SITEMAPS:,} sitemaps")
            return
        self.seen.add(url)
        if self.crawler.frontier.belongs_to_site(url):
            self.waiting.append(url)
        else:
            self._refuse(url, "sitemap", "the sitemap does not belong to the site")

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
