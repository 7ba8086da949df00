"""Show the lists of pages as tables, without annotations."""

from __future__ import annotations

from typing import ClassVar

from clustering.algorithms.tables.page_tables import tables_of
from clustering.dom.addresses import address_keys
from clustering.dom.page import PageTooLarge, parse_page
from clustering.management.commands import find_records
from clustering.services.pages.source_pages import SourcePage


class Command(find_records.Command):
    help = (
        "Show the lists of records in the pages of SOURCE as tables: a manifest, a WARC, a zip or a folder of"
        " HTML, or - for standard input. The columns have the names that the page has for them."
    )
    has_algorithms: ClassVar = False

    def lines(self, page: SourcePage, n_best: int) -> list[dict[str, object]]:
        """Return a line for each record of a page; one with a reason where there is no list."""
        reason = ""
        try:
            parsed = parse_page(page.body, page.content_type)
        except PageTooLarge as error:
            self.report_bad_line(page.url, str(error))
            return [{**address_keys(page.url), "record": {}, "reason": str(error)}]
        if parsed.tree is None:
            reason = parsed.problem
        tables = (
            tables_of(parsed.tree, page.url, parsed.encoding, n_best)
            if parsed.tree is not None
            else []
        )
        rows = [
            {
                **address_keys(page.url),
                "list": table.rank,
                "index": index,
                "record": row,
                **({"detail": table.detail_urls[index]} if table.detail_column else {}),
            }
            for table in tables
            for index, row in enumerate(table.rows())
        ]
        return rows or [{**address_keys(page.url), "record": {}, "reason": reason or "no list"}]
