"""Write the table of a list as JSON Lines, CSV or Parquet, as it is shown."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, TypeVar

import orjson
import pyarrow as pa
from pyarrow import parquet

from rules.services.lists.found_tables import FoundTable
from rules.services.records.record_exports import CSV, PARQUET, cell_of

ROWS_A_PART = 500

T = TypeVar("T")


def table_parts(table: FoundTable, url: str, form: str) -> Iterator[bytes]:
    """Yield the bytes of a file with the records of a table; `url` is that of its page."""
    if form == CSV:
        return _csv_parts(table)
    return _parquet_parts(table) if form == PARQUET else _json_parts(table, url)


def _json_parts(table: FoundTable, url: str) -> Iterator[bytes]:
    """Yield lines as the command `list_table` writes them, but with whole addresses."""
    for rows in _parts(enumerate(table.records())):
        yield b"".join(
            orjson.dumps(
                {"url": url, "list": table.rank, "index": index, "record": record},
                option=orjson.OPT_APPEND_NEWLINE,
            )
            for index, record in rows
        )


def _csv_parts(table: FoundTable) -> Iterator[bytes]:
    yield _written([table.names])
    for rows in _parts(table.records()):
        yield _written([[record.get(name) for name in table.names] for record in rows])


def _written(rows: list[Any]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows([cell_of(value) for value in row] for row in rows)
    return file.getvalue().encode("utf-8", "replace")


def _parquet_parts(table: FoundTable) -> Iterator[bytes]:
    fields = [
        pa.field(column.name, pa.list_(pa.string()) if column.is_multi else pa.string())
        for column in table.columns
    ]
    schema = pa.schema(fields)
    file = io.BytesIO()
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _parts(table.records()):
            writer.write_table(pa.Table.from_pylist([_storable(row) for row in rows], schema))
    yield file.getvalue()


def _parts(rows: Iterable[T]) -> Iterator[list[T]]:
    waiting = iter(rows)
    while part := list(islice(waiting, ROWS_A_PART)):
        yield part


def _storable(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record without what no UTF-8 holds."""
    return {
        name: [_utf8(one) for one in value] if isinstance(value, list) else _utf8(value)
        for name, value in row.items()
    }


def _utf8(value: str) -> str:
    return value.encode("utf-8", "replace").decode()
