"""Crawl what a site's sitemaps list, from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.services.crawl.crawl_results import CrawlLine
from clustering.services.crawl.sitemap_crawling import sitemap_crawl_request
from vertex.core.management.output import WorkCommand, whole_number


class Command(WorkCommand):
    help = (
        "Visit the pages that the sitemaps of SITE list, and store them; links are not followed. Sitemaps are"
        " found by robots.txt, else at /sitemap.xml."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--sitemap", default="", metavar="URL", help="read this one, and those that it names"
        )
        parser.add_argument(
            "--max-pages", type=whole_number, metavar="N", help="visit at most this many pages"
        )
        parser.add_argument(
            "--delay", type=float, metavar="SECONDS", help="between two requests to a host"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        request = sitemap_crawl_request(
            site=self.site(options["site"]),
            sitemap=options["sitemap"],
            max_pages=options["max_pages"],
            delay=options["delay"],
        )
        with self.open_output(options["output"]) as lines, self.progress(request.title) as advance:

            def report(line: CrawlLine) -> None:
                lines.write(line.as_json())
                advance(line)

            result = self.run_here(request, report=report)
        self.notice(
            f"{result['sitemaps']:,} sitemap(s), {result['addresses']:,} address(es), "
            f"{result.get('stored', 0):,} page(s) stored, {result['known']:,} not changed since"
        )
