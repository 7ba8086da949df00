"""A site whose pages, named by letters, stand in clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clustering.dom.addresses import url_hash
from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from clustering.services.clusters.current_changes import apply_changes
from tests.apps.clustering.api_cast import page_of, site_of
from vertex.core.models import Site


@dataclass
class Shop:
    site: Site
    clustering: Clustering
    pages: dict[str, int]
    clusters: dict[str, Cluster] = field(default_factory=dict)

    def pks(self, letters: str) -> list[int]:
        return [self.pages[letter] for letter in letters]


def shop_of(
    found: Mapping[str | None, str] | Mapping[str, str],
    *,
    name: str = "shop",
    bodies: Mapping[str, str] | None = None,
) -> Shop:
    """Return a site with these clusters; with bodies, the pages of a cluster have that one."""
    site = site_of(name)
    pages = {
        letter: _page(site, letter, (bodies or {}).get(cluster or ""))
        for cluster, letters in found.items()
        for letter in letters
    }
    shop = Shop(site, Clustering.objects.create(site=site, algorithm="auto"), pages)
    shop.clustering = clustering_of(shop, found)
    return shop


def clustering_of(shop: Shop, found: Mapping[str | None, str] | Mapping[str, str]) -> Clustering:
    """Make a clustering in which an algorithm found these clusters; repeat the cluster changes."""
    Clustering.objects.filter(site=shop.site).update(is_current=False)
    clustering = Clustering.objects.create(site=shop.site, algorithm="auto", is_current=True)
    there = set(Page.objects.filter(site=shop.site).values_list("pk", flat=True))
    for name, letters in found.items():
        cluster = None if name is None else _cluster(shop, name)
        pages = [pk for pk in shop.pks(letters) if pk in there]
        PageMembership.objects.bulk_create(
            PageMembership(
                clustering=clustering, page_id=pk, found=cluster, cluster=cluster, distance=0.1
            )
            for pk in pages
        )
        if cluster is not None:
            ClusterFigures.objects.create(
                clustering=clustering,
                cluster=cluster,
                group=str(name),
                n_pages=len(pages),
                examples=pages[:5],
            )
    apply_changes(clustering=clustering)
    clustering.refresh_from_db()
    return clustering


def pages_by_cluster(shop: Shop, clustering: Clustering) -> dict[str, str]:
    """Return the letters of each cluster's pages."""
    rows = PageMembership.objects.filter(clustering=clustering).order_by("page__url")
    result: dict[str, str] = {}
    for name, url in rows.values_list("cluster__name", "page__url"):
        result[name] = result.get(name, "") + url.removeprefix(shop.site.root_url)
    return result


def _cluster(shop: Shop, name: str) -> Cluster:
    shop.clusters[name], _ = Cluster.objects.get_or_create(
        site=shop.site, name=name, defaults={"title": name}
    )
    return shop.clusters[name]


def _page(site: Site, letter: str, body: str | None) -> int:
    if body is not None:
        return page_of(site, letter, body.encode()).pk
    url = f"{site.root_url}{letter}"
    return Page.objects.create(site=site, url=url, url_hash=url_hash(url), given_url=url).pk
