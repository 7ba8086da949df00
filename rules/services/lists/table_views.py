"""What a person makes of a table: columns merged, renamed, dropped, brought back, records sorted.

Nothing of it is stored: it stands in the address of the table, its downloads and its acceptance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import urlencode

from clustering.algorithms.tables.page_tables import ListColumn, ListTable
from clustering.values.normalising import PageContext, normalise

CHOSEN: Final = "columns"  # the parameter that says that columns were chosen
MAX_NAME_CHARS: Final = 63


@dataclass(frozen=True, slots=True)
class TableView:
    """What a person chose; columns go by the names that they were found under."""

    shown: frozenset[str] | None = None  # None: those that are shown by themselves
    name_by_column: Mapping[str, str] = field(default_factory=dict)
    target_by_column: Mapping[str, str] = field(default_factory=dict)  # into which one is merged
    sort: str = ""
    is_descending: bool = False

    @property
    def is_changed(self) -> bool:
        return self != TableView()

    def query(self, **changes: Any) -> str:
        """Return the view as parameters of an address, with some changes."""
        view = replace(self, **changes)
        pairs: list[tuple[str, str]] = []
        if view.shown is not None:
            pairs.append((CHOSEN, "1"))
            pairs += [("show", name) for name in sorted(view.shown)]
        pairs += [(f"name.{column}", name) for column, name in view.name_by_column.items()]
        pairs += [(f"into.{column}", target) for column, target in view.target_by_column.items()]
        if view.sort:
            pairs.append(("sort", view.sort))
        if view.is_descending:
            pairs.append(("order", "desc"))
        return urlencode(pairs)


def read_view(table: ListTable, parameters: Mapping[str, Any], shown: Sequence[str]) -> TableView:
    """Return the view that an address asks for; what the table has not is passed over."""
    columns = [column.name for column in (*table.columns, *table.left_out)]
    names: dict[str, str] = {}
    targets: dict[str, str] = {}
    for column in columns:
        name = str(parameters.get(f"name.{column}", "")).strip()[:MAX_NAME_CHARS]
        target = str(parameters.get(f"into.{column}", ""))
        if name and name != column:
            names[column] = name
        if target in columns and target != column:
            targets[column] = target
    # A column that takes up others is not merged itself.
    targets = {name: target for name, target in targets.items() if target not in targets}
    sort = str(parameters.get("sort", ""))
    return TableView(
        frozenset(shown) & frozenset(columns) if CHOSEN in parameters else None,
        names,
        targets,
        sort if sort in columns else "",
        parameters.get("order") == "desc",
    )


def merged_table(table: ListTable, view: TableView) -> ListTable:
    """Return the table with all columns that are shown or brought back, merged ones together."""
    wanted = set(table.names) if view.shown is None else set(view.shown)
    wanted |= set(view.target_by_column) & set(table.names)
    columns = {
        column.name: column
        for column in (*table.columns, *table.left_out)
        if column.name in wanted or not column.why_left_out
    }
    for name, target in view.target_by_column.items():
        if name in columns and target in columns:
            columns[target] = _merged(columns[target], columns.pop(name))
    left_out = tuple(column for column in table.left_out if column.name not in columns)
    return replace(table, columns=tuple(columns.values()), left_out=left_out)


def viewed_table(table: ListTable, view: TableView) -> ListTable:
    """Return the table as a person wants to see it, with the columns that she dropped as left out.

    No column is renamed where two would have the same name.
    """
    table = merged_table(table, view)
    dropped: list[ListColumn] = []
    if view.shown is not None:
        dropped = [column for column in table.columns if column.name not in view.shown]
    table = replace(
        table,
        columns=tuple(column for column in table.columns if column not in dropped),
        left_out=(
            *(replace(column, why_left_out="you dropped it") for column in dropped),
            *table.left_out,
        ),
    )
    if view.sort in table.names:
        table = _sorted(table, table.columns[table.names.index(view.sort)], view)
    renamed = tuple(
        replace(column, name=view.name_by_column.get(column.name, column.name))
        for column in table.columns
    )
    if len({column.name for column in renamed}) < len(renamed):
        return table  # two columns of one name would be one in a file
    detail_column = view.name_by_column.get(table.detail_column, table.detail_column)
    return replace(table, columns=renamed, detail_column=detail_column)


def _merged(column: ListColumn, other: ListColumn) -> ListColumn:
    """Return a column with the values of both; of a record that has both, one after the other."""

    def joined(
        own: tuple[tuple[str, ...], ...], others: tuple[tuple[str, ...], ...]
    ) -> tuple[tuple[str, ...], ...]:
        return tuple((*left, *right) for left, right in zip(own, others, strict=True))

    values = joined(column.values, other.values)
    is_multi = any(len(of_record) > 1 for of_record in values)
    return replace(
        column, values=values, nodes=joined(column.nodes, other.nodes), is_multi=is_multi
    )


def _sorted(table: ListTable, column: ListColumn, view: TableView) -> ListTable:
    """Return the table with its records in another order; those without a value come last."""
    amounts = [_amount(values[0]) if values else None for values in column.values]
    is_of_numbers = all(
        amount is not None for amount, values in zip(amounts, column.values, strict=True) if values
    )
    filled = [number for number, values in enumerate(column.values) if values]
    empty = [number for number, values in enumerate(column.values) if not values]

    def key(number: int) -> Any:
        return amounts[number] if is_of_numbers else column.values[number][0].casefold()

    order = [*sorted(filled, key=key, reverse=view.is_descending), *empty]

    def in_order(values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(values[number] for number in order) if values else ()

    def reordered(columns: Sequence[ListColumn]) -> tuple[ListColumn, ...]:
        return tuple(
            replace(each, values=in_order(each.values), nodes=in_order(each.nodes))
            for each in columns
        )

    return replace(
        table,
        records=in_order(table.records),
        columns=reordered(table.columns),
        left_out=reordered(table.left_out),
        detail_urls=in_order(table.detail_urls),
    )


def _amount(text: str) -> float | None:
    """Return the amount, number or rating that a text is, None where it is none."""
    for kind in ("price", "number", "rating"):
        value: Any = normalise(kind, text, PageContext())
        if isinstance(value, dict):
            value = value.get("amount", value.get("value"))
        if value is not None:
            return float(value)
    return None
