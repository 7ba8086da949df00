"""Annotating in a real browser: pointer, keys, undo, conflicts, from page to page."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from annotation.models import Annotation, Assignment, Attribute, Sample
from annotation.services.annotations.annotated_values import AnnotatedValue
from annotation.services.annotations.annotating import annotate
from clustering.models import Snapshot
from tests.browser.annotating_stage import Stage, set_annotating_stage
from tests.browser.conftest import NARROW, OpenPage, hold, let_go, wait_on
from tests.browser.test_accessibility import findings_in_both_schemes, too_wide

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def stage(people: object) -> Stage:
    return set_annotating_stage()


@pytest.fixture
def editor(open_page: OpenPage, stage: Stage) -> Page:
    return open_sample(open_page, stage)


def open_sample(open_page: OpenPage, stage: Stage, **options: Any) -> Page:
    path = f"/sites/{stage.site.name}/clusters/{stage.cluster.name}/samples/1/"
    page = open_page(path, who=options.pop("who", "editor"), **options)
    expect(row(page, "name").locator(".proposal").first).to_be_visible()
    expect(page.locator(".sample:not(.is-waiting)[data-prepared]")).to_be_visible()
    return page


def row(page: Page, name: str) -> Any:
    return page.locator(f'.sample:not(.is-waiting) [data-attribute="{name}"]')


def value(page: Page, name: str) -> Any:
    return row(page, name).locator(".annotated-value .annotated-text")


def saved(page: Page) -> None:
    expect(page.locator("[data-saving]")).to_have_text("Saved")


def shown_page(page: Page) -> Any:
    """Return the stored page, once it listens to clicks."""
    return page.frame_locator(".sample:not(.is-waiting) iframe[data-ready]")


def texts(stage: Stage, name: str, page: int = 0) -> list[str]:
    rows = Annotation.objects.live().filter(page=stage.pages[page], attribute__name=name)
    return list(rows.order_by("position").values_list("text", flat=True))


def test_a_key_chooses_and_a_click_takes(editor: Page, stage: Stage) -> None:
    editor.keyboard.press("b")
    shown_page(editor).locator(".product-info__brand").click()
    expect(value(editor, "brand")).to_have_text(str(stage.truth[stage.pages[0].pk]["brand"]))
    expect(editor.locator(".sample:not(.is-waiting) .path-step").last).to_have_text(
        "a.product-info__brand"
    )
    saved(editor)
    assert [stage.truth[stage.pages[0].pk]["brand"]] == texts(stage, "brand")


def test_keys_work_while_the_pointer_is_in_the_page(editor: Page, stage: Stage) -> None:
    editor.keyboard.press("s")
    shown_page(editor).locator("h1").click()
    expect(value(editor, "sku")).to_have_text(str(stage.truth[stage.pages[0].pk]["name"]))
    editor.keyboard.press("x")
    expect(row(editor, "sku")).to_contain_text("not on this page")
    editor.keyboard.press("Backspace")
    expect(row(editor, "sku").locator(".proposal")).to_be_visible()
    saved(editor)
    assert [] == texts(stage, "sku")


def test_the_breadcrumb_takes_an_ancestor(editor: Page, stage: Stage) -> None:
    editor.keyboard.press("p")
    shown_page(editor).locator(".price").first.click()
    expect(value(editor, "price")).to_be_visible()
    editor.get_by_role("button", name="p.buy-box__prices").click()
    saved(editor)
    assert "/html/body/main/article/div[2]/div/p[1]" == Annotation.objects.live().get().xpath


def test_undo_and_redo_reach_over_pages(editor: Page, stage: Stage) -> None:
    first, second = (str(stage.truth[page.pk]["name"]) for page in stage.pages[:2])
    editor.keyboard.press("x")
    expect(row(editor, "name")).to_contain_text("not on this page")
    editor.keyboard.press("u")
    expect(row(editor, "name").locator(".proposal").first).to_contain_text(first)
    editor.keyboard.press("U")
    expect(row(editor, "name")).to_contain_text("not on this page")
    editor.keyboard.press("u")
    expect(row(editor, "name").locator(".proposal").first).to_contain_text(first)

    editor.keyboard.press("Enter")
    expect(row(editor, "name").locator(".proposal").first).to_contain_text(second)
    saved(editor)
    assert [first] == texts(stage, "name")
    editor.keyboard.press("u")
    expect(editor.locator(".sample:not(.is-waiting) .sample-where")).to_contain_text(
        "Sample 1 of 6"
    )
    saved(editor)
    assert [] == texts(stage, "name")
    editor.keyboard.press("U")
    expect(value(editor, "name")).to_have_text(first)


def test_the_keyboard_alone_finds_and_takes_a_node(editor: Page, stage: Stage) -> None:
    editor.keyboard.press("v")
    editor.keyboard.press("/")
    editor.keyboard.type("stock")
    expect(editor.locator(".sample:not(.is-waiting) .path-quote")).to_have_text("In stock")
    editor.keyboard.press("Escape")
    editor.keyboard.press("Space")
    expect(value(editor, "availability")).to_have_text("In stock")
    editor.keyboard.press("ArrowUp")
    expect(editor.locator(".sample:not(.is-waiting) .path-step").last).to_have_text("div.buy-box")
    editor.keyboard.press("ArrowDown")
    expect(editor.locator(".sample:not(.is-waiting) .path-step").last).to_have_text(
        "p.buy-box__prices"
    )
    editor.keyboard.press("Space")
    expect(value(editor, "availability")).to_have_text(str(stage.truth[stage.pages[0].pk]["price"]))


def test_a_part_of_a_text_is_taken_by_dragging_and_by_keyboard(editor: Page, stage: Stage) -> None:
    brand = str(stage.truth[stage.pages[0].pk]["brand"])
    editor.keyboard.press("b")
    expect(row(editor, "brand").locator("[data-chooses]")).to_have_attribute("aria-pressed", "true")
    shown_page(editor).locator(".product-info__brand").hover()  # once it stands still
    box = shown_page(editor).locator(".product-info__brand").bounding_box()
    assert box is not None
    editor.mouse.move(box["x"] + 1, box["y"] + box["height"] / 2)
    editor.mouse.down()
    editor.mouse.move(box["x"] + 22, box["y"] + box["height"] / 2, steps=4)
    editor.mouse.up()
    expect(value(editor, "brand")).to_be_visible()
    saved(editor)
    part = texts(stage, "brand")[0]
    assert brand.startswith(part)
    assert part != brand

    field = editor.locator(".sample:not(.is-waiting) [data-node-text]")
    expect(field).to_have_value(brand)
    field.focus()
    for key in ("Home", "Shift+ArrowRight", "Shift+ArrowRight"):
        field.press(key)
    editor.get_by_role("button", name="Take the selected part").press("Enter")
    expect(value(editor, "brand")).to_have_text(brand[:2])


def test_what_a_node_holds_can_be_taken(editor: Page, stage: Stage) -> None:
    editor.keyboard.press("s")
    editor.keyboard.press(".")
    first = editor.locator(".sample:not(.is-waiting) [data-node-values] button").first
    expect(first).to_be_focused()
    editor.get_by_role("button", name="JSON sku").press("Enter")
    expect(value(editor, "sku")).to_have_text(str(stage.truth[stage.pages[0].pk]["sku"]))


def test_a_conflict_is_shown_and_settled(editor: Page, stage: Stage, people: Any) -> None:
    page, brand = stage.pages[0], Attribute.objects.get(name="brand")
    assert page.latest_snapshot is not None
    annotate(
        snapshot=page.latest_snapshot,
        attribute=brand,
        marks=[AnnotatedValue()],
        actor=people["reviewer"],
    )
    editor.keyboard.press("b")
    shown_page(editor).locator("h1").click()
    conflict = row(editor, "brand").locator("[data-conflict]")
    expect(conflict).to_contain_text("reviewer said meanwhile that it is not on this page.")
    expect(row(editor, "brand")).to_contain_text("not on this page")
    conflict.get_by_role("button", name="Take mine").press("Enter")
    expect(value(editor, "brand")).to_have_text(str(stage.truth[page.pk]["name"]))
    expect(conflict).to_be_hidden()


def test_gestures_wait_until_the_server_answers(
    editor: Page, stage: Stage, expected_complaints: list[str]
) -> None:
    expected_complaints += ["ERR_INTERNET_DISCONNECTED", "htmx:sendError"]
    editor.context.set_offline(True)
    editor.keyboard.press("x")
    expect(editor.locator("[data-saving]")).to_contain_text("Not saved yet")
    editor.context.set_offline(False)
    expect(row(editor, "name")).to_contain_text("not on this page")
    saved(editor)
    assert 1 == Annotation.objects.live().filter(kind="absent").count()


def test_what_was_just_said_is_not_overwritten_by_accepting(editor: Page, stage: Stage) -> None:
    held = hold(editor, "**/gestures/")
    editor.keyboard.press("x")  # of the name, for which there is a sure proposal
    wait_on(editor, lambda: held, "the gesture is sent")
    editor.keyboard.press("Enter")
    second = str(stage.truth[stage.pages[1].pk]["name"])
    expect(row(editor, "name").locator(".proposal").first).to_contain_text(second)
    let_go(editor, held)
    saved(editor)
    assert [("name", "absent")] == list(
        Annotation.objects.live()
        .filter(page=stage.pages[0], attribute__name="name")
        .values_list("attribute__name", "kind")
    )
    assert [str(stage.truth[stage.pages[0].pk]["brand"])] == texts(stage, "brand")


def test_a_text_is_found_as_soon_as_the_page_can_be_searched(
    open_page: OpenPage, stage: Stage
) -> None:
    page = open_page("/sites/", who="editor")
    held = hold(page, "**/outline/")
    page.goto(f"/sites/{stage.site.name}/clusters/{stage.cluster.name}/samples/1/")
    page.keyboard.press("/")
    page.keyboard.type("stock")
    wait_on(page, lambda: held, "the outline is asked for")
    let_go(page, held)
    expect(page.locator(".sample:not(.is-waiting) .path-quote")).to_have_text("In stock")


def test_of_two_samples_that_are_wanted_the_later_one_is_shown(editor: Page, stage: Stage) -> None:
    held = hold(editor, "**/samples/*/")
    path = f"/sites/{stage.site.name}/clusters/{stage.cluster.name}/samples"
    for rank in (4, 5):
        editor.evaluate("path => history.replaceState({}, '', path)", f"{path}/{rank}/")
        editor.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    wanted = {f"{path}/4/", f"{path}/5/"}
    wait_on(editor, lambda: wanted <= {path_of(route) for route in held}, "both are asked for")
    held.reverse()
    let_go(editor, held)
    expect(editor.locator(".sample:not(.is-waiting) .sample-where")).to_contain_text(
        "Sample 5 of 6"
    )
    expect(editor.locator(".sample:not(.is-waiting)[data-prepared]")).to_be_visible()
    expect(editor.locator(".sample-where", has_text="Sample 4 of 6")).to_have_count(0)


def path_of(route: Route) -> str:
    return urlsplit(route.request.url).path


def test_keys_are_changed_by_each_person(editor: Page, stage: Stage) -> None:
    editor.get_by_role("button", name="Change", exact=True).click()
    editor.locator("#change-keys").get_by_role("button", name="brand").click()
    with editor.expect_response("**/annotate/keys/"):
        editor.keyboard.press("q")
    editor.reload()
    expect(row(editor, "brand").locator("kbd").first).to_have_text("q")
    editor.keyboard.press("q")
    expect(row(editor, "brand").locator("[data-chooses]")).to_have_attribute("aria-pressed", "true")


def test_records_are_marked_with_their_siblings(open_page: OpenPage, people: object) -> None:
    stage = set_annotating_stage("list", n_pages=3, n_samples=2, attributes=3)
    path = f"/sites/{stage.site.name}/clusters/{stage.cluster.name}/samples/1/"
    editor = open_page(path, who="editor")
    expect(editor.locator(".sample:not(.is-waiting) .annotated.is-open").first).to_be_visible()
    editor.keyboard.press("*")
    expect(row(editor, "").locator(".proposal")).to_contain_text("records")
    editor.keyboard.press("1")
    expect(row(editor, "").locator(".annotated-value")).to_be_visible()
    saved(editor)
    assert Annotation.objects.live().filter(kind="record").count() > 1


def test_axe_finds_nothing_serious(open_page: OpenPage, stage: Stage) -> None:
    page = open_page("/settings/account/", who="editor")
    site, cluster = stage.site.name, stage.cluster.name
    samples = f"/sites/{site}/clusters/{cluster}/samples"
    Sample.objects.filter(rank=6).update(snapshot=broken_snapshot(stage))
    paths = [
        "/annotate/",
        "/annotate/?q=nothing",
        f"/sites/{site}/annotate/",
        f"{samples}/1/",
        f"{samples}/6/",
    ]
    assert [] == [finding for path in paths for finding in findings_in_both_schemes(page, path)]
    Assignment.objects.all().delete()
    assert [] == findings_in_both_schemes(page, f"{samples}/1/")
    Sample.objects.all().delete()
    assert [] == findings_in_both_schemes(page, f"{samples}/1/")


def broken_snapshot(stage: Stage) -> Snapshot:
    """Return the snapshot of the last sample, which is cut off from now on."""
    sample = Sample.objects.get(rank=6, cluster=stage.cluster)
    Snapshot.objects.filter(pk=sample.snapshot_id).update(problem="truncated")
    return sample.snapshot


def test_it_fits_a_narrow_window(open_page: OpenPage, stage: Stage) -> None:
    page = open_sample(open_page, stage, width=NARROW)
    assert [] == too_wide(page)
    page.goto("/annotate/")
    assert [] == too_wide(page)
