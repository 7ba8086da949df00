"""Export the table of a list as JSON Lines, CSV or Parquet, as it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from clustering.algorithms.tables.page_tables import ListTable
from clustering.dom.addresses import address_keys
from rules.services.records.file_formats import (
    CSV,
    JSON_LINES,
    TEXT,
    TEXTS,
    FileColumn,
    Row,
    csv_file,
    json_lines,
    parquet_file,
)

ROWS_PER_PART = 500


def table_parts(table: ListTable, url: str, form: str) -> Iterator[bytes]:
    """Yield the bytes of a file with the records of a table; `url` is that of its page."""
    if form == JSON_LINES:
        return json_lines(_parts(_lines(table, url)))
    columns = [
        FileColumn(column.name, TEXTS if column.is_multi else TEXT, _value_of(column.name))
        for column in table.columns
    ]
    write = csv_file if form == CSV else parquet_file
    return write(columns, _parts(table.rows()))


def _lines(table: ListTable, url: str) -> Iterator[Row]:
    """Yield lines as the command `list_table` writes them, but with whole addresses."""
    for index, record in enumerate(table.rows()):
        yield {**address_keys(url), "list": table.rank, "index": index, "record": record}


def _parts(rows: Iterable[Row]) -> Iterator[list[Row]]:
    waiting = iter(rows)
    while part := list(islice(waiting, ROWS_PER_PART)):
        yield part


def _value_of(name: str) -> Callable[[Row], object]:
    """Return what reads a column of a record, without what no UTF-8 holds."""

    def value_of(record: Row) -> str | list[str] | None:
        value: str | list[str] | None = record.get(name)
        if value is None:
            return None
        return [_utf8(text) for text in value] if isinstance(value, list) else _utf8(value)

    return value_of


def _utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
