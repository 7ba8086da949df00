"""Compare lists of records with the truth, as intervals of a page's text without white space."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TypeAlias

Interval: TypeAlias = tuple[int, int]
OVERLAP = 0.8  # how much of both a whole record must share with the one found
GOOD = 0.75  # the F from which a page counts as right


@dataclass(frozen=True, slots=True)
class Truth:
    """The true records in page order: whole, or only the core that a found record must hold."""

    records: tuple[Interval, ...]
    is_whole: bool


def f_score(truth: Truth, intervals: list[Interval]) -> float:
    """Return 2pr / (p + r) of the found records; 1 where nothing is right and nothing was found."""
    if not truth.records or not intervals:
        return float(not truth.records and not intervals)
    n_right = len(matched(truth, intervals))
    return 2 * n_right / (len(truth.records) + len(intervals))


def matched(truth: Truth, intervals: list[Interval]) -> set[int]:
    """Return the numbers of the true records that were found, each by a record of its own."""
    right: set[int] = set()
    starts, stops = [record[0] for record in truth.records], [record[1] for record in truth.records]
    for interval in intervals:
        touched = range(bisect_right(stops, interval[0]), bisect_left(starts, interval[1]))
        if truth.is_whole:
            right |= {
                number for number in touched if _overlap(truth.records[number], interval) >= OVERLAP
            }
        elif len(touched) == 1 and _common(truth.records[touched[0]], interval) >= 0.9 * _length(
            truth.records[touched[0]]
        ):
            right.add(touched[0])
    return right


def _length(interval: Interval) -> int:
    return max(interval[1] - interval[0], 1)


def _common(interval: Interval, other: Interval) -> int:
    return min(interval[1], other[1]) - max(interval[0], other[0])


def _overlap(interval: Interval, other: Interval) -> float:
    common = max(_common(interval, other), 0)
    return common / (_length(interval) + _length(other) - common)
