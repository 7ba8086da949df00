"""Put what records show into the columns of a table, and name these, without a teacher.

Paper:      Zhai and Liu, "Web Data Extraction Based on Partial Tree Alignment" (WWW 2005).
Notation:   A column holds for each record the cells with one key; a record without one has none.
Readings:   Only what can be told apart is put into columns of its own. Cells of one key that stand in all
            records equally often are told apart by their number; else by what they look like (a price, a
            date), if that is once in a record at most; else they are several values of one column. A value
            is thus never in the column of another field because something before it is missing.
Departures: Records are aligned by keys, not by their order: an optional field shifts nothing. What is the
            same in all records is left out, and so is a column that repeats another.
Cost:       Linear in the cells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lxml.etree import _Element

from clustering.algorithms.tables.cells import (
    IMAGE,
    LINK,
    TEXT,
    RecordCell,
    read_cells,
    shown,
)
from clustering.algorithms.tables.column_names import as_name, kind_of, name_of, unique_names
from clustering.dom.visible import HEADINGS

ENOUGH = 3  # records, from which on what is the same in all says nothing
MAX_COLUMNS = 60
N_TAGS = 3


@dataclass(frozen=True, slots=True)
class Column:
    """A field of the records: for each record its cells, none where it lacks the field."""

    name: str
    kind: str  # "text", "link", "image"
    cells: tuple[tuple[RecordCell, ...], ...]

    @property
    def is_multi(self) -> bool:
        return any(len(found) > 1 for found in self.cells)

    @property
    def values(self) -> list[list[str]]:
        """The values of each record."""
        return [[cell.value for cell in found] for found in self.cells]


def read_fields(records: Sequence[Sequence[_Element]]) -> list[Column]:
    """Return the columns of some records, in the order in which they stand in them."""
    if not records:
        return []
    cells = read_cells(records)
    columns = [part for column in _by_key(cells) for part in _told_apart(column)]
    columns = _without_repeated([column for column in columns if not _says_nothing(column)])
    columns = columns[:MAX_COLUMNS]
    heads = column_heads(records[0][0])
    names = unique_names(
        [_name_of(column, heads) for column in columns],
        [sum(map(bool, column.cells)) for column in columns],
    )
    return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]


def _by_key(records: list[list[RecordCell]]) -> list[Column]:
    """Return a column for each key, ordered by where it stands in most records."""
    by_key: dict[object, list[list[RecordCell]]] = {}
    places: defaultdict[object, list[float]] = defaultdict(list)
    for number, cells in enumerate(records):
        for place, cell in enumerate(cells):
            by_key.setdefault(cell.key, [[] for _ in records])[number].append(cell)
            places[cell.key].append(place / len(cells))
    order = sorted(by_key, key=lambda key: sum(places[key]) / len(places[key]))
    return [_column(by_key[key]) for key in order]


def _column(cells: list[list[RecordCell]]) -> Column:
    kind = next(cell.kind for found in cells for cell in found)
    return Column("", kind, tuple(map(tuple, cells)))


def _told_apart(column: Column) -> list[Column]:
    """Return the columns that cells of one key are really of."""
    counts = {len(found) for found in column.cells if found}
    if counts == {1}:
        return [column]
    is_everywhere = all(column.cells)
    if len(counts) == 1 and is_everywhere and len(column.cells) > 1:
        parts = [
            [[found[number]] for found in column.cells] for number in range(len(column.cells[0]))
        ]
        return [_column(part) for part in parts]
    return _apart_by(column, _tags_of) or _apart_by(column, _look_of) or [column]


def _apart_by(column: Column, trait: Callable[[RecordCell], str]) -> list[Column]:
    """Return a column for each trait of the cells, none where a record has two of one."""
    traits = [[trait(cell) for cell in found] for found in column.cells]
    if any(len(set(found)) < len(found) for found in traits):
        return []
    return [
        _column(
            [
                [cell for cell, its in zip(found, of_cells, strict=True) if its == one]
                for found, of_cells in zip(column.cells, traits, strict=True)
            ]
        )
        for one in dict.fromkeys(one for found in traits for one in found)
    ]


def _tags_of(cell: RecordCell) -> str:
    """Return the tags from the last step to a cell, which change its looks."""
    tags = [str(cell.element.tag), *[str(one.tag) for one in cell.element.iterancestors()]]
    return "/".join(tags[:N_TAGS])


def _look_of(cell: RecordCell) -> str:
    return kind_of([cell.value])


def _says_nothing(column: Column) -> bool:
    """Say whether a column is the same in all records."""
    if len(column.cells) < ENOUGH:
        return False
    return all(column.cells) and len({tuple(values) for values in map(tuple, column.values)}) == 1


def _without_repeated(columns: list[Column]) -> list[Column]:
    """Return the columns without those that say what another of their kind says in each record."""
    kept: dict[tuple[str, tuple[tuple[str, ...], ...]], Column] = {}
    for column in columns:
        kept.setdefault((column.kind, tuple(tuple(values) for values in column.values)), column)
    found = list(kept.values())
    return [column for column in found if not any(_is_part_of(column, other) for other in found)]


def _is_part_of(column: Column, other: Column) -> bool:
    """Say whether links or images are all in another column, which has more."""
    if column is other or column.kind == TEXT or other.kind != column.kind:
        return False
    pairs = list(zip(column.values, other.values, strict=True))
    return all(set(mine) <= set(theirs) for mine, theirs in pairs) and any(
        len(theirs) > len(mine) for mine, theirs in pairs
    )


def _name_of(column: Column, heads: dict[int, str]) -> str:
    cells = [cell for found in column.cells for cell in found]
    first = cells[0]
    if heads and first.steps and first.steps[0].startswith("cell ") and not first.label:
        name = as_name(heads.get(int(first.steps[0].split()[1]), ""))
        if name:
            return name if column.kind == TEXT else f"{name}_{column.kind}"
    told = Counter(name for cell in cells for name in set(cell.names))
    shared = [name for name in first.names if told[name] * 2 > len(cells)]
    values = [cell.value for cell in cells] if column.kind == TEXT else []
    name = name_of(shared, first.label, values, _fallback(first))
    return name if column.kind in {TEXT, name} else f"{name}_{column.kind}"


def _fallback(cell: RecordCell) -> str:
    """Return what a field is called by its place where the page has no word for it."""
    around = {str(cell.element.tag), *(step.partition(".")[0] for step in cell.steps)}
    if cell.kind in {IMAGE, LINK}:
        return cell.kind
    if around & HEADINGS or cell.element.tag == "a":
        return "title"
    return "date" if "time" in around else "text"


def column_heads(row: _Element) -> dict[int, str]:
    """Return what the head of a row's table calls each of its columns; nothing where there is no head."""
    if row.tag != "tr":
        return {}
    table = next(row.iterancestors("table"), None)
    for head in table.iter("tr") if table is not None else ():
        cells = [cell for cell in head if cell.tag in {"td", "th"}]
        if head is row or (cells and all(cell.tag == "td" for cell in cells)):
            break
        if len(cells) > 1:
            return _heads_of(cells)
    return {}


def _heads_of(cells: Sequence[_Element]) -> dict[int, str]:
    heads, column = {}, 0
    for cell in cells:
        heads[column] = shown(cell)
        written = str(cell.get("colspan") or "")
        column += min(int(written), MAX_COLUMNS) if written.isdecimal() else 1
    return heads
