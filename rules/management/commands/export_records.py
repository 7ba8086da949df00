"""Write a site's records with typed values as JSON Lines, CSV or Parquet."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from rules.services.records import file_formats, record_exports
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Write the records of SITE as JSON Lines, CSV or Parquet, "
        "each value by the type of its attribute."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--format",
            choices=file_formats.Format.values,
            default=file_formats.JSON_LINES,
            help="(default: jsonl)",
        )
        parser.add_argument(
            "--gone",
            action="store_true",
            help="write also the records that their pages no longer have",
        )
        parser.add_argument(
            "--raw",
            action="store_true",
            help="write beside each attribute the displayed text, as ATTRIBUTE_raw",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        records = record_exports.records_of(self.site(options["site"]), has_gone=options["gone"])
        with self.open_output(options["output"]) as lines:
            for part in record_exports.export_parts(
                records, options["format"], has_raw=options["raw"]
            ):
                lines.write_bytes(part)
