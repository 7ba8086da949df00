"""Reviews in a browser: one key a page, impact side by side, force with a reason, roll back."""

from __future__ import annotations

from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from annotation.models import Comment, SecondAnnotation
from rules.models import JudgedPage, Rule
from tests.browser.conftest import NARROW, WIDE, OpenPage
from tests.browser.review_stage import add_what_people_say, set_review_stage
from tests.browser.test_accessibility import AXE, SERIOUS, too_wide
from vertex.core.models import User

SIGHTS: list[tuple[int, Literal["light", "dark"]]] = [(WIDE, "light"), (NARROW, "dark")]
LISTENING = "[data-page-frame] iframe[data-ready]"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def serious_problems(page: Page) -> list[str]:
    """Return what axe finds serious on the page itself; the page in its frame is a stranger's."""
    page.locator(".skeleton").first.wait_for(state="detached")
    page.evaluate(AXE.read_text())
    options = {"resultTypes": ["violations"], "iframes": False}
    result = page.evaluate("options => axe.run(document, options)", options)
    return [
        f"{page.url} {violation['id']}: {violation['nodes'][0]['html'][:150]}"
        for violation in result["violations"]
        if violation["impact"] in SERIOUS
    ]


def at_page(page: Page, rank: int) -> None:
    expect(page.locator("#judging")).to_contain_text(f"Page {rank} of")


def test_pages_are_judged_with_one_key_each(open_page: OpenPage, people: dict[str, User]) -> None:
    stage = set_review_stage(people)
    page = open_page(f"{stage.address}/review/", who="reviewer")
    for rank in (1, 2, 3):
        at_page(page, rank)
        page.keyboard.press("y")
    at_page(page, 4)
    page.keyboard.press("2")
    expect(page.get_by_label("price is not right")).to_be_checked()
    page.keyboard.press("n")
    at_page(page, 5)
    expect(page.locator("#validity")).to_contain_text("not valid")
    page.keyboard.press("u")
    at_page(page, 4)
    expect(page.locator("#validity")).to_contain_text("100.0 %")
    page.keyboard.press("s")
    at_page(page, 5)
    page.keyboard.press("k")
    at_page(page, 4)
    page.keyboard.press("j")
    at_page(page, 5)

    verdicts = JudgedPage.objects.filter(review__rule=stage.rule).values_list("verdict", flat=True)
    assert ["right", "right", "right", "skipped", ""] == list(verdicts)[:5]


def test_values_are_marked_on_the_page_and_keys_count_in_it(
    open_page: OpenPage, people: dict[str, User]
) -> None:
    stage = set_review_stage(people)
    page = open_page(f"{stage.address}/review/", who="reviewer")
    frame = page.frame_locator(LISTENING)
    expect(frame.locator("h1")).to_contain_text("Rope")
    frame.locator("h1").click()
    page.keyboard.press("y")
    at_page(page, 2)
    expect(frame.locator("h1")).to_contain_text("Rope")


def test_a_rule_that_changes_constants_needs_force_and_is_rolled_back(
    open_page: OpenPage, people: dict[str, User]
) -> None:
    stage = set_review_stage(people, breaks_names=True)
    page = open_page(f"{stage.address}/review/", who="reviewer")
    expect(page.get_by_text("Publishing is blocked")).to_be_visible()
    row = page.get_by_role("row", name="name constant")
    row.get_by_role("link", name="30").click()
    expect(page.locator(".pair ins").first).to_have_text(" (new)")
    page.go_back()

    page.get_by_label("Publish although constant values change").check()
    page.get_by_label("Why it is right").fill("The shop renamed all its ropes.")
    page.get_by_role("button", name="Publish with force").click()
    expect(page.locator(".toast")).to_contain_text("Version 2 serves")
    assert "published" == Rule.objects.get(pk=stage.rule.pk).state
    page.keyboard.press("u")
    expect(page.locator(".toast")).to_contain_text("Version 1 serves")
    assert "retired" == Rule.objects.get(pk=stage.rule.pk).state


def test_a_second_person_annotates_blindly_by_clicking(
    open_page: OpenPage, people: dict[str, User]
) -> None:
    stage = set_review_stage(people)
    other = add_what_people_say(stage.site, people)
    page = open_page(f"/sites/shop/pages/{other.pk}/annotate-again/", who="operator")
    frame = page.frame_locator(LISTENING)
    frame.locator("h1").click()
    expect(page.locator("input[name=number-name]")).not_to_have_value("")
    page.get_by_role("button", name="Save and next").click()
    page.wait_for_url(lambda url: f"/pages/{other.pk}/" not in url)

    assert "same" == SecondAnnotation.objects.get(page=other).agreement


def test_comments_are_made_at_a_node_and_settled_in_place(
    open_page: OpenPage, people: dict[str, User]
) -> None:
    stage = set_review_stage(people)
    add_what_people_say(stage.site, people)
    said = Comment.objects.get()
    page = open_page(f"/sites/shop/pages/{said.page_id}/annotate/", who="editor")
    page.frame_locator(LISTENING).locator("h1").click()
    expect(page.locator("[data-node-text]")).to_have_value("Rope 1")
    page.get_by_label("Comment", exact=True).fill("Is this the whole name?")
    page.get_by_role("button", name="Add comment").click()
    expect(page.locator(".comment").last).to_contain_text("/html/body/h1")
    expect(page.locator(".comment[data-number] .comment-place")).to_have_count(2)

    page.get_by_role("button", name="Settle: Is this with tax?").click()
    expect(page.get_by_role("button", name="Open again: Is this with tax?")).to_be_visible()
    assert ["Is this the whole name?"] == [comment.text for comment in Comment.objects.open()]


def test_every_page_of_reviews_is_usable(open_page: OpenPage, people: dict[str, User]) -> None:
    stage = set_review_stage(people, breaks_names=True)
    other = add_what_people_say(stage.site, people)
    webhook = stage.site.webhooks.get()
    problems: list[str] = []
    page = open_page("/settings/account/", color_scheme="light")
    for path in (
        "/review/",
        f"{stage.address}/review/",
        f"{stage.address}/impact/?attribute=name&kind=changed",
        "/sites/shop/settings/review/",
        "/sites/shop/settings/webhooks/",
        f"/sites/shop/settings/webhooks/{webhook.pk}/",
        "/sites/shop/second-annotations/",
        f"/sites/shop/pages/{other.pk}/annotate-again/",
        "/sites/shop/",
    ):
        page.goto(path)
        for width, scheme in SIGHTS:
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            problems += serious_problems(page)
            problems += [f"{path} at {width}: {problem}" for problem in too_wide(page)]
    assert [] == problems
