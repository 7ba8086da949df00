"""What the pages of tables show of a list, row by row."""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from itertools import count
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from annotation.models import Attribute, Vertical
from clustering.algorithms.tables.cells import IMAGE, LINK
from clustering.algorithms.tables.page_tables import ListColumn, ListTable
from clustering.models import Asset, Page, Snapshot
from clustering.services.looks.frames import files_of
from clustering.values.recognising import type_of_most
from rules.services.lists.table_views import TableView

VALUES_SHOWN = 6  # of one cell
RARELY = 0.1  # of the records: a column that fewer have is not chosen by itself
TYPES = {LINK: Attribute.Type.URL, IMAGE: Attribute.Type.IMAGE}
MAX_CELL_CHARS = 60
_NOT_OF_NAME = re.compile(r"[^A-Za-z0-9]+")


class CellValue(NamedTuple):
    """A value of a cell, with where it leads and the stored picture of an image."""

    text: str
    href: str
    picture: str


class ShownCell(NamedTuple):
    """What a record has in one column."""

    values: list[CellValue]
    n_more: int
    is_long: bool


class ColumnHead(NamedTuple):
    """The head of a column in the table."""

    column: ListColumn
    sort_query: str
    order: str  # ascending, descending; blank where the table is not sorted by it


class ColumnChoice(NamedTuple):
    """What may be chosen of a column."""

    column: ListColumn
    is_shown: bool
    name: str
    target: str  # into which it is merged
    targets: list[str]  # into which it may be


def table_rows(
    table: ListTable, snapshot: Snapshot, now: datetime, most: int
) -> list[list[ShownCell]]:
    """Return the cells of the first records, with the images that are stored."""
    address_of = files_of(snapshot, now=now).address_of

    def cell_value(column: ListColumn, value: str) -> CellValue:
        is_web = column.kind in TYPES and urlsplit(value).scheme in {"http", "https"}
        picture = (address_of(value, Asset.Kind.IMAGE) or "") if column.kind == IMAGE else ""
        return CellValue(value, value if is_web else "", picture)

    rows = []
    for number in range(min(table.n_records, most)):
        row = []
        for column in table.columns:
            cell_values = [cell_value(column, value) for value in column.values[number]]
            row.append(_cell(column, cell_values))
        rows.append(row)
    return rows


def _cell(column: ListColumn, values: list[CellValue]) -> ShownCell:
    is_long = column.kind not in TYPES and sum(len(value.text) for value in values) > MAX_CELL_CHARS
    return ShownCell(values[:VALUES_SHOWN], max(len(values) - VALUES_SHOWN, 0), is_long)


def column_heads(table: ListTable, view: TableView) -> list[ColumnHead]:
    """Return the heads of the columns, each with the address that sorts by it, and back again."""
    found_name_by_name = {name: column for column, name in view.name_by_column.items()}
    heads = []
    for column in table.columns:
        name = found_name_by_name.get(column.name, column.name)
        is_sorted = view.sort == name
        query = view.query(sort=name, is_descending=is_sorted and not view.is_descending)
        order = ""
        if is_sorted:
            order = "descending" if view.is_descending else "ascending"
        heads.append(ColumnHead(column, query, order))
    return heads


def column_choices(whole_table: ListTable, view: TableView) -> list[ColumnChoice]:
    """Return what may be chosen of each column of a table, also of those that are left out."""
    shown = set(whole_table.names) if view.shown is None else view.shown
    return [
        ColumnChoice(
            column,
            column.name in shown,
            view.name_by_column.get(column.name, column.name),
            view.target_by_column.get(column.name, ""),
            [
                other.name
                for other in whole_table.columns
                if other.name != column.name and other.kind == column.kind
            ],
        )
        for column in (*whole_table.columns, *whole_table.left_out)
    ]


def column_rows(table: ListTable, view: TableView | None = None) -> list[dict[str, Any]]:
    """Return what the form that accepts a table proposes for each column."""
    view = view or TableView()
    used: set[str] = set()
    rows = []
    for column in table.columns:
        wanted_name = view.name_by_column.get(column.name, column.name)
        name = _free(as_attribute_name(wanted_name), used)
        used.add(name)
        takes = column.n_filled >= RARELY * table.n_records
        if view.shown is not None:
            takes = column.name in view.shown
        rows.append({"takes": takes, "column": column.name, "name": name, "type": type_of(column)})
    return rows


def type_of(column: ListColumn) -> str:
    """Return the type that the values of a column look like."""
    if column.kind in TYPES:
        return TYPES[column.kind]
    kind = type_of_most([value for cell_values in column.values for value in cell_values])
    return kind if kind in Attribute.Type.values else Attribute.Type.TEXT


def free_vertical_name(page: Page) -> str:
    """Return a name for the vertical of a list that no vertical has."""
    steps = [step for step in urlsplit(page.url).path.split("/") if step]
    last = steps[-1].partition(".")[0] if steps else page.site.name
    names_in_use = set(Vertical.objects.values_list("name", flat=True))
    return _free(as_attribute_name(last), names_in_use)


def as_attribute_name(text: str) -> str:
    """Return a text as the name of an attribute or vertical.

    >>> as_attribute_name("Prix réduit (€)"), as_attribute_name("3 Sterne")
    ('prix_reduit', '_3_sterne')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = _NOT_OF_NAME.sub("_", plain).strip("_").lower()[:MAX_CELL_CHARS] or "records"
    return f"_{name}" if name[0].isdigit() else name


def _free(name: str, names_in_use: set[str]) -> str:
    """Return the name, or the first of name_2, name_3 ... that is not in use."""
    if name not in names_in_use:
        return name
    numbered_names = (f"{name[: MAX_CELL_CHARS - 4]}_{n}" for n in count(2))
    return next(numbered for numbered in numbered_names if numbered not in names_in_use)
