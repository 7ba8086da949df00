"""Write the records of pages beside what is stored of them: new, changed, gone or the same.

There are two ways that leave the same rows: one by model objects, and one for PostgreSQL,
where the records go by COPY into a stage table and the database compares. Both write in
the caller's transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import orjson
from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import F

from rules.models import ChangeCounter, Record, RecordVersion
from rules.services.records.record_rows import JSON_NAMES

Row = dict[str, Any]  # the columns of a record that an extraction gives

COUNTER = "records"
# A record changed where one of these did.
CONTENT: Final = (
    "values",
    "raw",
    "normalized",
    "missing",
    "failed",
    "problems",
    "details_url",
)
BESIDE_CONTENT: Final = ("confidence", "nodes", "record_confidence", "index")
CAME_FROM: Final = ("cluster_id", "rule_id", "snapshot_id")
NAMES: Final = ("page_id", "key", "site_id", *CAME_FROM, *CONTENT, *BESIDE_CONTENT)


def upsert_records(rows: Iterable[Row], *, pages: Sequence[int], now: datetime) -> dict[str, int]:
    """Write all records of some pages; of two with the same page and key the later one.

    Returns how many records are new, changed, gone and the same.
    """
    distinct = list({(row["page_id"], row["key"]): row for row in rows}.values())
    upsert = upsert_by_copy if connection.vendor == "postgresql" else upsert_by_model
    return upsert(distinct, pages=pages, now=now)


def take_numbers(n: int) -> range:
    """Claim so many change numbers; the counter is locked until they show: readers skip none."""
    if n == 0:
        return range(0)
    ChangeCounter.objects.get_or_create(name=COUNTER)
    ChangeCounter.objects.filter(name=COUNTER).update(value=F("value") + n)
    last: int = ChangeCounter.objects.values_list("value", flat=True).get(name=COUNTER)
    return range(last - n + 1, last + 1)


def upsert_by_model(rows: Sequence[Row], *, pages: Sequence[int], now: datetime) -> dict[str, int]:
    """Write records by model objects, and return how many were new, changed, gone and the same.

    What changed or is gone keeps its old values as a version; each record gets a change number
    of its own.
    """
    before = {
        (record.page_id, record.key): record
        for record in Record.objects.of_pages(pages).order_by("pk")
    }
    after = {(row["page_id"], row["key"]): row for row in rows}
    new = [row for key, row in after.items() if key not in before]
    known = [(before[key], row) for key, row in after.items() if key in before]
    changed = [
        (record, row) for record, row in known if record.gone_at or _differ(record, row, CONTENT)
    ]
    gone = [record for key, record in before.items() if key not in after and record.gone_at is None]

    numbers = iter(take_numbers(len(new) + len(changed) + len(gone)))
    _store_versions([*(record for record, _ in changed), *gone], now)
    Record.objects.bulk_create(
        Record(**row, change_number=next(numbers), first_seen_at=now, changed_at=now) for row in new
    )
    _write_changed(changed, numbers, now)
    for record in gone:
        record.gone_at, record.changed_at, record.change_number = now, now, next(numbers)
    Record.objects.bulk_update(gone, ["gone_at", "changed_at", "change_number"])

    changed_pks = {record.pk for record, _ in changed}
    _store_origin([(record, row) for record, row in known if record.pk not in changed_pks])
    return {
        "new": len(new),
        "changed": len(changed),
        "gone": len(gone),
        "same": len(known) - len(changed),
    }


def _differ(record: Record, row: Row, names: Iterable[str]) -> bool:
    return any(getattr(record, name) != row[name] for name in names)


def _store_versions(records: Iterable[Record], now: datetime) -> None:
    """Store what records were until now as versions."""
    RecordVersion.objects.bulk_create(
        RecordVersion(
            record=record,
            values=record.values,
            rule_id=record.rule_id,
            was_gone=record.gone_at is not None,
            since=record.changed_at,
            until=now,
        )
        for record in records
    )


def _write_changed(
    changed: Sequence[tuple[Record, Row]], numbers: Iterator[int], now: datetime
) -> None:
    names = (*CONTENT, *BESIDE_CONTENT, *CAME_FROM)
    for record, row in changed:
        _set_columns(record, row, names)
        record.change_number, record.changed_at, record.gone_at = next(numbers), now, None
    written = [*names, "change_number", "changed_at", "gone_at"]
    Record.objects.bulk_update([record for record, _ in changed], written)


def _store_origin(same: Sequence[tuple[Record, Row]]) -> None:
    """Store which rule and snapshot unchanged records came from last; that is no change."""
    names = (*CAME_FROM, *BESIDE_CONTENT)
    moved = [(record, row) for record, row in same if _differ(record, row, names)]
    for record, row in moved:
        _set_columns(record, row, names)
    Record.objects.bulk_update([record for record, _ in moved], names)


def _set_columns(record: Record, row: Mapping[str, Any], names: Iterable[str]) -> None:
    for name in names:
        setattr(record, name, row[name])


def _listed(names: Iterable[str], prefix: str = "") -> str:
    return ", ".join(f'{prefix}"{name}"' for name in names)


def _given(names: Iterable[str], source: str) -> str:
    return ", ".join(f'"{name}" = {source}."{name}"' for name in names)


def _distinct(names: Sequence[str], table: str, other_table: str) -> str:
    return f"({_listed(names, f'{table}.')}) IS DISTINCT FROM ({_listed(names, f'{other_table}.')})"


_TYPES: Final = {
    "key": "varchar(200)",
    "index": "integer",
    "record_confidence": "double precision",
    "details_url": "text",
}
_COLUMNS = ", ".join(
    f'"{name}" {"jsonb" if name in JSON_NAMES else _TYPES.get(name, "bigint")}' for name in NAMES
)
_CREATE_STAGE = f"""
    CREATE TEMPORARY TABLE IF NOT EXISTS record_stage (
        place integer, state text DEFAULT 'new', {_COLUMNS}
    ) ON COMMIT DELETE ROWS
