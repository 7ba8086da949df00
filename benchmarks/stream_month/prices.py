"""Prices of a shop that change by a clock: how often they do, and a page with another one."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from benchmarks.stream.simulated_pages import SimulatedPages, make_pages
from vertex.demo.sites import DemoPage

GOAL_HOURS: Final = 24
KINDS: Final = ("constant", "poisson", "bursts")
PERIODS: Final = (12.0, 192.0)  # hours between two changes on average
SEED: Final = 21
_EUROS: Final = re.compile(r"€([\d,]+)")


def draw_changes(n_pages: int, days: int) -> SimulatedPages:
    """Return when the prices of so many pages change; half never do."""
    return make_pages(np.random.default_rng(SEED), n_pages, KINDS, PERIODS, 24.0 * days)


def is_product(page: DemoPage) -> bool:
    """Return whether a page shows one price, in one place."""
    price = page.values.get("price")
    if page.type != "product" or not isinstance(price, str):
        return False
    return page.body.count(price.encode()) == 1


def dearer(page: DemoPage, by: int) -> bytes:
    """Return a page with a price of so many euros more.

    >>> dearer(DemoPage("/p", "<b>€9.90</b>".encode(), "", 200, "", {"price": "€9.90"}), 3).decode()
    '<b>€12.90</b>'
    """
    price = str(page.values["price"])
    other = _EUROS.sub(f"€{euros_of(price) + by:,}", price)
    return page.body.replace(price.encode(), other.encode())


def euros_of(price: str) -> int:
    """Return the whole euros of a price.

    >>> euros_of("€1,299.90")
    1299
    """
    euros = _EUROS.search(price)
    assert euros is not None, price
    return int(euros[1].replace(",", ""))
