"""Import a search log: what people typed before they came to a site's pages."""

from __future__ import annotations

from pathlib import Path

from django.core.management.base import CommandParser

from clustering.services.pages.search_log import search_log_request
from vertex.core.management.output import STANDARD, WorkCommand, kept_standard_input


class Command(WorkCommand):
    help = (
        "Store how often a query led to a page of SITE. FILE has a line for each: query, URL and "
        "clicks, separated by tabs. The clicks of the same query and page add up within FILE and "
        "replace what an earlier file said of them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("file", metavar="FILE")

    def handle(self, *args: str, **options: str) -> None:
        site = self.site(options["site"])
        path = kept_standard_input() if options["file"] == STANDARD else Path(options["file"])
        result = self.run_here(
            search_log_request(site=site, source=path),
            report=lambda bad: self.report_bad_line(*bad),
        )
        self.notice(f"{site.name}: {result['stored']:,} queries with their pages stored")
