"""A site's stored pages as a clustering reads them: which there are, which are sampled, their bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from sys import intern
from typing import NamedTuple

from clustering.algorithms.grouping import RawPage
from clustering.models import Page
from vertex.core.models import Site
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

MAX_TITLE_CHARS = 200


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
        "depth",
    )
    return [
        StoredPage(pk, url, bytes(url_hash), snapshot, body, intern(content_type), status, depth)
        for pk, url, url_hash, snapshot, body, content_type, status, depth in rows.iterator(
            chunk_size=5_000
        )
    ]


def sample_pages(pages: Sequence[StoredPage], size: int) -> list[StoredPage]:
    """Return so many pages, always the same ones and in the same order, whatever order they come in."""
    return sorted(pages, key=lambda page: page.url_hash)[:size]


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


def read_titles(site: Site, pages: Iterable[int]) -> dict[int, str]:
    """Return the titles that some pages have in their latest snapshots; blank where they have none."""
    stored = stored_pages(site, pages)
    titles = {}
    for page, raw in zip(stored, read_pages(stored), strict=True):
        title = raw.tree.findtext(".//title") if raw.tree is not None else None
        titles[page.pk] = " ".join((title or "").split())[:MAX_TITLE_CHARS]
    return titles
