"""What a site offers a clustering beside pages: links, search log, redirects, people's answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from sys import intern
from typing import NamedTuple

from lxml.html import HtmlElement

from clustering.algorithms.grouping import Click, Clusterer, ClusteringInputs, SiteLink
from clustering.algorithms.published.derived_log import derive_clicks
from clustering.dom.addresses import url_hash
from clustering.dom.page import parse_page
from clustering.models import ClusterAnswer, Link, Page, SearchClick
from clustering.services.clusters.cluster_answers import answers_about, holding_answers
from clustering.services.pages.stored_pages import StoredPage
from vertex.core.models import Site
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

MAX_INBOUND = 50  # links to one page that are read, the first ones
MAX_LINKS = 1_000_000  # of a site; with more than that, fewer links to each page
PAGES_PER_QUERY = 500
# Addresses that a query names; of more pages than these, all links of the site are read.
MAX_WANTED = 10_000


class Addresses(NamedTuple):
    """Where the addresses of a site lead."""

    stored: Mapping[str, str]  # of each clustered page, to itself: one text for all its links
    redirects: Mapping[str, str]  # of what was redirected, to the page where it ended

    def target_of(self, url: str) -> str | None:
        """Return the clustered page that an address leads to, None where it leads to none."""
        return self.stored.get(url) or self.redirects.get(url)


def collect_inputs(
    site: Site,
    pages: Sequence[StoredPage],
    clusterer: Clusterer,
    answers: Sequence[ClusterAnswer] = (),
) -> ClusteringInputs:
    """Return what is known beside the pages that an algorithm clusters.

    `answers` are those that it shall follow. Where it needs a search log and the site has none, one
    is derived from the words of the links.
    """
    addresses = _addresses(site, [page.url for page in pages])
    max_inbound = max(1, min(MAX_INBOUND, MAX_LINKS // max(len(pages), 1)))
    direct: set[str] = set()
    links = list(_links(site, addresses, max_inbound, direct))
    return _with_clicks(
        site,
        addresses,
        clusterer,
        ClusteringInputs(
            links=links,
            redirected=frozenset(addresses.redirects.values()) - direct,
            answers=answers_about(answers, addresses.target_of),
            read=_reader(pages),
        ),
    )


def collect_fresh_inputs(
    site: Site,
    urls: Sequence[str],
    clusterer: Clusterer,
    *,
    links: Sequence[SiteLink],
    redirected: frozenset[str],
    read: Callable[[str], HtmlElement | None],
) -> ClusteringInputs:
    """Return what is known beside newer versions of pages that are not stored.

    `links` are those of the newer versions. To a page that none of them leads to, the first stored
    link counts: the page that links to it was perhaps not read again.
    """
    targets = {link.target for link in links}
    stored_links = first_links(site, [url for url in urls if url not in targets])
    addresses = _addresses(site, urls)
    return _with_clicks(
        site,
        addresses,
        clusterer,
        ClusteringInputs(
            links=[*links, *stored_links.values()],
            redirected=redirected,
            answers=answers_about(holding_answers(site), addresses.target_of),
            read=read,
        ),
    )


def first_inbound_xpaths(site: Site, urls: Sequence[str]) -> dict[str, str]:
    """Return the XPath of the first link to each of some pages, where there is any."""
    return {url: link.xpath for url, link in first_links(site, urls).items()}


def first_links(site: Site, urls: Sequence[str]) -> dict[str, SiteLink]:
    """Return the first link to each of some pages, where there is any, in the order of discovery.

    As in a clustering, a link to an address that redirects leads to where it ends, and no link
    counts for the site's root, from which the others are found.
    """
    url_by_hash = {url_hash(url): url for url in urls}
    redirected = Page.objects.filter(site=site, redirects_to__url_hash__in=list(url_by_hash))
    for redirected_hash, end in redirected.values_list("url_hash", "redirects_to__url"):
        url_by_hash.setdefault(bytes(redirected_hash), end)
    links = Link.objects.filter(page__site=site, url_hash__in=list(url_by_hash))
    links = links.order_by("page__depth", "page_id", "position")
    rows = links.values_list("page__url", "url_hash", "xpath", "text")
    link_by_url: dict[str, SiteLink] = {}
    for source, target_hash, xpath, text in rows.iterator():
        target = url_by_hash[bytes(target_hash)]
        if target not in {source, site.root_url}:
            link_by_url.setdefault(target, SiteLink(source, xpath, target, text))
    return link_by_url


def _with_clicks(
    site: Site, addresses: Addresses, clusterer: Clusterer, inputs: ClusteringInputs
) -> ClusteringInputs:
    """Return the inputs with the site's search log, or one derived from their links."""
    clicks = list(_clicks(site, addresses))
    if clicks or "clicks" not in clusterer.needs:
        return replace(inputs, clicks=clicks)
    clicks = derive_clicks(inputs.links)
    return replace(inputs, clicks=clicks, has_derived_clicks=bool(clicks))


