"""Put what records show into the columns of a table, and name these, without a teacher.

Paper:      Zhai and Liu, "Web Data Extraction Based on Partial Tree Alignment" (WWW 2005).
Notation:   A column holds for each record the cells with one key; a record without one has none.
Readings:   Only what can be told apart is put into columns of its own. Cells of one key that stand
            in all records equally often are told apart by their number; else by what they look like
            (a price, a date), if that is once in a record at most; else they are several values of
            one column. A value is thus never in the column of another field because something
            before it is missing.
Departures: Records are aligned by keys, not by their order: an optional field shifts nothing. What
            is the same in all records is left out, and so is a column that repeats another. Of more
            than MAX_KEYS keys those are read that stand in the most records, and a column is
            divided into at most MAX_PARTS: no list that people read has more fields.
Cost:       Linear in the cells.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lxml.etree import _Element

from clustering.algorithms.tables.cells import (
    IMAGE,
    LINK,
    TEXT,
    RecordCell,
    colspan,
    read_cells,
    shown_text,
)
from clustering.algorithms.tables.column_names import as_name, name_of, unique_names
from clustering.algorithms.tables.same_fields import Cells, is_struck, join_wrappers
from clustering.dom.visible import HEADINGS
from clustering.values.recognising import type_of_most

MIN_RECORDS_TO_JUDGE = 3  # in fewer, what is the same in all may still be a field
MAX_COLUMNS = 60
MAX_LEFT_OUT = 40  # columns that are left out and told
MAX_KEYS = 300
MAX_PARTS = 40
N_TAGS = 3  # the nearest ones, by which cells of one key are told apart


_CellsByRecord = dict[int, list[RecordCell]]  # by the record's number; without those that have none


@dataclass(frozen=True, slots=True)
class Column:
    """A field of the records: for each record its cells, none where it lacks the field."""

    name: str
    kind: str  # "text", "link", "image"
    cells: tuple[tuple[RecordCell, ...], ...]
    left_out: str = ""  # why people are not shown it by themselves

    @property
    def is_multi(self) -> bool:
        return any(len(cells) > 1 for cells in self.cells)

    @property
    def values(self) -> list[list[str]]:
        """The values of each record."""
        return [[cell.value for cell in cells] for cells in self.cells]


def read_fields(records: Sequence[Sequence[_Element]]) -> list[Column]:
    """Return the columns of records that tell something, in the order in which they stand there."""
    return [column for column in read_all_fields(records) if not column.left_out]


def read_all_fields(records: Sequence[Sequence[_Element]]) -> list[Column]:
    """Return the columns of some records, last those that are left out, with the reason.

    1. Put cells with one key into one column.
    2. Divide columns whose cells are of several fields.
    3. Put columns together that are one field in several wrappers.
    4. Leave out columns that are the same in all records, or repeat another column.
    5. Name all.
    """
    if not records:
        return []
    parts = [part for column in _columns_by_key(read_cells(records)) for part in _divide(column)]
    constant = [part for part in parts if _is_constant(part)]
    varied = [part.cells for part in parts if not _is_constant(part)]
    joined = [_column(cells) for cells in join_wrappers(varied)]
    distinct = _without_repeated(joined)
    shown = distinct[:MAX_COLUMNS]
    repeated = [column for column in joined if not any(column is other for other in distinct)]
    columns = [
        *shown,
        *_left_out(distinct[MAX_COLUMNS:], f"there are more than {MAX_COLUMNS} columns"),
        *_left_out(constant, "it is the same in all records"),
        *_left_out(repeated, "it repeats another column"),
    ][: MAX_COLUMNS + MAX_LEFT_OUT]
    heads = column_heads(records[0][0])
    names = unique_names(
        [_name_of(column, heads) for column in columns],
        # What is shown comes first: it has the name without a number.
        [sum(map(bool, column.cells)) + len(records) * (not column.left_out) for column in columns],
    )
    return [replace(column, name=name) for column, name in zip(columns, names, strict=True)]


def _left_out(columns: Iterable[Column], reason: str) -> list[Column]:
    return [replace(column, left_out=reason) for column in columns]


def _columns_by_key(records: list[list[RecordCell]]) -> list[Column]:
    """Return a column for each key, ordered by where it stands in the records on average."""
    cells_by_key: defaultdict[object, _CellsByRecord] = defaultdict(lambda: defaultdict(list))
    positions_by_key: defaultdict[object, list[float]] = defaultdict(list)
    for number, cells in enumerate(records):
        for index, cell in enumerate(cells):
            cells_by_key[cell.key][number].append(cell)
            positions_by_key[cell.key].append(index / len(cells))
    n_records_by_key = Counter({key: len(cells) for key, cells in cells_by_key.items()})
    keys = {key for key, _ in n_records_by_key.most_common(MAX_KEYS)}

    def average_position(key: object) -> float:
        return sum(positions_by_key[key]) / len(positions_by_key[key])

    in_order = sorted((key for key in cells_by_key if key in keys), key=average_position)
    return [_column(_of_all_records(cells_by_key[key], len(records))) for key in in_order]


def _of_all_records(cells: _CellsByRecord, n_records: int) -> list[list[RecordCell]]:
    return [cells.get(number, []) for number in range(n_records)]


def _column(cells: Cells) -> Column:
    """Return a column that has no name yet."""
    kind = next(cell.kind for cells_of_record in cells for cell in cells_of_record)
    return Column("", kind, tuple(map(tuple, cells)))


def _divide(column: Column) -> list[Column]:
    """Return the columns that cells of one key are really of."""
    counts = {len(cells) for cells in column.cells if cells}
    if counts == {1}:
        return [column]
    is_everywhere = all(column.cells)
    if len(counts) == 1 and is_everywhere and len(column.cells) > 1:
        n_cells = len(column.cells[0])
        return [_column([[cells[number]] for cells in column.cells]) for number in range(n_cells)]
    return _divide_by(column, _nearest_tags) or _divide_by(column, _value_type) or [column]


def _divide_by(column: Column, trait_of: Callable[[RecordCell], str]) -> list[Column]:
    """Return a column for each trait of the cells.

    There is none where a record has two cells of one trait, or where there are too many traits.
    """
    cells_by_trait: defaultdict[str, _CellsByRecord] = defaultdict(lambda: defaultdict(list))
    for number, cells in enumerate(column.cells):
        for cell in cells:
            cells_with_trait = cells_by_trait[trait_of(cell)]
            if number in cells_with_trait or len(cells_by_trait) > MAX_PARTS:
                return []
            cells_with_trait[number].append(cell)
    return [_column(_of_all_records(cells, len(column.cells))) for cells in cells_by_trait.values()]


def _nearest_tags(cell: RecordCell) -> str:
    """Return a cell's tag and those right around it, which change its looks."""
    ancestors = islice(cell.element.iterancestors(), N_TAGS - 1)
    return "/".join([str(element.tag) for element in (cell.element, *ancestors)])


