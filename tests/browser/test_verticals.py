"""Verticals made and changed in a real browser, with the keyboard alone."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Vertical
from annotation.services.verticals.verticals import save_vertical
from tests.browser.conftest import NARROW, OpenPage
from tests.browser.test_accessibility import too_wide

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def live() -> list[str]:
    return list(Vertical.objects.get().attributes.live().values_list("name", flat=True))


def save_product() -> None:
    save_vertical(
        name="product",
        attributes=[AttributeType(name) for name in ("name", "price", "brand")],
        actor=None,
    )


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_ready_made_vertical_takes_one_click(open_page: OpenPage) -> None:
    page = open_page("/settings/verticals/", who="editor")
    page.get_by_role("button", name="Load article").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("article")
    assert "headline" in live()


def test_a_vertical_is_made_with_the_keyboard(open_page: OpenPage) -> None:
    page = open_page("/settings/verticals/", who="editor")
    press(page, "a")
    expect(page.get_by_label("Name", exact=True).first).to_be_focused()
    expect(page.get_by_role("button", name="Add attribute")).to_be_visible()  # the script has begun
    page.keyboard.type("shoe")
    press(page, "Tab", "Tab")
    for name in ("size", "colour", "price", "sole"):
        page.keyboard.type(name)
        press(page, "Enter")
    page.get_by_role("button", name="Add", exact=True).press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("shoe")
    assert ["size", "colour", "price", "sole"] == live()


def test_rows_are_moved_removed_and_added(open_page: OpenPage) -> None:
    save_product()
    page = open_page("/settings/verticals/product/", who="editor")
    page.locator("[name=form-2-name]").focus()
    press(page, "Alt+ArrowUp", "Alt+ArrowUp")
    expect(page.get_by_role("status").filter(has_text="brand is now number 1")).to_have_count(1)
    page.get_by_role("group", name="Attribute price").get_by_role("button", name="Remove").press(
        "Enter"
    )
    page.get_by_role("button", name="Add attribute").press("Enter")
    page.keyboard.type("colour")
    press(page, "Alt+ArrowUp")
    page.get_by_role("button", name="Save").press("Enter")
    expect(page.locator(".toast")).to_contain_text("product is saved")
    assert ["brand", "colour", "name"] == live()
    press(page, "u")
    expect(page.locator(".toast")).to_contain_text("product is changed")
    assert ["name", "price", "brand"] == live()


def test_what_is_wrong_stands_at_its_row_and_the_order_is_kept(open_page: OpenPage) -> None:
    save_product()
    page = open_page("/settings/verticals/product/", who="editor")
    page.locator("[name=form-0-regex]").fill("(?=x)")
    press(page, "Alt+ArrowDown")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The regex uses (?=, which RE2 does not have")).to_be_visible()
    names = page.locator("[data-attribute]:visible [name$=-name]")
    expect(names).to_have_count(3)
    for place, name in enumerate(("price", "name", "brand")):
        expect(names.nth(place)).to_have_value(name)


def test_without_scripts_it_works_by_numbers(open_page: OpenPage) -> None:
    save_product()
    page = open_page("/settings/verticals/product/", who="editor", java_script_enabled=False)
    page.locator("[name=form-2-ORDER]").fill("0")
    page.locator("[name=form-0-DELETE]").check()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".toast")).to_contain_text("product is saved")
    assert ["brand", "price"] == live()


@pytest.mark.parametrize(
    "path", ["/settings/verticals/", "/settings/add-vertical/", "/settings/verticals/product/"]
)
def test_nothing_sticks_out_of_a_narrow_screen(open_page: OpenPage, path: str) -> None:
    save_product()
    page = open_page(path, width=NARROW)
    assert [] == too_wide(page)
