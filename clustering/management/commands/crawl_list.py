"""Crawl a list with all its pages and details from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.management.crawl_command import CrawlCommand
from clustering.services.crawl.limits import DEFAULT_PAGES
from clustering.services.crawl.list_crawling import list_crawl_request
from vertex.core.management.output import whole_number


class Command(CrawlCommand):
    help = (
        "Fetch the list at URL, the pages on which it goes on, and the page about each of its "
        "records; politely, as crawl_site does."
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
        self.add_crawl_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        request = list_crawl_request(
            site=self.site(options["site"]),
            url=options["url"],
            follows_pages=not options["no_pages"],
            follows_details=not options["no_details"],
            max_pages=options["max_pages"],
            delay=options["delay"],
        )
        result = self.crawl_here(request, options["output"])
        self.notice(
            f"{result['lists']} page(s) of the list, {result['records']} records, "
            f"{result['details']} details"
        )
