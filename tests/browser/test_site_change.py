"""A site is redesigned at night: alarm, both pages side by side, repair by keys, records again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from monitoring.models import Alert, Proposal, Schedule, SiteChange
from monitoring.services.checks.checking import run_checks
from monitoring.services.checks.schedules import make_default_schedules, plan_checks
from monitoring.services.repair.accepting import publish_proposal
from monitoring.services.repair.proposals import propose_repairs
from monitoring.services.repair.repairing import repair_site
from rules.models import Record, Rule
from rules.services.records.extracting import extract_records, extraction_request
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.clustering.demo_sites import store
from tests.apps.monitoring.monitored_shop import N, redesigned
from tests.apps.monitoring.shop_on_host import Shop, come_back
from tests.apps.rules.shop_cast import product
from tests.browser.conftest import NARROW, OpenPage
from tests.browser.stage import show_workers_alive
from tests.browser.test_accessibility import AXE, SERIOUS, too_wide
from vertex.core.models import Job, Role, Site, User
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
RIGHT = {f"Rope {n}" for n in range(1, N + 1)}


def with_banner(n: int) -> tuple[str, bytes, str]:
    """Return the redesigned page with a heading where the old rule looks for the name."""
    path, body, kind = redesigned(n)
    return path, body.replace(b"<main>", b"<main><h1 class='name'>Free delivery</h1>"), kind


@pytest.fixture
def host(people: dict[str, User], loopback: None) -> Iterator[Shop]:
    shop = Shop()
    with shop.host:
        yield shop


def let_night_pass(site: Site, host: Shop) -> None:
    """Redesign the site; the clock plans its check, workers check it and propose a repair."""
    make_default_schedules()
    host.make = with_banner
    planned = Schedule.objects.get().next_at
    assert planned is not None
    assert 1 == plan_checks(planned)
    run_job(Job.objects.get(task="monitoring.run_checks").pk, run_checks)
    come_back()
    # The crawl comes between: it finds the old pages with another text where the name stood.
    store(site, [product(n, name="Free delivery") for n in range(1, N + 1)])
    extract(site)
    assert 1 == propose_repairs()
    run_job(Job.objects.get(task="monitoring.heal_site").pk, repair_site)


def extract(site: Site) -> None:
    job = run_job(create_here(extraction_request(site=site)).pk, extract_records)
    assert Job.State.DONE == job.state, job.error


def names_read_by(service: Caller) -> set[str]:
    rows = service.get("records/?site=shop&limit=100").json()["results"]
    return {row["values"]["name"] for row in rows}


def serious_problems(page: Page) -> list[str]:
    page.evaluate(AXE.read_text())
    result = page.evaluate("axe.run(document, {resultTypes: ['violations'], iframes: false})")
    return [
        f"{violation['id']}: {violation['nodes'][0]['html'][:150]}"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
    ]


def test_a_redesign_at_night_is_mended_with_a_few_keys(open_page: OpenPage, host: Shop) -> None:
    site, service = host.open(), caller("service", Role.VIEWER)
    extract(site)
    let_night_pass(site, host)
    show_workers_alive()
    change = SiteChange.objects.get()
    assert (RIGHT, N) == (names_read_by(service), change.n_held)

    page = open_page("/monitoring/", who="administrator")
    expect(page.get_by_role("heading", name="Site changed")).to_be_visible()
    assert [] == serious_problems(page)
    page.keyboard.press("j")  # three keys from the alarm to the repair: this one,
    page.keyboard.press("Enter")  # this one
    page.wait_for_url(f"**/sites/shop/site-changes/{change.pk}/")
    old, new = (
        page.frame_locator(f'[data-side="{side}"] iframe[data-ready]') for side in ("old", "new")
    )
    expect(old.locator("h1")).to_contain_text("Rope")
    expect(new.locator("h1")).to_contain_text("Free delivery")
    assert [] == serious_problems(page)

    old.locator("h1").click()  # keys typed in a page count as well
    page.keyboard.press("c")  # and this one
    expect(page.locator("#repair")).to_contain_text("Repair shop")
    page.keyboard.press("c")  # pressed once too often, it does not cancel what it began
    done = run_job(
        Job.objects.unfinished().get(task="monitoring.accept_proposal").pk, publish_proposal
    )
    assert Job.State.DONE == done.state, done.error
    expect(page.get_by_role("heading", name="What it was")).to_be_visible()
    expect(page.locator("#repair")).to_contain_text("found again")

    extract(site)
    assert (RIGHT, {2}) == (
        names_read_by(service),
        set(Record.objects.values_list("rule__version", flat=True)),
    )
    assert not Alert.objects.open().exists()
    assert {"published", "retired"} == set(Rule.objects.values_list("state", flat=True))


def test_both_pages_fit_beside_each_other_on_a_narrow_screen(
    open_page: OpenPage, host: Shop
) -> None:
    site = host.open()
    extract(site)
    let_night_pass(site, host)
    show_workers_alive()
    page = open_page(f"/sites/shop/site-changes/{SiteChange.objects.get().pk}/", width=NARROW)
    expect(page.frame_locator('[data-side="new"] iframe[data-ready]').locator("h1")).to_be_visible()

    assert [] == too_wide(page)
    page.keyboard.press("Enter")
    expect(page.locator('tr[data-value="name"]')).to_contain_text("confirmed")
    expect(page.locator('tr[data-value="price"]')).to_have_attribute("aria-selected", "true")
    page.keyboard.press("x")
    expect(page.locator("#repair")).to_contain_text("not as proposed")
    assert ["waiting"] == list(
        Proposal.objects.waiting().filter(decision="proposed").values_list("state", flat=True)
    )
