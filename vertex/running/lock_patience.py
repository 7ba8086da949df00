"""How long requests wait for what others are changing: shortly, as a thread waits, too."""

from __future__ import annotations

from typing import Any, Final

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

LOCK_PATIENCE: Final = "2s"


def wait_shortly_for_locks() -> None:
    """Have requests of this process fail where a row or a lock stays somebody else's for long.

    PostgreSQL alone locks rows; on SQLite its own patience counts.
    """
    connection_created.connect(limit_waiting)


def limit_waiting(connection: BaseDatabaseWrapper, **_: Any) -> None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SET lock_timeout = '{LOCK_PATIENCE}'")
