"""A site's stored pages as a clustering reads them: which there are, which are sampled, their bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clustering.algorithms.grouping import RawPage
from clustering.models import Page
from vertex.core.models import Site
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

MIN_SAMPLE = 2_000  # pages; a site of so many is its own sample
SAMPLED_SHARE = 0.2
MAX_SAMPLE = 20_000


class StoredPage(NamedTuple):
    """A page with its latest snapshot, as far as a clustering needs to know it."""

    pk: int
    url: str
    url_hash: bytes
    snapshot: int
    body: str  # its name in the page store
    content_type: str
    status: int = 200


def stored_pages(site: Site, pages: Iterable[int] | None = None) -> list[StoredPage]:
    """Return the pages of a site that have a snapshot, or those among some, in the order of discovery."""
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
    )
    return [
        StoredPage(pk, url, bytes(url_hash), snapshot, body, content_type, status)
        for pk, url, url_hash, snapshot, body, content_type, status in rows.iterator(
            chunk_size=5_000
        )
    ]


def sample_size(n_pages: int) -> int:
    """Return how many of so many pages are sampled: all of a small site, a fifth of a large one."""
    wanted = min(MAX_SAMPLE, round(SAMPLED_SHARE * n_pages))
    return min(n_pages, max(MIN_SAMPLE, wanted))


def sample_pages(
    pages: Sequence[StoredPage], size: int, *, always: Collection[str] = ()
) -> list[StoredPage]:
    """Return so many pages, always the same ones and in the same order, whatever order they come in.

    Pages whose URL is in `always` come first.
    """
    return sorted(pages, key=lambda page: (page.url not in always, page.url_hash))[:size]


def read_pages(
    pages: Iterable[StoredPage], inbound_xpaths: Mapping[str, str] | None = None
) -> Iterator[RawPage]:
    """Yield the pages with their bytes; one whose bytes are gone or damaged is an empty page.

    `inbound_xpaths` has the XPath of the first link to a page by its URL.
    """
    xpaths = inbound_xpaths or {}
    store = page_store()
    for page in pages:
        try:
            body = store.read(page.body)
        except (BodyMissing, BodyDamaged):
            body = b""
        yield RawPage(page.url, body, page.content_type, xpaths.get(page.url, ""))
