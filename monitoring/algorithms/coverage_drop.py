"""Find what falls in the stream of crawled pages: pages served, and records with each attribute.

Paper:      Gulhane et al., "Web-Scale Information Extraction with Vertex" (ICDE 2011), section
            IV-B: a site-change event is a drop of the coverage of the crawl above a threshold, 10
            to 50 %.
Notation:   Coverage -> the share of a day's pages that gave a record, or of its records with an
            attribute.
Readings:   The paper compares the days after a clustering with it; days go on here, so the baseline
            is a window that ends some days ago: a slow fall is not compared with itself of
            yesterday.
Departures: A drop must also be more than chance makes of so few pages: three standard errors.
Cost:       Linear in the days.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from math import sqrt
from typing import Final, NamedTuple

RECENT: Final = timedelta(days=2)
LAG: Final = timedelta(days=3)
WINDOW: Final = timedelta(days=28)
MIN_TO_JUDGE: Final = 20  # pages or records in both windows
MIN_STANDARD_ERRORS: Final = 3.0
PAGES: Final = "pages"


class DayCounts(NamedTuple):
    """What became of the pages of one day."""

    day: date
    n_pages: int
    n_served: int
    n_records: int
    fields: Mapping[str, int]


class Drop(NamedTuple):
    """A share that fell."""

    what: str  # "pages", or an attribute
    old: float
    new: float
    n: int  # pages or records of late

    def __str__(self) -> str:
        what = "pages that give a record" if self.what == PAGES else f"records with {self.what}"
        return f"{what} fell from {self.old:.0%} to {self.new:.0%} of {self.n:,}"


def find_drops(days: Iterable[DayCounts], today: date, min_drop: float) -> list[Drop]:
    """Return what fell by at least a share, pages first."""
    days = list(days)
    before = _sum(counts for counts in days if today - LAG - WINDOW <= counts.day < today - LAG)
    after = _sum(counts for counts in days if today - RECENT < counts.day <= today)
    pages_before = _Share(before.n_served, before.n_pages)
    pages_after = _Share(after.n_served, after.n_pages)
    drops = [_drop(PAGES, pages_before, pages_after, min_drop)]
    for name in sorted(before.fields):
        records_before = _Share(before.fields[name], before.n_records)
        records_after = _Share(after.fields.get(name, 0), after.n_records)
        drops.append(_drop(name, records_before, records_after, min_drop))
    return [drop for drop in drops if drop is not None]


class _Share(NamedTuple):
    n_hits: int
    n: int


def _drop(what: str, before: _Share, after: _Share, min_drop: float) -> Drop | None:
    """Return by how much a share fell; None where that is too little, or may be chance."""
    if before.n < MIN_TO_JUDGE or after.n < MIN_TO_JUDGE:
        return None
    old, new = before.n_hits / before.n, after.n_hits / after.n
    pooled = (before.n_hits + after.n_hits) / (before.n + after.n)
    standard_error = sqrt(pooled * (1 - pooled) * (1 / before.n + 1 / after.n))
    if old - new < min_drop or old - new <= MIN_STANDARD_ERRORS * standard_error:
        return None
    return Drop(what, old, new, after.n)


def _sum(days: Iterable[DayCounts]) -> DayCounts:
    n_pages = n_served = n_records = 0
    fields: Counter[str] = Counter()
    for counts in days:
        n_pages += counts.n_pages
        n_served += counts.n_served
        n_records += counts.n_records
        fields.update(counts.fields)
    return DayCounts(date.min, n_pages, n_served, n_records, fields)
