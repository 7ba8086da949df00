"""Where the lines, bars and marks of a chart stand; the template draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

WIDTH, LEFT, RIGHT = 960, 46, 12
TOP, COVERAGE_HEIGHT, GAP, BARS_HEIGHT = 22, 120, 22, 60
N_LABELS = 7
GRID = (0.0, 0.25, 0.5, 0.75, 1.0)


class DayFigures(NamedTuple):
    """What came in on one day."""

    day: date
    n_pages: int
    n_served: int
    n_records: int

    @property
    def share(self) -> float | None:
        return self.n_served / self.n_pages if self.n_pages else None


class ChartMark(NamedTuple):
    """A day on which sites changed."""

    x: float
    day: date
    word: str
    href: str


class Bar(NamedTuple):
    """The records of a day."""

    x: float
    y: float
    width: float
    height: float
    day: DayFigures


class Label(NamedTuple):
    """A word at an axis."""

    x: float
    y: float
    word: str


class Course(NamedTuple):
    """A chart of coverage above records, day by day."""

    height: float
    bottom: float
    left: float
    right: float
    line: str  # points of the polylines, one for each unbroken stretch, as one path
    dots: list[Label]
    bars: list[Bar]
    marks: list[ChartMark]
    grid: list[Label]
    days: list[Label]
    most: int
    bars_top: float
    figures: Sequence[DayFigures]


def course_of(figures: Sequence[DayFigures], marks: Mapping[date, tuple[str, str]]) -> Course:
    """Return the chart of some days that follow each other; a mark has its words and its address."""
    step = (WIDTH - LEFT - RIGHT) / max(len(figures), 1)
    xs = {one.day: round(LEFT + step * (place + 0.5), 1) for place, one in enumerate(figures)}
    base, bottom = TOP + COVERAGE_HEIGHT, TOP + COVERAGE_HEIGHT + GAP + BARS_HEIGHT
    most = max((one.n_records for one in figures), default=0)
    every = max(1, -(-len(figures) // N_LABELS))
    return Course(
        height=bottom + 22,
        bottom=bottom,
        left=LEFT,
        right=WIDTH - RIGHT,
        line=_path(figures, xs, base),
        dots=[
            Label(
                xs[one.day],
                _y(one.share, base),
                f"{one.day}: {one.share:.1%} of {one.n_pages:,} pages",
            )
            for one in figures
            if one.share is not None
        ],
        bars=[_bar(one, xs[one.day], step, bottom, most) for one in figures if one.n_records],
        marks=[ChartMark(xs[day], day, *told) for day, told in sorted(marks.items()) if day in xs],
        grid=[Label(LEFT - 6, _y(share, base), f"{share:.0%}") for share in GRID],
        days=[Label(xs[one.day], bottom + 15, f"{one.day:%-d %b}") for one in figures[::every]],
        most=most,
        bars_top=base + GAP,
        figures=figures,
    )


def _y(share: float | None, base: float) -> float:
    return round(base - COVERAGE_HEIGHT * (share or 0.0), 1)


def _path(figures: Sequence[DayFigures], xs: Mapping[date, float], base: float) -> str:
    """Return the line of the coverage; where a day has no pages, it is broken."""
    steps, is_on = [], False
    for one in figures:
        if one.share is None:
            is_on = False
            continue
        steps.append(f"{'L' if is_on else 'M'}{xs[one.day]} {_y(one.share, base)}")
        is_on = True
    return " ".join(steps)


def _bar(one: DayFigures, x: float, step: float, bottom: float, most: int) -> Bar:
    width, height = round(max(2.0, step * 0.6), 1), round(BARS_HEIGHT * one.n_records / most, 1)
    return Bar(round(x - width / 2, 1), round(bottom - height, 1), width, max(height, 1.0), one)
