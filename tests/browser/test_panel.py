"""The rule panel beside the page that is annotated."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from vertex.core.services.jobs.requests import create_here


@pytest.fixture
def annotated_shop(people: dict[str, Any]) -> str:
    """Return the name of a shop's cluster of products, of which two pages are annotated."""
    cast = importlib.import_module("tests.apps.rules.shop_cast")
    sampling = importlib.import_module("annotation.services.samples.sampling")
    jobs = importlib.import_module("vertex.core.services.jobs.jobs")
    site = cast.shop(14)
    jobs.run_job(create_here(sampling.samples_request(site=site)).pk, sampling.draw_samples)
    cast.annotate_product(site, 1)
    cast.annotate_product(site, 2)
    name: str = cast.products_of(site).name
    importlib.import_module("rules.services.learning.panel").learn_panel(
        cluster=cast.products_of(site)
    )
    return name


def test_the_panel_shows_what_the_rule_finds_and_the_way_to_each_page(
    annotated_shop: str, open_page: Callable[..., Page]
) -> None:
    page = open_page(f"/sites/shop/clusters/{annotated_shop}/samples/1/")
    panel = page.locator("#rule-panel")
    expect(panel.locator(".stop-sign strong")).to_be_visible()
    expect(
        panel.get_by_label("What the rule finds, attribute by attribute").locator("summary")
    ).to_have_count(3)
    panel.locator("summary", has_text="weight").click()
    link = panel.locator(".panel-row[open] .panel-cells a").first
    expect(link).to_be_visible()
    sample = (link.text_content() or "").split()[0]
    link.click()
    expect(page.get_by_text(f"Sample {sample} of 14")).to_be_visible()
    expect(page.locator('[data-attribute="weight"].is-active')).to_be_visible()
