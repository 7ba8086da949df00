"""Find what falls in the stream of pages that are crawled: pages served, and records with each attribute.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section IV-B: a
            site-change event is a drop of the coverage of the crawl above a threshold, 10 to 50 %.
Notation:   Coverage -> the share of a day's pages that gave a record, or of its records with an attribute.
Readings:   The paper compares the days after a clustering with it; days go on here, so the baseline is a
            window that ends some days ago: a slow fall is not compared with itself of yesterday.
Departures: A drop must also be more than chance makes of so few pages: three standard errors.
Cost:       Linear in the days.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from math import sqrt
from typing import Final, NamedTuple

RECENT: Final = timedelta(days=2)
LAG: Final = timedelta(days=3)
WINDOW: Final = timedelta(days=28)
FEWEST: Final = 20  # pages or records in both windows
ERRORS: Final = 3.0  # standard errors
PAGES: Final = "pages"


class DayCounts(NamedTuple):
    """What came of the pages of one day."""

    day: date
    n_pages: int
    n_served: int
    n_records: int
    fields: Mapping[str, int]


class Drop(NamedTuple):
    """A share that fell."""

    what: str  # "pages", or an attribute
    was: float
    now: float
    n: int  # pages or records of late

    def __str__(self) -> str:
        what = "pages that give a record" if self.what == PAGES else f"records with {self.what}"
        return f"{what} fell from {self.was:.0%} to {self.now:.0%} of {self.n:,}"


def find_drops(days: Iterable[DayCounts], today: date, at_least: float) -> list[Drop]:
    """Return what fell by at least a share, pages first."""
    known = list(days)
    before = _sum(one for one in known if today - LAG - WINDOW <= one.day < today - LAG)
    after = _sum(one for one in known if today - RECENT < one.day <= today)
    found = [
        _drop(PAGES, (before.n_pages, before.n_served), (after.n_pages, after.n_served), at_least)
    ]
    for name in sorted(before.fields):
        was = before.n_records, before.fields[name]
        now = after.n_records, after.fields.get(name, 0)
        found.append(_drop(name, was, now, at_least))
    return [one for one in found if one is not None]


def _drop(
    what: str, before: tuple[int, int], after: tuple[int, int], at_least: float
) -> Drop | None:
    (n_before, hits_before), (n_after, hits_after) = before, after
    if n_before < FEWEST or n_after < FEWEST:
        return None
    was, now = hits_before / n_before, hits_after / n_after
    pooled = (hits_before + hits_after) / (n_before + n_after)
    error = sqrt(pooled * (1 - pooled) * (1 / n_before + 1 / n_after))
    is_more_than_chance = was - now > ERRORS * error
    return Drop(what, was, now, n_after) if was - now >= at_least and is_more_than_chance else None


def _sum(days: Iterable[DayCounts]) -> DayCounts:
    n_pages = n_served = n_records = 0
    fields: dict[str, int] = {}
    for one in days:
        n_pages, n_served, n_records = (
            n_pages + one.n_pages,
            n_served + one.n_served,
            n_records + one.n_records,
        )
        for name, n in one.fields.items():
            fields[name] = fields.get(name, 0) + n
    return DayCounts(date.min, n_pages, n_served, n_records, fields)
