"""Which links lead to new pages of a cluster.

Links to addresses like its own, and links at the places where its links stand.
"""

from __future__ import annotations

import pytest

from clustering.algorithms.url_patterns import matches
from clustering.models import Cluster, Page
from monitoring.services.stream.following import links_leading_to, listing_pages
from tests.apps.clustering.api_cast import site_of
from tests.apps.clustering.demo_sites import articles, cluster, details, store
from vertex.core.models import Site

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
N = 12
LIST = (
    "<html><head><title>List {0}</title></head><body><nav><a href='/news/0'>News</a>"
    "<a href='/p/0'>Thing of the day</a><a href='/news/1'>Old news</a></nav>"
    "<ul>{1}</ul></body></html>"
)


def listing(number: int, paths: list[str]) -> tuple[str, bytes, str]:
    entries = "".join(f"<li><a href='/{path}'>{path}</a></li>" for path in paths)
    return f"list/{number}", LIST.format(number, entries).encode(), "text/html"


@pytest.fixture
def site() -> Site:
    """Return a clustered site whose two lists show all products, and another page some articles."""
    site = site_of("shop")
    products = [path for path, _, _ in details(range(N))]
    lists = [listing(1, products[:8]), listing(2, products[8:])]
    store(site, [*details(range(N)), *articles(range(N)), *lists])
    cluster(site)
    return site


def cluster_of(site: Site, path: str) -> Cluster:
    page = Page.objects.get(site=site, url=site.root_url + path)
    return Cluster.objects.get(memberships__page=page, memberships__clustering__is_current=True)


def test_addresses_like_those_of_the_cluster_are_followed(site: Site) -> None:
    patterns = links_leading_to(cluster_of(site, "p/1"))["patterns"]

    assert any(matches(each, f"{site.root_url}p/99") for each in patterns)
    assert not any(matches(each, f"{site.root_url}news/99") for each in patterns)


def test_so_are_links_where_nearly_all_lead_to_the_cluster(site: Site) -> None:
    assert ["/html/body/ul/li/a"] == links_leading_to(cluster_of(site, "p/1"))["paths"]


def test_the_pages_that_link_to_it_are_visited_for_new_ones(site: Site) -> None:
    pages = Page.objects.in_bulk(listing_pages(cluster_of(site, "p/1"))).values()

    assert {f"{site.root_url}list/1", f"{site.root_url}list/2"} == {page.url for page in pages}
