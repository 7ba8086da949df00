"""Write rows as JSON Lines, CSV or Parquet, part by part: a million of them take no more memory."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Final, NamedTuple

import orjson
import pyarrow as pa
from django.db import models
from pyarrow import parquet

JSON_LINES: Final = "jsonl"
CSV: Final = "csv"
PARQUET: Final = "parquet"
MEDIA_TYPES: Final = {
    JSON_LINES: "application/x-ndjson",
    CSV: "text/csv",
    PARQUET: "application/vnd.apache.parquet",
}
# A spreadsheet that separates cells by semicolons makes a cell of what stands behind one, quoted
# or not.
_BEHIND_SEPARATOR: Final = re.compile(
    r"(?!\A)([;\t]\s{0,9})([=@\uff1d\uff20]|[+\-\uff0b\uff0d](?=[^\W\d]))"
)
# What a spreadsheet takes for a formula, also in full width.
DANGEROUS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
ROWS_PER_GROUP = 10_000  # of a Parquet file
TEXT: Final = pa.string()
TEXTS: Final = pa.list_(pa.string())
TIME: Final = pa.timestamp("us", tz="UTC")

Row = dict[str, Any]


class Format(models.TextChoices):
    JSON_LINES = JSON_LINES, "JSON Lines"
    CSV = CSV, "CSV"
    PARQUET = PARQUET, "Parquet"


class FileColumn(NamedTuple):
    """A column of a CSV or Parquet file."""

    name: str
    type: pa.DataType
    value_of: Callable[[Row], object]  # a time as its ISO text
    # Whether a type wrote the text, so that no spreadsheet runs it: digits, a day, an address.
    is_read: bool = False
    list_name: str = ""  # the nested list whose entries have this value


def json_lines(parts: Iterable[Iterable[Row]]) -> Iterator[bytes]:
    """Yield the bytes of a file with a line for each row."""
    for rows in parts:
        yield b"".join(_json_of(row) + b"\n" for row in rows)


def _json_of(value: object) -> bytes:
    return orjson.dumps(value, default=_exact_number)


def _exact_number(value: object) -> orjson.Fragment:
    """Return a decimal as JSON with all its digits. Raises TypeError for anything else."""
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    raise TypeError(f"{type(value).__name__} is no value of a file")


def csv_file(columns: Sequence[FileColumn], parts: Iterable[Iterable[Row]]) -> Iterator[bytes]:
    """Yield the bytes of a CSV file: a head, then a line for each row."""
    yield _csv_lines([[cell_of(column.name) for column in columns]])
    for rows in parts:
        yield _csv_lines([_cell_in(column, row) for column in columns] for row in rows)


def _csv_lines(lines: Iterable[Iterable[str]]) -> bytes:
    file = io.StringIO(newline="")
    csv.writer(file).writerows(lines)
    return file.getvalue().encode("utf-8", "replace")


def _cell_in(column: FileColumn, row: Row) -> str:
    value = column.value_of(row)
    return _cell_text(value) if column.is_read else cell_of(value)


def _cell_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, str | date):
        return str(value)
    return _json_of(value).decode()


def cell_of(value: object) -> str:
    """Return a value as a cell that no spreadsheet runs; several values stand as a JSON list.

    >>> cell_of("=1+1"), cell_of("a;=1"), cell_of("a; -1"), cell_of(["S", "M"]), cell_of(None)
    ("'=1+1", "a;'=1", 'a; -1', '["S","M"]', '')
    """
    text = _BEHIND_SEPARATOR.sub(r"\1'\2", _cell_text(value))
    return f"'{text}" if text.startswith(DANGEROUS) else text


class _Drain(io.RawIOBase):
    """A file that keeps what was written until it is drained."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(self._parts[-1])

    def drain(self) -> bytes:
        """Return what was written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def parquet_file(columns: Sequence[FileColumn], parts: Iterable[Sequence[Row]]) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file, a group of rows at a time."""
    schema = pa.schema([(column.name, column.type) for column in columns])
    file = _Drain()
    with parquet.ParquetWriter(file, schema, compression="zstd") as writer:
        for rows in _groups(parts):
            arrays = [_array(column, rows) for column in columns]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield file.drain()
    yield file.drain()


def _groups(parts: Iterable[Sequence[Row]]) -> Iterator[list[Row]]:
    rows: list[Row] = []
    for part in parts:
        rows += part
        if len(rows) >= ROWS_PER_GROUP:
            yield rows
            rows = []
    if rows:
        yield rows


def _array(column: FileColumn, rows: Iterable[Row]) -> pa.Array:
    values = [column.value_of(row) for row in rows]
    if column.type == TIME:
        return pa.array(values, TEXT).cast(TIME)
    if column.type == TEXTS:
        return pa.array([_as_texts(value) for value in values], TEXTS)
    if column.type == TEXT:
        return pa.array([_as_text(value) for value in values], TEXT)
    return pa.array(values, column.type)


def _as_texts(value: object) -> list[str | None] | None:
    """Return a value as a list: an attribute may have had one value once and several now."""
    if value is None:
        return None
    items = value if isinstance(value, list) else [value]
    return [None if item is None else str(item) for item in items]


def _as_text(value: object) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else orjson.dumps(value).decode()
