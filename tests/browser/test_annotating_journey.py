"""From nothing to a published rule with the keyboard alone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from annotation.services.verticals.policies import change_policy
from rules.models import Rule
from tests.browser.annotating_stage import set_annotating_stage
from tests.browser.conftest import OpenPage
from tests.browser.scripted_editor import ScriptedEditor

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
MOST_KEYS = 40


def test_a_cluster_of_eight_attributes_is_published_with_forty_keys(
    open_page: OpenPage, people: dict[str, Any]
) -> None:
    stage = set_annotating_stage(n_pages=12, n_samples=6, attributes=8)
    change_policy(site=stage.site, publishing="anybody", second_share=0, actor=None)
    editor = ScriptedEditor(open_page("/sites/", who="reviewer"), stage)

    editor.press("g", "a")
    expect(editor.page.get_by_role("link", name="Product", exact=True)).to_be_visible()
    editor.press("j", "Enter")
    editor.annotate_until_enough()
    editor.publish()

    rule = Rule.objects.get(cluster=stage.cluster)
    assert "published" == rule.state
    assert editor.n_keys <= MOST_KEYS, editor.corrected
    learnt = {
        attribute["attribute"]
        for attribute in rule.definition["attributes"]
        if attribute["alternatives"]
    }
    assert {"name", "price", "brand", "sku", "ratingValue", "reviewCount", "availability"} <= learnt
