"""The queue in a real browser: one key dismisses a cluster, and what is left out comes back."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from clustering.models import Cluster, ClusterFigures, ClusterLayout, PageMembership
from tests.apps.annotation.cast import cluster_of, product_page, shop
from tests.browser.conftest import NARROW, WIDE, OpenPage
from tests.browser.test_accessibility import AXE, SERIOUS, too_wide
from vertex.core.models import User

SIGHTS: list[tuple[int, Literal["light", "dark"]]] = [(WIDE, "light"), (NARROW, "dark")]
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def products(people: dict[str, User]) -> Cluster:
    """Return a cluster of products with two layouts, beside one of search results."""
    site = shop()
    result = cluster_of(site, "found", [product_page(site, f"found/{n}") for n in range(2)])
    pages = [product_page(site, f"p/{n}") for n in range(5)]
    products = cluster_of(site, "products", pages)
    figures = ClusterFigures.objects.all()
    figures.filter(cluster=result).update(kind="search", certainty=0.9)
    figures.filter(cluster=products).update(kind="detail", certainty=0.62)
    for name, its, has in (("plain", pages[:3], []), ("photo", pages[3:], ["a photo", "a map"])):
        layout = ClusterLayout.objects.create(
            clustering=figures[0].clustering,
            cluster=products,
            name=name,
            has=has,
            example=its[0],
        )
        PageMembership.objects.filter(page__in=its).update(layout=layout)
    return products


def test_one_key_dismisses_a_cluster_and_it_comes_back(
    open_page: OpenPage, products: Cluster
) -> None:
    page = open_page("/sites/shop/annotate/", who="editor")
    asked_for, left_out = page.locator(".queue tbody tr"), page.locator(".left-out-row")
    expect(asked_for).to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("x")
    expect(page.locator(f"#left-out-{products.pk}")).to_contain_text("Dismissed")
    expect(asked_for).to_have_count(0)

    page.get_by_role("button", name="Bring back products").click()
    expect(page.locator(f"#queue-{products.pk}")).to_be_visible()
    expect(left_out).to_have_count(1)


def test_a_dismissal_is_undone_from_its_toast(open_page: OpenPage, products: Cluster) -> None:
    page = open_page("/sites/shop/annotate/", who="editor")
    page.get_by_role("button", name="Dismiss products").click()
    page.locator(".toast").get_by_role("button", name="Undo").click()
    expect(page.locator(f"#queue-{products.pk}")).to_be_visible()


def test_a_layout_is_split_off_after_a_second_press(open_page: OpenPage, products: Cluster) -> None:
    page = open_page("/sites/shop/clusters/products/", who="editor")
    page.get_by_role("link", name="2 pages").click()
    expect(page.locator("#list tbody tr")).to_have_count(2)
    card = page.locator(".layout-card", has=page.locator(".layout-has", has_text="a photo"))
    card.locator("summary").click()
    card.get_by_role("button", name="Split off this layout").click()
    expect(page.locator(".toast")).to_contain_text("a cluster of its own now")
    expect(page.locator(".layout-card")).to_have_count(0)
    expect(page.locator("#list tbody tr")).to_have_count(3)


@pytest.mark.parametrize(("width", "theme"), SIGHTS)
@pytest.mark.parametrize(
    "path", ["/sites/shop/annotate/", "/sites/shop/clusters/", "/sites/shop/clusters/products/"]
)
def test_pages_with_kinds_and_layouts_are_accessible_and_fit(
    open_page: OpenPage,
    products: Cluster,
    path: str,
    width: int,
    theme: Literal["light", "dark"],
) -> None:
    page = open_page(path, who="editor", width=width, color_scheme=theme)
    assert serious_problems(page) == []
    assert too_wide(page) == []


def serious_problems(page: Page) -> list[str]:
    page.evaluate(AXE.read_text())
    result = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:150]}"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
    ]