"""
_COPY = f"COPY record_stage (place, {_listed(NAMES)}) FROM STDIN"
_CHANGED = f"r.gone_at IS NOT NULL OR {_distinct(CONTENT, 'r', 's')}"
_COMPARE = f"""
    UPDATE record_stage s SET state = CASE
        WHEN {_CHANGED} THEN 'changed'
        WHEN {_distinct((*CAME_FROM, *BESIDE_CONTENT), "r", "s")} THEN 'moved' ELSE 'same' END
    FROM rules_record r WHERE r.page_id = s.page_id AND r.key = s.key
"""  # noqa: S608 - constants
_FIND_GONE = """
    SELECT r.id FROM rules_record r WHERE r.page_id = ANY(%s) AND r.gone_at IS NULL AND NOT EXISTS (
        SELECT FROM record_stage s WHERE s.page_id = r.page_id AND s.key = r.key)
    ORDER BY r.id
"""
_KEEP = """
    INSERT INTO rules_recordversion (record_id, "values", rule_id, was_gone, since, until)
    SELECT r.id, r."values", r.rule_id, r.gone_at IS NOT NULL, r.changed_at, %s
"""
_KEEP_CHANGED = f"""{_KEEP}
    FROM record_stage s JOIN rules_record r ON r.page_id = s.page_id AND r.key = s.key
    WHERE s.state = 'changed' ORDER BY s.place
"""
_KEEP_GONE = f"{_KEEP} FROM rules_record r WHERE r.id = ANY(%s) ORDER BY r.id"
_UPSERT = f"""
    INSERT INTO rules_record AS r ({_listed(NAMES)}, change_number, first_seen_at, changed_at)
    SELECT {_listed(NAMES)}, %s + row_number() OVER (ORDER BY state = 'changed', place), %s, %s
    FROM record_stage WHERE state IN ('new', 'changed') ORDER BY state = 'changed', place
    ON CONFLICT (page_id, key) DO UPDATE SET
        {_given((*CONTENT, *BESIDE_CONTENT, *CAME_FROM), "EXCLUDED")},
        change_number = EXCLUDED.change_number, changed_at = EXCLUDED.changed_at, gone_at = NULL
    WHERE {_CHANGED.replace("s.", "EXCLUDED.")}
"""  # noqa: S608 - constants
_CARRY = f"""
    UPDATE rules_record r SET {_given((*CAME_FROM, *BESIDE_CONTENT), "s")}
    FROM record_stage s WHERE s.state = 'moved' AND r.page_id = s.page_id AND r.key = s.key
"""  # noqa: S608 - constants
_MARK_GONE = """
    UPDATE rules_record r SET gone_at = %s, changed_at = %s, change_number = %s + gone.place
    FROM unnest(%s::bigint[]) WITH ORDINALITY AS gone (id, place) WHERE r.id = gone.id
"""


def upsert_by_copy(rows: Sequence[Row], *, pages: Sequence[int], now: datetime) -> dict[str, int]:
    """Write records by COPY into a stage table, and from there by statements for all at once."""
    with connection.cursor() as cursor:
        _fill_stage(cursor, rows)
        cursor.execute(_COMPARE)
        cursor.execute("SELECT state, count(*) FROM record_stage GROUP BY state")
        n_by_state = dict(cursor.fetchall())
        cursor.execute(_FIND_GONE, [list(pages)])
        gone = [pk for (pk,) in cursor.fetchall()]
        n_new, n_changed = n_by_state.get("new", 0), n_by_state.get("changed", 0)
        numbers = take_numbers(n_new + n_changed + len(gone))
        if n_changed:
            cursor.execute(_KEEP_CHANGED, [now])
        if n_new or n_changed:
            cursor.execute(_UPSERT, [numbers.start - 1, now, now])
        if n_by_state.get("moved"):
            cursor.execute(_CARRY)
        if gone:
            cursor.execute(_KEEP_GONE, [now, gone])
            cursor.execute(_MARK_GONE, [now, now, numbers.start + n_new + n_changed - 1, gone])
    return {
        "new": n_new,
        "changed": n_changed,
        "gone": len(gone),
        "same": len(rows) - n_new - n_changed,
    }


def _fill_stage(cursor: CursorWrapper, rows: Sequence[Row]) -> None:
    """Copy the records into the stage table, which each connection has for itself."""
    cursor.execute(_CREATE_STAGE)
    cursor.execute("SELECT EXISTS (SELECT FROM record_stage)")
    if cursor.fetchone()[0]:  # of an earlier call in the same transaction
        # Deleted rows would be read again by each statement.
        cursor.execute("TRUNCATE record_stage")
    with cursor.copy(_COPY) as copy:
        for place, row in enumerate(rows):
            columns = (
                orjson.dumps(row[name]).decode() if name in JSON_NAMES else row[name]
                for name in NAMES
            )
            copy.write_row((place, *columns))
