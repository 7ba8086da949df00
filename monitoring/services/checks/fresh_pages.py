"""Newer versions of a site's pages, read from an archive or fetched from the site."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from clustering.algorithms.grouping import RawPage
from clustering.dom.addresses import BadAddress, normalise_url
from clustering.fetching.client import MAX_REDIRECTS
from clustering.services.crawl.fetch_tasks import Errand
from clustering.services.pages.archives import open_source
from clustering.services.pages.source_pages import SourcePage
from vertex.core.models import Site

PAGE_SECONDS = 30.0  # for one page
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
    """Return all or the wanted pages of an archive by address; of several versions the newest.

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


def errand_for(url: str, *, tries: int) -> Errand:
    """Return the errand by which a page is fetched as it is now."""
    return Errand(
        url, max_redirects=MAX_REDIRECTS, max_tries=tries, seconds=PAGE_SECONDS, is_page=True
    )


def page_of(errand: Errand) -> FreshPage | str:
    """Return the page that an errand brought, or a word for why there is none."""
    answer = errand.answer
    if answer is None:
        return errand.refused.code if errand.refused else ""
    return FreshPage(
        errand.url,
        answer.body,
        answer.content_type,
        status=answer.status,
        final_url=answer.final_url,
    )
