"""What records suggest for an annotated page: its own, its address's, those of the same thing."""

from __future__ import annotations

import pytest

from annotation.algorithms.suggestions.evidence import KnownValue
from annotation.models import Attribute
from clustering.models import Page
from rules.models import Record, RecordVersion
from rules.services.records.known_records import known_from_records
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.rules.record_cast import body_of, record_of, shop_with_records
from vertex.core.models import Role
from vertex.core.services.people import people

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def known(page: Page, heading: str = "") -> dict[str, list[KnownValue]]:
    assert page.latest_snapshot is not None
    attributes = list(Attribute.objects.order_by("position"))
    return known_from_records(page.latest_snapshot, attributes, heading)


def prices(page: Page, heading: str = "") -> list[tuple[str, str]]:
    return [(each.text, each.why) for each in known(page, heading).get("price", [])]


def test_earlier_extractions_of_the_page_are_known() -> None:
    _, records = shop_with_records(2)
    record = records[0]
    RecordVersion.objects.create(record=record, values={"price": "$79.00"}, since=record.changed_at)

    results = ["was extracted from this page before", "was extracted from this page long before"]
    assert [("$89.00", results[0]), ("$79.00", results[1])] == prices(record.page)
    assert ["41", "42"] == [size.text for size in known(record.page)["sizes"]]


def test_a_page_with_several_records_or_none_any_more_tells_nothing() -> None:
    rule, records = shop_with_records(2)
    record_of(rule, records[0].page, key="second")
    Record.objects.filter(pk=records[1].pk).update(gone_at=records[1].changed_at)

    assert [{}, {}] == [known(record.page) for record in records]


def test_the_same_address_at_another_site_is_known() -> None:
    _, records = shop_with_records(1)
    copy = site_of("copy", extra_hosts=["shop.example"])
    page = Page.objects.get(pk=records[0].page_id)
    there = page_of(copy, "x", body_of(1))
    Page.objects.filter(pk=there.pk).update(url=page.url, url_hash=page.url_hash)
    there = Page.objects.select_related("latest_snapshot__page").get(pk=there.pk)

    assert [("$89.00", "is known of the same address at shop")] == prices(there)


def test_the_same_thing_elsewhere_is_known_but_for_its_name() -> None:
    shop_with_records(1)
    page = page_of(site_of("third"), "y", body_of(2))
    result = known(page, "Trail Runner")

    assert [("$89.00", "is known of the same thing at shop")] == prices(page, "Trail Runner")
    assert "name" not in result
    assert {} == known(page, "Another thing")


def test_nothing_of_other_sites_is_told_where_somebody_may_see_some_sites_only() -> None:
    shop_with_records(1)
    page = page_of(site_of("third"), "y", body_of(2))
    assert prices(page, "Trail Runner")
    people.create_user(username="ada", role=Role.EDITOR, site=page.site, actor=None)

    assert [] == prices(page, "Trail Runner")
