"""What the pages do in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Dialog, FilePayload, expect

from clustering.models import Page, Snapshot
from tests.browser.conftest import OpenPage, wait_on
from tests.browser.stage import show_workers_alive
from vertex.core.models import Job, Site

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

PATHS = [
    "/sites/",
    "/sites/?q=nothing-like-it",
    "/add-site/",
    "/new-table/",
    "/sites/alpine-shop/",
    "/sites/city-guide/",
    "/sites/garden-market/",
    "/sites/alpine-shop/pages/",
    "/sites/alpine-shop/pages/?q=nothing",
    "/sites/city-guide/pages/",
    "/sites/alpine-shop/settings/",
    "/sites/alpine-shop/delete/",
    "/sites/alpine-shop/crawl/",
    "/sites/alpine-shop/import/",
    "/sites/alpine-shop/search-log/",
    "/annotate/",
    "/sites/alpine-shop/annotate/",
    "/sites/alpine-shop/clusters/product-detail/samples/1/",
    "/operations/jobs/",
    "/operations/refusals/",
    "/settings/account/",
    "/nothing/",
]


def paths_of(shop: Site) -> list[str]:
    """Return the address of every page, with one of each kind of thing."""
    home = shop.pages.earliest("pk")
    older, newer = home.snapshots.order_by("pk").values_list("pk", flat=True)
    at = f"/sites/{shop.name}/pages/{home.pk}/"
    gone = shop.pages.get(status=404)
    jobs = [f"/operations/jobs/{pk}/" for pk in Job.objects.values_list("pk", flat=True)]
    own = [
        at,
        f"{at}snapshots/{older}/",
        f"{at}compare/{older}/{newer}/",
        f"{at}table/",
        f"/sites/{shop.name}/pages/{gone.pk}/",
    ]
    clusters = [
        f"/sites/{shop.name}/clusters/",
        f"/sites/{shop.name}/clusters/product-detail/",
        f"/sites/{shop.name}/clusters/product-detail/review/",
        f"/sites/{shop.name}/compare-clusterings/",
        f"/sites/{shop.name}/site-model/",
        f"/sites/{shop.name}/doubts/",
        f"/sites/{shop.name}/cluster/",
    ]
    return PATHS + own + clusters + jobs


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_follow_the_system_until_somebody_chooses(
    open_page: OpenPage, shop: Site, scheme: str
) -> None:
    page = open_page("/sites/", color_scheme=scheme)
    theme = page.locator("html")

    def is_dark() -> bool:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) < 300

    assert ("dark" == scheme) == is_dark()
    page.get_by_role("button", name="System colours").click()
    expect(theme).to_have_attribute("data-theme", "light")
    assert not is_dark()
    page.get_by_role("button", name="Light").click()
    expect(theme).to_have_attribute("data-theme", "dark")
    assert is_dark()
    page.reload()
    assert is_dark()


def test_a_list_is_searched_while_one_types(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/alpine-shop/pages/")
    page.fill("input[name=q]", "trail-runner-7")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    page.fill("input[name=q]", "no such page")
    expect(page.locator("#list")).to_contain_text("No page matches")


def test_filters_and_order_work_together(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/alpine-shop/pages/")
    page.get_by_role("navigation", name="Which pages").get_by_text("Failed").click()
    page.wait_for_url("**state=failed*")
    page.select_option("select[name=status]", "5")
    page.wait_for_url("**status=5*")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Address").click()
    expect(page.locator("#list tbody tr")).to_have_count(1)
    expect(page.locator("th[aria-sort=ascending]")).to_have_text("Address")


def test_a_long_list_goes_on_and_back(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/alpine-shop/pages/")
    address = page.locator("#list tbody tr").first.get_by_role("link").first
    first = address.inner_text()
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("link", name="Previous")).to_be_visible()
    expect(address).not_to_have_text(first, use_inner_text=True)
    page.get_by_role("link", name="Previous").click()
    expect(address).to_have_text(first, use_inner_text=True)


def test_columns_are_chosen_and_stay_chosen(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/")
    page.locator("summary", has_text="Columns").click()
    page.get_by_label("Last snapshot").uncheck()
    expect(page.get_by_role("columnheader", name="Last snapshot")).to_be_hidden()
    page.reload()
    expect(page.get_by_role("columnheader", name="Last snapshot")).to_be_hidden()
    expect(page.get_by_role("columnheader", name="Pages")).to_be_visible()


def test_an_address_is_whole_on_hover_and_copied_whole(open_page: OpenPage, shop: Site) -> None:
    page = open_page(
        "/sites/alpine-shop/pages/?q=trail-runner-7",
        permissions=["clipboard-read", "clipboard-write"],
    )
    url = Page.objects.get(url__contains="trail-runner-7-").url
    expect(page.locator(".url-whole").first).to_have_attribute("title", url)
    page.locator("#list tbody tr").first.hover()
    page.get_by_role("button", name="Copy the address").first.click()
    wait_on(
        page,
        lambda: url == page.evaluate("navigator.clipboard.readText()"),
        "the address is copied",
    )


def test_a_job_is_watched_to_its_end(open_page: OpenPage, shop: Site) -> None:
    running = Job.objects.get(state=Job.State.RUNNING)
    page = open_page(f"/operations/jobs/{running.pk}/")
    expect(page.locator("#job")).to_contain_text("412 of 1,000")
    Job.objects.filter(pk=running.pk).update(n_done=900)
    expect(page.locator("#job")).to_contain_text("900 of 1,000")
    Job.objects.filter(pk=running.pk).update(state=Job.State.DONE, lease="", result={"new": 77})
    expect(page.locator("#job")).to_contain_text("77")
    expect(page.locator("#job-state")).to_contain_text("Done")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator("#job")).not_to_have_attribute("hx-get", re.compile(""))


def test_jobs_are_watched_in_their_list(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/operations/jobs/")
    failed = Job.objects.get(state=Job.State.FAILED)
    row = page.locator(f"#job-{failed.pk}")
    expect(row).to_contain_text("Failed")
    Job.objects.filter(pk=failed.pk).update(state=Job.State.DUE)
    expect(row).to_contain_text("Waiting")


def test_a_cancelled_job_comes_back_by_undo(open_page: OpenPage, shop: Site) -> None:
    waiting = Job.objects.get(state=Job.State.DUE)
    page = open_page(f"/operations/jobs/{waiting.pk}/")
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#job-state")).to_contain_text("Cancelled")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#job-state")).to_contain_text("Waiting")


def test_page_states_are_counted_after_the_page_is_there(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/city-guide/")
    page.route("**/page-states/", lambda _route: None)  # never answered
    page.goto("/sites/alpine-shop/")
    expect(page.locator(".skeleton").first).to_be_visible()
    height = page.locator("#states-figures").bounding_box()
    page.unroute_all()
    page.goto("/sites/alpine-shop/")
    expect(page.locator("#states-figures")).to_contain_text("Stored")
    counted = page.locator("#states-figures").bounding_box()
    assert height is not None
    assert counted is not None
    assert abs(height["height"] - counted["height"]) < 8


def test_a_server_that_does_not_answer_is_told(
    open_page: OpenPage, shop: Site, expected_complaints: list[str]
) -> None:
    expected_complaints += ["htmx", "ERR_INTERNET_DISCONNECTED"]
    page = open_page("/operations/jobs/")
    page.context.set_offline(True)
    expect(page.locator(".toast")).to_contain_text("does not answer")
    expect(page.locator("#list tbody tr").first).to_be_visible()


def test_the_source_of_a_page_runs_nothing(open_page: OpenPage, shop: Site) -> None:
    snapshot = Snapshot.objects.earliest("pk")
    page = open_page("/sites/")
    alerts: list[str] = []

    def note(dialog: Dialog) -> None:
        alerts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    page.goto(f"/sites/alpine-shop/pages/{snapshot.page_id}/snapshots/{snapshot.pk}/")
    expect(page.locator(".source")).to_contain_text('<script>alert("not here")</script>')
    assert [] == alerts
    assert 0 == page.locator(".source script, .source h1").count()


def test_a_wrong_name_deletes_nothing_and_the_right_one_does(
    open_page: OpenPage, shop: Site
) -> None:
    page = open_page("/sites/alpine-shop/delete/")
    page.get_by_label("Name of the site").fill("alpine")
    page.get_by_role("button", name="Delete alpine-shop").click()
    expect(page.locator(".field-errors")).to_contain_text("is not the name")
    page.get_by_label("Name of the site").fill("alpine-shop")
    page.get_by_role("button", name="Delete alpine-shop").click()
    expect(page.locator(".toast")).to_contain_text("out of sight")
    expect(page.locator("#list")).not_to_contain_text("alpine-shop")


def test_files_are_handed_in_and_end_at_the_job(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/city-guide/import/")
    files: list[FilePayload] = [
        {"name": f"{n}.html", "mimeType": "text/html", "buffer": b"<p>"} for n in ("a", "b")
    ]
    page.set_input_files("input[type=file]", files)
    page.get_by_role("button", name="Import pages").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(
        "Import 2-files.zip into city-guide"
    )


def test_settings_come_back_by_undo(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/alpine-shop/settings/")
    page.get_by_label("Title").fill("Another title")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_label("Title")).to_have_value("Another title")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Title")).to_have_value("Alpine Shop")


def test_an_undo_waits_for_everybody_and_other_toasts_leave(
    open_page: OpenPage, shop: Site
) -> None:
    page = open_page("/sites/")
    page.clock.install()
    page.goto("/settings/account/")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("Saved.")
    page.wait_for_load_state()  # its time begins once the scripts of the page are there
    page.clock.fast_forward("00:10")
    expect(page.locator(".toast")).to_have_count(0)

    page.goto("/sites/alpine-shop/settings/")
    page.get_by_label("Title").fill("Another title")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("button", name="Undo")).to_be_visible()
    page.wait_for_load_state()
    page.clock.fast_forward("59:00")
    expect(page.get_by_role("button", name="Undo")).to_be_visible()


def test_nothing_needs_a_script_to_be_read(open_page: OpenPage, shop: Site) -> None:
    page = open_page("/sites/", java_script_enabled=False)
    page.fill("input[name=q]", "museum")
    page.press("input[name=q]", "Enter")
    expect(page.locator("#list tbody tr")).to_have_count(1)


def test_no_places_are_shown_that_do_not_exist(open_page: OpenPage, people: object) -> None:
    show_workers_alive()
    page = open_page("/sites/")
    for link in page.locator(".rail a").all():
        path = link.get_attribute("href") or ""
        assert 200 == page.request.get(path).status, path
