"""Find the records of list pages, without annotations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import ClassVar, TypeAlias

from django.core.management.base import CommandError, CommandParser
from lxml.html import HtmlElement

from clustering.algorithms.published import urest
from clustering.algorithms.records.finding import FoundList, find_records
from clustering.algorithms.records.page_model import MAX_ELEMENTS
from clustering.dom.addresses import address_keys
from clustering.dom.page import PageTooLarge, parse_page
from clustering.services.pages.archives import open_source
from clustering.services.pages.source_pages import Item, Skipped, SourcePage
from vertex.core.management.output import STANDARD, Lines, WorkCommand, kept_standard_input

CUT = f"the page is large: its first {MAX_ELEMENTS:,} elements were read"
BASE_URL = "http://localhost/"
Finder: TypeAlias = Callable[[HtmlElement, int], list[FoundList]]
DEFAULT = "default"
FINDERS: dict[str, Finder] = {DEFAULT: find_records, "urest": urest.find_lists}


class Command(WorkCommand):
    help = (
        "Find the lists of records in the pages of SOURCE: a manifest, a WARC, a zip or a folder of HTML,"
        " or - for standard input. A record is a list of adjacent siblings; a page without a list has"
        " no records."
    )
    has_algorithms: ClassVar = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("source", metavar="SOURCE")
        parser.add_argument(
            "--best", type=int, default=1, metavar="N", help="lists of a page (default: 1)"
        )
        parser.add_argument(
            "--base-url",
            default=BASE_URL,
            metavar="URL",
            help=f"where the files of a zip or folder without a manifest stand (default: {BASE_URL})",
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
        self.find = FINDERS[options.get("algorithm", DEFAULT)]
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
        """Return the lines of a page."""
        return lines_of(page, n_best, self.find, self.report_bad_line)


def lines_of(
    page: SourcePage, n_best: int, find: Finder, report_bad_line: Callable[[str, str], None]
) -> list[dict[str, object]]:
    """Return a line for each list of a page, or one without records and why."""
    try:
        parsed = parse_page(page.body, page.content_type)
    except PageTooLarge as error:
        report_bad_line(page.url, str(error))
        return [_line_without_list(page.url, str(error))]
    record_lists = find(parsed.tree, n_best) if parsed.tree is not None else []
    if not record_lists:
        return [_line_without_list(page.url, parsed.problem)]
    reason = parsed.problem
    if any(record_list.is_cut for record_list in record_lists):
        reason = CUT
    return [
        {
            **address_keys(page.url),
            "rank": rank,
            "score": round(record_list.score, 4),
            "records": record_list.paths(),
            **_reason_json(reason),
        }
        for rank, record_list in enumerate(record_lists, 1)
    ]


def _line_without_list(url: str, reason: str) -> dict[str, object]:
    """Return the line of a page without a list, with the reason where it is the page's own."""
    address = address_keys(url)
    return {**address, "rank": 1, "score": 0.0, "records": [], **_reason_json(reason)}


def _reason_json(reason: str) -> dict[str, object]:
    return {"reason": reason} if reason else {}
