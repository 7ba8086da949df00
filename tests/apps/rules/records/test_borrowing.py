"""Clusters without a rule whose pages the rule of another cluster reads."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from clustering.models import Cluster, Page
from clustering.services.clusters.cluster_changes import move_to_new_cluster
from rules.bundle.bundle import read_bundle
from rules.models import BorrowedRule, Extraction, Record
from rules.services.learning.learning import learn_rule
from rules.services.records.borrowing import decide_borrowing, refuse_borrowed_rule
from rules.services.records.exporting import export_rules
from rules.services.records.extracting import stored_lines
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import caller
from tests.apps.rules.shop_cast import annotate_product, extract, learnt_shop
from vertex.core.models import Role, Site

pytestmark = [pytest.mark.django_db]

MOVED = (10, 11, 12)


def split_shop() -> tuple[Site, Cluster]:
    """Return a shop with a rule for its products and a second cluster of products without one."""
    site, _ = learnt_shop()
    addresses = [f"{site.root_url}p/{number}" for number in MOVED]
    pages = Page.objects.filter(site=site, url__in=addresses).values_list("pk", flat=True)
    change = move_to_new_cluster(site=site, pages=list(pages), title="Late ones", actor=None)
    cluster = change.cluster
    cluster.own_kind = "detail"
    cluster.save()
    return site, cluster


def lines_of(site: Site, number: int) -> dict[str, object]:
    return next(line for line in stored_lines(site) if str(line["url"]).endswith(f"/p/{number}"))


def test_the_rule_of_a_sibling_reads_the_pages_of_a_cluster_without_one() -> None:
    site, late = split_shop()
    assert 12 == extract(site)["new"]

    line = lines_of(site, 10)
    assert {"name": "Rope 10", "price": "10.50 EUR", "weight": "105 g"} == line["record"]
    assert late.name == line["cluster"]
    assert str(BorrowedRule.objects.get(cluster=late).rule) == line["rule"]
    assert late.pk == Record.objects.get(page__url__endswith="/p/10").cluster_id
    assert late.pk == Extraction.objects.get(page__url__endswith="/p/10").cluster_id


def test_pages_of_another_kind_stay_without_a_record() -> None:
    site, _ = split_shop()
    extract(site)
    articles = Cluster.objects.present().get(site=site, figures__url_pattern__contains="/news/")
    articles.own_kind = "detail"
    articles.save()
    BorrowedRule.objects.all().delete()
    decide_borrowing(site)

    assert BorrowedRule.objects.get(cluster=articles).rule is None
    extract(site)
    (news,) = {line["reason"] for line in stored_lines(site) if "/news/" in str(line["url"])}
    assert "no_rule" == news


def test_lists_are_not_asked() -> None:
    site, late = split_shop()
    late.own_kind = "list"
    late.save()
    assert 9 == extract(site)["new"]
    assert not BorrowedRule.objects.filter(cluster=late).exists()


def test_a_refusal_lasts_until_it_is_taken_back() -> None:
    site, late = split_shop()
    extract(site)
    borrowed = BorrowedRule.objects.get(cluster=late)
    refuse_borrowed_rule(borrowed=borrowed, is_refused=True, actor=None)
    assert 3 == extract(site)["gone"]
    assert "no_rule" == lines_of(site, 10)["reason"]

    refuse_borrowed_rule(borrowed=borrowed, is_refused=False, actor=None)
    extract(site)
    assert lines_of(site, 10)["record"]


def test_a_rule_of_its_own_comes_first() -> None:
    site, late = split_shop()
    extract(site)
    annotate_product(site, 10)
    annotate_product(site, 11)
    rule = learn_rule(cluster=late)
    publish_rule(rule=rule)
    extract(site)
    assert str(rule) == lines_of(site, 12)["rule"]
    assert not BorrowedRule.objects.filter(cluster=late).exists()


def test_the_bundle_knows_who_borrows_from_whom(tmp_path: Path) -> None:
    site, late = split_shop()
    extract(site)
    export_rules(site=site, folder=tmp_path / "rules", form="json")
    rules = read_bundle(tmp_path / "rules").rules
    lender = rules.lender_by_cluster[late.name]
    assert lender in rules.rules
    assert rules.rule_for(late.name) == rules.rules[lender]


def test_the_card_says_whose_rule_it_is_and_switches_it(client: Client) -> None:
    site, late = split_shop()
    extract(site)
    client.force_login(caller("rita", Role.REVIEWER).user)
    address = reverse("borrowed_rule", args=[site.name, late.name])
    assert "Its pages are read by the rule of" in client.get(address).content.decode()

    switch = reverse("switch_borrowed_rule", args=[site.name, late.name])
    assert "Its pages are not read." in client.post(switch, {"refused": "yes"}).content.decode()
    assert BorrowedRule.objects.get(cluster=late).is_refused
    client.post(switch, {"refused": "no"})
    assert not BorrowedRule.objects.get(cluster=late).is_refused
    assert (
        ""
        == client.get(reverse("borrowed_rule", args=[site.name, lender_of(late)]))
        .content.decode()
        .strip()
    )


def test_a_viewer_cannot_switch_it(client: Client) -> None:
    site, late = split_shop()
    extract(site)
    client.force_login(caller("vic", Role.VIEWER).user)
    switch = reverse("switch_borrowed_rule", args=[site.name, late.name])
    assert 403 == client.post(switch, {"refused": "yes"}).status_code
    assert not BorrowedRule.objects.get(cluster=late).is_refused


def test_the_api_lists_and_switches_them() -> None:
    site, late = split_shop()
    extract(site)
    api = caller("rita", Role.REVIEWER)
    rows = api.get(f"sites/{site.name}/borrowed-rules/").json()["results"]
    (row,) = (row for row in rows if row["cluster"] == late.name)
    assert (late.name, lender_of(late), False) == (row["cluster"], row["lender"], row["is_refused"])
    address = f"sites/{site.name}/borrowed-rules"
    answer = api.post(f"{address}/{late.name}/", {"is_refused": True})
    assert answer.json()["is_refused"]
    assert BorrowedRule.objects.get(cluster=late).is_refused
    assert 404 == api.post(f"{address}/nothing/", {"is_refused": True}).status_code


def lender_of(cluster: Cluster) -> str:
    rule = BorrowedRule.objects.get(cluster=cluster).rule
    assert rule is not None
    return rule.cluster.name
