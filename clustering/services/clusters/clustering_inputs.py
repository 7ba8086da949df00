"""What a site offers a clustering beside its pages: its links, its search log, its redirects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from sys import intern
from typing import NamedTuple

from lxml.html import HtmlElement

from clustering.algorithms.grouping import Click, Clusterer, ClusteringInputs, SiteLink
from clustering.algorithms.published.derived_log import derive_clicks
from clustering.dom.addresses import url_hash
from clustering.dom.page import parse_page
from clustering.models import Link, Page, SearchClick
from clustering.services.pages.stored_pages import StoredPage
from vertex.core.models import Site
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

MOST_INBOUND = 50  # links to one page that are looked at, the first ones
MOST_LINKS = 1_000_000  # of a site; with more pages than that, fewer links to each
AT_ONCE = 500  # pages


class Addresses(NamedTuple):
    """Where the addresses of a site lead."""

    stored: Mapping[
        str, str
    ]  # of each page that is clustered, to itself: one text for all its links
    redirects: Mapping[str, str]  # of what was redirected, to the page where it ended


def collect_inputs(
    site: Site, pages: Sequence[StoredPage], clusterer: Clusterer
) -> ClusteringInputs:
    """Return what is known beside the pages that an algorithm clusters.

    Where it needs a search log and the site has none, one is derived from the words of the links.
    """
    addresses = _addresses(site, pages)
    most_inbound = max(1, min(MOST_INBOUND, MOST_LINKS // max(len(pages), 1)))
    direct: set[str] = set()
    links = list(_links(site, addresses, most_inbound, direct))
    clicks = list(_clicks(site, addresses))
    is_derived = "clicks" in clusterer.needs and not clicks
    if is_derived:
        clicks = derive_clicks(links)
    return ClusteringInputs(
        links=links,
        clicks=clicks,
        has_derived_clicks=is_derived and bool(clicks),
        redirected=frozenset(addresses.redirects.values()) - direct,
        read=_reader(pages),
    )


def first_inbound_xpaths(site: Site, urls: Sequence[str]) -> dict[str, str]:
    """Return the place of the first link to each of some pages, where there is any."""
    url_by_hash = {url_hash(url): url for url in urls}
    links = Link.objects.filter(page__site=site, url_hash__in=list(url_by_hash)).order_by(
        "-page__depth", "-page_id", "-position"
    )
    rows = links.values_list("page__url", "url_hash", "xpath")
    return {  # from the last link to the first, so that the first one stays
        url_by_hash[bytes(target)]: xpath
        for source, target, xpath in rows.iterator()
        if source != url_by_hash[bytes(target)]
    }


def _addresses(site: Site, pages: Sequence[StoredPage]) -> Addresses:
    stored = {page.url: page.url for page in pages}
    redirected = Page.objects.filter(site=site, redirects_to__isnull=False)
    ends = redirected.values_list("url", "redirects_to__url")
    return Addresses(stored, {url: stored[end] for url, end in ends.iterator() if end in stored})


def _links(
    site: Site, addresses: Addresses, most_inbound: int, direct: set[str]
) -> Iterator[SiteLink]:
    """Yield the links in the order in which a crawl from the site's start meets them.

    Adds to `direct` the pages that a link names by their own address.
    """
    n_by_target: Counter[str] = Counter()
    for source, xpath, url, text in _link_rows(site):
        target = addresses.stored.get(url) or addresses.redirects.get(url)
        if target is None:
            continue
        if target == url:
            direct.add(target)
        n_by_target[target] += 1
        if n_by_target[target] <= most_inbound:
            yield SiteLink(
                addresses.stored.get(source, source), intern(xpath), target, intern(text)
            )


def _link_rows(site: Site) -> Iterator[tuple[str, str, str, str]]:
    pages = Page.objects.filter(site=site, latest_snapshot__isnull=False).order_by("depth", "pk")
    rows = list(pages.values_list("pk", "url"))
    for start in range(0, len(rows), AT_ONCE):
        url_by_pk = dict(rows[start : start + AT_ONCE])
        order = {pk: place for place, pk in enumerate(url_by_pk)}
        links = Link.objects.filter(page_id__in=list(url_by_pk)).order_by("page_id", "position")
        found = list(links.values_list("page_id", "xpath", "url", "text"))
        found.sort(key=lambda link: order[link[0]])
        for pk, xpath, url, text in found:
            yield url_by_pk[pk], xpath, url, text


def _clicks(site: Site, addresses: Addresses) -> Iterator[Click]:
    rows = SearchClick.objects.filter(site=site).order_by("query", "url")
    for query, url, clicks in rows.values_list("query", "url", "clicks").iterator(chunk_size=5_000):
        target = addresses.stored.get(url) or addresses.redirects.get(url)
        if target is not None:
            yield Click(intern(query), target, clicks)


def _reader(pages: Sequence[StoredPage]) -> Callable[[str], HtmlElement | None]:
    """Return what reads a page's tree from the page store; None where its bytes are gone."""
    store, page_by_url = page_store(), {page.url: page for page in pages}

    def read(url: str) -> HtmlElement | None:
        page = page_by_url.get(url)
        if page is None:
            return None
        try:
            return parse_page(store.read(page.body), page.content_type).tree
        except (BodyMissing, BodyDamaged):
            return None

    return read
