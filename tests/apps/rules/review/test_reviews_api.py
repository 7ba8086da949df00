"""Services propose rules, send them back, publish them by the site's policy and see the impact."""

from __future__ import annotations

import pytest

from rules.models import Review
from tests.apps.clustering.api_cast import Caller, caller
from tests.apps.rules.review_cast import OTHER_NAMES, compared, shop_with_draft
from vertex.core.models import Job, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def eve() -> Caller:
    return caller("eve", Role.EDITOR)


@pytest.fixture
def rob() -> Caller:
    return caller("rob", Role.REVIEWER)


def test_an_editor_proposes_and_a_reviewer_sends_back(eve: Caller, rob: Caller) -> None:
    rule = shop_with_draft()
    assert "proposed" == eve.post(f"rules/{rule.pk}/propose/", {"comment": "look"}).json()["state"]
    assert 400 == eve.post(f"rules/{rule.pk}/propose/", {}).status_code

    refused = rob.post(f"rules/{rule.pk}/send-back/", {})
    assert (400, "reason") == (refused.status_code, *refused.json()["error"]["fields"])
    assert "draft" == rob.post(f"rules/{rule.pk}/send-back/", {"reason": "no"}).json()["state"]
    assert ("look", "no") == Review.objects.values_list("comment", "reason").get()


def test_another_editor_sends_nothing_back(eve: Caller) -> None:
    rule = shop_with_draft()
    eve.post(f"rules/{rule.pk}/propose/", {})

    refused = caller("ed", Role.EDITOR).post(f"rules/{rule.pk}/send-back/", {"reason": "no"})
    assert (400, "proposed") == (refused.status_code, Review.objects.get().rule.state)


def test_the_author_does_not_publish_and_force_needs_a_reason(rob: Caller) -> None:
    ann = caller("ann", Role.REVIEWER)
    rule = shop_with_draft(OTHER_NAMES, made_by=ann.user)
    ann.post(f"rules/{rule.pk}/propose/", {})
    compared(rule)

    assert "second person" in ann.post(f"rules/{rule.pk}/publish/", {}).content.decode()
    assert "name changes" in rob.post(f"rules/{rule.pk}/publish/", {}).content.decode()
    assert 400 == rob.post(f"rules/{rule.pk}/publish/", {"force": True}).status_code
    answer = rob.post(f"rules/{rule.pk}/publish/", {"force": True, "reason": "all were renamed"})
    assert "published" == answer.json()["state"]


def test_the_impact_is_computed_by_a_job_and_read(eve: Caller) -> None:
    rule = shop_with_draft(OTHER_NAMES)
    started = eve.post(f"rules/{rule.pk}/impacts/", {})
    assert (202, 409) == (
        started.status_code,
        eve.post(f"rules/{rule.pk}/impacts/", {}).status_code,
    )
    compared(rule)

    (answer,) = eve.get(f"rules/{rule.pk}/impacts/").json()["results"]
    assert (27, 1) == (answer["figures"]["counts"]["name"]["changed"], answer["against_version"])
    assert Job.objects.get(task="rules.compute_impact").pk == answer["job"]
