"""Cluster newer versions of a site's pages without storing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from clustering.algorithms.clusterers import clusterer_with
from clustering.algorithms.continuity import find_successors
from clustering.algorithms.grouping import EvidenceMissing, RawPage, SiteLink, TooManyPages
from clustering.algorithms.observation import observe_page
from clustering.algorithms.url_patterns import address_patterns
from clustering.dom.links import find_links
from clustering.models import Cluster, Clustering, Page, PageMembership
from clustering.services.clusters.cluster_names import free_name, used_names
from clustering.services.clusters.clustering_inputs import collect_fresh_inputs
from clustering.services.clusters.grouped_pages import signature_of
from monitoring.algorithms.rule_reuse import NewCluster
from monitoring.algorithms.strata import sample_strata
from monitoring.services.checks.fresh_pages import FreshPage
from rules.models import GoldenRecord, Rule
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed

MAX_CLUSTERED_PAGES: Final = 3_000
PAGES_PER_RENEWAL: Final = 20
ROWS_PER_FETCH: Final = 5_000


class ClusteredPage(NamedTuple):
    """A stored page and the cluster in which the current clustering found it."""

    pk: int
    cluster: int


def cluster_fresh(
    site: Site, pages: Mapping[str, FreshPage], *, renew: Callable[[], None]
) -> list[NewCluster]:
    """Return clusters of some pages, largest first, by the algorithm of the current clustering.

    A cluster has the name of the one it continues, or a new one. Raises JobFailed where the site
    was never clustered, or the algorithm refuses the pages.
    """
    clustering = Clustering.objects.current().filter(site=site).without_model().first()
    if clustering is None:
        raise JobFailed(f"{site.name} has no clusters yet; cluster its pages first")
    clusterer = clusterer_with(clustering.algorithm, clustering.parameters)
    clustered_pages = _clustered_pages(clustering)
    urls = _sample_urls(site, pages, clustered_pages)
    vectors: list[int | None] = []
    observations = []
    links: list[SiteLink] = []
    for number, url in enumerate(urls):
        if number % PAGES_PER_RENEWAL == 0:
            renew()
        # A page of its own, so that its tree goes when it was observed.
        page = RawPage(url, pages[url].body, pages[url].content_type)
        observed = observe_page(clusterer.name, page, clustering.parameters)
        vectors.append(observed.vector)
        observations.append(observed.observation)
        links += _links(page, pages)
    inputs = collect_fresh_inputs(
        site,
        urls,
        clusterer,
        links=links,
        redirected=frozenset(url for url in urls if pages[url].final_url not in {"", url}),
        read=lambda url: RawPage(url, pages[url].body, pages[url].content_type).tree,
    )
    try:
        grouping = clusterer.cluster_pages(urls, observations, inputs)
    except (TooManyPages, EvidenceMissing) as error:
        raise JobFailed(str(error)) from error

    members = {group.name: list(group.members) for group in grouping.groups}
    names = _name_groups(
        site,
        clustered_pages,
        {group: [urls[index] for index in indices] for group, indices in members.items()},
    )
    clusters = []
    for group, indices in members.items():
        vector_by_url = {urls[index]: vectors[index] for index in indices}
        n_by_vector = Counter(vector for vector in vector_by_url.values() if vector is not None)
        signature, _ = signature_of(clusterer, group, n_by_vector)
        clusters.append(NewCluster(names[group], vector_by_url, signature))
    return clusters


def _clustered_pages(clustering: Clustering) -> dict[str, ClusteredPage]:
    """Return where the clustering put each page that is in a cluster, by its address."""
    members = PageMembership.objects.filter(clustering=clustering, found__isnull=False)
    rows = members.values_list("page__url", "page", "found")
    return {
        url: ClusteredPage(pk, cluster)
        for url, pk, cluster in rows.iterator(chunk_size=ROWS_PER_FETCH)
    }


def _sample_urls(
    site: Site, pages: Mapping[str, FreshPage], clustered_pages: Mapping[str, ClusteredPage]
) -> list[str]:
    """Return the addresses of the pages to cluster, in the order in which a crawl found them.

    Of more than MAX_CLUSTERED_PAGES, each cluster gives some, and each address pattern of the
    pages that are in none; pages with golden records first. Pages that the site does not know
    come last.
    """
    urls = [url for url, page in pages.items() if not page.is_error]
    if len(urls) > MAX_CLUSTERED_PAGES:
        golden = GoldenRecord.objects.filter(
            rule__cluster__site=site, rule__state=Rule.State.PUBLISHED
        )
        urls = sample_strata(
            _strata(urls, clustered_pages),
            MAX_CLUSTERED_PAGES,
            preferred=set(golden.values_list("page__url", flat=True)),
        )
    known = Page.objects.filter(site=site).order_by("depth", "pk").values_list("url", flat=True)
    rank_by_url = {url: rank for rank, url in enumerate(known.iterator(chunk_size=ROWS_PER_FETCH))}
    return sorted(urls, key=lambda url: (rank_by_url.get(url, len(rank_by_url)), url))


def _strata(urls: Sequence[str], clustered_pages: Mapping[str, ClusteredPage]) -> dict[str, str]:
    """Return the cluster of each page, or the pattern of its address where it is in none."""
    strata = {}
    others = []
    for url in urls:
        if url in clustered_pages:
            strata[url] = f"cluster {clustered_pages[url].cluster}"
        else:
            others.append(url)
    return strata | dict(zip(others, address_patterns(others), strict=True))


def _links(page: RawPage, pages: Mapping[str, FreshPage]) -> Iterator[SiteLink]:
    """Yield the links of a page to other fresh pages."""
    if page.tree is None:
        return
    for link in find_links(page.tree, page.url):
        if link.url in pages and link.url != page.url:
            yield SiteLink(page.url, link.xpath, link.url, link.text)


def _name_groups(
    site: Site, clustered_pages: Mapping[str, ClusteredPage], groups: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the name of each group, as a clustering of the stored pages would give it."""
    cluster_by_page = {page.pk: page.cluster for page in clustered_pages.values()}
    group_by_page = {}
    for group, urls in groups.items():
        for url in urls:
            if url in clustered_pages:
                group_by_page[clustered_pages[url].pk] = group
    successors = find_successors(cluster_by_page, group_by_page)
    name_by_cluster = dict(Cluster.objects.filter(site=site).values_list("pk", "name"))
    names_in_use = used_names(site)
    names = {group: name_by_cluster[pk] for group, pk in successors.items()}
    for number, group in enumerate(sorted(groups), 1):
        if group not in names:
            names[group] = free_name(f"new {number}", names_in_use)
            names_in_use.add(names[group])
    return names
