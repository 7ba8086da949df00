"""Read ratings: a value and the best that could be given."""

from __future__ import annotations

import re
from typing import TypedDict

from clustering.values.numbers import find_number, read_number

_AMOUNT = r"(?<!\d)(\d{1,9}(?:[.,]\d{1,9})?)"
_OF = re.compile(
    rf"{_AMOUNT}\s?(?:\w{{1,20}}\s)?(?:/|out of|of|von|sur|de|su|van|av|z|из)\s?{_AMOUNT}",
    re.IGNORECASE,
)
_PERCENT = re.compile(rf"{_AMOUNT}\s?%")
_FULL_STARS, _HALF_STARS, _EMPTY_STARS = "★⭐●", "½⯨", "☆○✩"
_PERCENT_BEST = 100.0


class Rating(TypedDict):
    """A rating; `best` is None where the text does not tell it."""

    value: float
    best: float | None


def read_rating(text: str) -> Rating | None:
    """Return the rating that a text shows, None where it shows none.

    >>> read_rating("4,5 out of 5 stars"), read_rating("★★★★☆")
    ({'value': 4.5, 'best': 5.0}, {'value': 4.0, 'best': 5.0})
    """
    for match in _OF.finditer(text):
        value, best = (float(read_number(amount) or 0) for amount in match.groups())
        if value <= best:
            return {"value": value, "best": best}
    percent = _PERCENT.search(text)
    if percent:
        return {"value": float(read_number(percent[1]) or 0), "best": _PERCENT_BEST}
    value_alone = find_number(text)
    if value_alone is not None:
        return {"value": float(value_alone), "best": None}
    return _count_stars(text)


def _count_stars(text: str) -> Rating | None:
    n_full = sum(map(text.count, _FULL_STARS))
    n_half = sum(map(text.count, _HALF_STARS))
    n_empty = sum(map(text.count, _EMPTY_STARS))
    n_stars = n_full + n_half + n_empty
    if not n_stars:
        return None
    # Full stars alone do not tell how many there could be.
    best = float(n_stars) if n_half or n_empty else None
    return {"value": n_full + n_half / 2, "best": best}
