"""Both ways of writing records leave the same rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from clustering.models import Page
from rules.models import Record, RecordVersion, Rule
from rules.services.records.record_upserts import upsert_by_copy, upsert_by_model, upsert_records
from tests.apps.clustering.api_cast import page_of, site_of
from tests.apps.rules.record_cast import body_of, rule_of

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
Upsert = Callable[..., dict[str, int]]
EVENING = timezone.now()


@pytest.fixture
def rule() -> Rule:
    return rule_of(site_of("shop"))


@pytest.fixture
def pages(rule: Rule) -> list[Page]:
    return [page_of(rule.cluster.site, f"p{number}", body_of(number)) for number in range(5)]


def row(rule: Rule, page: Page, *, key: str = "", **columns: Any) -> dict[str, Any]:
    values = {"name": "Träger “5”\t\\N", "price": "7 €", "sizes": ["S", "M"]}
    return {
        "site_id": rule.cluster.site_id,
        "page_id": page.pk,
        "cluster_id": rule.cluster_id,
        "rule_id": rule.pk,
        "snapshot_id": page.latest_snapshot_id,
        "key": key,
        "index": 0,
        "details_url": "",
        "values": values,
        "raw": values,
        "normalized": {"price": {"amount": "7", "currency": "EUR"}},
        "problems": {},
        "missing": [],
        "failed": {},
        "confidence": {"name": 1.0},
        "nodes": {},
        "record_confidence": 1.0,
    } | columns


def runs_of(rule: Rule, pages: Sequence[Page]) -> list[list[dict[str, Any]]]:
    """Return what three extractions find on the pages."""
    first = [row(rule, page) for page in pages[:3]] + [row(rule, pages[3], key=key) for key in "ab"]
    other_values: dict[str, Any] = {"values": {"name": "New"}, "missing": ["price"]}
    second = [
        row(rule, pages[0]),  # the same
        row(rule, pages[1], **other_values),  # changed
        row(rule, pages[2], record_confidence=0.5, confidence={"name": 0.5}),  # the same, less sure
        row(rule, pages[3], key="b", index=1),  # the same at another place; a is gone
        row(rule, pages[4]),  # new
    ]
    third = [
        *second[:3],
        row(rule, pages[3], key="a"),
        row(rule, pages[4], key="c"),
        row(rule, pages[4]),
    ]
    return [first, second, third, third]


def told(upsert: Upsert, rule: Rule, pages: Sequence[Page]) -> list[Any]:
    """Return what an upsert of each run counts, and all rows that it leaves."""
    counts = [
        upsert(rows, pages=[page.pk for page in pages], now=EVENING + timedelta(hours=hour))
        for hour, rows in enumerate(runs_of(rule, pages))
    ]
    hidden = {"id", "record_id"}
    records = [
        {name: value for name, value in record.items() if name not in hidden}
        for record in Record.objects.order_by("change_number").values()
    ]
    history = RecordVersion.objects.order_by("until", "record__page", "record__key")
    versions = history.values(
        "record__page", "record__key", "values", "rule", "was_gone", "since", "until"
    )
    return [counts, records, list(versions)]


def undone(work: Callable[[], list[Any]]) -> list[Any]:
    """Return what some work returns, and undo it."""
    with transaction.atomic():
        result = work()
        transaction.set_rollback(True)
    return result


@pytest.mark.postgres
def test_by_copy_and_by_model_leave_the_same_rows(rule: Rule, pages: list[Page]) -> None:
    by_model = undone(lambda: told(upsert_by_model, rule, pages))
    by_copy = undone(lambda: told(upsert_by_copy, rule, pages))

    assert by_model == by_copy
    assert 5 == by_copy[0][0]["new"]


def test_what_is_new_changed_gone_and_the_same_is_counted(rule: Rule, pages: list[Page]) -> None:
    counts, _, versions = told(upsert_records, rule, pages)

    assert [
        {"new": 5, "changed": 0, "gone": 0, "same": 0},
        {"new": 1, "changed": 1, "gone": 1, "same": 3},
        {"new": 1, "changed": 1, "gone": 1, "same": 4},
        {"new": 0, "changed": 0, "gone": 0, "same": 6},
    ] == counts
    assert [False, False, True, False] == [version["was_gone"] for version in versions]


def test_change_numbers_go_on_and_unchanged_records_keep_theirs(
    rule: Rule, pages: list[Page]
) -> None:
    first, second, *_ = runs_of(rule, pages)
    numbers = [page.pk for page in pages]
    upsert_records(first, pages=numbers, now=EVENING)
    upsert_records(second, pages=numbers, now=EVENING + timedelta(hours=1))
    by_place = {(record.page_id, record.key): record for record in Record.objects.all()}

    assert 1 == by_place[pages[0].pk, ""].change_number
    assert (3, 0.5) == (
        by_place[pages[2].pk, ""].change_number,
        by_place[pages[2].pk, ""].record_confidence,
    )
    assert 6 == by_place[pages[4].pk, ""].change_number
    assert 7 == by_place[pages[1].pk, ""].change_number
    assert 8 == by_place[pages[3].pk, "a"].change_number


def test_of_two_records_with_one_key_the_later_one_stays(rule: Rule, pages: list[Page]) -> None:
    two = [row(rule, pages[0]), row(rule, pages[0], values={"name": "Later"})]
    upsert_records(two, pages=[pages[0].pk], now=EVENING)

    assert [{"name": "Later"}] == [record.values for record in Record.objects.all()]


def test_what_is_undone_leaves_nothing(rule: Rule, pages: list[Page]) -> None:
    undone(lambda: told(upsert_records, rule, pages))

    assert not Record.objects.exists()
    assert upsert_records([row(rule, pages[0])], pages=[pages[0].pk], now=EVENING)["new"] == 1
    assert connection.in_atomic_block
