"""Pages follow their site's jobs: changes show without a reload, and nothing typed is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import Request, Route, expect

from clustering.models import Page
from rules.models import Record, Rule
from tests.apps.rules.record_cast import record_of, rule_of, touched
from tests.browser.conftest import OpenPage, wait_on
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def begun(site: Site, task: str = "rules.extract_records") -> Job:
    return Job.objects.create(
        task=task,
        queue=Job.Queue.EXTRACT,
        site=site,
        title="Extract records of the shop",
        key=f"extract_records:{site.pk}",
        state=Job.State.RUNNING,
        lease="x",
        leased_until=timezone.now() + timedelta(minutes=5),
    )


def end(job: Job) -> None:
    now = timezone.now()
    Job.objects.filter(pk=job.pk).update(
        state=Job.State.DONE, lease="", leased_until=None, finished_at=now
    )


def extract(site: Site, n: int) -> list[Record]:
    """Store records as an extraction does."""
    rule = Rule.objects.filter(cluster__site=site).first() or rule_of(site)
    pages = Page.objects.filter(site=site, latest_snapshot__isnull=False).order_by("pk")[:n]
    return [record_of(rule, page) for page in pages]


def test_records_appear_when_their_job_ends(open_page: OpenPage, shop: Site) -> None:
    rule_of(shop)
    job = begun(shop)
    page = open_page(f"/sites/{shop.name}/records/")
    expect(page.get_by_text("No records yet")).to_be_visible()
    extract(shop, 3)
    end(job)

    expect(page.locator("table.records-table tbody tr")).to_have_count(3)
    expect(page.get_by_text("No records yet")).to_have_count(0)
    expect(page.get_by_role("button", name="Extract records")).to_be_visible()


def test_an_answer_that_comes_after_its_job_ended_is_not_put_in(
    open_page: OpenPage, shop: Site
) -> None:
    rule_of(shop)
    job = begun(shop)
    page = open_page(f"/sites/{shop.name}/records/")
    held: list[Route] = []
    given_up: list[Request] = []

    def hold_looks_at_the_job(route: Route) -> None:
        if "hx-request" in route.request.headers:
            held.append(route)
        else:
            route.continue_()

    page.on("requestfailed", lambda request: given_up.append(request))  # noqa: PLW0108 - Playwright marks it
    page.route(f"**/sites/{shop.name}/records/", hold_looks_at_the_job)
    wait_on(page, lambda: held, "a look at the job")
    extract(shop, 3)
    end(job)

    expect(page.locator("table.records-table tbody tr")).to_have_count(3)
    wait_on(page, lambda: held[0].request in given_up, "the look is given up")


def test_a_job_that_somebody_else_began_changes_the_page_too(
    open_page: OpenPage, shop: Site
) -> None:
    (record,) = extract(shop, 1)
    page = open_page(f"/sites/{shop.name}/records/")
    expect(page.locator("table.records-table")).to_contain_text("Trail Runner")
    job = begun(shop)
    expect(page.locator("#work")).to_contain_text("Extract records of the shop")
    touched(record, name="Road Runner")
    end(job)

    expect(page.locator("table.records-table")).to_contain_text("Road Runner")
    expect(page.locator("#work")).not_to_contain_text("Extract records of the shop")


def test_a_job_is_told_of_until_it_has_ended(open_page: OpenPage, shop: Site) -> None:
    rule_of(shop)
    page = open_page(f"/sites/{shop.name}/rules/")
    page.get_by_role("button", name="Learn rules").first.click()
    expect(page.locator("#toasts")).to_contain_text("the job is on its way")
    end(Job.objects.get(task="rules.learn_rules"))

    expect(page.locator("#toasts")).not_to_contain_text("the job is on its way")


def test_focus_typing_and_the_selected_row_stay(open_page: OpenPage, shop: Site) -> None:
    first, second = extract(shop, 2)
    job = begun(shop)
    page = open_page(f"/sites/{shop.name}/records/")
    page.keyboard.press("j")
    selected = page.locator("tr.is-selected").get_attribute("id")
    page.keyboard.press("/")
    page.keyboard.type("Trail")
    touched(first, name="Trail Walker")
    touched(second, name="Trail Walker")
    end(job)

    expect(page.locator("table.records-table tbody tr", has_text="Trail Walker")).to_have_count(2)
    search = page.get_by_role("searchbox")
    expect(search).to_have_value("Trail")
    expect(search).to_be_focused()
    assert selected == page.locator("tr.is-selected").get_attribute("id")
    assert 5 == search.evaluate("field => field.selectionStart")


def test_checks_appear_when_their_job_ends(open_page: OpenPage, shop: Site) -> None:
    rule_of(shop)
    job = begun(shop, "monitoring.run_checks")
    page = open_page(f"/sites/{shop.name}/monitoring/")
    check = page.get_by_role("button", name="Check now")
    expect(check).to_be_disabled()
    end(job)

    expect(check).to_be_enabled()


def test_looking_for_work_keeps_no_session_alive(open_page: OpenPage, shop: Site) -> None:
    page = open_page(f"/sites/{shop.name}/records/")
    with page.expect_response(lambda answer: "work-word" in answer.url) as looked:
        pass

    assert looked.value.status == 200
    assert "set-cookie" not in looked.value.headers


def test_a_page_says_when_its_reader_was_logged_out(open_page: OpenPage, shop: Site) -> None:
    page = open_page(f"/sites/{shop.name}/records/")
    expect(page.locator("#toasts")).not_to_contain_text("logged out")
    page.context.clear_cookies()

    expect(page.locator("#toasts")).to_contain_text("You are logged out")
