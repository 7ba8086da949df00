"""Bring a backup back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from vertex.core.management.output import WorkCommand
from vertex.core.services.files import backup
from vertex.core.storage import DiskFull, StoreAway


class Command(WorkCommand):
    help = (
        "Bring a backup back into an empty installation, on SQLite or PostgreSQL, and upgrade it."
    )
    failures = (backup.NotABackup, backup.NotEmpty, DiskFull, StoreAway)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="what `backup` wrote")

    def handle(self, *args: Any, **options: Any) -> None:
        summary = backup.restore(options["file"].resolve())
        n_rows = sum(summary["rows"].values())
        self.notice(
            f"{n_rows:,} rows and {summary['n_bodies']:,} page bodies as of "
            f"{summary['made_at'][:19]}"
        )
