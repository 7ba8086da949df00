"""Explore a live site: visit only the pages that its model asks for, with a crawl's own manners.

The exploration decides from what the visited pages hold, and each visit is stored before the next
is decided. One that was cut off therefore reads what it has visited from the store, decides the
same again, and goes on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, cast

from clustering.algorithms.published.exploration import NoMoreVisits, Progress
from clustering.algorithms.published.link_queue import Strategy
from clustering.algorithms.published.page_classes import PageLinks, read_collections
from clustering.algorithms.published.site_model import SiteModel, explore
from clustering.dom.addresses import url_hash
from clustering.dom.page import PageTooLarge
from clustering.models import Page
from clustering.services.children.stored import PageTooHeavy, call_on_page
from clustering.services.crawl.crawl_results import MAX_REDIRECTS
from clustering.services.crawl.crawler import Crawler
from clustering.services.crawl.frontier import ERROR, LinkTarget
from vertex.core.models import Refusal

MAX_CLASSES_NAMED: Final = 50  # in a job's result


def explore_site(crawler: Crawler) -> dict[str, Any]:
    """Run Compute-Model on the site of a crawl that follows no links; return the job's result.

    Raises JobFailed where no page could be stored.
    """
    params = crawler.run.job.params
    crawler.begin()
    crawler.visit_due()  # the entry, or what was asked for when the exploration was cut off
    visitor = Visitor(crawler)
    exploration = explore(
        [params["entry"]],
        visitor.visit,
        crawler.frontier.belongs_to_site,
        strategy=cast("Strategy", params["strategy"]),
    )
    while True:
        try:
            crawler.doing = _message(next(exploration))
        except StopIteration as end:
            return crawler.end() | _figures(end.value, crawler.n_visited)


@dataclass(slots=True)
class Visitor:
    """Fetch the pages that the model asks for, or read those that the crawl has stored."""

    crawler: Crawler
    # How each page was linked to first.
    _target_by_url: dict[str, LinkTarget] = field(default_factory=dict)

    def visit(self, url: str) -> PageLinks | None:
        """Return the links of the page that comes for an address, None where none comes.

        Raises NoMoreVisits where as many pages were visited as may be.
        """
        self.crawler.beat()
        page = self._page_at(url)
        if page is None and not self._is_refused(url):
            if self.crawler.has_enough:
                raise NoMoreVisits
            self.crawler.add(self._target_by_url.get(url, LinkTarget(url, 0)))
            self.crawler.visit_due()
            page = self._page_at(url)
        for _ in range(MAX_REDIRECTS + 1):
            if page is None or page.state != Page.State.REDIRECTED:
                break
            page = page.redirects_to
        if page is not None and page.state == Page.State.DUE:
            raise NoMoreVisits
        return self._read(page) if page is not None and page.state == Page.State.STORED else None

    def _page_at(self, url: str) -> Page | None:
        """Return the page if this crawl has come to it."""
        pages = Page.objects.filter(
            site=self.crawler.site, url_hash=url_hash(url), crawl=self.crawler.run.job
        ).select_related("latest_snapshot", "redirects_to")
        return pages.first()

    def _is_refused(self, url: str) -> bool:
        return Refusal.objects.filter(job=self.crawler.run.job, subject=url).exists()

    def _read(self, page: Page) -> PageLinks | None:
        """Return a stored page's links; those of an error page are seen, but not followed."""
        snapshot = page.latest_snapshot
        if snapshot is None:
            return None
        try:
            read = call_on_page(snapshot, read_collections, page.url)
        except (PageTooHeavy, PageTooLarge):
            return None
        if read is None:
            return None
        urls, collections = read
        if (snapshot.status or 0) >= ERROR:
            return PageLinks(page.url, dict.fromkeys(collections, ()))
        for url in urls:
            self._target_by_url.setdefault(url, LinkTarget(url, page.depth + 1))
        return PageLinks(page.url, collections)


def _message(progress: Progress) -> str:
    n_classes, n_waiting = len(progress.classes), progress.n_waiting
    return f"{n_classes} classes so far, {n_waiting} collections of links to look into"


def _figures(model: SiteModel, n_fetched: int) -> dict[str, Any]:
    """Return what a job's result says of the model that was found."""
    return {
        "fetched": n_fetched,
        "fetched_at_peak": model.n_fetched_at_peak,
        "classes": len(model.classes),
        "class_links": len({(source, target) for source, target, _, _ in model.class_links()}),
        "stopped": model.stopped,
        "pages_of_class": {
            f"{C.number} ({C.pages[0].url})"[:200]: len(C.pages)
            for C in model.classes[:MAX_CLASSES_NAMED]
        },
    }
