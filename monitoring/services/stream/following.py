"""Find which links lead to new pages of a cluster: by their addresses, and by where they stand."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

from django.db.models import Count, QuerySet

from clustering.algorithms.url_patterns import matches
from clustering.models import Cluster, ClusterFigures, Link, Page, PageMembership
from clustering.services.crawl.revisiting import path_without_positions

MAX_PAGES_READ: Final = 200  # of a cluster, and of the others
MAX_LINKS_READ: Final = 5_000
MAX_LISTINGS: Final = 10  # pages that are visited to find new ones
MAX_PATHS: Final = 20
MIN_LINKS: Final = 3  # on one path
MIN_SHARE_OF_PATH: Final = 0.8  # of its links that lead to the cluster
MAX_SHARE_OF_OTHERS: Final = 0.1  # of other pages whose address is like those of the cluster


def listing_pages(cluster: Cluster) -> list[int]:
    """Return the pages that link to most pages of a cluster and are none of it."""
    links = _links_to(cluster).exclude(page__in=_members(cluster).values("page"))
    rows = links.order_by().values("page").annotate(n=Count("url_hash", distinct=True))
    return [row["page"] for row in rows.order_by("-n", "page")[:MAX_LISTINGS]]


def links_leading_to(cluster: Cluster) -> dict[str, Any]:
    """Return the patterns of addresses, and the paths of links, that lead to pages of a cluster."""
    return {"patterns": _patterns_of(cluster), "paths": _paths_to(cluster)}


def _members(cluster: Cluster) -> QuerySet[PageMembership]:
    return PageMembership.objects.of_cluster(cluster)


def _links_to(cluster: Cluster) -> QuerySet[Link]:
    pages = _members(cluster).order_by("-page").values_list("page__url_hash", flat=True)
    hashes = [bytes(key) for key in pages[:MAX_PAGES_READ]]
    return Link.objects.filter(url_hash__in=hashes, page__site=cluster.site_id)


def _patterns_of(cluster: Cluster) -> list[str]:
    """Return the address pattern of a cluster, if hardly any page of another cluster has it."""
    figures = ClusterFigures.objects.filter(
        cluster=cluster, clustering__is_current=True, clustering__site=cluster.site_id
    )
    others = PageMembership.objects.current().filter(page__site=cluster.site_id)
    others = others.exclude(cluster=cluster).order_by("page")
    urls = list(others.values_list("page__url", flat=True)[:MAX_PAGES_READ])
    patterns = []
    for pattern in figures.values_list("url_pattern", flat=True):
        n_others = sum(matches(pattern, url) for url in urls)
        if pattern and "(.*)" in pattern and n_others <= MAX_SHARE_OF_OTHERS * len(urls):
            patterns.append(pattern)
    return patterns


def _paths_to(cluster: Cluster) -> list[str]:
    """Return the paths on which nearly all links of some pages lead to the cluster."""
    pages = listing_pages(cluster)
    links = Link.objects.filter(page__in=pages).order_by("page", "position")
    rows = list(links.values_list("xpath", "url_hash")[:MAX_LINKS_READ])
    keys = {bytes(key) for _, key in rows}
    members = Page.objects.filter(site=cluster.site_id, url_hash__in=list(keys))
    members = members.filter(pk__in=_members(cluster).values("page"))
    of_cluster = {bytes(key) for key in members.values_list("url_hash", flat=True)}
    # A link to a page that is not known yet says nothing of its path.
    known = {
        bytes(key)
        for key in Page.objects.filter(
            site=cluster.site_id, url_hash__in=list(keys), latest_snapshot__isnull=False
        ).values_list("url_hash", flat=True)
    }
    n_known: Counter[str] = Counter()
    n_leading: Counter[str] = Counter()
    for xpath, key in rows:
        if bytes(key) in known:
            path = path_without_positions(xpath)
            n_known[path] += 1
            n_leading[path] += bytes(key) in of_cluster
    leading = [
        path
        for path, n in n_leading.most_common()
        if n >= MIN_LINKS and n >= MIN_SHARE_OF_PATH * n_known[path]
    ]
    return leading[:MAX_PATHS]
