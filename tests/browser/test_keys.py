"""The keyboard alone is enough."""

from __future__ import annotations

import re
from typing import NamedTuple

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NARROW, OpenPage, hold, let_go, wait_on
from tests.browser.stage import PASSWORD, show_workers_alive
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


MOST_TABS = 200  # twice around the page


class Focus(NamedTuple):
    words: str
    outline: str
    is_nowhere: bool


FOCUS = """() => {
  const focused = document.activeElement;
  const words = focused.innerText || focused.name || "";
  return [words.trim(), getComputedStyle(focused).outlineStyle, focused === document.body];
}"""


def focus_of(page: Page) -> Focus:
    """Return what has the focus, in one look: a list may be drawn anew between two."""
    return Focus(*page.evaluate(FOCUS))


def test_from_the_log_in_to_a_cancelled_crawl_without_a_mouse(
    open_page: OpenPage, people: object
) -> None:
    show_workers_alive()
    page = open_page("/log-in/", who=None)
    keys = page.keyboard
    expect(page.locator("#id_username")).to_be_focused()
    keys.type("operator")
    keys.press("Tab")
    keys.type(PASSWORD)
    keys.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sites")
    keys.press("a")
    expect(page.get_by_role("heading", level=1)).to_have_text("Add site")
    expect(page.locator("#id_root_url")).to_be_focused()
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
    expect(page.locator(":focus")).to_have_text("alpine-shop")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(":focus")).to_have_text("city-guide")
    expect(page.locator("tr.is-selected")).to_contain_text("city-guide")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/sites/city-guide/$"))


def test_selection_and_focus_survive_redrawing(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("Tab")
    row = page.get_by_role("row", name="city-guide")
    focused = row.locator(":focus")
    expect(focused).to_have_count(1)
    place = focused.get_attribute("href")
    Site.objects.filter(name="city-guide").update(n_pages=12_345)
    expect(page.locator("tr.is-selected")).to_contain_text("12,345")
    expect(page.locator("tr.is-selected")).to_contain_text("city-guide")
    expect(focused).to_have_attribute("href", place or "")


def test_a_list_that_is_drawn_anew_gives_way_to_a_search(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    held = hold(page, "**/sites/**")
    wait_on(page, lambda: held, "the list is asked for anew")
    page.fill("input[name=q]", "museum")
    wait_on(page, lambda: "q=museum" in held[-1].request.url, "the search is asked for")
    let_go(page, held)
    expect(page.locator("#list tbody tr")).to_have_count(1)


def test_g_leads_to_each_place_and_slash_to_the_search(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    for key, path in (("o", "/operations/jobs/"), ("e", "/settings/account/"), ("s", "/sites/")):
        go_by_key(page, key, path)
    page.keyboard.press("/")
    page.keyboard.type("museum")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile("q=museum"))
    expect(page.locator("input[name=q]")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator("input[name=q]")).not_to_be_focused()


def go_by_key(page: Page, key: str, path: str) -> None:
    """Press g and a key until the page opens: a busy machine may put too much time between them."""

    def is_there() -> bool:
        page.keyboard.press("g")
        page.keyboard.press(key)
        try:
            expect(page).to_have_url(re.compile(f"{path}$"), timeout=5000)
        except AssertionError:
            return False
        return True

    assert any(is_there() for _ in range(10))


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
    expect(page.locator("dialog#keys")).to_be_hidden()
    page.keyboard.press("j")
    expect(page.locator("tr.is-selected")).to_have_count(0)
    page.get_by_role("button", name="Keys").click()
    page.get_by_label("Single keys work").check()
    page.keyboard.press("Escape")
    expect(page.locator("dialog#keys")).to_be_hidden()
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
        focus = focus_of(page)
        seen.append(focus.words)
        words = {word for word in words if not focus.words.startswith(word)}
        assert "none" != focus.outline or focus.is_nowhere
        if not words:
            break
    assert "Skip to the content" == seen[0]
    assert set() == words, seen


def test_the_folded_rail_is_opened_by_key(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/", width=NARROW)
    expect(page.get_by_role("link", name="Operations")).to_be_hidden()
    page.get_by_role("button", name="Menu").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Operations")).to_be_visible()
    page.get_by_role("link", name="Operations").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/operations/jobs/$"))
