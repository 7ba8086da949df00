"""Write rows of records as Parquet, a group of rows at a time, with columns that the vertical gives.

Values stand as they are displayed; an attribute that may have several has a column of lists.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import orjson
import pyarrow as pa
from pyarrow import parquet

ROWS_A_GROUP = 10_000
TIME: Final = pa.timestamp("us", tz="UTC")
HEAD: Final[Mapping[str, pa.DataType]] = {
    "url": pa.string(),
    "cluster": pa.string(),
    "rule": pa.string(),
    "key": pa.string(),
    "least_confidence": pa.float64(),
    "changed_at": TIME,
    "gone_at": TIME,
}
NORMALIZED: Final = "normalized"  # by the attributes' types, as JSON text


class _Drain(io.RawIOBase):
    """A file that keeps what was written until it is taken."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, part: Any) -> int:
        self._parts.append(bytes(part))
        return len(self._parts[-1])

    def take(self) -> bytes:
        """Return what was written since the last call."""
        parts, self._parts = self._parts, []
        return b"".join(parts)


def parquet_parts(
    parts: Iterable[Sequence[Mapping[str, Any]]], is_multi_by_attribute: Mapping[str, bool]
) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file with the rows of all parts."""
    schema, names = _schema_of(is_multi_by_attribute)
    drain = _Drain()
    with parquet.ParquetWriter(drain, schema, compression="zstd") as writer:
        for rows in _groups(parts):
            writer.write_table(_table_of(rows, schema, names))
            yield drain.take()
    yield drain.take()


def _schema_of(is_multi_by_attribute: Mapping[str, bool]) -> tuple[pa.Schema, dict[str, str]]:
    """Return the columns of a file, and the attribute of each that holds values."""
    taken = {*HEAD, NORMALIZED}
    names = {f"values.{name}" if name in taken else name: name for name in is_multi_by_attribute}
    values = [
        (column, pa.list_(pa.string()) if is_multi_by_attribute[name] else pa.string())
        for column, name in names.items()
    ]
    return pa.schema([*HEAD.items(), *values, (NORMALIZED, pa.string())]), names


def _groups(parts: Iterable[Sequence[Mapping[str, Any]]]) -> Iterator[list[Mapping[str, Any]]]:
    rows: list[Mapping[str, Any]] = []
    for part in parts:
        rows += part
        if len(rows) >= ROWS_A_GROUP:
            yield rows
            rows = []
    if rows:
        yield rows


def _table_of(
    rows: Sequence[Mapping[str, Any]], schema: pa.Schema, names: Mapping[str, str]
) -> pa.Table:
    columns = []
    for field in schema:
        if field.name in names:
            values = [_as(field.type, row["values"].get(names[field.name])) for row in rows]
            columns.append(pa.array(values, field.type))
        elif field.type == TIME:
            columns.append(pa.array([row[field.name] for row in rows], pa.string()).cast(TIME))
        elif field.name == NORMALIZED:
            columns.append(
                pa.array([orjson.dumps(row[NORMALIZED]).decode() for row in rows], pa.string())
            )
        else:
            columns.append(pa.array([row[field.name] for row in rows], field.type))
    return pa.Table.from_arrays(columns, schema=schema)


def _as(kind: pa.DataType, value: object) -> object:
    """Return a value as its column takes it: an attribute may have had one value once and several now."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return list(map(str, value)) if isinstance(value, list) else [str(value)]
    return value if isinstance(value, str) else orjson.dumps(value).decode()
