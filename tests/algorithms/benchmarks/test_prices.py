"""Prices that a benchmark changes by a clock."""

from __future__ import annotations

import pytest

from benchmarks.stream_month.prices import dearer, euros_of, is_product
from vertex.demo.sites import DemoPage


def product(price: str | None, body: str) -> DemoPage:
    return DemoPage("/p", body.encode(), "text/html", 200, "product", {"price": price})


@pytest.mark.parametrize("by", [1, 30, 900])
def test_a_page_tells_by_its_price_how_often_it_changed(by: int) -> None:
    page = product("€504.90", "<b>€504.90</b> instead of <s>€600.00</s>")
    body = dearer(page, by).decode()

    assert 504 + by == euros_of(body)
    assert body.endswith("instead of <s>€600.00</s>")


@pytest.mark.parametrize(
    ("price", "body"), [(None, "<b>Sold out</b>"), ("€5.00", "<b>€5.00</b> was <s>€5.00</s>")]
)
def test_what_shows_no_price_or_one_twice_does_not_change(price: str | None, body: str) -> None:
    assert not is_product(product(price, body))
