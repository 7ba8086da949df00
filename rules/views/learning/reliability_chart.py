"""Compute where the marks of a reliability diagram stand; the template draws them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rules.algorithms.review.reliability import ReliabilityBin

LEFT: Final = 44
TOP: Final = 12
HEIGHT: Final = 180
STEP: Final = 84  # from one bin to the next
BELOW: Final = 40  # for the words
GRID: Final = (0.0, 0.25, 0.5, 0.75, 1.0)
HALF_TICK: Final = 16


class GridLine(NamedTuple):
    """A line at a share, with its word."""

    y: float
    word: str


class BinMark(NamedTuple):
    """A bin as it is drawn: its interval, the share that is right, and how sure the rule was."""

    x: float
    left: float
    right: float
    y_low: float
    y_high: float
    y_right: float
    y_confidence: float
    word: str
    name: str  # from how sure to how sure
    bin: ReliabilityBin


class ReliabilityChart(NamedTuple):
    """A diagram of the bins side by side."""

    width: int
    height: int
    left: int
    bottom: int
    y_names: int
    y_counts: int
    grid: list[GridLine]
    marks: list[BinMark]


def draw_reliability(bins: Sequence[ReliabilityBin]) -> ReliabilityChart:
    """Return the diagram of some bins, the least sure at the left."""
    bottom = TOP + HEIGHT
    return ReliabilityChart(
        width=LEFT + STEP * max(1, len(bins)) + 8,
        height=bottom + BELOW,
        left=LEFT,
        bottom=bottom,
        y_names=bottom + 16,
        y_counts=bottom + 32,
        grid=[GridLine(_y(share), f"{100 * share:.0f} %") for share in GRID],
        marks=[_mark(number, of_bin) for number, of_bin in enumerate(bins)],
    )


def _mark(number: int, of_bin: ReliabilityBin) -> BinMark:
    x = LEFT + STEP * (number + 0.5)
    low, high = of_bin.interval
    word = (
        f"sure by {100 * of_bin.confidence:.1f} %, "
        f"right {100 * of_bin.right:.1f} % of {of_bin.n:,} values"
    )
    return BinMark(
        x=x,
        left=x - HALF_TICK,
        right=x + HALF_TICK,
        y_low=_y(low),
        y_high=_y(high),
        y_right=_y(of_bin.right),
        y_confidence=_y(of_bin.confidence),
        word=word,
        name=f"{100 * of_bin.low:.0f} to {100 * of_bin.high:.0f}",
        bin=of_bin,
    )


def _y(share: float) -> float:
    return round(TOP + HEIGHT * (1 - share), 1)
