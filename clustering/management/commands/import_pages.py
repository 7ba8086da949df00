"""Import pages from a manifest, a web archive, a zip or a folder of HTML."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from django.core.management.base import CommandParser

from clustering.dom.addresses import BadAddress
from clustering.services.pages.importing import ImportedLine, import_pages, request_import
from vertex.core.management.output import STANDARD, Lines, WorkCommand, kept_standard_input
from vertex.core.models import Job, Site
from vertex.core.services.jobs import jobs


class Command(WorkCommand):
    help = (
        "Store the pages of SOURCE as snapshots of SITE. SOURCE is a manifest (JSON lines with url and file,"
        " and perhaps status, fetched_at and content_type), a WARC, a zip or a folder of HTML, or - for a"
        " manifest, WARC or zip on standard input. A page whose bytes are known already is unchanged."
    )
    failures = (BadAddress,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("source", metavar="SOURCE")
        parser.add_argument(
            "--base-url",
            default="",
            metavar="URL",
            help="where the files of a zip or folder without a manifest stand (default: the site's root)",
        )
        self.add_output_argument(parser)

    def handle(self, *args: str, **options: str) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            job = self._request(site, options["source"], options["base_url"])
            with self.progress(f"{site.name}: importing") as advance:
                result = self.run_job(
                    job, partial(import_pages, report=partial(self._tell, lines, advance))
                )
        told = ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in result.items())
        self.notice(f"{site.name}: {told}")

    def _request(self, site: Site, source: str, base_url: str) -> Job:
        """Return a new job, or the one that a killed run of the same command left behind."""
        folder = None
        path = Path(source)
        if source == STANDARD:
            path = kept_standard_input()
            folder = Path.cwd()
        try:
            return request_import(
                site=site, source=path, base_url=base_url, folder=folder, rings=False
            )
        except jobs.JobExists as unfinished:
            return unfinished.job

    def _tell(self, lines: Lines, advance: Callable[[], None], line: ImportedLine) -> None:
        if line.snapshot == "failed":
            self.report_bad_line(line.place, line.reason)
        if line.url:
            reason = {"reason": line.reason} if line.reason else {}
            lines.write({"url": line.url, "snapshot": line.snapshot} | reason)
        advance()