def _addresses(site: Site, urls: Sequence[str]) -> Addresses:
    stored = {url: url for url in urls}
    redirected = Page.objects.filter(site=site, redirects_to__isnull=False)
    redirects: dict[str, str] = {}
    for url, end in redirected.values_list("url", "redirects_to__url").iterator():
        if end in stored:
            redirects[url] = stored[end]
    return Addresses(stored, redirects)


def _links(
    site: Site, addresses: Addresses, max_inbound: int, direct: set[str]
) -> Iterator[SiteLink]:
    """Yield the first links to each page, in the order in which a crawl from the start meets them.

    Adds to `direct` the pages that a link names by their own address.
    """
    n_by_target: Counter[str] = Counter()
    wanted: set[bytes] | None = None  # targets to read links of; None reads all links
    if len(addresses.stored) + len(addresses.redirects) <= MAX_WANTED:
        wanted = {url_hash(url) for url in [*addresses.stored, *addresses.redirects]}
    for source, xpath, url, text in _link_rows(site, wanted):
        target = addresses.target_of(url)
        if target is None:
            continue
        if target == url:
            direct.add(target)
        n_by_target[target] += 1
        if wanted is not None and n_by_target[target] >= max_inbound and target in direct:
            wanted.discard(url_hash(url))  # nothing more is learnt from links to it
        if n_by_target[target] <= max_inbound:
            yield SiteLink(
                addresses.stored.get(source, source), intern(xpath), target, intern(text)
            )


def _link_rows(site: Site, wanted: Collection[bytes] | None) -> Iterator[tuple[str, str, str, str]]:
    """Yield source, XPath, target and text of all links, or of those to wanted addresses.

    What is taken out of `wanted` meanwhile is not asked for again.
    """
    pages = Page.objects.filter(site=site, latest_snapshot__isnull=False).order_by("depth", "pk")
    rows = list(pages.values_list("pk", "url"))
    for start in range(0, len(rows), PAGES_PER_QUERY):
        url_by_pk = dict(rows[start : start + PAGES_PER_QUERY])
        links = Link.objects.filter(page_id__in=list(url_by_pk)).order_by("page_id", "position")
        if wanted is not None:
            links = links.filter(url_hash__in=list(wanted))
        links_by_page: dict[int, list[tuple[str, str, str]]] = {pk: [] for pk in url_by_pk}
        for pk, xpath, url, text in links.values_list("page_id", "xpath", "url", "text"):
            links_by_page[pk].append((xpath, url, text))
        for pk, links_of_page in links_by_page.items():
            for xpath, url, text in links_of_page:
                yield url_by_pk[pk], xpath, url, text


def _clicks(site: Site, addresses: Addresses) -> Iterator[Click]:
    rows = SearchClick.objects.filter(site=site).order_by("query", "url")
    for query, url, clicks in rows.values_list("query", "url", "clicks").iterator(chunk_size=5_000):
        target = addresses.target_of(url)
        if target is not None:
            yield Click(intern(query), target, clicks)


def _reader(pages: Sequence[StoredPage]) -> Callable[[str], HtmlElement | None]:
    """Return a function that reads a page's tree from the store, None where its bytes are gone."""
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
