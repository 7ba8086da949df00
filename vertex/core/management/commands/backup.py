"""Write database and page store into one file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from vertex.core.management.output import WorkCommand
from vertex.core.services.files import backup
from vertex.core.storage import DiskFull, StoreAway


class Command(WorkCommand):
    help = (
        "Write database and page store as one consistent set into FILE, "
        "while the product goes on working."
    )
    failures = (DiskFull, StoreAway)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="a tar archive; appears when complete"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        summary = backup.backup(options["file"].resolve(), report=self.notice)
        self.notice(f"{summary['n_bodies']:,} page bodies in {options['file']}")
        if summary["damaged"]:
            names = ", ".join(summary["damaged"][:3])
            raise CommandError(
                f"{len(summary['damaged'])} bodies could not be read and are not in it: {names}"
            )
