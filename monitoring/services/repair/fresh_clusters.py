"""Cluster newer versions of a site's pages without storing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.continuity import find_successors
from clustering.algorithms.grouping import (
    ClusteringInputs,
    EvidenceMissing,
    RawPage,
    SiteLink,
    TooManyPages,
)
from clustering.algorithms.observation import observe_page
from clustering.dom.links import find_links
from clustering.models import Cluster, Clustering, PageMembership
from clustering.services.clusters.cluster_names import free_name, used_names
from clustering.services.clusters.grouped_pages import best_signature
from monitoring.algorithms.rule_reuse import NewCluster
from monitoring.services.checks.fresh_pages import FreshPage
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed

MAX_CLUSTERED_PAGES: Final = 3_000
PAGES_PER_RENEWAL: Final = 20
ROWS_PER_FETCH: Final = 5_000


def cluster_fresh(
    site: Site, pages: Mapping[str, FreshPage], *, renew: Callable[[], None]
) -> list[NewCluster]:
    """Return the clusters of some pages, largest first, by the algorithm of the site's current clustering.

    A cluster has the name of the one it continues, or a new one. Raises JobFailed where the site
    was never clustered, or the algorithm refuses the pages.
    """
    clustering = Clustering.objects.current().filter(site=site).without_model().first()
    if clustering is None:
        raise JobFailed(f"{site.name} has no clusters yet; cluster its pages first")
    clusterer = CLUSTERERS[clustering.algorithm]
    urls = sorted(url for url, page in pages.items() if not page.is_error)[:MAX_CLUSTERED_PAGES]
    vectors: list[int | None] = []
    observations = []
    links: list[SiteLink] = []
    for number, url in enumerate(urls):
        if number % PAGES_PER_RENEWAL == 0:
            renew()
        # A page of its own, so that its tree goes when it was observed.
        page = RawPage(url, pages[url].body, pages[url].content_type)
        observed = observe_page(clusterer.name, page)
        vectors.append(observed.vector)
        observations.append(observed.observation)
        links += _links(page, pages)
    try:
        grouping = clusterer.cluster_pages(urls, observations, ClusteringInputs(links=links))
    except (TooManyPages, EvidenceMissing) as error:
        raise JobFailed(str(error)) from error

    members = {group.name: list(group.members) for group in grouping.groups}
    names = _name_groups(
        site,
        clustering,
        {group: [urls[index] for index in indices] for group, indices in members.items()},
    )
    clusters = []
    for group, indices in members.items():
        vector_by_url = {urls[index]: vectors[index] for index in indices}
        n_by_vector = Counter(vector for vector in vector_by_url.values() if vector is not None)
        signature, _ = best_signature(n_by_vector)  # the one that covers most of the pages
        clusters.append(NewCluster(names[group], vector_by_url, signature))
    return clusters


def _links(page: RawPage, pages: Mapping[str, FreshPage]) -> Iterator[SiteLink]:
    """Yield the links of a page to other fresh pages."""
    if page.tree is None:
        return
    for link in find_links(page.tree, page.url):
        if link.url in pages and link.url != page.url:
            yield SiteLink(page.url, link.xpath, link.url, link.text)


def _name_groups(
    site: Site, clustering: Clustering, groups: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the name of each group, as a clustering of the stored pages would give it."""
    members = PageMembership.objects.filter(clustering=clustering, found__isnull=False)
    rows = members.values_list("page__url", "page", "found")
    page_by_url, cluster_by_page = {}, {}
    for url, page, cluster in rows.iterator(chunk_size=ROWS_PER_FETCH):
        page_by_url[url], cluster_by_page[page] = page, cluster
    group_by_page = {}
    for group, urls in groups.items():
        for url in urls:
            if url in page_by_url:
                group_by_page[page_by_url[url]] = group
    successors = find_successors(cluster_by_page, group_by_page)
    name_by_cluster = dict(Cluster.objects.filter(site=site).values_list("pk", "name"))
    names_in_use = used_names(site)
    names = {group: name_by_cluster[pk] for group, pk in successors.items()}
    for number, group in enumerate(sorted(groups), 1):
        if group not in names:
            names[group] = free_name(f"new {number}", names_in_use)
            names_in_use.add(names[group])
    return names
