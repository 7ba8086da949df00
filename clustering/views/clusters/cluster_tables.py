"""Two clusterings side by side as a table: the clusters of one down, those of the other across."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

MAX_ROWS, MAX_COLUMNS = 40, 24
N_SHADES = 5


class CountCell(NamedTuple):
    """How many pages are in both clusters, and how dark that is drawn."""

    n: int
    shade: int  # 0 for none, to N_SHADES where all of the row's pages are


class ComparisonRow(NamedTuple):
    """A cluster of the one clustering."""

    name: str | None
    title: str
    n: int
    cells: list[CountCell]


class Grid(NamedTuple):
    """The table, largest clusters first, each column beside the row it shares most with."""

    columns: list[tuple[str | None, str, int]]
    rows: list[ComparisonRow]
    n_rows_left_out: int
    n_columns_left_out: int


def contingency_table(
    counts: Sequence[tuple[str | None, str | None, int]], titles: Mapping[str, str]
) -> Grid:
    """Return the table of two clusterings from the pages that each pair of clusters shares."""
    n_by_pair: Counter[tuple[str | None, str | None]] = Counter()
    n_by_row: Counter[str | None] = Counter()
    n_by_column: Counter[str | None] = Counter()
    for row, column, n in counts:
        n_by_pair[row, column] += n
        n_by_row[row] += n
        n_by_column[column] += n
    rows = [row for row, _ in n_by_row.most_common(MAX_ROWS)]
    columns = _beside_their_rows(rows, n_by_pair, n_by_column)[:MAX_COLUMNS]
    return Grid(
        columns=[(column, _title(column, titles), n_by_column[column]) for column in columns],
        rows=[
            ComparisonRow(
                row,
                _title(row, titles),
                n_by_row[row],
                [_cell(n_by_pair[row, column], n_by_row[row]) for column in columns],
            )
            for row in rows
        ],
        n_rows_left_out=len(n_by_row) - len(rows),
        n_columns_left_out=len(n_by_column) - len(columns),
    )


def _beside_their_rows(
    rows: Sequence[str | None],
    n_by_pair: Mapping[tuple[str | None, str | None], int],
    n_by_column: Counter[str | None],
) -> list[str | None]:
    """Return the columns in the order of the rows that they share most with, as a diagonal."""

    def best_row(column: str | None) -> int:
        shared = [n_by_pair.get((row, column), 0) for row in rows]
        return shared.index(max(shared)) if shared else 0

    return sorted(
        n_by_column, key=lambda column: (best_row(column), -n_by_column[column], str(column))
    )


def _cell(n: int, n_of_row: int) -> CountCell:
    return CountCell(n, min(N_SHADES, 1 + int(N_SHADES * n / n_of_row)) if n else 0)


def _title(name: str | None, titles: Mapping[str, str]) -> str:
    return "In no cluster" if name is None else titles.get(name, name)
