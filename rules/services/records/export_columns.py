"""The columns of exported records: attributes as their types have them, for programs to use.

A price is a decimal with its currency in a column beside it, a number and a rating are numbers, a
date is a day, links and images are absolute; other values stand as displayed. An attribute that may
have several values is a list. The lists of the fields of a nested list are aligned: the n-th place
of each is its n-th entry, empty where the entry has no such value. What has no value of its type is
empty, and the column `problems` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import ROUND_HALF_EVEN, Context, Decimal
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from annotation.algorithms.attribute_types import list_name_of
from rules.services.records.file_formats import TEXT, TIME, FileColumn, Row

HEAD: Final[Mapping[str, pa.DataType]] = {
    "url": TEXT,
    "normalized_url": TEXT,
    "cluster": TEXT,
    "rule": TEXT,
    "key": TEXT,
    "details_url": TEXT,
    "record_confidence": pa.float64(),
    "changed_at": TIME,
    "gone_at": TIME,
    "stale_since": TIME,
}
PROBLEMS: Final = "problems"
RECORD_FIELDS: Final = (*HEAD, "values", "normalized", PROBLEMS)  # that the columns are made of
AMOUNT_DIGITS, AMOUNT_DECIMALS = 38, 6  # of a price; no currency has more than four decimals
AMOUNT: Final = pa.decimal128(AMOUNT_DIGITS, AMOUNT_DECIMALS)
_SMALLEST_AMOUNT: Final = Decimal(1).scaleb(-AMOUNT_DECIMALS)
_ROUNDING: Final = Context(prec=AMOUNT_DIGITS, rounding=ROUND_HALF_EVEN)
_CHARS_OF_DAY: Final = len("2024-03-05")
MOST_QUOTED: Final = 80  # characters of a value that a problem quotes


class ExportedAttribute(NamedTuple):
    """An attribute of the records that are exported."""

    name: str
    type: str
    is_multi: bool

    @property
    def list_name(self) -> str:
        """The nested list that the attribute is a field of, blank where it is of none."""
        return list_name_of(self.name, is_multi=self.is_multi)


class _Kind(NamedTuple):
    """How values of a type stand in a file."""

    column_type: pa.DataType
    of_normalised: Callable[[Any], object | None]


def _amount_of(price: Any) -> Decimal | None:
    if not isinstance(price, dict):
        return None
    amount = Decimal(price["amount"])
    _, _, exponent = amount.as_tuple()
    is_too_fine = isinstance(exponent, int) and exponent < -AMOUNT_DECIMALS
    return amount.quantize(_SMALLEST_AMOUNT, context=_ROUNDING) if is_too_fine else amount


def _number_of(number: Any) -> float | None:
    """Return a number; one with more digits than JSON keeps was stored as text, rounded here."""
    try:
        return None if isinstance(number, dict) else float(number)
    except (TypeError, ValueError):
        return None


def _rating_of(rating: Any) -> float | None:
    return rating["value"] if isinstance(rating, dict) else None


def _day_of(moment: Any) -> date | None:
    """Return the day of a date as it is written there; a month alone has none."""
    if not isinstance(moment, str) or len(moment) < _CHARS_OF_DAY:
        return None
    return date.fromisoformat(moment[:_CHARS_OF_DAY])


def _text_of(text: Any) -> str | None:
    return text if isinstance(text, str) else None


_READ: Final[Mapping[str, _Kind]] = {
    "price": _Kind(AMOUNT, _amount_of),
    "number": _Kind(pa.float64(), _number_of),
    "rating": _Kind(pa.float64(), _rating_of),
    "date": _Kind(pa.date32(), _day_of),
    "phone": _Kind(TEXT, _text_of),
    "zip": _Kind(TEXT, _text_of),
    "url": _Kind(TEXT, _text_of),
    "image": _Kind(TEXT, _text_of),
}


def columns_of(
    attributes: Iterable[ExportedAttribute], *, has_raw: bool = False
) -> list[FileColumn]:
    """Return the columns of a file; `has_raw` adds the displayed text of each attribute.

    An attribute named like one of the other columns has a prefix; that, and a column beside it,
    give way to another attribute of its name.
    """
    attributes = list(attributes)
    columns = [FileColumn(name, kind, itemgetter(name)) for name, kind in HEAD.items()]
    own_names = {*HEAD, PROBLEMS}
    taken_names = own_names | {attribute.name for attribute in attributes}
    named = [
        (
            _free_name(attribute.name, taken_names)
            if attribute.name in own_names
            else attribute.name,
            attribute,
        )
        for attribute in attributes
    ]
    for name, attribute in named:
        columns.append(_value_column(name, attribute))
        if attribute.type == "price":
            beside = _free_name(f"{name}_currency", taken_names)
            columns.append(_listed(beside, TEXT, _currencies_of(attribute), attribute))
        if has_raw:
            beside = _free_name(f"{name}_raw", taken_names)
            columns.append(_listed(beside, TEXT, _displayed_of(attribute), attribute))
    problems_of = _problems_of(attributes)
    columns.append(FileColumn(PROBLEMS, TEXT, lambda row: problems_of(row) or None))
    return columns


def _free_name(name: str, taken_names: set[str]) -> str:
    while name in taken_names:
        name = f"values.{name}"
    taken_names.add(name)
    return name


def _value_column(name: str, attribute: ExportedAttribute) -> FileColumn:
    kind = _READ.get(attribute.type)
    if kind is None:
        return _listed(name, TEXT, _displayed_of(attribute), attribute)
    values_of = _values_of(attribute, kind.of_normalised)
    return _listed(name, kind.column_type, values_of, attribute, is_read=True)


def _listed(
    name: str,
    kind: pa.DataType,
    values_of: Callable[[Row], list[Any]],
    attribute: ExportedAttribute,
    *,
    is_read: bool = False,
) -> FileColumn:
    """Return a column of lists if the attribute may have several values, else of the first."""
    if attribute.is_multi:
        return FileColumn(
            name, pa.list_(kind), lambda row: values_of(row) or None, is_read, attribute.list_name
        )
    return FileColumn(name, kind, lambda row: next(iter(values_of(row)), None), is_read)


def _displayed_of(attribute: ExportedAttribute) -> Callable[[Row], list[Any]]:
    return lambda row: _as_list(row["values"].get(attribute.name))


def _values_of(
    attribute: ExportedAttribute, of_normalised: Callable[[Any], object | None]
) -> Callable[[Row], list[Any]]:
    """Return what reads an attribute's values in a row: one for each displayed, None if unread."""

    def values_of(row: Row) -> list[Any]:
        displayed = _as_list(row["values"].get(attribute.name))
        forms = _as_list(row["normalized"].get(attribute.name))
        forms += [None] * (len(displayed) - len(forms))
        return [None if form is None else of_normalised(form) for form in forms]

    return values_of


