"""Visit the addresses of a list from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from clustering.management.crawl_command import CrawlCommand
from clustering.services.crawl.address_lists import address_list_request
from vertex.core.management.output import STANDARD, kept_standard_input


class Command(CrawlCommand):
    help = (
        "Visit the addresses in FILE, one a line, and store their pages; links are not followed. "
        "What does not belong to SITE is refused with its line."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("file", metavar="FILE")
        self.add_crawl_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        path = kept_standard_input() if options["file"] == STANDARD else Path(options["file"])
        request = address_list_request(
            site=self.site(options["site"]), source=path, delay=options["delay"]
        )
        result = self.crawl_here(request, options["output"])
        self.notice(
            f"{result['addresses']:,} address(es), {result.get('stored', 0):,} page(s) stored"
        )
