"""What other sites of the vertical would take is told to who decides on a rule."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Annotation, Attribute
from clustering.models import Page
from rules.models import Rule
from rules.services.learning.learning import learn_rule
from rules.services.review.impacts import start_impact
from tests.apps.clustering.api_cast import caller
from tests.apps.rules.fields.test_field_drafts import knots, ropes_of
from tests.apps.rules.review_cast import compared
from tests.apps.rules.shop_cast import learnt_shop
from vertex.core.models import Role

pytestmark = [pytest.mark.django_db]
WEIGHT, PRICE = (f"/html/body/div[2]/table/tr[{row}]/td[2]" for row in (1, 2))


def learnt_knots(price: str) -> Rule:
    """Return a draft for a second site of the vertical, with two prices annotated at this path."""
    learnt_shop()
    site = knots()
    for n in (2, 3):
        page = Page.objects.select_related("latest_snapshot").get(url=f"{site.root_url}r/{n}")
        assert page.latest_snapshot is not None
        Annotation.objects.create(
            page=page,
            snapshot=page.latest_snapshot,
            attribute=Attribute.objects.get(name="price"),
            kind=Annotation.Kind.VALUE,
            xpath=price,
            text="",
        )
    return learn_rule(cluster=ropes_of(site))


def asked(rule: Rule) -> Rule:
    start_impact(rule=rule)
    compared(rule)
    rule.refresh_from_db()
    return rule


def test_a_rule_that_takes_another_text_is_told_before_it_is_published(client: Client) -> None:
    rule = asked(learnt_knots(WEIGHT))
    opinion = {entry["attribute"]: entry for entry in rule.opinions}["price"]
    assert (False, "2.50 EUR") == (opinion["agrees"], opinion["value"])
    assert opinion["why"]

    client.force_login(caller("rita", Role.REVIEWER).user)
    address = reverse("review_rule", args=["knots", rule.cluster.name, rule.version])
    shown = client.get(address).content.decode()
    assert "Other sites of product would take another text for price" in shown
    assert reverse("page", args=["knots", opinion["page"]]) in shown
    card = client.get(reverse("rule", args=["knots", rule.cluster.name])).content.decode()
    assert "Other sites of product would take “2.50 EUR”" in card


def test_a_rule_that_other_sites_agree_with_says_so(client: Client) -> None:
    rule = asked(learnt_knots(PRICE))
    assert {"price": True} == {
        entry["attribute"]: entry["agrees"]
        for entry in rule.opinions
        if entry["attribute"] == "price"
    }
    client.force_login(caller("rita", Role.REVIEWER).user)
    card = client.get(reverse("rule", args=["knots", rule.cluster.name])).content.decode()
    assert "Other sites of product agree" in card
