"""Visit the addresses of a list from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clustering.services.crawl.address_lists import address_list_request
from clustering.services.crawl.crawl_results import CrawlLine
from vertex.core.management.output import STANDARD, WorkCommand, kept_standard_input


class Command(WorkCommand):
    help = (
        "Visit the addresses in FILE, one a line, and store their pages; links are not followed. What does"
        " not belong to SITE is refused with its line."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("file", metavar="FILE")
        parser.add_argument(
            "--delay", type=float, metavar="SECONDS", help="between two requests to a host"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path = kept_standard_input() if options["file"] == STANDARD else Path(options["file"])
        request = address_list_request(
            site=self.site(options["site"]), source=path, delay=options["delay"]
        )
        with self.open_output(options["output"]) as lines, self.progress(request.title) as advance:

            def report(line: CrawlLine) -> None:
                lines.write(line.as_json())
                advance(line)

            result = self.run_here(request, report=report)
        self.notice(
            f"{result['addresses']:,} address(es), {result.get('stored', 0):,} page(s) stored"
        )
