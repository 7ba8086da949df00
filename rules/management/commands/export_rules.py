"""Write a site's published rules into a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from rules.services.records import exporting
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.step_limits import limited_steps


class Command(WorkCommand):
    help = (
        "Write the published rules of SITE into DIR: one stylesheet for each cluster, and "
        "bundle.json, with which extract_bundle runs them on any pages without a database. The "
        "format json adds the rules as they were learnt, scrapy a spider."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--output", required=True, metavar="DIR", help="a folder; it is made if need be"
        )
        parser.add_argument(
            "--format", choices=exporting.FORMATS, default="xslt", help="(default: xslt)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with limited_steps():
            files = exporting.export_rules(
                site=site, folder=Path(options["output"]), form=options["format"]
            )
        n_rules = sum(file.suffix == ".xsl" for file in files)
        self.notice(f"{site.name}: {n_rules:,} rules written to {options['output']}")
