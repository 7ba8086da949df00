"""Run a site's published rules on its stored pages."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.dom.addresses import BadAddress, normalise_url
from rules.services.records import extracting
from vertex.core.management.output import WorkCommand
from vertex.core.services.files.files import open_input


class Command(WorkCommand):
    help = (
        "Extract the records of SITE's stored pages with its published rules and write them. Only pages, "
        "rules and clusters that are new since the last run are worked on; all records are written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--urls", default="", metavar="FILE", help="write only these pages, one URL a line"
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        urls = self._urls(options["urls"]) if options["urls"] else None
        with self.open_output(options["output"]) as lines:
            request = extracting.extraction_request(site=site)
            with self.progress(request.title) as advance:
                result = self.run_here(request, report=advance)
            for line in extracting.stored_lines(site, urls):
                lines.write(line)
        summary = ", ".join(f"{n:,} {what}" for what, n in result.items() if n)
        self.notice(f"{site.name}: {summary or 'nothing new'}")

    def _urls(self, path: str) -> set[str]:
        """Return the addresses that a file lists, as pages are known by."""
        urls = set()
        with open_input(path) as stream:
            for number, line in enumerate(stream, 1):
                text = line.decode("utf-8", "replace").strip()
                if not text:
                    continue
                try:
                    urls.add(normalise_url(text))
                except BadAddress as error:
                    self.report_bad_line(f"{path}:{number}", str(error))
        return urls
