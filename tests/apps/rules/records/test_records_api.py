"""Records are pulled in the order of their changes: none is skipped, none comes twice."""

from __future__ import annotations

from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no types
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from rules.models import RecordVersion
from rules.services.records.record_rows import NAMES
from tests.apps.clustering.api_cast import Caller, caller, page_of, site_of
from tests.apps.rules.record_cast import record_of, rule_of, shop_with_records, touched, vertical_of
from vertex.core.models import Job, Role

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def ada() -> Caller:
    return caller("ada", Role.ADMINISTRATOR)


def rows(who: Caller, address: str = "records/") -> list[dict[str, Any]]:
    results = []
    following = address
    while following:
        answer = who.get(following).json()
        results += answer["results"]
        following = answer["next"]
    return results


def test_a_record_tells_all_that_is_known_of_it(ada: Caller) -> None:
    _, (record,) = shop_with_records(1)
    (row,) = rows(ada)

    assert set(NAMES) == set(row)
    assert ("shop", "https://shop.example/r0", "products", "product", "products@1") == tuple(
        row[name] for name in ("site", "url", "cluster", "vertical", "rule")
    )
    assert (record.values, record.normalized) == (row["values"], row["normalized"])
    assert record.changed_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ") == row["changed_at"]
    assert row["gone_at"] is None


def test_pages_of_the_list_neither_skip_nor_repeat_what_comes_and_changes_meanwhile(
    ada: Caller,
) -> None:
    rule, records = shop_with_records(5)
    first = ada.get("records/?limit=2").json()
    new = record_of(rule, page_of(rule.cluster.site, "new"))
    touched(records[0], name="Changed")
    rest = rows(ada, first["next"])

    numbers = [row["change_number"] for row in [*first["results"], *rest]]
    assert sorted(set(numbers)) == numbers
    assert [record.pk for record in records[:2]] == [row["id"] for row in first["results"]]
    assert [*(record.pk for record in records[2:]), new.pk, records[0].pk] == [
        row["id"] for row in rest
    ]
    assert "Changed" == rest[-1]["values"]["name"]


def test_what_changed_after_a_number_comes_with_what_is_gone(ada: Caller) -> None:
    _, records = shop_with_records(3)
    last = max(row["change_number"] for row in rows(ada))
    assert [] == rows(ada, f"records/?changed_since={last}")

    records[1].gone_at = timezone.now()
    touched(records[1])
    (row,) = rows(ada, f"records/?changed_since={last}")
    assert (records[1].pk, True) == (row["id"], row["gone_at"] is not None)
    assert [] == rows(ada, f"records/?changed_since={last}&gone=false")
    assert 2 == len(rows(ada))
    assert 3 == len(rows(ada, "records/?gone=true"))


@pytest.mark.parametrize(
    ("query", "n"),
    [
        ("site=shop", 2),
        ("site=shop&cluster=products", 2),
        ("cluster=lists", 0),
        ("vertical=product", 3),
        ("vertical=job", 0),
        ("url=https://shop.example/r1", 1),
        ("url=HTTPS://SHOP.example:443/r1", 1),
        ("url=nonsense", 0),
        ("confidence=0.95", 1),
    ],
)
def test_filters_narrow(ada: Caller, query: str, n: int) -> None:
    shop_with_records(2)
    other = rule_of(site_of("guide"))
    record_of(other, page_of(other.cluster.site, "b"), record_confidence=0.99)

    assert n == len(rows(ada, f"records/?{query}"))


def test_a_site_that_is_not_there_is_told_and_not_taken_for_an_empty_one(ada: Caller) -> None:
    assert 404 == ada.get("records/?site=nowhere").status_code


def test_records_of_other_peoples_sites_do_not_exist() -> None:
    _, (record,) = shop_with_records(1)
    stranger = caller("sam", Role.VIEWER, site=site_of("guide"))

    assert [] == rows(stranger)
    assert 404 == stranger.get(f"records/{record.pk}/").status_code
    assert b"" == b"".join(stranger.get("records/export/").streaming_content)
    friend = caller("fred", Role.VIEWER, site=record.site)
    assert [record.pk] == [row["id"] for row in rows(friend)]


def test_only_the_named_fields_come(ada: Caller) -> None:
    shop_with_records(3)
    result = rows(ada, "records/?fields=url,values&limit=1")

    assert 3 == len(result)
    assert {"url", "values"} == set(result[0])
    wrong = ada.get("records/?fields=url,colour")
    assert 400 == wrong.status_code
    assert "colour" in wrong.json()["error"]["message"]


def test_who_has_the_page_of_the_list_already_gets_no_body(ada: Caller) -> None:
    _, (record,) = shop_with_records(1)
    first = ada.get("records/")
    headers = {"If-None-Match": first["ETag"]}
    again = ada.get("records/", headers=headers)

    assert (304, b"", first["ETag"]) == (again.status_code, again.content, again["ETag"])
    touched(record, name="Changed")
    changed = ada.get("records/", headers=headers)
    assert 200 == changed.status_code
    assert first["ETag"] != changed["ETag"]


def test_each_page_costs_the_same_queries_however_deep(ada: Caller) -> None:
    shop_with_records(6)

    def n_queries(address: str) -> tuple[int, Any]:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            answer = ada.get(address).json()
        assert not any("OFFSET" in query["sql"] or "COUNT(" in query["sql"] for query in captured)
        return len(captured), answer["next"]

    first, following = n_queries("records/?limit=2")
    second, following = n_queries(following)
    third, following = n_queries(following)
    assert first == second == third
    assert following is None


def test_a_record_has_its_history(ada: Caller) -> None:
    rule, (record,) = shop_with_records(1)
    RecordVersion.objects.create(
        record=record, values={"name": "Old"}, rule=rule, since=record.first_seen_at
    )
    answer = ada.get(f"records/{record.pk}/").json()

    assert record.values == answer["values"]
    assert [("Old", 1, False)] == [
        (each["values"]["name"], each["rule_version"], each["was_gone"])
        for each in answer["history"]
    ]
    assert 404 == ada.get("records/999999/").status_code


def test_the_records_are_what_their_schema_says(ada: Caller) -> None:
    vertical_of()
    shop_with_records(1)
    schema = ada.get("verticals/product/schema/").json()
    (row,) = rows(ada)

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(row, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(row | {"values": {"price": 89}}, schema)
    assert 404 == ada.get("verticals/ghost/schema/").status_code


def test_an_export_is_requested_as_a_job_once(ada: Caller) -> None:
    site_of("shop")
    first = ada.post("sites/shop/record-exports/", {"format": "csv"})
    second = ada.post("sites/shop/record-exports/", {"format": "csv"})

    assert (202, 409) == (first.status_code, second.status_code)
    assert {"format": "csv", "gone": False, "raw": False} == Job.objects.get(
        pk=first.json()["id"]
    ).params
