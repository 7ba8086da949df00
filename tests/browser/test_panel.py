"""The rule panel beside the page that is annotated."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.services.samples.sampling import draw_samples, samples_request
from rules.services.learning.panel import learn_panel
from tests.apps.rules.shop_cast import annotate_product, products_of, shop
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here


@pytest.fixture
def annotated_shop(people: dict[str, Any]) -> str:
    """Return the name of a shop's cluster of products, of which two pages are annotated."""
    site = shop(14)
    run_job(create_here(samples_request(site=site)).pk, draw_samples)
    annotate_product(site, 1)
    annotate_product(site, 2)
    cluster = products_of(site)
    learn_panel(cluster=cluster)
    return cluster.name


def test_the_panel_shows_what_the_rule_finds_and_the_way_to_each_page(
    annotated_shop: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"/sites/shop/clusters/{annotated_shop}/samples/1/")
    panel = page.locator("#rule-panel")
    expect(panel.locator(".stop-sign strong")).to_be_visible()
    expect(
        panel.get_by_label("What the rule finds, attribute by attribute").locator(
            ".panel-row > summary"
        )
    ).to_have_count(3)
    panel.locator("summary", has_text="weight").click()
    link = panel.locator(".panel-row[open] .panel-cells a").first
    expect(link).to_be_visible()
    sample = (link.text_content() or "").split()[0]
    link.click()
    expect(page.get_by_text(f"Sample {sample} of 14")).to_be_visible()
    expect(page.locator('[data-attribute="weight"].is-active')).to_be_visible()


def test_while_a_rule_is_learnt_anew_the_panel_says_that_it_is_out_of_date(
    annotated_shop: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"/sites/shop/clusters/{annotated_shop}/samples/3/")
    panel, learning = page.locator("#rule-panel"), page.get_by_text("Learning the rule anew")
    expect(panel.locator(".stop-sign strong")).to_be_visible()
    expect(learning).to_be_hidden()
    held: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            held.append(route)
        else:
            route.continue_()

    page.route("**/rule/", hold)
    with page.expect_request(lambda request: request.url.endswith("/rule/")):
        page.keyboard.press("Enter")
    expect(learning).to_be_visible()
    expect(panel).to_have_attribute("aria-busy", "true")
    for route in held:
        route.continue_()
    expect(learning).to_be_hidden()
    expect_rest(page)


def test_a_field_that_was_made_larger_breaks_no_rule_of_the_page_when_the_next_comes(
    annotated_shop: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"/sites/shop/clusters/{annotated_shop}/samples/3/")
    field = page.locator("#page-comments textarea")
    expect(field).to_be_visible()
    expect(page.locator("#rule-panel .stop-sign strong")).to_be_visible()
    field.evaluate("(field) => (field.style.height = '90px')")  # as dragging its corner does
    page.keyboard.press("Enter")
    expect(page.get_by_text("Sample 3 of 14")).to_have_count(0)
    expect(page.locator("#page-comments textarea[style]")).to_have_count(0)
    expect_rest(page)


def test_what_was_still_on_its_way_is_not_accepted_without_a_word(
    annotated_shop: str, open_page: Callable[..., Page]
) -> None:
    page = open_page("about:blank")
    proposals = re.compile(r"/(suggestions|prefill)/")
    page.route(proposals, lambda _route: None)
    page.goto(f"/sites/shop/clusters/{annotated_shop}/samples/3/")
    expect(page.locator("iframe[data-ready]").first).to_be_attached()
    page.keyboard.press("Enter")

    expect(page.get_by_text("Nothing was accepted there")).to_be_visible()
    page.unroute(proposals)  # what was held goes on
    expect_rest(page)


def expect_rest(page: Page) -> None:
    """Wait until all is saved and learnt: the server is asked for nothing more."""
    expect(page.locator("[data-saving]")).to_have_text("Saved")
    expect(page.locator("[aria-busy], .htmx-request, .htmx-settling")).to_have_count(0)
