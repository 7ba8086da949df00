"""Reading a page of records costs a fraction of what a plain serializer takes, at any depth."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import pytest
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from rules.models import Record
from rules.services.records.record_rows import record_rows
from tests.apps.rules.record_cast import shop_with_records
from vertex.core.api.formats import FastJSONRenderer

pytestmark = [pytest.mark.django_db, pytest.mark.bar]
N_RECORDS, PART = 900, 300


class Plain(serializers.ModelSerializer[Record]):
    site = serializers.CharField(source="site.name")
    url = serializers.CharField(source="page.url")
    cluster = serializers.CharField(source="cluster.name")
    vertical = serializers.CharField(source="rule.vertical.name")

    class Meta:
        model = Record
        fields = "__all__"


def best(work: Callable[[], bytes]) -> float:
    """Return the seconds of the fastest of some runs: the one that was disturbed least."""
    seconds = []
    for _ in range(5):
        begun = perf_counter()
        assert len(work()) > 1000
        seconds.append(perf_counter() - begun)
    return min(seconds)


@pytest.fixture
def many() -> None:
    """Store records, most of them of one page: the texts are what counts."""
    _, (first,) = shop_with_records(1)
    of_all = {
        name: getattr(first, name)
        for name in ("site", "page", "cluster", "rule", "snapshot", "nodes")
    }
    values = {f"attribute{number}": f"Some displayed value {number}" for number in range(14)}
    sure = dict.fromkeys(values, 1.0)
    Record.objects.bulk_create(
        Record(
            **of_all,
            key=str(number),
            values=values,
            raw=values,
            confidence=sure,
            change_number=100 + number,
        )
        for number in range(N_RECORDS)
    )


def ours(after: int) -> bytes:
    records = Record.objects.all().changed_since(after)
    return FastJSONRenderer().render(record_rows(records[:PART]))


def plain() -> bytes:
    joined = Record.objects.select_related("site", "page", "cluster", "rule__vertical")
    rendered: bytes = JSONRenderer().render(
        Plain(joined.order_by("change_number")[:PART], many=True).data
    )
    return rendered


@pytest.mark.usefixtures("many")
def test_a_page_is_at_least_four_times_as_fast() -> None:
    assert best(plain) >= 4 * best(lambda: ours(0))


@pytest.mark.usefixtures("many")
def test_the_last_page_costs_what_the_first_one_costs() -> None:
    first, last = best(lambda: ours(0)), best(lambda: ours(100 + N_RECORDS - PART - 1))

    assert last < 2 * first
