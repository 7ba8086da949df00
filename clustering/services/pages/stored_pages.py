"""A site's stored pages as a clustering reads them: which there are, the sampled, their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import NamedTuple

from clustering.algorithms.grouping import RawPage
from clustering.dom.addresses import url_hash
from clustering.models import Page, Snapshot
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

PAGES_PER_QUERY = 500
# Of pages that are read at once: a body may be damaged, but where many are, it is the store
# that is.
MOST_UNREADABLE = 5


class PagesUnreadable(JobFailed):
    """The bytes of more pages are gone or damaged than a result could do without."""

    def __init__(self, n_pages: int, example: str, why: Exception) -> None:
        super().__init__(
            f"{n_pages} pages or more cannot be read, such as {example}: {why}. Nothing was "
            "concluded from them; bring the page store back or fetch the pages again, then retry "
            "the job"
        )


class StoredPage(NamedTuple):
    """A page with its latest snapshot, as far as a clustering needs to know it."""

    pk: int
    url: str
    url_hash: bytes
    snapshot: int
    body: str  # its name in the page store
    content_type: str
    status: int = 200
    depth: int = 0  # links from the site's entry
    is_heavy: bool = False  # it ended processes that read it


def given_url_by_url(site: Site, urls: Iterable[str]) -> dict[str, str]:
    """Return how pages were handed in, by their normalised addresses."""
    hashes = [url_hash(url) for url in urls]
    given_urls: dict[str, str] = {}
    for start in range(0, len(hashes), PAGES_PER_QUERY):
        pages = Page.objects.filter(site=site, url_hash__in=hashes[start : start + PAGES_PER_QUERY])
        given_urls |= dict(pages.values_list("url", "given_url"))
    return given_urls


def stored_pages(site: Site, pages: Iterable[int] | None = None) -> list[StoredPage]:
    """Return a site's pages with a snapshot, or those among some, in the order of discovery."""
    stored = Page.objects.filter(site=site, latest_snapshot__isnull=False)
    if pages is not None:
        stored = stored.filter(pk__in=pages)
    rows = stored.order_by("pk").values_list(
        "pk",
        "url",
        "url_hash",
        "latest_snapshot_id",
        "latest_snapshot__body",
        "latest_snapshot__content_type",
        "latest_snapshot__status",
        "depth",
        "latest_snapshot__problem",
    )
    return [
        StoredPage(
            pk,
            url,
            bytes(url_hash),
            snapshot,
            body,
            intern(content_type),
            status,
            depth,
            problem == Snapshot.Problem.TOO_HEAVY,
        )
        for pk, url, url_hash, snapshot, body, content_type, status, depth, problem in (
            rows.iterator(chunk_size=5_000)
        )
    ]


def sample_pages(pages: Sequence[StoredPage], size: int) -> list[StoredPage]:
    """Return so many pages, always the same in the same order, in whatever order they come."""
    return sorted(pages, key=lambda page: page.url_hash)[:size]


def read_pages(
    pages: Iterable[StoredPage],
    inbound_xpaths: Mapping[str, str] | None = None,
    *,
    most_unreadable: int | None = MOST_UNREADABLE,
) -> Iterator[RawPage]:
    """Yield the pages with their bytes; one whose bytes are gone or damaged is empty, and says so.

    `inbound_xpaths` has the XPath of the first link to a page by its URL. Raises PagesUnreadable
    for more unreadable pages than `most_unreadable`, where one is named, and StoreAway.
    """
    xpaths = inbound_xpaths or {}
    store = page_store()
    n_unreadable = 0
    for page in pages:
        try:
            body = store.read(page.body)
        except (BodyMissing, BodyDamaged) as error:
            n_unreadable += 1
            if most_unreadable is not None and n_unreadable > most_unreadable:
                raise PagesUnreadable(n_unreadable, page.url, error) from error
            yield RawPage(page.url, b"", page.content_type, is_unreadable=True)
        else:
            yield RawPage(page.url, body, page.content_type, xpaths.get(page.url, ""))