def _value_type(cell: RecordCell) -> str:
    return type_of_most([cell.value])


def _is_constant(column: Column) -> bool:
    """Return whether a column is filled and the same in all records, of which there are enough."""
    if len(column.cells) < MIN_RECORDS_TO_JUDGE or not all(column.cells):
        return False
    return len({tuple(values) for values in column.values}) == 1


def _without_repeated(columns: list[Column]) -> list[Column]:
    """Return the columns without those that say what another of their kind says in each record."""
    column_by_content: dict[tuple[str, tuple[tuple[str, ...], ...]], Column] = {}
    for column in columns:
        content = (column.kind, tuple(tuple(values) for values in column.values))
        column_by_content.setdefault(content, column)
    distinct = list(column_by_content.values())
    return [
        column for column in distinct if not any(_is_part_of(column, other) for other in distinct)
    ]


def _is_part_of(column: Column, other: Column) -> bool:
    """Return whether links or images are all in another column, which has more."""
    if column is other or column.kind == TEXT or other.kind != column.kind:
        return False
    pairs = list(zip(column.values, other.values, strict=True))
    if not all(set(values) <= set(other_values) for values, other_values in pairs):
        return False
    return any(len(other_values) > len(values) for values, other_values in pairs)


def _name_of(column: Column, heads: dict[int, str]) -> str:
    """Return what a column is called: by the head of its table, else by what its cells say.

    The kind stands behind the name of links and images, `old_` before that of struck-out texts.
    """
    cells = [cell for cells_of_record in column.cells for cell in cells_of_record]
    first = cells[0]
    name = _name_by_head(first, heads)
    if name:
        return name if column.kind == TEXT else f"{name}_{column.kind}"
    n_cells_by_name = Counter(name for cell in cells for name in set(cell.names))
    shared_names = [name for name in first.names if n_cells_by_name[name] * 2 > len(cells)]
    values = [cell.value for cell in cells] if column.kind == TEXT else []
    name = name_of(shared_names, first.label, values, _fallback_name(first))
    if column.kind == TEXT and is_struck(column.cells):
        name = f"old_{name}"
    return name if column.kind in {TEXT, name} else f"{name}_{column.kind}"


def _name_by_head(cell: RecordCell, heads: dict[int, str]) -> str:
    """Return what the head of its table calls a cell; blank for a cell with a label of its own."""
    if cell.label or not cell.steps or not cell.steps[0].startswith("cell "):
        return ""
    column_number = int(cell.steps[0].removeprefix("cell "))
    return as_name(heads.get(column_number, ""))


def _fallback_name(cell: RecordCell) -> str:
    """Return what a field is called by where it stands, as the page has no word for it."""
    if cell.kind in {IMAGE, LINK}:
        return cell.kind
    tags = {str(cell.element.tag), *(step.partition(".")[0] for step in cell.steps)}
    if tags & HEADINGS or cell.element.tag == "a":
        return "title"
    return "date" if "time" in tags else "text"


def column_heads(row: _Element) -> dict[int, str]:
    """Return what the head of a row's table calls each column; nothing where there is no head."""
    if row.tag != "tr":
        return {}
    table = next(row.iterancestors("table"), None)
    if table is None:
        return {}
    for head in table.iter("tr"):
        cells = [cell for cell in head if cell.tag in {"td", "th"}]
        if head is row or (cells and all(cell.tag == "td" for cell in cells)):
            return {}
        if len(cells) > 1:
            return _texts_by_column(cells)
    return {}


def _texts_by_column(cells: Sequence[_Element]) -> dict[int, str]:
    text_by_column: dict[int, str] = {}
    column = 0
    for cell in cells:
        text_by_column[column] = shown_text(cell)
        column += colspan(cell, MAX_COLUMNS)
    return text_by_column
