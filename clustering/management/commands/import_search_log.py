"""Import a search log: what people typed before they came to a site's pages."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from django.core.management.base import CommandParser

from clustering.services.pages.search_log import import_search_log, request_search_log
from vertex.core.management.output import STANDARD, WorkCommand, kept_standard_input
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs


class Command(WorkCommand):
    help = (
        "Store how often a query led to a page of SITE. FILE has a line for each: query, URL and clicks,"
        " separated by tabs. The clicks of the same query and page add up within FILE and replace what an"
        " earlier file said of them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("file", metavar="FILE")

    def handle(self, *args: str, **options: str) -> None:
        site = self.site(options["site"])
        job = self._request(site, options["file"])
        result = self.run_job(job, partial(import_search_log, report=self.report_bad_line))
        self.notice(f"{site.name}: {result['stored']:,} queries with their pages stored")

    def _request(self, site: Site, file: str) -> Job:
        """Return a new job, or the one that a killed run of the same command left behind."""
        path = kept_standard_input() if file == STANDARD else Path(file)
        try:
            return request_search_log(site=site, source=path, rings=False)
        except jobs.JobExists as unfinished:
            return unfinished.job
