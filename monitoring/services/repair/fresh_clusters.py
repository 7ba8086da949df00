"""Cluster newer versions of a site's pages without storing anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clustering.algorithms.clusterers import CLUSTERERS
from clustering.algorithms.continuity import find_successors
from clustering.algorithms.grouping import (
    ClusteringInputs,
    EvidenceMissing,
    RawPage,
    SiteLink,
    TooManyPages,
)
from clustering.algorithms.observation import ObservedPage, observe_page
from clustering.dom.links import find_links
from clustering.models import Cluster, Clustering, PageMembership
from clustering.services.clusters.cluster_names import free_name, names_taken
from clustering.services.clusters.grouped_pages import best_signature
from monitoring.services.checks.fresh_pages import FreshPage
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import JobFailed

FIRST_ERROR = 400  # status
MOST_CLUSTERED = 3_000


class FreshCluster(NamedTuple):
    """A cluster of pages as they are now."""

    name: str  # that of the cluster it goes on as, or a new one
    vector_by_url: Mapping[str, int | None]
    signature: str


def cluster_fresh(
    site: Site, pages: Mapping[str, FreshPage], *, renew: Callable[[], None]
) -> list[FreshCluster]:
    """Return the clusters of some pages, largest first, by the algorithm of the site's current clustering.

    Raises JobFailed where the site was never clustered, or the algorithm refuses the pages.
    """
    clustering = Clustering.objects.current().filter(site=site).without_model().first()
    if clustering is None:
        raise JobFailed(f"{site.name} has no clusters yet; cluster its pages first")
    urls = sorted(url for url, page in pages.items() if page.status < FIRST_ERROR)[:MOST_CLUSTERED]
    raw = [RawPage(url, pages[url].body, pages[url].content_type) for url in urls]
    clusterer = CLUSTERERS[clustering.algorithm]
    seen: list[ObservedPage] = []
    links: list[SiteLink] = []
    for number, page in enumerate(raw):
        if number % 20 == 0:
            renew()
        seen.append(observe_page(clusterer.name, page))
        links += _links(page, pages)
    observations = [one.observation for one in seen] if clusterer.observe else [None] * len(raw)
    try:
        grouping = clusterer.cluster_pages(urls, observations, ClusteringInputs(links=links))
    except (TooManyPages, EvidenceMissing) as error:
        raise JobFailed(str(error)) from error
    members = {group.name: list(group.members) for group in grouping.groups}
    names = _names(
        site,
        clustering,
        {group: [urls[one] for one in places] for group, places in members.items()},
    )
    return [
        FreshCluster(
            names[group],
            {urls[one]: seen[one].vector for one in places},
            signature_of([seen[one].vector for one in places]),
        )
        for group, places in members.items()
    ]


def signature_of(vectors: Sequence[int | None]) -> str:
    """Return the signature that covers most of some pages."""
    return best_signature(Counter(vector for vector in vectors if vector is not None))[0]


def _links(page: RawPage, pages: Mapping[str, FreshPage]) -> Iterator[SiteLink]:
    if page.tree is None:
        return
    for link in find_links(page.tree, page.url):
        if link.url in pages and link.url != page.url:
            yield SiteLink(page.url, link.xpath, link.url, link.text)


def _names(
    site: Site, clustering: Clustering, groups: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Return the name of each group, as a clustering of the stored pages would give it."""
    members = PageMembership.objects.filter(clustering=clustering, found__isnull=False)
    rows = members.values_list("page__url", "page", "found")
    page_by_url, cluster_by_page = {}, {}
    for url, page, cluster in rows.iterator(chunk_size=5_000):
        page_by_url[url], cluster_by_page[page] = page, cluster
    group_by_page = {
        page_by_url[url]: group
        for group, urls in groups.items()
        for url in urls
        if url in page_by_url
    }
    successors = find_successors(cluster_by_page, group_by_page)
    known = dict(Cluster.objects.filter(site=site).values_list("pk", "name"))
    taken = names_taken(site)
    names = {group: known[pk] for group, pk in successors.items()}
    for number, group in enumerate(sorted(groups), 1):
        if group not in names:
            names[group] = free_name(f"new {number}", taken)
            taken.add(names[group])
    return names
