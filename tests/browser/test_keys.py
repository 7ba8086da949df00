"""The keyboard alone is enough."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenPage
from tests.browser.stage import PASSWORD, show_workers_alive
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


MOST_TABS = 200  # twice around the page


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.innerText || document.activeElement.name"))


def test_from_the_log_in_to_a_cancelled_crawl_without_a_mouse(
    open_page: OpenPage, people: object
) -> None:
    show_workers_alive()
    page = open_page("/log-in/", who=None)
    keys = page.keyboard
    keys.type("operator")
    keys.press("Tab")
    keys.type(PASSWORD)
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sites")
    keys.press("a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Add site")
    keys.type("shop.example")
    expect(page.locator("#id_name")).to_have_value("shop.example")
    keys.press("Tab")
    keys.type("shop")
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("shop")
    assert Job.State.DUE == Job.objects.get().state
    expect(page.locator(".toast [data-key=u]")).to_be_visible()
    keys.press("u")
    expect(page.locator(".toast")).to_contain_text("cancelled")
    assert Job.State.CANCELLED == Job.objects.get().state


def test_rows_are_walked_and_opened(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    page.keyboard.press("j")
    assert "alpine-shop" == focused(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    assert "city-guide" == focused(page)
    expect(page.locator("tr.is-selected")).to_contain_text("city-guide")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/sites/city-guide/$"))


def test_the_selection_survives_redrawing(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/operations/jobs/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    before = page.locator("tr.is-selected").get_attribute("id")
    with page.expect_response("**/operations/jobs/"):
        pass
    expect(page.locator("tr.is-selected")).to_have_attribute("id", before or "")


def test_g_leads_to_each_place_and_slash_to_the_search(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    for key, path in (("o", "/operations/jobs/"), ("e", "/settings/account/"), ("s", "/sites/")):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page).to_have_url(re.compile(f"{path}$"))
    page.keyboard.press("/")
    page.keyboard.type("museum")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=museum"))
    page.keyboard.press("Escape")
    assert "q" != focused(page)


def test_keys_are_letters_while_one_types(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    page.keyboard.press("/")
    page.keyboard.type("a?gsj")
    expect(page.locator("input[name=q]")).to_have_value("a?gsj")
    expect(page.locator("dialog#keys")).to_be_hidden()


def test_help_lists_the_keys_of_the_page(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/alpine-shop/")
    page.keyboard.press("?")
    dialog = page.locator("dialog#keys")
    expect(dialog).to_contain_text("Crawl now")
    expect(dialog).to_contain_text("Go to operations")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_single_keys_can_be_turned_off(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    page.keyboard.press("?")
    page.get_by_label("Single keys work").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("tr.is-selected")).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys work").check()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    expect(page.locator("tr.is-selected")).to_have_count(1)


def test_tab_reaches_everything_and_shows_where_it_is(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    page.evaluate("document.activeElement.blur()")
    words = {
        "Sites",
        "Add site",
        "Last job failed",
        "Pages",
        "alpine-shop",
        "recipe-box",
        "Log out",
    }
    seen = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        seen.append(focused(page).strip())
        words = {word for word in words if not seen[-1].startswith(word)}
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert "none" != outline or "BODY" == page.evaluate("document.activeElement.tagName")
        if not words:
            break
    assert "Skip to the content" == seen[0]
    assert set() == words, seen


def test_the_folded_rail_is_opened_by_key(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/", width=NARROW)
    expect(page.get_by_role("link", name="Operations")).to_be_hidden()
    page.get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Operations").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/operations/jobs/$"))
