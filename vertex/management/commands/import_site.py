"""Bring the export of a site into this installation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clustering.services.sites.sites import SiteExists
from vertex import site_import
from vertex.core.management.output import WorkCommand
from vertex.core.storage import DiskFull, StoreAway


class Command(WorkCommand):
    help = (
        "Add the site that `export_site` wrote into FILE, with its pages, clusters, "
        "annotations, rules,"
        " records and their history, whole or not at all. Its schedule is paused."
    )
    failures = (
        site_import.NotAnExport,
        site_import.VerticalDiffers,
        SiteExists,
        DiskFull,
        StoreAway,
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", metavar="FILE", type=Path, help="what `export_site` wrote")
        parser.add_argument(
            "--name", default="", metavar="NAME", help="of the site here (default: as it was there)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        with self.progress("importing") as advance:
            outcome = site_import.import_site(options["file"], name=options["name"], report=advance)
        n_rows = sum(outcome.n_rows.values())
        self.notice(f"{outcome.site.name}: {n_rows:,} rows and {outcome.n_bodies:,} bodies")
        if outcome.n_missing:
            self.notice(
                f"{outcome.n_missing:,} rows name a body that was lost before the site was exported"
            )