def _currencies_of(attribute: ExportedAttribute) -> Callable[[Row], list[Any]]:
    return _values_of(
        attribute, lambda price: price["currency"] if isinstance(price, dict) else None
    )


def _as_list(value: object) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, list) else [value]


def _problems_of(attributes: Iterable[ExportedAttribute]) -> Callable[[Row], dict[str, str]]:
    """Return what says of a record, by attribute, why a displayed value is empty in its column."""
    read_attributes = [
        (attribute, _values_of(attribute, _READ[attribute.type].of_normalised))
        for attribute in attributes
        if attribute.type in _READ
    ]

    def problems_of(row: Row) -> dict[str, str]:
        problems = dict(row[PROBLEMS])
        for attribute, values_of in read_attributes:
            displayed = _as_list(row["values"].get(attribute.name))
            unread = _first_unread(displayed, values_of(row))
            if unread is not None and attribute.name not in problems:
                problems[attribute.name] = _why_empty(attribute, unread)
        return problems

    return problems_of


def _first_unread(displayed: list[Any], values: list[Any]) -> str | None:
    """Return the first displayed value that has no value of its type, None where all have one."""
    for text, value in zip(displayed, values, strict=False):
        if value is None and text is not None:
            return str(text)
    return None


def _why_empty(attribute: ExportedAttribute, displayed: str) -> str:
    quoted = repr(displayed[:MOST_QUOTED])
    if attribute.type == "date":
        return f"{quoted} tells no day"
    return f"{quoted} was extracted before the attribute became a {attribute.type}"
