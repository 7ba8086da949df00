"""What the commands that visit pages of a site share: their pause, and a line for each page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import CommandParser

from clustering.services.crawl.crawl_results import CrawlLine
from vertex.core.management.output import WorkCommand
from vertex.core.services.jobs.requests import JobRequest


class CrawlCommand(WorkCommand):
    """A command that visits pages, with a line of output and a step of progress for each."""

    def add_crawl_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--delay",
            type=float,
            metavar="SECONDS",
            help="between two requests to a host (default: the site's own, 1 unless changed)",
        )
        self.add_output_argument(parser)

    @contextmanager
    def reporting(self, title: str, output: str) -> Iterator[Callable[[CrawlLine], None]]:
        """Give what is to be called with the line of each page."""
        with self.open_output(output) as lines, self.progress(title) as advance:

            def report(line: CrawlLine) -> None:
                lines.write(line.as_json())
                advance(line)

            yield report

    def crawl_here(self, request: JobRequest, output: str) -> dict[str, Any]:
        """Do a crawl in this process and return its result."""
        with self.reporting(request.title, output) as report:
            return self.run_here(request, report=report)
