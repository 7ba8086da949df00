"""Crawl a site from the command line."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.management.base import CommandParser

from clustering.management.crawl_command import CrawlCommand
from clustering.services.crawl import crawling
from vertex.core.management.output import whole_number
from vertex.core.models import Job, Site
from vertex.core.services.jobs.requests import create_here


class Command(CrawlCommand):
    help = (
        "Visit the pages of SITE over HTTP, politely, and store them with their links. A crawl "
        "that was interrupted goes on where it stopped."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--entry", default="", metavar="URL", help="where to begin (default: the root)"
        )
        parser.add_argument(
            "--max-pages", type=whole_number, metavar="N", help="visit at most this many pages"
        )
        parser.add_argument(
            "--strategy",
            choices=crawling.Strategy.values,
            default=crawling.Strategy.BREADTH_FIRST.value,
            help="breadth_first visits all pages, the others a small part that shows what "
            "classes there are",
        )
        self.add_crawl_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        job = self._job(site, options)
        with self.reporting(job.title, options["output"]) as report:
            for line in crawling.lines_so_far(job):
                report(line)
            work = partial(
                crawling.crawl,
                max_pages=options["max_pages"],
                delay=options["delay"],
            )
            result = self.finish_here(job, work, report=report)
        self._summarise(result)

    def _job(self, site: Site, options: dict[str, Any]) -> Job:
        """Return a new crawl, or the one that was interrupted."""
        params = {name: options[name] for name in ("entry", "max_pages", "delay", "strategy")}
        interrupted = crawling.interrupted_crawl(site=site, **params)
        if interrupted is None:
            return create_here(crawling.crawl_request(site=site, **params))
        self.notice(
            f"goes on with job {interrupted.pk}, which stopped after {interrupted.n_done} page(s)"
        )
        crawling.resume_crawl(job=interrupted)
        return interrupted

    def _summarise(self, result: dict[str, Any]) -> None:
        parts = []
        for outcome, n_pages in result.items():
            if isinstance(n_pages, int) and n_pages:
                parts.append(f"{n_pages} {outcome.replace('_', ' ')}")
        self.notice(f"pages: {', '.join(parts)}")
