"""Clusters of newer pages, by the algorithm of the site's clustering."""

from __future__ import annotations

import pytest

from clustering.dom.addresses import url_hash
from clustering.models import SearchClick
from monitoring.algorithms.rule_reuse import NewCluster
from monitoring.services.checks.fresh_pages import FreshPage
from monitoring.services.repair import fresh_clusters
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import articles, cluster, store
from tests.apps.monitoring.monitored_shop import redesigned
from tests.apps.rules.shop_cast import product
from vertex.core.models import Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
N = 12


def linked_shop() -> Site:
    """Store a home page that links to products and, elsewhere, to articles."""
    site = site_of("shop")
    pages = [*map(product, range(1, N + 1)), *articles(range(N))]
    store(site, [("", home(), "text/html"), *pages])
    return site


def home() -> bytes:
    to_products = "".join(f"<li><a href='/p/{n}'>Rope {n}</a>" for n in range(1, N + 1))
    to_articles = "".join(f"<p><a href='/news/{n}'>Story {n}</a></p>" for n in range(N))
    return f"<html><body><ul>{to_products}</ul><div>{to_articles}</div></body></html>".encode()


def fresh(site: Site, *pages: tuple[str, bytes, str]) -> dict[str, FreshPage]:
    return {
        f"{site.root_url}{path}": FreshPage(f"{site.root_url}{path}", body, content_type)
        for path, body, content_type in pages
    }


def clusters_of(site: Site, pages: dict[str, FreshPage]) -> list[NewCluster]:
    return fresh_clusters.cluster_fresh(site, pages, renew=lambda: None)


def kinds(new: NewCluster) -> set[str]:
    return {url.split("/")[-2] for url in new.urls}


class TestEvidence:
    def test_links_of_the_fresh_pages_are_followed(self) -> None:
        site = linked_shop()
        cluster(site, algorithm="uxclust_without_positions")
        pages = fresh(
            site, ("", home(), "text/html"), *map(redesigned, range(1, N + 1)), *articles(range(N))
        )
        products, news = sorted(clusters_of(site, pages), key=lambda new: kinds(new) == {"news"})

        assert [{"p"}, {"news"}] == [kinds(products), kinds(news)]
        assert [N, N] == [len(products.urls), len(news.urls)]

    def test_where_no_fresh_page_links_to_a_page_the_stored_link_counts(self) -> None:
        site = linked_shop()
        cluster(site, algorithm="uxclust_without_positions")
        pages = fresh(site, *map(redesigned, range(1, N + 1)))
        (products,) = clusters_of(site, pages)

        assert N == len(products.urls)
        assert products.name in set(site.clusters.values_list("name", flat=True))

    def test_the_search_log_of_the_site_is_read(self) -> None:
        site = linked_shop()
        SearchClick.objects.bulk_create(
            SearchClick(
                site=site,
                query=f"rope {n}",
                url=f"{site.root_url}p/{n}",
                url_hash=url_hash(f"{site.root_url}p/{n}"),
                clicks=3,
            )
            for n in range(1, N + 1)
        )
        cluster(site, algorithm="keyclus")
        pages = fresh(site, *map(redesigned, range(1, N + 1)), *articles(range(N)))
        largest = max(clusters_of(site, pages), key=lambda new: ("p" in kinds(new), len(new.urls)))

        assert {"p"} == kinds(largest)
        assert N == len(largest.urls)

    def test_without_a_log_one_is_derived_from_the_links(self) -> None:
        site = linked_shop()
        cluster(site, algorithm="keyclus")
        pages = fresh(site, *map(redesigned, range(1, N + 1)), *articles(range(N)))

        assert {"p"} in [kinds(new) for new in clusters_of(site, pages)]


class TestALargeArchive:
    def test_every_cluster_is_looked_at(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(fresh_clusters, "MAX_CLUSTERED_PAGES", 12)
        site = linked_shop()
        cluster(site)
        pages = fresh(site, *map(redesigned, range(1, N + 1)), *articles(range(N)))
        clusters = clusters_of(site, pages)

        assert {"p", "news"} == {kind for new in clusters for kind in kinds(new)}
        assert 12 == sum(len(new.urls) for new in clusters)

    def test_so_is_every_kind_of_address_that_no_cluster_has(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fresh_clusters, "MAX_CLUSTERED_PAGES", 50)
        site = linked_shop()
        cluster(site)
        guides = [(f"zz/{n}", articles([n])[0][1], "text/html") for n in range(100, 130)]
        more = [(f"aa/{n}", product(n)[1], "text/html") for n in range(100, 200)]
        clusters = clusters_of(site, fresh(site, *more, *guides))

        n_guides = sum("/zz/" in url for new in clusters for url in new.urls)
        assert 20 <= n_guides < 30
