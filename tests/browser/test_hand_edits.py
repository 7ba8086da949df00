"""A rule is edited by hand in a real browser: scored while one types, saved as a draft."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from rules.models import Rule
from tests.apps.rules.learning.test_hand_edits import IMPORTED
from tests.apps.rules.shop_cast import learnt_shop
from tests.browser.conftest import OpenPage
from tests.browser.test_reviews import serious_problems
from vertex.core.models import User

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_an_edit_is_scored_as_one_types_and_saved_as_a_draft(
    open_page: OpenPage, people: dict[str, User], tmp_path: Path
) -> None:
    _, rule = learnt_shop(6)
    page = open_page(f"/sites/shop/rules/{rule.cluster.name}/", who="editor")
    page.get_by_role("link", name="Edit by hand").click()
    score = page.locator("#score")
    expect(score.get_by_role("row", name="price 2/2 0 0 0 4/4")).to_be_visible()
    page.get_by_label("price").fill("//dt[1]")
    expect(score).to_contain_text("Our price")
    expect(score.get_by_role("row", name="price 0/2 2 0 0 4/4")).to_be_visible()
    page.get_by_label("price").fill("document('x')")
    expect(score).to_contain_text(
        "price, line 1: document('x'): document() would read another file"
    )
    assert [] == serious_problems(page)

    page.get_by_role("button", name="Stylesheet").click()
    expect(page.locator("[role=alert]")).to_contain_text("another file")
    page.get_by_label("price").fill("//dd[1]")
    page.get_by_role("button", name="Stylesheet").click()
    expect(page.get_by_label("Stylesheet", exact=False).first).to_have_value(
        re.compile(r"\(//dd\[1\]\)")
    )
    (tmp_path / "old.xsl").write_text(IMPORTED)
    page.get_by_label("Import a stylesheet").set_input_files(tmp_path / "old.xsl")
    expect(score).to_contain_text("Read from old.xsl")
    page.locator("#stylesheet").fill(IMPORTED.replace("//dd[1]", "//dd[1]/text()"))
    expect(score).not_to_contain_text("Read from")
    assert 1 == Rule.objects.count()
    page.get_by_label("Why it is changed by hand").fill("It came from the old system")
    page.get_by_role("button", name="Save as draft 2").click()
    expect(page.locator(".toast")).to_contain_text("Version 2")
    expect(page.get_by_text("It came from the old system").first).to_be_visible()

    assert ("imported", "draft") == Rule.objects.values_list("origin", "state").get(version=2)
