"""Import annotations."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from django.core.management.base import CommandParser

from annotation.services.files.importing import import_annotations, request_import
from vertex.core.management.output import STANDARD, WorkCommand, kept_standard_input
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs


class Command(WorkCommand):
    help = (
        'Take the annotations of FILE: lines {"url", "attribute", "xpath"?, "text"?, "absent"?, "record"?},'
        ' or {"url", "record": [xpath, …]} for the boundary of a record. The lines replace what was said'
        " before of the same attributes on the same pages."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("file", metavar="FILE")

    def handle(self, *args: str, **options: str) -> None:
        site = self.site(options["site"])
        job = self._request(site, options["file"])
        result = self.run_job(job, partial(import_annotations, report=self.report_bad_line))
        self.notice(
            f"{site.name}: {result['annotations']:,} annotations on {result['pages']:,} pages"
        )

    def _request(self, site: Site, file: str) -> Job:
        """Return a new job, or the one that a killed run of the same command left behind."""
        path = kept_standard_input() if file == STANDARD else Path(file)
        try:
            return request_import(site=site, source=path, rings=False)
        except jobs.JobExists as unfinished:
            return unfinished.job
