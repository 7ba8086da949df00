"""Run a site's published rules on its stored pages."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from clustering.dom.addresses import BadAddress, normalise_url
from rules.services.fields.draft_extraction import draft_lines
from rules.services.records import extracting
from vertex.core.management.output import WorkCommand
from vertex.core.models import Site
from vertex.core.services.files.files import open_input
from vertex.core.services.jobs.step_limits import begin_step, limited_steps


class Command(WorkCommand):
    help = (
        "Extract the records of SITE's stored pages with its published rules and write them. "
        "Only pages, "
        "rules and clusters that are new since the last run are worked on; all records are written."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("site", metavar="SITE")
        parser.add_argument(
            "--urls", default="", metavar="FILE", help="write only these pages, one URL a line"
        )
        parser.add_argument(
            "--drafts",
            action="store_true",
            help="use the drafts where a cluster has no published rule; nothing is stored",
        )
        self.add_output_argument(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        site = self.site(options["site"])
        urls = self._urls(options["urls"]) if options["urls"] else None
        if options["drafts"]:
            self._write_drafts(site, urls, options["output"])
            return
        with self.open_output(options["output"]) as lines:
            request = extracting.extraction_request(site=site)
            with self.progress(request.title) as advance:
                result = self.run_here(request, report=advance)
            for line in extracting.stored_lines(site, urls):
                lines.write(line)
        summary = ", ".join(f"{n:,} {what}" for what, n in result.items() if n)
        self.notice(f"{site.name}: {summary or 'nothing new'}")

    def _write_drafts(self, site: Site, urls: dict[str, list[str]] | None, output: str) -> None:
        n_lines = 0
        with self.open_output(output) as lines, limited_steps():
            for line in draft_lines(site, urls):
                begin_step()
                lines.write(line)
                n_lines += 1
        self.notice(f"{site.name}: {n_lines:,} lines by drafts, nothing stored")

    def _urls(self, path: str) -> dict[str, list[str]]:
        """Return the addresses that a file lists, as it writes them, by their normalised form."""
        urls: dict[str, list[str]] = {}
        with open_input(path) as stream:
            for number, line in enumerate(stream, 1):
                text = line.decode("utf-8", "replace").strip()
                if not text:
                    continue
                try:
                    spellings = urls.setdefault(normalise_url(text), [])
                except BadAddress as error:
                    self.report_bad_line(f"{path}:{number}", str(error))
                    continue
                if text not in spellings:
                    spellings.append(text)
        return urls
