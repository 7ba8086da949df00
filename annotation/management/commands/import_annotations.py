"""Import annotations."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from annotation.services.files.importing import import_request
from vertex.core.management.output import STANDARD, WorkCommand, kept_standard_input


class Command(WorkCommand):
    help = (
        'Take the annotations of FILE: lines {"url", "attribute", "xpath"?, "text"?, '
        '"absent"?, "record"?},'
        ' or {"url", "record": [xpath, …]} for the boundary of a record. '
        "The lines replace what was said"
        " before of the same attributes on the same pages."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("file", metavar="FILE")

    def handle(self, *args: str, **options: str) -> None:
        site = self.site(options["site"])
        path = kept_standard_input() if options["file"] == STANDARD else Path(options["file"])
        result = self.run_here(
            import_request(site=site, source=path), report=lambda bad: self.report_bad_line(*bad)
        )
        self.notice(
            f"{site.name}: {result['annotations']:,} annotations on {result['pages']:,} pages"
        )
