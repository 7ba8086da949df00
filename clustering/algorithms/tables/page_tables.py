"""Show a page's lists as tables at once: records, columns with names, where the list goes on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from lxml.html import HtmlElement

from clustering.algorithms.records.finding import FoundList, find_records
from clustering.algorithms.tables.cells import IMAGE, LINK, TAIL, RecordCell
from clustering.algorithms.tables.detail_links import find_detail_links
from clustering.algorithms.tables.fields import Column, read_all_fields
from clustering.algorithms.tables.pagination import Pagination, find_pagination
from clustering.dom.addresses import BadAddress, join_url
from clustering.dom.links import find_base
from clustering.dom.page import parse_page
from clustering.dom.paths import element_paths

N_LISTS: Final = 3  # of a page that are shown
N_SAMPLES: Final = 3  # values that show what a column holds


@dataclass(frozen=True, slots=True)
class ListColumn:
    """A column of a table: the values of each record, and where they stand."""

    name: str
    kind: str  # text, link, image
    is_multi: bool
    values: tuple[tuple[str, ...], ...]  # of each record, as they are written
    nodes: tuple[tuple[str, ...], ...]  # the XPaths of these values, as annotations name them
    why_left_out: str = ""

    @property
    def n_filled(self) -> int:
        """Return how many records have a value."""
        return sum(map(bool, self.values))

    @property
    def samples(self) -> list[str]:
        """Return some values, each once."""
        return list(dict.fromkeys(value for values in self.values for value in values))[:N_SAMPLES]


@dataclass(frozen=True, slots=True)
class ListTable:
    """A list of a page as a table, and where the list goes on; plain values throughout."""

    rank: int  # from 1, the list that looks most like one
    score: float
    records: tuple[tuple[str, ...], ...]  # the XPaths of the elements of each
    columns: tuple[ListColumn, ...]
    detail_column: str  # that leads to the records' own pages, blank where none does
    detail_urls: tuple[str, ...]  # of each record, blank where it has none; empty without a column
    next_url: str
    pages: tuple[str, ...]  # on which the list goes on
    base_url: str  # of the links
    is_cut: bool = False  # the page was too large to be read to its end
    left_out: tuple[ListColumn, ...] = ()  # columns that are not shown by themselves

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def n_records(self) -> int:
        return len(self.records)

    @property
    def n_ahead(self) -> int:
        """Return to how many further pages of the list this page links."""
        return len({*self.pages, *filter(None, [self.next_url])})

    @property
    def details(self) -> list[str]:
        """Return the addresses of the records' own pages, of those that have one."""
        return [url for url in self.detail_urls if url]

    def row(self, number: int) -> dict[str, str | list[str]]:
        """Return a record, the first one by 0: a list where a column may hold several values.

        What it lacks is left out.
        """
        row: dict[str, str | list[str]] = {}
        for column in self.columns:
            values = column.values[number]
            if values:
                row[column.name] = list(values) if column.is_multi else values[0]
        return row

    def rows(self) -> list[dict[str, str | list[str]]]:
        """Return the records, in the order of the page."""
        return [self.row(number) for number in range(self.n_records)]

    def as_shown(self) -> ListTable:
        """Return the table as people see it: with whole addresses, without the values' places."""
        return replace(
            self,
            columns=tuple(self._shown_column(column) for column in self.columns),
            left_out=tuple(self._shown_column(column) for column in self.left_out),
        )

    def _shown_column(self, column: ListColumn) -> ListColumn:
        if column.kind not in {LINK, IMAGE}:
            return replace(column, nodes=())
        values = tuple(
            tuple(_absolute(value, self.base_url) for value in values) for values in column.values
        )
        return replace(column, values=values, nodes=())


def table_from_json(written: Mapping[str, Any]) -> ListTable:
    """Return a table that was written as JSON: what JSON calls lists are tuples here."""
    values = {
        name: _tuples(value)
        for name, value in written.items()
        if name not in {"columns", "left_out"}
    }
    return ListTable(
        **values,
        columns=_columns_from_json(written["columns"]),
        left_out=_columns_from_json(written["left_out"]),
    )


