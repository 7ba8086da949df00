"""Drops of coverage in the stream of pages, against a baseline that lies some days back."""

from __future__ import annotations

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from monitoring.algorithms.coverage_drop import DayCounts, find_drops

TODAY = date(2025, 6, 30)


def day(ago: int, served: int, pages: int = 100, **fields: int) -> DayCounts:
    return DayCounts(TODAY - timedelta(days=ago), pages, served, served, fields)


class TestPaper:
    def test_a_drop_above_the_threshold_is_an_event(self) -> None:
        (drop,) = find_drops([day(10, 95), day(0, 60)], TODAY, 0.2)

        assert ("pages", 0.95, 0.6, 100) == drop
        assert "pages that give a record fell from 95% to 60% of 100" == str(drop)

    def test_one_below_it_is_none(self) -> None:
        assert [] == find_drops([day(10, 95), day(0, 80)], TODAY, 0.2)


def test_an_attribute_that_vanishes_is_told_by_name() -> None:
    drops = find_drops(
        [day(10, 100, price=100, name=100), day(1, 100, price=40, name=100)], TODAY, 0.2
    )

    assert ["price"] == [drop.what for drop in drops]


def test_yesterday_is_no_baseline() -> None:
    slow = [day(ago, 40 + 6 * ago) for ago in range(10)]

    assert [] == find_drops(slow[:3], TODAY, 0.2)
    assert ["pages"] == [drop.what for drop in find_drops(slow, TODAY, 0.2)]


def test_few_pages_say_nothing() -> None:
    assert [] == find_drops([day(10, 10, 10), day(0, 0, 10)], TODAY, 0.2)


@given(st.integers(20, 60), st.floats(0.3, 1.0))
def test_what_chance_makes_of_few_pages_is_no_drop(n: int, share: float) -> None:
    before, after = round(n * share), max(0, round(n * share) - 2)

    assert [] == find_drops([day(9, before, n), day(0, after, n)], TODAY, 0.0)
