"""Keep what an archive holds beside its pages: files of their looks, addresses without a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from django.utils import timezone

from clustering.dom.addresses import BadAddress, belongs_to_site, normalise_url, url_hash
from clustering.models import Asset, Page
from clustering.services.looks.asset_fetching import NoSuchFile, cleaned_file
from clustering.services.pages.pages import count_new_pages, lock_sites
from clustering.services.pages.source_pages import FoundAddress, FoundFile
from vertex.core.models import Site
from vertex.core.storage import page_store

REDIRECTS_TO: Final = "redirects to "  # with the address behind it: the reason of a redirected page
REDIRECTS_PER_QUERY: Final = 500


class PreparedFile(NamedTuple):
    """A file that is cleaned and in the page store."""

    file: FoundFile
    url: str  # normalised
    body: str
    content_type: str


def prepare_files(files: Sequence[FoundFile]) -> list[PreparedFile]:
    """Clean files and put them into the page store, but not those no page can be drawn with."""
    usable = []
    for file in files:
        try:
            url = normalise_url(file.url)
            body, content_type = cleaned_file(file.body, file.content_type, file.kind, url)
        except (BadAddress, NoSuchFile):
            continue
        usable.append((file, url, body, content_type))
    names = page_store().put_many([body for _, _, body, _ in usable]) if usable else []
    return [
        PreparedFile(file, url, name, content_type)
        for (file, url, _, content_type), name in zip(usable, names, strict=True)
    ]


def store_files(*, site: Site, prepared: Sequence[PreparedFile]) -> None:
    """Write down the files of an archive; those that are known already stay as they are."""
    now = timezone.now()
    Asset.objects.bulk_create(
        [
            Asset(
                site=site,
                url=url,
                url_hash=url_hash(url),
                kind=file.kind,
                body=body,
                n_bytes=len(file.body),
                content_type=content_type,
                is_from_archive=True,
                fetched_at=min(file.fetched_at or now, now),
            )
            for file, url, body, content_type in prepared
        ],
        ignore_conflicts=True,
    )


def store_addresses(*, site: Site, addresses: Sequence[FoundAddress]) -> None:
    """Save the addresses of an archive that belong to a site, in their order; known ones stay."""
    if not addresses:
        return
    lock_sites([site])
    now = timezone.now()
    pages: dict[bytes, Page] = {}
    for address in addresses:
        try:
            url = normalise_url(address.url)
        except BadAddress:
            continue
        if belongs_to_site(url, site.root_url, site.extra_hosts):
            pages[url_hash(url)] = Page(
                site=site,
                url=url,
                url_hash=url_hash(url),
                given_url=address.url,
                state=address.state,
                status=address.status,
                reason=address.reason[:300],
                depth=address.depth or 0,
                visited_at=min(address.visited_at, now) if address.visited_at else None,
            )
    known = Page.objects.filter(site=site, url_hash__in=list(pages))
    for key in known.values_list("url_hash", flat=True):
        del pages[bytes(key)]
    Page.objects.bulk_create(pages.values())
    count_new_pages(pages.values())


def link_redirects(*, site: Site) -> None:
    """Point redirected pages of archives to the pages they lead to, as far as these are known."""
    redirected = Page.objects.filter(
        site=site, state=Page.State.REDIRECTED, redirects_to=None, crawl=None
    ).order_by("pk")
    last = 0
    while True:
        pages = list(redirected.filter(pk__gt=last)[:REDIRECTS_PER_QUERY])
        if not pages:
            return
        last = pages[-1].pk
        hashes = [url_hash(page.reason.removeprefix(REDIRECTS_TO)) for page in pages]
        targets = Page.objects.filter(site=site, url_hash__in=hashes)
        pk_by_hash = {bytes(key): pk for key, pk in targets.values_list("url_hash", "pk")}
        for page, key in zip(pages, hashes, strict=True):
            page.redirects_to_id = pk_by_hash.get(key)
        Page.objects.bulk_update(pages, ["redirects_to"])
