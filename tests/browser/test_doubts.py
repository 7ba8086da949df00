"""Doubts in a real browser: one key decides, the next doubt comes, the clusters follow."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from clustering.models import ClusterAnswer, PageMembership
from clustering.services.clusters.doubts import settle_doubt, store_answer, unsettled_doubts
from tests.apps.clustering.demo_sites import cluster, demo_site
from tests.apps.clustering.doubting import cluster_again, doubtful_site, register_doubting
from tests.browser.conftest import NARROW, OpenPage
from tests.browser.test_accessibility import findings_in_both_schemes, too_wide
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
DOUBTS = "/sites/shop/doubts/"
PAGES_OF_DOUBTS = ("/sites/shop/", "/sites/shop/clusters/", DOUBTS)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch, transactional_db: None) -> Site:
    register_doubting(monkeypatch)
    return doubtful_site()


def address_on(page: Page, side: int) -> str:
    """Return the first address that a side of the card shows."""
    return page.locator(".doubt-side").nth(side).locator(".doubt-url").first.inner_text()


def n_clusters(site: Site) -> int:
    memberships = PageMembership.objects.current().filter(clustering__site=site)
    return memberships.values("cluster").distinct().count()


@pytest.mark.parametrize("address", PAGES_OF_DOUBTS)
def test_one_key_decides_and_the_next_doubt_comes(
    open_page: OpenPage, site: Site, address: str
) -> None:
    page = open_page(address, who="editor")
    expect(page.get_by_role("heading", name="Are these one?")).to_be_visible()
    assert address_on(page, 0).startswith("/books/")

    page.keyboard.press("s")
    expect(page.locator(".toast")).to_contain_text("Kept: these two are one.")
    expect(page.locator(".doubt-side").first).to_contain_text("/news/")
    page.keyboard.press("d")
    expect(page.locator(".toast")).to_contain_text("Kept: these two are different.")
    expect(page.locator(".doubt")).to_have_count(0)
    answers = ClusterAnswer.objects.order_by("pk").values_list("is_same", flat=True)
    assert [True, False] == list(answers)
    assert 1 == Job.objects.unfinished().filter(task="clustering.cluster_site").count()


def test_a_key_held_down_answers_one_doubt(open_page: OpenPage, site: Site) -> None:
    page = open_page(DOUBTS, who="editor")
    page.wait_for_load_state("domcontentloaded")
    page.keyboard.down("s")
    expect(page.locator(".doubt-side").first).to_contain_text("/news/")
    page.wait_for_load_state("domcontentloaded")
    page.keyboard.down("s")  # what is down already repeats
    page.keyboard.up("s")
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="You put off the rest")).to_be_visible()
    assert 1 == ClusterAnswer.objects.count()


def test_an_answer_is_undone_with_a_key(open_page: OpenPage, site: Site) -> None:
    page = open_page(DOUBTS, who="editor")
    page.keyboard.press("d")
    expect(page.locator(".toast")).to_contain_text("different")
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text("The answer “different” is undone.")
    expect(page.locator(".doubt-side").first).to_contain_text("/books/")

    page.goto("/sites/shop/cluster-changes/")
    expect(page.get_by_role("table", name="Answers")).to_contain_text("Undone")
    page.get_by_role("button", name=re.compile("Redo answer")).click()
    expect(page.get_by_role("table", name="Answers")).to_contain_text("In force")


def test_later_shows_the_next_one_and_nothing_is_decided(open_page: OpenPage, site: Site) -> None:
    page = open_page("/sites/shop/clusters/", who="editor")
    page.keyboard.press("n")
    expect(page.locator(".doubt-side").first).to_contain_text("/news/")
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="You put off the rest")).to_be_visible()
    page.keyboard.press("n")
    expect(page.locator(".doubt-side").first).to_contain_text("/books/")
    assert not ClusterAnswer.objects.exists()


def test_the_card_follows_a_run_and_keeps_its_doubt(open_page: OpenPage, site: Site) -> None:
    page = open_page(DOUBTS, who="editor")
    page.keyboard.press("s")
    expect(page.locator("#doubts")).to_contain_text("clustered again by the answers")
    shown = address_on(page, 0)
    assert 3 == n_clusters(site)

    cluster_again(site)
    expect(page.locator("#doubts")).not_to_contain_text("clustered again by the answers")
    assert (2, shown) == (n_clusters(site), address_on(page, 0))


def test_auto_follows_what_a_person_says_of_its_first_doubt(
    open_page: OpenPage, transactional_db: None
) -> None:
    site = demo_site("tinker-board", n=60)
    before = cluster(site)
    [first, *_] = unsettled_doubts(site)
    page = open_page(f"/sites/{site.name}/doubts/", who="editor")
    expect(page.locator(".doubt-verdict")).to_contain_text(
        "joined now" if first.is_joined else "kept apart now"
    )

    page.keyboard.press("d" if first.is_joined else "s")
    expect(page.locator(".toast")).to_contain_text("The clusters follow in a moment.")
    after = cluster_again(site)

    left, right = first.left[0], first.right[0]
    cluster_by_page = dict(after.memberships.values_list("page", "cluster"))
    assert (cluster_by_page[left] == cluster_by_page[right]) != first.is_joined
    assert ("auto", "auto") == (before.algorithm, after.algorithm)


def test_a_doubt_that_vanishes_meanwhile_gives_its_place_to_no_other(
    open_page: OpenPage, site: Site
) -> None:
    first, second = unsettled_doubts(site)
    settle_doubt(site=site, doubt=second.doubt, is_same=True, actor=None)
    page = open_page(DOUBTS, who="editor")
    expect(page.locator(".doubt-side").first).to_contain_text("/books/")
    store_answer(site=site, doubt=first.doubt, is_same=False, actor=None)
    cluster_again(site)

    expect(page.get_by_role("heading", name="This one is decided")).to_be_visible()
    page.keyboard.press("s")
    page.keyboard.press("n")
    expect(page.get_by_role("heading", name="Nothing here needs a look.")).to_be_visible()
    assert 2 == ClusterAnswer.objects.count()


def test_the_help_lists_the_keys_once(open_page: OpenPage, site: Site) -> None:
    page = open_page(DOUBTS, who="editor")
    page.keyboard.press("?")
    keys = page.locator("#keys [data-own-keys]")
    expect(keys).to_contain_text("These two are one")
    expect(keys).to_contain_text("These two are different")
    expect(keys).to_contain_text("Decide this doubt later")
    listed = keys.locator("dt").all_inner_texts()
    assert sorted(set(listed)) == sorted(listed)


def test_pages_of_doubts_can_be_used_by_everybody(open_page: OpenPage, site: Site) -> None:
    problems: list[str] = []
    page = open_page(DOUBTS)
    both_sets = f"{DOUBTS}{unsettled_doubts(site)[0].doubt}/"
    for address in (*PAGES_OF_DOUBTS, both_sets, "/sites/shop/cluster-changes/"):
        page.set_viewport_size({"width": 1280, "height": 900})
        problems += findings_in_both_schemes(page, address)
        page.set_viewport_size({"width": NARROW, "height": 900})
        problems += too_wide(page)
    assert [] == problems
