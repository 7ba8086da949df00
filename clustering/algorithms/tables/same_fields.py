"""Put columns together that are one field in several wrappers, such as a price and a sale price.

Readings:   Two columns are one field if the page calls both the same, no record has both, and what
            is in them is of one type. What the page does not name itself, a text in a paragraph or
            a link, is only the same where it ends in the same two steps. A value that is struck out
            is no longer true: it never stands in the column of one that is.
Cost:       Linear in the cells; where many columns are of one name, a look at each pair of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import islice

from clustering.algorithms.tables.cells import TEXT, RecordCell
from clustering.algorithms.tables.column_names import name_of
from clustering.values.recognising import type_of_most

Cells = Sequence[Sequence[RecordCell]]  # of each record, none where it lacks the field

STRUCK = frozenset({"s", "strike", "del"})
N_STRUCK_ABOVE = 4  # elements above a text of which one may strike it out
N_LAST_STEPS = 2


def join_wrappers(columns: Sequence[Cells]) -> list[Cells]:
    """Return the columns, those of one field together in the place of the one most records have."""
    indices_by_traits: dict[Hashable, list[int]] = {}
    for index, column in enumerate(columns):
        indices_by_traits.setdefault(_traits_of(column), []).append(index)
    joined = dict(enumerate(columns))
    for indices in indices_by_traits.values():
        records = {
            index: {n for n, cells in enumerate(columns[index]) if cells} for index in indices
        }
        by_size = sorted(indices, key=lambda index: -len(records[index]))
        for position, index in enumerate(by_size):
            if index not in joined:
                continue
            for other in by_size[position + 1 :]:
                if other not in joined or not records[index].isdisjoint(records[other]):
                    continue
                records[index] |= records[other]
                pairs = zip(joined[index], joined.pop(other), strict=True)
                joined[index] = [cells or other_cells for cells, other_cells in pairs]
    return [joined[index] for index in sorted(joined)]


def _traits_of(column: Cells) -> Hashable:
    """Return what must be equal in columns of one field."""
    first = next(iter(_cells(column)))
    label, name = first.label.casefold(), page_name_of(column)
    place = () if name else first.steps[-N_LAST_STEPS:]
    if first.kind != TEXT:
        return first.kind, label, name, place
    return first.kind, label, name, place, is_struck(column), _type_of(column)


def is_struck(column: Cells) -> bool:
    """Return whether all values of a column are struck out."""
    return all(_is_struck(cell) for cell in _cells(column))


def page_name_of(column: Cells) -> str:
    """Return what the page calls a field, blank where it has no word for it."""
    cells = list(_cells(column))
    n_cells_by_name = Counter(name for cell in cells for name in set(cell.names))
    shared = [name for name in cells[0].names if n_cells_by_name[name] * 2 > len(cells)]
    return name_of(shared, cells[0].label, [], "")


def _cells(column: Cells) -> Iterable[RecordCell]:
    return (cell for cells in column for cell in cells)


def _type_of(column: Cells) -> str:
    return type_of_most([cell.value for cell in _cells(column)])


def _is_struck(cell: RecordCell) -> bool:
    above = islice(cell.element.iterancestors(), N_STRUCK_ABOVE)
    return any(str(element.tag) in STRUCK for element in (cell.element, *above))
