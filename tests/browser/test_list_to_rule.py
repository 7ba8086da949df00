"""From a pasted address to exported records, in a browser."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Annotation
from annotation.services.verticals.policies import change_policy
from clustering.services.crawl.list_crawling import crawl_list
from rules.services.lists.accepting_lists import accept_list
from rules.services.records.extracting import extract_records
from tests.browser.conftest import OpenPage
from tests.browser.stage import show_workers_alive
from vertex.core.models import Job, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.demo import sites
from vertex.demo.sites.server import DemoServer

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
PATH = "/c/tents"
WORK: dict[str, Callable[..., Any]] = {
    "clustering.crawl_list": crawl_list,
    "rules.accept_list": accept_list,
    "rules.extract_records": extract_records,
}


def work() -> None:
    """Do what a worker would do."""
    for job in Job.objects.unfinished().filter(task__in=WORK).order_by("pk"):
        done = run_job(job.pk, WORK[job.task])
        assert Job.State.DONE == done.state, done.error


def paste(page: Page, address: str) -> None:
    """Go from the sites to the table of an address."""
    page.get_by_role("link", name="New table from a URL").first.click()
    page.get_by_label("Address of the page").fill(address)
    page.get_by_role("button", name="Make a table").click()
    expect(page.get_by_text("The table opens by itself")).to_be_visible()
    work()
    expect(page.get_by_role("heading", name="Table", exact=True)).to_be_visible()


@pytest.mark.usefixtures("loopback", "people")
def test_a_pasted_address_becomes_a_table_a_rule_and_exported_records(open_page: OpenPage) -> None:
    show_workers_alive()
    truth = sites.load("alpine-shop").pages[PATH].records
    n_records = len(truth)
    with DemoServer(sites.load("alpine-shop")) as server:
        page = open_page("/sites/")
        paste(page, server.url + PATH)
    table = page.get_by_role("table", name="Records")
    expect(table.locator("tbody tr")).to_have_count(n_records)
    with page.expect_download() as csv:
        page.get_by_text("Download", exact=True).click()
        page.get_by_role("link", name=re.compile("CSV")).click()
    assert n_records + 1 <= len(csv.value.path().read_text().splitlines())

    site = Site.objects.get()
    change_policy(site=site, publishing="anybody", second_share=0, actor=None)
    page.get_by_role("link", name="Accept as a rule").click()
    page.get_by_label("Vertical").fill("shop_item")
    page.get_by_role("button", name="Learn rule").click()
    expect(page.get_by_text("The rule opens by itself")).to_be_visible()
    work()
    expect(
        page.get_by_text(f"finds {n_records} records on the page. It is published.")
    ).to_be_visible()
    assert n_records == Annotation.objects.live().filter(kind="record", source="suggestion").count()

    work()
    page.goto(f"/sites/{site.name}/records/")
    with page.expect_download() as exported:
        page.get_by_text("Download", exact=True).click()
        page.get_by_role("link", name="JSON Lines").click()
    lines = [json.loads(line) for line in exported.value.path().read_text().splitlines()]
    assert n_records == len(lines)
    shown = [set(map(str, line.values())) for line in lines]
    assert [] == [
        value.values["name"]
        for value in truth
        if not any(value.values["name"] in line for line in shown)
    ]
