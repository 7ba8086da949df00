"""The lists of a stored page as tables to look at, before anybody has said what they are about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from django.core.cache import cache

from clustering.algorithms.tables.cells import IMAGE, LINK
from clustering.algorithms.tables.fields import Column
from clustering.dom.addresses import BadAddress, join_url
from clustering.dom.links import find_base
from clustering.dom.page import PageTooLarge, parse_page
from clustering.models import Snapshot
from clustering.services.lists.list_tables import ListTable, tables_of
from vertex.core.storage import BodyDamaged, BodyMissing, page_store

Value = str | list[str]

KEPT: Final = 600  # seconds; a snapshot never changes, the algorithms may
SAMPLES: Final = 3  # values that show what a column holds


@dataclass(frozen=True, slots=True)
class FoundColumn:
    """A column: its name, what its values are, and in how many records it has any."""

    name: str
    kind: str  # text, link, image
    is_multi: bool
    values: tuple[tuple[str, ...], ...]  # of each record; addresses are absolute

    @property
    def n_filled(self) -> int:
        return sum(map(bool, self.values))

    @property
    def samples(self) -> list[str]:
        """Some values, each once."""
        return list(dict.fromkeys(value for found in self.values for value in found))[:SAMPLES]


@dataclass(frozen=True, slots=True)
class FoundTable:
    """A list of a page as a table, and where the list goes on."""

    rank: int  # from 1, the list that looks most like one
    score: float
    n_records: int
    columns: tuple[FoundColumn, ...]
    detail_column: str
    detail_urls: tuple[str, ...]  # of the records that have one
    next_url: str
    pages: tuple[str, ...]  # on which the list goes on
    is_cut: bool

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def n_ahead(self) -> int:
        """How many further pages of the list this page links to."""
        return len({*self.pages, *filter(None, [self.next_url])})

    def records(self) -> Iterator[dict[str, Value]]:
        """Return the records, in the order of the page."""
        return map(self.record, range(self.n_records))

    def record(self, number: int) -> dict[str, Value]:
        """Return a record, the first one by 0; what it lacks is left out."""
        return {
            column.name: list(found) if column.is_multi else found[0]
            for column in self.columns
            if (found := column.values[number])
        }


def found_tables(snapshot: Snapshot) -> list[FoundTable]:
    """Return the lists of a stored page, the best first; none where it has none or its bytes are gone."""
    key = f"found_tables:{snapshot.pk}:{snapshot.body[:16]}"
    kept: list[FoundTable] | None = cache.get(key)
    if kept is not None:
        return kept
    told = [_told(table, base) for table, base in _raw_tables(snapshot)]
    cache.set(key, told, KEPT)
    return told


def raw_table(snapshot: Snapshot, rank: int) -> ListTable | None:
    """Return a list of a page with its elements, None where there is none of this rank."""
    return next((table for table, _ in _raw_tables(snapshot) if table.rank == rank), None)


def table_ranked(tables: list[FoundTable], asked: Any) -> FoundTable | None:
    """Return the table of the rank that is asked for, else the best one; None where there is none."""
    wanted = str(asked)
    return next((one for one in tables if str(one.rank) == wanted), tables[0] if tables else None)


def _raw_tables(snapshot: Snapshot) -> list[tuple[ListTable, str]]:
    try:
        page = parse_page(page_store().read(snapshot.body), snapshot.content_type)
    except (BodyMissing, BodyDamaged, PageTooLarge):
        return []
    if page.tree is None:
        return []
    url = snapshot.final_url or snapshot.page.url
    base = find_base(page.tree, url)
    return [(table, base) for table in tables_of(page.tree, url, page.encoding)]


def _told(table: ListTable, base: str) -> FoundTable:
    return FoundTable(
        rank=table.rank,
        score=table.score,
        n_records=len(table.records),
        columns=tuple(_column(column, base) for column in table.columns),
        detail_column=table.detail_column,
        detail_urls=tuple(url for url in table.detail_urls if url),
        next_url=table.pagination.next_url,
        pages=tuple(table.pagination.pages),
        is_cut=table.is_cut,
    )


def _column(column: Column, base: str) -> FoundColumn:
    is_address = column.kind in {LINK, IMAGE}
    values = tuple(
        tuple(absolute(value, base) if is_address else value for value in found)
        for found in column.values
    )
    return FoundColumn(column.name, column.kind, column.is_multi, values)


def absolute(value: str, base: str) -> str:
    """Return where a link leads; what leads to no page stays as it is written."""
    try:
        return join_url(base, value)
    except BadAddress:
        return value
