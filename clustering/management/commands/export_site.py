"""Write all that a site owns into one file."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from clustering.services.sites import site_export
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.requests import create_here
from vertex.core.storage import DiskFull


class Command(WorkCommand):
    help = (
        "Write a site's rows and pages into the zip file or folder PLACE; `import_site` takes all "
        "of it again, `import_pages` its pages."
    )
    failures = (DiskFull,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--output",
            metavar="PLACE",
            type=Path,
            default=Path(),
            help="a name that ends in .zip, or a folder that gets a file named after the site",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        place: Path = options["output"]
        if place == Path("-"):
            raise CommandError(
                "--output: a zip file goes into a file or a folder, not to standard output"
            )
        request = site_export.export_request(site=self.site(options["site"]))
        work = partial(site_export.export_site, place=place.resolve())
        result = self.finish_here(create_here(request), work)
        self.stdout.write(str(place if place.is_file() else place / result["file"]))
