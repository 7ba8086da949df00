"""Crawl one list: the pages on which it continues, and the page about each of its records.

What is to be visited next is decided from the stored pages, so that a crawl that was cut off reads
what it has visited, decides the same again, and continues.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from clustering.algorithms.tables.page_tables import ListTable
from clustering.dom.addresses import url_hash
from clustering.models import Page
from clustering.services.crawl.crawl_results import MAX_REDIRECTS
from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.engine import Engine
from clustering.services.crawl.frontier import LinkTarget
from clustering.services.crawl.limits import DEFAULT_PAGES, CrawlLimits, entry_at
from clustering.services.lists.list_tables import tables_of_snapshot
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import JobRun
from vertex.core.services.jobs.requests import JobKind, JobRequest


def list_crawl_request(
    *,
    site: Site,
    url: str,
    follows_pages: bool = True,
    follows_details: bool = True,
    max_pages: int = DEFAULT_PAGES,
    delay: float | None = None,
) -> JobRequest:
    """Describe the crawl of a list, the pages on which it continues, and those of its records.

    With neither it fetches the one page. Raises ValidationError where that cannot be done.
    """
    limits = CrawlLimits(max_pages, delay)
    entry = entry_at(site, url)
    params = {
        "entry": entry,
        "given_entry": url,
        **asdict(limits),
        "follows_pages": follows_pages,
        "follows_details": follows_details,
    }
    return JobRequest(
        kind=CRAWL_LIST,
        title=f"Crawl the list {entry}",
        site=site,
        params=params,
        key=f"crawl_list:{site.pk}",
        subject=entry,
        detail=params,
    )


def crawl_list(run: JobRun) -> dict[str, Any]:
    """Visit the pages of a job's list; return counts, and where the entry is stored.

    A line is reported for each page. Raises JobFailed where no page could be stored.
    """
    with Engine(takes_turns=True) as engine:
        return _ListCrawl(engine.take(run, follows_links=False)).go()


CRAWL_LIST = JobKind("clustering.crawl_list", Job.Queue.FETCH, crawl_list, "list.crawled")


@dataclass(slots=True)
class _ListCrawl:
    """A crawl that follows a list's next pages and its records' links."""

    crawler: Crawler
    lists: list[str] = field(default_factory=list)  # the pages of the list, in order
    details: dict[str, None] = field(default_factory=dict)
    n_records: int = 0

    def go(self) -> dict[str, Any]:
        self.crawler.begin()
        self.crawler.visit_due()
        params = self.crawler.run.job.params
        entry = self._page_at(params["entry"])
        url, page = params["entry"], entry
        while page is not None and page.url not in self.lists:
            self.lists.append(page.url)
            table = self._table_of(page)
            if table is None:
                break
            self.n_records += table.n_records
            self.details.update(dict.fromkeys(table.details))
            url = table.next_url
            if not (params["follows_pages"] and url) or self.crawler.has_enough:
                break
            self._visit([url], depth=len(self.lists))
            page = self._page_at(url)
        if params["follows_details"]:
            self._visit(self.details, depth=len(self.lists) + 1)
        return self.crawler.end() | self._figures(entry)

    def _visit(self, urls: Iterable[str], depth: int) -> None:
        """Visit the addresses that this crawl has not come to, up to its limit."""
        for url in urls:
            self.crawler.add(LinkTarget(url, depth))
        self.crawler.visit_due()

    def _page_at(self, url: str) -> Page | None:
        """Return the stored page that came for an address, None where none came."""
        pages = Page.objects.filter(site=self.crawler.site, crawl=self.crawler.run.job)
        page = pages.filter(url_hash=url_hash(url)).select_related("latest_snapshot").first()
        for _ in range(MAX_REDIRECTS):
            if page is not None and page.state == Page.State.REDIRECTED:
                page = page.redirects_to
        return page if page is not None and page.state == Page.State.STORED else None

    def _table_of(self, page: Page) -> ListTable | None:
        snapshot = page.latest_snapshot
        if snapshot is None:
            return None
        snapshot.page = page
        return next(iter(tables_of_snapshot(snapshot, 1)), None)

    def _figures(self, entry: Page | None) -> dict[str, Any]:
        return {
            "page": entry.pk if entry else None,
            "snapshot": entry.latest_snapshot_id if entry else None,
            "lists": len(self.lists),
            "records": self.n_records,
            "details": len(self.details),
        }