def _columns_from_json(written: Sequence[Mapping[str, Any]]) -> tuple[ListColumn, ...]:
    return tuple(
        ListColumn(**{name: _tuples(value) for name, value in column.items()}) for column in written
    )


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def tables_of(
    tree: HtmlElement, url: str, encoding: str = "utf-8", n_best: int = N_LISTS
) -> list[ListTable]:
    """Return the lists of a page as tables, the best first; none where the page has no list."""
    lists = find_records(tree, n_best)
    if not lists:
        return []
    pagination = find_pagination(tree, url, encoding)
    base = find_base(tree, url)
    return [_table(rank, found_list, base, pagination) for rank, found_list in enumerate(lists, 1)]


def tables_of_body(body: bytes, content_type: str, url: str, n_best: int) -> list[dict[str, Any]]:
    """Return the lists of a page as JSON, for `table_from_json`. Raises PageTooLarge."""
    parsed = parse_page(body, content_type)
    if parsed.tree is None:
        return []
    return [asdict(table) for table in tables_of(parsed.tree, url, parsed.encoding, n_best)]


def rows_of_body(
    body: bytes, content_type: str, url: str, n_best: int
) -> tuple[list[dict[str, Any]], str]:
    """Return the records of all lists of a page, and what is wrong with it, blank for nothing."""
    parsed = parse_page(body, content_type)
    if parsed.tree is None:
        return [], parsed.problem
    rows = [
        {
            "list": table.rank,
            "index": index,
            "record": row,
            **({"detail": table.detail_urls[index]} if table.detail_column else {}),
        }
        for table in tables_of(parsed.tree, url, parsed.encoding, n_best)
        for index, row in enumerate(table.rows())
    ]
    return rows, parsed.problem


def _table(rank: int, found_list: FoundList, base: str, pagination: Pagination) -> ListTable:
    columns = read_all_fields(found_list.records)
    shown = [column for column in columns if not column.left_out]
    left_out = [column for column in columns if column.left_out]
    details = find_detail_links(shown, base)
    return ListTable(
        rank=rank,
        score=found_list.score,
        records=tuple(tuple(record) for record in found_list.paths()),
        columns=tuple(_plain_columns(shown)),
        left_out=tuple(_plain_columns(left_out)),
        detail_column=details.column if details else "",
        detail_urls=tuple(details.urls) if details else (),
        next_url=pagination.next_url,
        pages=tuple(pagination.pages),
        base_url=base,
        is_cut=found_list.is_cut,
    )


def _plain_columns(columns: Sequence[Column]) -> list[ListColumn]:
    """Return columns of plain values, with the XPath of each."""
    cells = [cell for column in columns for of_record in column.cells for cell in of_record]
    paths = iter(element_paths([cell.element for cell in cells]))
    plain = []
    for column in columns:
        nodes = [
            tuple(_node_path(cell, next(paths)) for cell in of_record) for of_record in column.cells
        ]
        values = [tuple(of_record) for of_record in column.values]
        plain.append(
            ListColumn(
                column.name,
                column.kind,
                column.is_multi,
                tuple(values),
                tuple(nodes),
                column.left_out,
            )
        )
    return plain


def _absolute(value: str, base: str) -> str:
    """Return where a link leads; what leads to no page stays as it is written."""
    try:
        return join_url(base, value)
    except BadAddress:
        return value


def _node_path(cell: RecordCell, path: str) -> str:
    """Return the XPath of a cell's node."""
    if cell.part == TAIL:
        number = 1 + _n_texts_before(cell)
        return f"{path.rpartition('/')[0]}/text()[{number}]"
    return f"{path}/{cell.part}" if cell.part else path


def _n_texts_before(cell: RecordCell) -> int:
    """Return how many text nodes its parent has before the one behind an element."""
    parent = cell.element.getparent()
    n_of_parent = int(parent is not None and bool(parent.text))
    siblings = cell.element.itersiblings(preceding=True)
    return n_of_parent + sum(bool(sibling.tail) for sibling in siblings)
