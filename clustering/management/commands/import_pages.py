"""Import pages from a manifest, a web archive, a zip or a folder of HTML."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from django.core.management.base import CommandParser

from clustering.dom.addresses import BadAddress, address_keys
from clustering.services.pages.importing import ImportedLine, import_request
from vertex.core.management.output import STANDARD, Lines, WorkCommand, kept_standard_input
from vertex.core.models import Site
from vertex.core.services.jobs.jobs import Report
from vertex.core.services.jobs.requests import JobRequest


class Command(WorkCommand):
    help = (
        "Store the pages of SOURCE as snapshots of SITE. SOURCE is a manifest (JSON lines with url "
        "and file, and perhaps status, fetched_at and content_type), a WARC, a zip or a folder of "
        "HTML, or - for a manifest, WARC or zip on standard input. A page whose bytes are known "
        "already is unchanged."
    )
    failures = (BadAddress,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument("source", metavar="SOURCE")
        parser.add_argument(
            "--base-url",
            default="",
            metavar="URL",
            help="where the files of a zip or folder without a manifest stand (default: "
            "the site's root)",
        )
        self.add_output_argument(parser)

    def handle(self, *args: str, **options: str) -> None:
        site = self.site(options["site"])
        with self.open_output(options["output"]) as lines:
            request = self._request(site, options["source"], options["base_url"])
            with self.progress(f"{site.name}: importing") as advance:
                report = partial(self._report_line, lines, advance)
                result = self.run_here(request, report=report)
        summary = ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in result.items())
        self.notice(f"{site.name}: {summary}")

    def _request(self, site: Site, source: str, base_url: str) -> JobRequest:
        """Return what to import; a manifest on standard input names files in this folder."""
        if source == STANDARD:
            return import_request(
                site=site, source=kept_standard_input(), base_url=base_url, folder=Path.cwd()
            )
        return import_request(site=site, source=Path(source), base_url=base_url)

    def _report_line(self, lines: Lines, advance: Report, line: ImportedLine) -> None:
        if line.snapshot == "failed":
            self.report_bad_line(line.place, line.reason)
        if line.url:
            reason = {"reason": line.reason} if line.reason else {}
            lines.write({**address_keys(line.url), "snapshot": line.snapshot} | reason)
        advance(line)
