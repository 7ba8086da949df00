"""Draft the rules of a site without any annotation."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from rules.services.fields import field_drafts
from vertex.core.management.output import WorkCommand


class Command(WorkCommand):
    help = (
        "Draft a rule for each cluster of SITE that nobody annotated, from the published rules of "
        "the other sites of its vertical. Drafts are never published by this command."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--cluster", default="", metavar="C", help="only this cluster (default: all)"
        )
        parser.add_argument(
            "--min-certainty",
            type=float,
            default=0.0,
            metavar="P",
            help="leave out fields that are less certain, from 0 to 1 (default: 0)",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            request = field_drafts.drafting_request(
                site=site,
                cluster=options["cluster"],
                min_certainty=options["min_certainty"],
            )
            result = self.run_here(request, report=lines.write)
        self.notice(
            f"{site.name}: {result['rules']:,} rules drafted with {result['fields']:,} attributes; "
            "look at them, then publish"
        )
