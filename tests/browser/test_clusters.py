"""Clusters in a real browser: the map, moving pages by keyboard, reviewing by single keys."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from clustering.models import ClusterReview, PageMembership
from tests.browser.conftest import OpenPage
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
CLUSTERS = "/sites/alpine-shop/clusters/"


def members(site: Site, name: str) -> int:
    return PageMembership.objects.current().filter(cluster__site=site, cluster__name=name).count()


def test_the_map_names_pages_opens_them_and_hides_clusters(open_page: OpenPage, shop: Site) -> None:
    page = open_page(CLUSTERS, who="viewer")
    points = page.locator(".map-sheet a")
    expect(points.first).to_be_attached()
    n_pages = PageMembership.objects.current().filter(clustering__site=shop).count()
    expect(points).to_have_count(n_pages)

    home = page.locator('.map-sheet a[data-title="Home"]')
    home.hover(force=True)
    expect(page.locator(".map-tip")).to_contain_text(shop.root_url)
    page.get_by_role("button", name="Product detail").click()
    expect(page.locator('.map-sheet a[data-title="Product detail"]:visible')).to_have_count(0)
    page.get_by_role("button", name="Product detail").press("Enter")
    expect(page.locator('.map-sheet a[data-title="Product detail"]:visible').first).to_be_visible()
    home.click(force=True)
    page.wait_for_url("**/pages/*/")


def test_pages_are_moved_and_brought_back_with_the_keyboard(
    open_page: OpenPage, shop: Site
) -> None:
    before = members(shop, "product-detail"), members(shop, "home")
    page = open_page(f"{CLUSTERS}product-detail/", who="editor")
    expect(page.get_by_role("button", name="Move")).to_be_disabled()

    for key in ("j", "x", "j", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator("[data-count]")).to_have_text("2 pages selected")
    page.keyboard.press("m")
    page.get_by_label("Move to").select_option("home")
    page.get_by_role("button", name="Move").press("Enter")
    expect(page.locator(".toast")).to_contain_text("2 pages moved to Home.")
    assert (before[0] - 2, before[1] + 2) == (
        members(shop, "product-detail"),
        members(shop, "home"),
    )
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text("undone")
    assert before == (members(shop, "product-detail"), members(shop, "home"))


def test_a_cluster_is_judged_with_single_keys(open_page: OpenPage, shop: Site) -> None:
    page = open_page(f"{CLUSTERS}product-detail/review/", who="editor")
    expect(page.locator("[data-card]").first).to_be_visible()

    for key in ("j", "j", "x"):
        page.keyboard.press(key)
    expect(page.locator("[data-stranger]:checked")).to_have_count(1)
    stranger = page.locator("[data-stranger]").nth(1).get_attribute("value")
    page.keyboard.press("1")
    expect(page.locator(".toast")).to_contain_text("one type, 1 stranger marked")

    given = ClusterReview.objects.get(cluster__name="product-detail")
    assert ("one_type", [int(stranger or 0)]) == (given.verdict, given.strangers)


def test_a_cluster_is_renamed_and_pictures_load(open_page: OpenPage, shop: Site) -> None:
    page = open_page(f"{CLUSTERS}product-detail/", who="editor")
    pictures = page.locator("img.thumbnail").all()
    assert pictures
    for picture in pictures:
        expect(picture).not_to_have_js_property("naturalWidth", 0)

    page.keyboard.press("e")
    page.get_by_label("Title", exact=True).fill("Shoes")
    page.get_by_role("button", name="Rename").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Shoes")


def test_pointing_at_a_class_shows_its_links(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/alpine-shop/site-model/", who="viewer")

    page.get_by_role("link", name="Product detail").first.focus()

    expect(page.locator(".edge.is-near")).to_have_count(2)


def test_only_the_parameters_of_the_chosen_algorithm_are_shown(
    open_page: OpenPage, shop: Site
) -> None:
    page = open_page("/sites/alpine-shop/cluster/", width=400)
    length = page.get_by_label("Shingle length l")
    expect(length).to_be_hidden()

    page.get_by_role("radio", name="Vertex shingles").check()
    expect(length).to_be_visible()
    expect(length).to_have_value("10")
    length.fill("0")
    page.get_by_role("button", name="Cluster pages").click()
    expect(page.get_by_text("Enter a whole number from 1 to 100.")).to_be_visible()

    page.get_by_role("radio", name="Common paths").check()
    expect(length).to_be_hidden()
    page.get_by_role("button", name="Cluster pages").click()
    page.wait_for_url("**/clusters/")
    assert {"threshold": 0.8} == Job.objects.latest("pk").params["parameters"]
