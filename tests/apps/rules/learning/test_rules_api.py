"""Rules are shown with all that is known of them.

Publishing, rolling back, learning and running start here.
"""

from __future__ import annotations

import pytest

from rules.models import Bellwether, GoldenRecord, Rule
from tests.apps.clustering.api_cast import Caller, caller, site_of
from tests.apps.rules.record_cast import STYLESHEET, rule_of, sampled
from vertex.core.models import AuditEntry, Job, Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def drafts(n: int) -> list[Rule]:
    """Return so many versions of a rule, all drafts, with a sample each."""
    site = site_of("shop")
    rules = [rule_of(site, state=Rule.State.DRAFT) for _ in range(n)]
    for number, rule in enumerate(rules):
        sampled(rule, number)
    return rules


def test_the_list_is_narrowed_by_state_site_and_cluster(ada: Caller) -> None:
    site = site_of("shop")
    old = rule_of(site, state=Rule.State.RETIRED)
    new = rule_of(site)
    rule_of(site_of("guide"))

    def versions(query: str) -> list[int]:
        return [row["id"] for row in ada.get(f"rules/?{query}").json()["results"]]

    assert [new.pk, old.pk] == versions("site=shop&cluster=products")
    assert [new.pk] == versions("site=shop&state=published")
    (row,) = ada.get("rules/?site=shop&state=published").json()["results"]
    assert ("shop", "products", 2, "product") == (
        row["site"],
        row["cluster"],
        row["version"],
        row["vertical"],
    )
    assert "//h1/text()" == row["figures"][0]["xpath"]


def test_a_rule_has_its_stylesheet_samples_and_versions(ada: Caller) -> None:
    first, second = drafts(2)
    answer = ada.get(f"rules/{first.pk}/").json()

    assert STYLESHEET == answer["stylesheet"]
    assert ["https://shop.example/p0"] == [sample["url"] for sample in answer["samples"]]
    assert [second.pk, first.pk] == [version["id"] for version in answer["versions"]]
    assert "//div[2]/h1/text()" == answer["definition"]["attributes"][0]["losers"][0]["xpath"]


def test_publishing_keeps_golden_records_and_rolling_back_returns_to_the_version_before(
    ada: Caller,
) -> None:
    first, second = drafts(2)
    assert "published" == ada.post(f"rules/{first.pk}/publish/").json()["state"]
    ada.post(f"rules/{second.pk}/publish/")

    first.refresh_from_db()
    assert Rule.State.RETIRED == first.state
    assert {first.pk, second.pk} == set(GoldenRecord.objects.values_list("rule", flat=True))
    assert 1 == Bellwether.objects.count()

    back = ada.post(f"rules/{second.pk}/roll-back/").json()
    assert (first.pk, "published") == (back["id"], back["state"])
    actions = list(
        AuditEntry.objects.filter(action="rule.published").values_list("subject", flat=True)
    )
    assert ["products@1", "products@1", "products@2"] == sorted(actions)


def test_what_cannot_be_rolled_back_is_told(ada: Caller) -> None:
    (only,) = drafts(1)
    draft = ada.post(f"rules/{only.pk}/roll-back/")
    assert (400, True) == (draft.status_code, "is draft" in draft.json()["error"]["message"])

    ada.post(f"rules/{only.pk}/publish/")
    first = ada.post(f"rules/{only.pk}/roll-back/")
    assert (400, True) == (
        first.status_code,
        "no version was published before" in first.json()["error"]["message"],
    )


def test_a_rule_that_extracts_nothing_is_not_published(ada: Caller) -> None:
    rule = rule_of(
        site_of("shop"),
        state=Rule.State.DRAFT,
        stylesheet=STYLESHEET.replace("//h1", "//h7").replace("//b", "//q"),
    )
    sampled(rule, 1)
    refused = ada.post(f"rules/{rule.pk}/publish/")

    assert 400 == refused.status_code
    assert "extracts nothing" in refused.json()["error"]["message"]
    assert not Rule.objects.published().exists()


def test_an_editor_learns_and_only_a_reviewer_publishes() -> None:
    (rule,) = drafts(1)
    ed = caller("ed", Role.EDITOR)

    assert 202 == ed.post("sites/shop/learn/", {"cluster": "products"}).status_code
    assert 403 == ed.post(f"rules/{rule.pk}/publish/").status_code
    assert 200 == caller("rita", Role.REVIEWER).post(f"rules/{rule.pk}/publish/").status_code


def test_learning_and_running_are_jobs(ada: Caller) -> None:
    drafts(1)
    learning = ada.post("sites/shop/learn/", {"cluster": "products", "learner": "published"})
    running = ada.post("sites/shop/extract/")

    assert ("rules.learn_rules", "rules.extract_records") == (
        learning.json()["task"],
        running.json()["task"],
    )
    params = Job.objects.get(pk=learning.json()["id"]).params
    assert ("products", "published", True) == (
        params["cluster"],
        params["learner"],
        params["is_draft"],
    )
    assert 409 == ada.post("sites/shop/extract/").status_code
    wrong = ada.post("sites/shop/learn/", {"cluster": "ghost"})
    assert (400, True) == (
        wrong.status_code,
        "no cluster 'ghost'" in wrong.json()["error"]["message"],
    )
