"""Find the records of list pages, without annotations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeAlias

from django.core.management.base import CommandError, CommandParser

from clustering.algorithms.records.body_lists import DEFAULT, FINDERS, lists_of_body
from clustering.dom.addresses import address_keys
from clustering.services.children.limits import CallStopped, ChildrenBusy, call_when_free
from clustering.services.pages.archives import open_source
from clustering.services.pages.source_pages import Item, Skipped, SourcePage
from vertex.core.management.output import STANDARD, Lines, WorkCommand, kept_standard_input

BASE_URL = "http://localhost/"
# What a line says of each list or record, and what is wrong with the page, blank for nothing.
Found: TypeAlias = tuple[list[dict[str, Any]], str]
P = ParamSpec("P")


class Command(WorkCommand):
    help = (
        "Find the lists of records in the pages of SOURCE: a manifest, a WARC, a zip or a folder "
        "of HTML, or - for standard input. A record is a list of adjacent siblings; a page without "
        "a list has no records."
    )
    has_algorithms: ClassVar = True
    failures = (ChildrenBusy,)

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", metavar="SOURCE")
        parser.add_argument(
            "--best", type=int, default=1, metavar="N", help="lists of a page (default: 1)"
        )
        parser.add_argument(
            "--base-url",
            default=BASE_URL,
            metavar="URL",
            help="where the files of a zip or folder without a manifest stand "
            f"(default: {BASE_URL})",
        )
        if self.has_algorithms:
            parser.add_argument(
                "--algorithm",
                choices=sorted(FINDERS),
                default=DEFAULT,
                help="urest: U-REST as published, which finds a list wherever something repeats",
            )
        self.add_output_argument(parser)

    def handle(self, *args: str, **options: str) -> None:
        self.algorithm = options.get("algorithm", DEFAULT)
        n_best = int(options["best"])
        if n_best < 1:
            raise CommandError(f"--best is {n_best}; it must be 1 or more", returncode=2)
        path = Path(options["source"])
        folder = None
        if options["source"] == STANDARD:
            path, folder = kept_standard_input(), Path.cwd()
        base_url = options["base_url"].rstrip("/") + "/"
        with (
            open_source(path, base_url, folder) as source,
            self.open_output(options["output"]) as lines,
            self.progress("finding records", source.n_items) as advance,
        ):
            for item in source.items:
                self._find(item, n_best, lines)
                advance()

    def _find(self, item: Item, n_best: int, lines: Lines) -> None:
        if isinstance(item, Skipped):
            return
        if not isinstance(item, SourcePage):
            self.report_bad_line(item.place, item.reason)
            if item.url:
                lines.write(_line_without_list(item.url, item.reason))
            return
        for line in self.lines(item, n_best):
            lines.write(line)

    def lines(self, page: SourcePage, n_best: int) -> list[dict[str, object]]:
        """Return a line for each list of a page, or one without records and why."""
        lists, problem = self.read_of_page(page, lists_of_body, self.algorithm, n_best)
        if not lists:
            return [_line_without_list(page.url, problem)]
        return [
            {**address_keys(page.url), "rank": rank, **found_list, **_reason_json(problem)}
            for rank, found_list in enumerate(lists, 1)
        ]

    def read_of_page(
        self,
        page: SourcePage,
        find: Callable[Concatenate[bytes, str, P], Found],
        *args: P.args,
        **named: P.kwargs,
    ) -> Found:
        """Return what a limited child finds on a page, and what is wrong with the page."""
        try:
            return call_when_free(find, page.body, page.content_type, *args, **named)
        except CallStopped as stopped:
            problem = f"reading it was stopped: {stopped}"
            self.report_bad_line(page.url, problem)
            return [], problem


def _line_without_list(url: str, reason: str) -> dict[str, object]:
    """Return the line of a page without a list, with the reason where it is the page's own."""
    address = address_keys(url)
    return {**address, "rank": 1, "score": 0.0, "records": [], **_reason_json(reason)}


def _reason_json(reason: str) -> dict[str, object]:
    return {"reason": reason} if reason else {}
