"""Crawl a list with all its pages and details from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.services.crawl.crawl_results import CrawlLine
from clustering.services.crawl.limits import DEFAULT_PAGES
from clustering.services.crawl.list_crawling import list_crawl_request
from vertex.core.management.output import WorkCommand, whole_number


class Command(WorkCommand):
    help = (
        "Fetch the list at URL, the pages on which it goes on, and the page about each of its records;"
        " politely, as crawl_site does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("url", metavar="URL")
        parser.add_argument(
            "--no-pages", action="store_true", help="do not go on to further pages of the list"
        )
        parser.add_argument(
            "--no-details", action="store_true", help="do not fetch the pages of the records"
        )
        parser.add_argument(
            "--max-pages",
            type=whole_number,
            default=DEFAULT_PAGES,
            metavar="N",
            help=f"fetch at most this many pages (default: {DEFAULT_PAGES:,})",
        )
        parser.add_argument(
            "--delay", type=float, metavar="SECONDS", help="between two requests to a host"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        request = list_crawl_request(
            site=self.site(options["site"]),
            url=options["url"],
            follows_pages=not options["no_pages"],
            follows_details=not options["no_details"],
            max_pages=options["max_pages"],
            delay=options["delay"],
        )
        with self.open_output(options["output"]) as lines, self.progress(request.title) as advance:

            def report(line: CrawlLine) -> None:
                lines.write(line.as_json())
                advance(line)

            result = self.run_here(request, report=report)
        self.notice(
            f"{result['lists']} page(s) of the list, {result['records']} records, {result['details']} details"
        )
