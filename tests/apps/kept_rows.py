"""What many tests begin with is made once a process; each test is given its rows and files."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import Model
from django.test import override_settings
from django.utils import timezone

FOLDERS = ("PAGE_STORE_DIR", "OBSERVATION_DIR")


@dataclass(frozen=True)
class TableRows:
    table: str
    columns: list[str]
    rows: list[tuple[Any, ...]]


@dataclass(frozen=True)
class Kept:
    """What a function has written into an empty database and an installation's folders."""

    tables: list[TableRows]
    folder: Path
    kept_at: datetime


_kept_by_name: dict[str, Kept] = {}


def keep(name: str, build: Callable[[], object]) -> None:
    """Let a function write what it writes, keep that under a name, and leave the database empty."""
    folder = Path(tempfile.mkdtemp(prefix="kept-", dir=settings.VAR_DIR.parent))
    own_folders = {setting: folder / setting for setting in FOLDERS}
    with override_settings(**own_folders), transaction.atomic():
        # As in a test: what is durable elsewhere may be undone here.
        connection.atomic_blocks[-1]._from_testcase = True  # type: ignore[attr-defined]
        build()
        tables = [each for each in map(_rows_of, _tables()) if each.rows]
        transaction.set_rollback(True)
    _kept_by_name[name] = Kept(tables, folder, timezone.now())


def bring_back(name: str) -> bool:
    """Write what was kept, dated as if made now; write nothing if one of its tables holds rows."""
    kept = _kept_by_name.get(name)
    if kept is None or any(_has_rows(each.table) for each in kept.tables):
        return False
    age = timezone.now() - kept.kept_at
    with transaction.atomic(), connection.cursor() as cursor:
        for each in kept.tables:
            places = ", ".join(["%s"] * len(each.columns))
            cursor.executemany(
                f"INSERT INTO {each.table} ({', '.join(each.columns)}) VALUES ({places})",
                [_later(row, age) for row in each.rows],
            )
        # A test before may have set them back: what is created next would get a number of
        # these rows.
        written = {each.table for each in kept.tables}
        models = [model for model in _models() if _quoted_table(model) in written]
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    for setting in FOLDERS:
        if (kept.folder / setting).exists():
            shutil.copytree(kept.folder / setting, getattr(settings, setting), dirs_exist_ok=True)
    return True


def _tables() -> list[tuple[str, list[str]]]:
    """Return the tables of the product, quoted, with the columns that can be written."""
    return [
        (
            _quoted_table(model),
            [
                connection.ops.quote_name(field.column)
                for field in model._meta.local_concrete_fields
                if field.column and not field.generated
            ],
        )
        for model in _models()
    ]


def _models() -> list[type[Model]]:
    return [
        model
        for model in apps.get_models(include_auto_created=True)
        if model._meta.app_label not in {"contenttypes", "auth"} and not model._meta.proxy
    ]


def _quoted_table(model: type[Model]) -> str:
    return connection.ops.quote_name(model._meta.db_table)


def _rows_of(table_and_columns: tuple[str, list[str]]) -> TableRows:
    table, columns = table_and_columns
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(columns)} FROM {table}")
        return TableRows(table, columns, cursor.fetchall())


def _has_rows(table: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT 1 FROM {table} LIMIT 1")
        return cursor.fetchone() is not None


def _later(row: tuple[Any, ...], age: timedelta) -> tuple[Any, ...]:
    return tuple(value + age if isinstance(value, datetime) else value for value in row)
