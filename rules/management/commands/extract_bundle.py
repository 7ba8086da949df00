"""Run exported rules on any pages, without a database."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from rules.bundle.bundle import BadBundle
from rules.bundle.parallel import extract_bundle
from vertex.core.management.output import open_output, whole_number
from vertex.core.services.files.files import UnreadableFile


class Command(BaseCommand):
    help = (
        "Run the rules in BUNDLE_DIR, which export_rules wrote, on the pages of SOURCE: "
        "a manifest, a WARC, "
        "a zip or a folder of HTML. No database is needed."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("bundle", metavar="BUNDLE_DIR")
        parser.add_argument("source", metavar="SOURCE")
        parser.add_argument(
            "--jobs",
            type=whole_number,
            default=1,
            metavar="N",
            help="processes at a time (default: 1)",
        )
        parser.add_argument(
            "--base-url", default="", metavar="URL", help="of a folder without a manifest"
        )
        parser.add_argument(
            "--output", default="-", metavar="FILE", help="(default: standard output)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with open_output(options["output"], self.stdout) as lines:  # type: ignore[arg-type]  # Django's wrapper
                for line in extract_bundle(
                    Path(options["bundle"]),
                    Path(options["source"]),
                    n_jobs=options["jobs"],
                    base_url=options["base_url"],
                ):
                    lines.write(line)
        except (BadBundle, UnreadableFile, OSError) as error:
            raise CommandError(str(error)) from error
