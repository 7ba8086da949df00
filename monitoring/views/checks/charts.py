"""Compute where the lines, bars and marks of a chart stand; the template draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

WIDTH, LEFT, RIGHT = 960, 46, 12
TOP, COVERAGE_HEIGHT, GAP, BARS_HEIGHT = 22, 120, 22, 60
MAX_LABELS = 7
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


class CoverageChart(NamedTuple):
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


def draw_coverage(
    figures: Sequence[DayFigures], links: Mapping[date, tuple[str, str]]
) -> CoverageChart:
    """Return the chart of some days that follow each other.

    `links` holds the words and the address of each day that is marked.
    """
    step = (WIDTH - LEFT - RIGHT) / max(len(figures), 1)
    x_by_day = {
        figure.day: round(LEFT + step * (index + 0.5), 1) for index, figure in enumerate(figures)
    }
    base = TOP + COVERAGE_HEIGHT
    bottom = base + GAP + BARS_HEIGHT
    most = max((figure.n_records for figure in figures), default=0)
    days_per_label = max(1, -(-len(figures) // MAX_LABELS))
    dots = []
    bars = []
    for figure in figures:
        x = x_by_day[figure.day]
        if figure.share is not None:
            word = f"{figure.day}: {figure.share:.1%} of {figure.n_pages:,} pages"
            dots.append(Label(x, _y(figure.share, base), word))
        if figure.n_records:
            bars.append(_bar(figure, x, step, bottom, most))
    marks = [
        ChartMark(x_by_day[day], day, word, href)
        for day, (word, href) in sorted(links.items())
        if day in x_by_day
    ]
    days = [
        Label(x_by_day[figure.day], bottom + 15, f"{figure.day:%-d %b}")
        for figure in figures[::days_per_label]
    ]
    return CoverageChart(
        height=bottom + 22,
        bottom=bottom,
        left=LEFT,
        right=WIDTH - RIGHT,
        line=_path(figures, x_by_day, base),
        dots=dots,
        bars=bars,
        marks=marks,
        grid=[Label(LEFT - 6, _y(share, base), f"{share:.0%}") for share in GRID],
        days=days,
        most=most,
        bars_top=base + GAP,
        figures=figures,
    )


def _y(share: float, base: float) -> float:
    return round(base - COVERAGE_HEIGHT * share, 1)


def _path(figures: Sequence[DayFigures], x_by_day: Mapping[date, float], base: float) -> str:
    """Return the line of the coverage; where a day has no pages, it is broken."""
    steps = []
    is_drawing = False
    for figure in figures:
        if figure.share is None:
            is_drawing = False
            continue
        command = "L" if is_drawing else "M"
        steps.append(f"{command}{x_by_day[figure.day]} {_y(figure.share, base)}")
        is_drawing = True
    return " ".join(steps)


def _bar(figure: DayFigures, x: float, step: float, bottom: float, most: int) -> Bar:
    width = round(max(2.0, step * 0.6), 1)
    height = round(BARS_HEIGHT * figure.n_records / most, 1)
    return Bar(
        x=round(x - width / 2, 1),
        y=round(bottom - height, 1),
        width=width,
        height=max(height, 1.0),
        day=figure,
    )
