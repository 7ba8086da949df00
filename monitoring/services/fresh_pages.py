"""Newer versions of a site's pages: from an archive, or from the site itself through the guarded fetcher."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from django.conf import settings

from clustering.dom.addresses import BadAddress, normalise_url, origin_of
from clustering.fetching.client import open_fetcher
from clustering.fetching.refusals import Refused
from clustering.fetching.rendering import open_renderer
from clustering.fetching.robots import Robots, fetch_robots
from clustering.services.answers import takes_page
from clustering.services.archives import open_source
from clustering.services.found_pages import FoundPage

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator
    from pathlib import Path

    from clustering.models import Site

TRIES = 3
MOST_PAGES = 20_000  # of a source that are looked at


class FreshPage(NamedTuple):
    """A page as it is now."""

    url: str  # normalised
    body: bytes
    content_type: str
    status: int
    final_url: str = ""  # where redirects led, if anywhere


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
            if not isinstance(item, FoundPage):
                continue
            try:
                url = normalise_url(item.url)
            except BadAddress:
                continue
            if wanted is not None and url not in wanted:
                continue
            fetched_at = item.fetched_at.timestamp() if item.fetched_at else float("inf")
            if (url in pages and fetched_at < newest[url]) or len(pages) >= MOST_PAGES:
                continue
            pages[url], newest[url] = (
                FreshPage(url, item.body, item.content_type, item.status),
                fetched_at,
            )
    return pages


def pages_of_site(
    site: Site, urls: Iterable[str], *, renew: Callable[[], None]
) -> Iterator[tuple[str, FreshPage | None]]:
    """Fetch pages one after the other with the site's pause; None for one that cannot be fetched."""
    with open_fetcher() as fetcher:
        renderer = open_renderer() if site.render else None
        robots: dict[str, Robots | None] = {}
        for url in urls:
            renew()
            origin = origin_of(url)
            try:
                if site.obey_robots and origin not in robots:
                    robots[origin] = None
                    robots[origin] = Robots(fetch_robots(fetcher, origin).text, settings.USER_AGENT)
                rules = robots.get(origin)
                if site.obey_robots and (rules is None or not rules.allows(url)):
                    yield url, None
                    continue
                answer = (
                    renderer.render(url, takes=takes_page) if renderer else fetcher.fetch(url, tries=TRIES)
                )
            except Refused:
                yield url, None
                continue
            yield (
                url,
                FreshPage(url, answer.body, answer.content_type, answer.status, answer.final_url),
            )
            time.sleep(max(site.crawl_delay, rules.crawl_delay if rules else 0.0))
