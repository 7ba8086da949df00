"""Show the lists of pages as tables, without annotations."""

from __future__ import annotations

from typing import ClassVar

from clustering.algorithms.tables.page_tables import rows_of_body
from clustering.dom.addresses import address_keys
from clustering.management.commands import find_records
from clustering.services.pages.source_pages import SourcePage


class Command(find_records.Command):
    help = (
        "Show the lists of records in the pages of SOURCE as tables: a manifest, a WARC, a zip or "
        "a folder of HTML, or - for standard input. The columns have the names that the page has "
        "for them."
    )
    has_algorithms: ClassVar = False

    def lines(self, page: SourcePage, n_best: int) -> list[dict[str, object]]:
        """Return a line for each record of a page; one with a reason where there is no list."""
        rows, problem = self.read_of_page(page, rows_of_body, page.url, n_best)
        if not rows:
            return [{**address_keys(page.url), "record": {}, "reason": problem or "no list"}]
        return [{**address_keys(page.url), **row} for row in rows]
