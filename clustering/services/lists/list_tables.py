"""Show the lists of a page as tables at once: records, columns with names, where the list goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lxml.html import HtmlElement

from clustering.algorithms.records.finding import FoundList, find_records
from clustering.algorithms.tables.cells import TAIL, RecordCell
from clustering.algorithms.tables.detail_links import find_detail_links
from clustering.algorithms.tables.fields import Column, read_fields
from clustering.algorithms.tables.pagination import Pagination, find_pagination
from clustering.dom.links import find_base
from clustering.dom.page import PageTooLarge, parse_page
from clustering.dom.paths import element_paths
from clustering.models import Snapshot
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

N_LISTS = 3  # of a page that are shown


@dataclass(frozen=True, slots=True)
class ListTable:
    """A list of a page: its records as rows, and where it goes on."""

    rank: int
    score: float
    records: list[list[str]]  # the XPaths of the elements of each
    columns: list[Column]
    detail_column: (
        str  # the name of the column that leads to the records' pages, blank where none does
    )
    detail_urls: tuple[str, ...]
    pagination: Pagination
    is_cut: bool = False

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def rows(self) -> list[dict[str, str | list[str]]]:
        """Return the records: a list where a column may hold several values, nothing where there is none."""
        return [
            {
                column.name: column.values[number] if column.is_multi else column.values[number][0]
                for column in self.columns
                if column.cells[number]
            }
            for number in range(len(self.records))
        ]

    def places(self) -> list[dict[str, list[str]]]:
        """Return the XPaths of the values, as annotations name them."""
        cells = [cell for column in self.columns for found in column.cells for cell in found]
        paths = dict(
            zip(map(id, cells), element_paths([cell.element for cell in cells]), strict=True)
        )
        return [
            {
                column.name: [_place(cell, paths[id(cell)]) for cell in column.cells[number]]
                for column in self.columns
                if column.cells[number]
            }
            for number in range(len(self.records))
        ]

    def as_json(self) -> dict[str, Any]:
        """Return the table as plain values, for a job's result or the browser."""
        return {
            "rank": self.rank,
            "score": round(self.score, 4),
            "columns": [
                {"name": one.name, "kind": one.kind, "multi": one.is_multi} for one in self.columns
            ],
            "rows": self.rows(),
            "places": self.places(),
            "records": self.records,
            "details": {"column": self.detail_column, "urls": list(self.detail_urls)},
            "next_url": self.pagination.next_url,
            "pages": list(self.pagination.pages),
        }


def tables_of(
    tree: HtmlElement, url: str, encoding: str = "utf-8", n_best: int = N_LISTS
) -> list[ListTable]:
    """Return the lists of a page as tables, the best first; none where the page has no list."""
    found = find_records(tree, n_best)
    if not found:
        return []
    pagination = find_pagination(tree, url, encoding)
    base = find_base(tree, url)
    return [_table(rank, one, base, pagination) for rank, one in enumerate(found, 1)]


def tables_of_snapshot(snapshot: Snapshot, n_best: int = N_LISTS) -> list[ListTable]:
    """Return the lists of a stored page as tables; none where its bytes are gone or hold no list."""
    try:
        parsed = parse_page(page_store().read(snapshot.body), snapshot.content_type)
    except (BodyMissing, BodyDamaged, PageTooLarge):
        return []
    return (
        tables_of(parsed.tree, snapshot.page.url, parsed.encoding, n_best)
        if parsed.tree is not None
        else []
    )


def _table(rank: int, found: FoundList, base: str, pagination: Pagination) -> ListTable:
    columns = read_fields(found.records)
    details = find_detail_links(columns, base)
    return ListTable(
        rank,
        found.score,
        found.paths(),
        columns,
        details.column if details else "",
        details.urls if details else (),
        pagination,
        found.is_cut,
    )


def _place(cell: RecordCell, path: str) -> str:
    """Return the XPath of a cell's node."""
    if cell.part == TAIL:
        number = 1 + _n_texts_before(cell)
        return f"{path.rpartition('/')[0]}/text()[{number}]"
    return f"{path}/{cell.part}" if cell.part else path


def _n_texts_before(cell: RecordCell) -> int:
    """Return how many text nodes its parent has before the one behind an element."""
    parent = cell.element.getparent()
    before: Sequence[object] = list(cell.element.itersiblings(preceding=True))
    is_first = parent is not None and bool(parent.text)
    return is_first + sum(bool(getattr(one, "tail", "")) for one in before)
