"""Write all that a site owns into one file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clustering.services.sites import site_export
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import DiskFull


class Command(WorkCommand):
    help = "Write a site's rows and pages into a zip file in FOLDER; `import_pages` takes it again."
    failures = (DiskFull,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("--output", metavar="FOLDER", type=Path, default=Path())

    def handle(self, *args: Any, **options: Any) -> None:
        request = site_export.export_request(site=self.site(options["site"]))
        work = partial(site_export.export_site, folder=options["output"].resolve())
        result = self.finish_here(create_here(request), work)
        self.stdout.write(str(options["output"] / result["file"]))
