"""Read ratings: a value and the best that could be given."""

from __future__ import annotations

import re
from typing import TypedDict

from clustering.values.numbers import find_number, read_number

_AMOUNT = r"(\d+(?:[.,]\d+)?)"
_OF = re.compile(
    rf"{_AMOUNT}\s?(?:\w+\s)?(?:/|out of|of|von|sur|de|su|van|av|z|из)\s?{_AMOUNT}", re.IGNORECASE
)
_PERCENT = re.compile(rf"{_AMOUNT}\s?%")
_FULL, _HALF, _EMPTY = "★⭐●", "½⯨", "☆○✩"
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
    for found in _OF.finditer(text):
        value, best = (float(read_number(amount) or 0) for amount in found.groups())
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
    full, half, empty = (sum(map(text.count, signs)) for signs in (_FULL, _HALF, _EMPTY))
    if not full + half + empty:
        return None
    best = float(full + half + empty) if half + empty else None
    return {"value": full + half / 2, "best": best}
