"""Repair a site after a change."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from monitoring.services.repair import repairing
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Cluster the pages of SITE as they are now, find the rules that still serve them, "
        "and propose rules "
        "for the others from golden values that are found again. "
        "The pages come from the site itself, or "
        "from SOURCE: a manifest, a WARC, a zip or a folder of HTML. "
        "Nothing changes without --accept."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--source", default="", metavar="SOURCE", help="newer pages (default: the site)"
        )
        parser.add_argument(
            "--accept",
            action="store_true",
            help="store the pages and apply what passes the field test",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            request = repairing.repair_request(
                site=site, source=options["source"], is_accepted=options["accept"], is_patient=False
            )
            result = self.run_here(request, report=lines.write)
        summary = ", ".join(f"{n:,} {decision.replace('_', ' ')}" for decision, n in result.items())
        self.notice(f"{site.name}: {summary}")
