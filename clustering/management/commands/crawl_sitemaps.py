"""Crawl what a site's sitemaps list, from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.management.crawl_command import CrawlCommand
from clustering.services.crawl.sitemap_crawling import sitemap_crawl_request
from vertex.core.management.output import whole_number


class Command(CrawlCommand):
    help = (
        "Visit the pages that the sitemaps of SITE list, and store them; links are not followed. "
        "Sitemaps are found by robots.txt, else at /sitemap.xml."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--sitemap", default="", metavar="URL", help="read this one, and those that it names"
        )
        parser.add_argument(
            "--max-pages", type=whole_number, metavar="N", help="visit at most this many pages"
        )
        self.add_crawl_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        request = sitemap_crawl_request(
            site=self.site(options["site"]),
            sitemap=options["sitemap"],
            max_pages=options["max_pages"],
            delay=options["delay"],
        )
        result = self.crawl_here(request, options["output"])
        self.notice(
            f"{result['sitemaps']:,} sitemap(s), {result['addresses']:,} address(es), "
            f"{result.get('stored', 0):,} page(s) stored, {result['known']:,} not changed since"
        )
