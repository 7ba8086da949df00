"""A crawl in a picture: pages by depth and cluster, and why others were not fetched."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from clustering.models import Cluster, ClusterFigures, Clustering, Page, PageMembership
from clustering.services.crawl.crawling import crawl_request
from tests.apps.clustering.api_cast import page_of, site_of
from vertex.core.models import Membership, Refusal, Role, Site, User
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def shop(client: Client) -> Site:
    site = site_of("shop")
    viewer = User.objects.create_user("vic")
    Membership.objects.create(user=viewer, role=Role.VIEWER)
    client.force_login(viewer)
    return site


def shown(client: Client) -> str:
    answer = client.get(reverse("crawl_picture", args=["shop"]))
    assert 200 == answer.status_code
    return answer.content.decode()


def bars(told: str) -> list[str]:
    return re.findall(r'class="depth-bar".*?aria-label="(.*?)"', told, re.DOTALL)


def test_pages_stand_at_their_depth_in_their_cluster(client: Client, shop: Site) -> None:
    pages = [page_of(shop, f"p/{n}", depth=min(n, 2)) for n in range(5)]
    page_of(shop, "gone", depth=2, state=Page.State.FAILED, status=503, reason="answers 503")
    page_of(shop, "far", depth=70)
    clustering = Clustering.objects.create(site=shop, algorithm="auto", is_current=True)
    for number, title in enumerate(["Products", "Lists & more"]):
        cluster = Cluster.objects.create(site=shop, name=f"c{number}", title=title)
        of_cluster = pages[3:] if number else pages[1:3]
        ClusterFigures.objects.create(clustering=clustering, cluster=cluster, n_pages=2)
        PageMembership.objects.bulk_create(
            PageMembership(clustering=clustering, page=page, cluster=cluster) for page in of_cluster
        )
    page_text = shown(client)

    assert [
        "In no cluster: 1",
        "Products: 1",
        "Products: 1, Lists &amp; more: 2, Failed: 1",
        "In no cluster: 1",
    ] == bars(page_text)
    assert "20 or more" in page_text


def test_it_says_why_pages_were_not_fetched(client: Client, shop: Site) -> None:
    page_of(shop)
    page_of(shop, "a", state=Page.State.REFUSED, reason="robots.txt disallows it")
    page_of(shop, "b", state=Page.State.FAILED, status=503, reason="answers 503")
    page_of(shop, "c", state=Page.State.DUE)
    crawl = create_here(crawl_request(site=shop))
    Refusal.objects.create(
        site=shop, job=crawl, subject="x", code="too_deep", reason="more than 100"
    )
    page_text = shown(client)

    for word in (
        "robots.txt disallows it",
        "answers 503",
        "wait for their turn",
        "too deep (1)",
        f"{reverse('pages', args=['shop'])}?state=refused",
    ):
        assert word in page_text, word
    assert "every 3s" in page_text, "it grows while the crawl goes on"


def test_a_crawl_that_was_limited_says_so(client: Client, shop: Site) -> None:
    page_of(shop, state=Page.State.DUE)
    assert "no crawl has asked" in shown(client)
    crawl = create_here(crawl_request(site=shop))
    crawl.state = "done"
    crawl.save()
    Refusal.objects.create(
        site=shop, job=crawl, subject="x", code="max_pages", reason="stopped after 9 pages"
    )
    page_text = shown(client)

    assert "stopped after 9 pages" in page_text
    assert "every 3s" not in page_text


def test_without_pages_it_says_what_to_do(client: Client, shop: Site) -> None:
    page_text = shown(client)

    assert "No pages yet" in page_text
    assert reverse("crawl_site", args=["shop"]) in page_text
