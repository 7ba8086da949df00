"""Lists part by part: nothing twice, nothing left out, in every order and in both directions."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vertex.core.models import Job, Site
from vertex.core.views.lists import BadCursor, ListPage, both_ways, list_page
from vertex.views.site_list import ORDERS

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
DAY = datetime(2025, 3, 1, tzinfo=UTC)


def site(name: str, *, n_pages: int = 0, day: int | None = None) -> Site:
    at = None if day is None else DAY + timedelta(days=day)
    return Site.objects.create(
        name=name,
        root_url=f"https://{name}.example/",
        n_pages=n_pages,
        last_snapshot_at=at,
        created_at=DAY,
    )


def names(page: ListPage[Site]) -> list[str]:
    return [row.name for row in page.rows]


def walk(order: list[str], *, size: int = 2) -> list[str]:
    """Return the names of all parts, from the first to the last."""
    results: list[str] = []
    after = ""
    while True:
        page = list_page(Site.objects.all(), order=order, after=after, size=size)
        results += names(page)
        after = page.next
        if not after:
            return results


def walk_back(order: list[str], *, size: int = 2) -> list[str]:
    """Return the names of all parts, from the last to the first, each part in its own order."""
    page = list_page(Site.objects.all(), order=order, size=size)
    while page.next:
        page = list_page(Site.objects.all(), order=order, after=page.next, size=size)
    result = names(page)
    while page.previous:
        page = list_page(Site.objects.all(), order=order, after=page.previous, size=size)
        result = names(page) + result
    return result


class TestOrder:
    def test_the_first_part_has_nothing_before_it_and_the_last_nothing_after(self) -> None:
        for name in "abc":
            site(name)
        first = list_page(Site.objects.all(), order=["name"], size=2)
        last = list_page(Site.objects.all(), order=["name"], after=first.next, size=2)
        assert (["a", "b"], "") == (names(first), first.previous)
        assert (["c"], "") == (names(last), last.next)

    def test_a_part_that_is_exactly_full_has_none_after_it(self) -> None:
        site("a"), site("b")
        assert "" == list_page(Site.objects.all(), order=["name"], size=2).next

    def test_an_empty_list_leads_nowhere(self) -> None:
        assert ListPage([], "", "") == list_page(Site.objects.all(), order=["name"])

    def test_rows_without_a_value_come_last_in_both_orders(self) -> None:
        site("never-1"), site("old", day=1), site("never-2"), site("new", day=2)
        assert ["old", "new", "never-1", "never-2"] == walk(["last_snapshot_at", "name"])
        assert ["new", "old", "never-2", "never-1"] == walk(["-last_snapshot_at", "-name"])

    def test_equal_values_are_told_apart_by_the_last_field(self) -> None:
        for name in "dbca":
            site(name, n_pages=7)
        assert ["d", "c", "b", "a"] == walk(["-n_pages", "-name"], size=1)

    def test_a_row_added_before_the_cursor_moves_nothing(self) -> None:
        for name in "bcd":
            site(name)
        first = list_page(Site.objects.all(), order=["name"], size=2)
        site("a")
        second = list_page(Site.objects.all(), order=["name"], after=first.next, size=2)
        assert ["d"] == names(second)

    def test_a_row_deleted_at_the_cursor_leaves_nothing_out(self) -> None:
        for name in "abcd":
            site(name)
        first = list_page(Site.objects.all(), order=["name"], size=2)
        Site.objects.filter(name="b").delete()
        assert ["c", "d"] == names(
            list_page(Site.objects.all(), order=["name"], after=first.next, size=2)
        )

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        rows=st.lists(st.tuples(st.integers(0, 2), st.none() | st.integers(0, 2)), max_size=9),
        order=st.sampled_from(sorted(ORDERS)),
        size=st.integers(1, 4),
    )
    def test_parts_forward_and_back_give_the_whole_list(
        self, rows: list[tuple[int, int | None]], order: str, size: int
    ) -> None:
        Site.objects.all().delete()
        for number, (n_pages, day) in enumerate(rows):
            site(f"site-{number}", n_pages=n_pages, day=day)
        whole = names(list_page(Site.objects.all(), order=ORDERS[order], size=100))
        assert sorted(f"site-{n}" for n in range(len(rows))) == sorted(whole)
        assert whole == walk(ORDERS[order], size=size)
        assert whole == walk_back(ORDERS[order], size=size)

    def test_every_order_has_its_opposite(self) -> None:
        assert {"pages": ["-n_pages", "name"], "-pages": ["n_pages", "-name"]} == both_ways(
            {"pages": ["-n_pages", "name"]}
        )


class TestCursor:
    @pytest.mark.parametrize(
        "damaged",
        [
            "x",
            "%%%",
            "bm90IGpzb24",
            base64.urlsafe_b64encode(b"[]").decode(),
            "W10",
            "é",
            "WyJmIiwiYSIsImIiXQ",
        ],
    )
    def test_what_is_no_cursor_is_refused(self, damaged: str) -> None:
        with pytest.raises(BadCursor, match="beginning"):
            list_page(Site.objects.all(), order=["name"], after=damaged)

    @pytest.mark.parametrize("told", [["f", "x", "y"], ["z", 1], {"f": 1}, ["f", [1]], 7, ["f"]])
    def test_a_cursor_of_another_list_is_refused(self, told: object) -> None:
        cursor = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
        with pytest.raises(BadCursor):
            list_page(Job.objects.all(), order=["-id"], after=cursor)

    def test_a_cursor_with_a_null_character_is_refused(self) -> None:
        cursor = base64.urlsafe_b64encode(json.dumps(["f", "a\0b"]).encode()).decode()
        with pytest.raises(BadCursor):
            list_page(Site.objects.all(), order=["name"], after=cursor)

    def test_no_part_is_counted_or_skipped_over(self) -> None:
        for name in "abcdef":
            site(name)
        first = list_page(Site.objects.all(), order=["name"], size=2)
        with CaptureQueriesContext(connection) as queries:
            list_page(Site.objects.all(), order=["name"], after=first.next, size=2)
        assert 1 == len(queries)
        assert not {"OFFSET", "COUNT"} & set(queries[0]["sql"].upper().split())
