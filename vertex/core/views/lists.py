"""Show long lists part by part: each part begins after the last row before, however deep."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from django.core.exceptions import BadRequest, ValidationError
from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import F, Field, Model, Q, QuerySet
from django.db.models.expressions import OrderBy
from django.http import HttpRequest

M = TypeVar("M", bound=Model)

ROWS_AT_ONCE = 50
LONGEST_SEARCH = 500
FORWARD, BACKWARD = "f", "b"


class BadCursor(BadRequest):
    """The part of the address that says where a list goes on cannot be read."""

    def __init__(self) -> None:
        super().__init__("The list cannot go on from here: open it again from its beginning.")


@dataclass(frozen=True, slots=True)
class ListPage(Generic[M]):
    """Some rows of a list, and where the parts after and before them begin (blank: nowhere)."""

    rows: list[M]
    next: str
    previous: str


class Key(NamedTuple):
    """A column that a list is sorted by; rows without a value come last."""

    name: str
    is_descending: bool
    is_nullable: bool


def list_page(
    queryset: QuerySet[M], *, order: Sequence[str], after: str = "", size: int = ROWS_AT_ONCE
) -> ListPage[M]:
    """Return the rows after the cursor `after`, in the order of fields whose last one is unique.

    Raises BadCursor where the cursor was not made for this order.
    """
    keys = [_key(queryset.model, word) for word in order]
    direction, values = _read_cursor(after, queryset.model, keys) if after else (FORWARD, None)
    is_backward = direction == BACKWARD
    if values is not None:
        queryset = queryset.filter(_beyond(keys, values, is_backward=is_backward))
    rows = list(
        queryset.order_by(*(_order(key, is_backward=is_backward) for key in keys))[: size + 1]
    )
    has_more = len(rows) > size
    rows = rows[:size]
    if is_backward:
        rows.reverse()
    has_next, has_previous = (
        (bool(rows), has_more) if is_backward else (has_more, values is not None)
    )
    return ListPage(
        rows=rows,
        next=_cursor(FORWARD, rows[-1], keys) if has_next and rows else "",
        previous=_cursor(BACKWARD, rows[0], keys) if has_previous and rows else "",
    )


def list_part(
    request: HttpRequest, queryset: QuerySet[M], *, order: Sequence[str], size: int = ROWS_AT_ONCE
) -> ListPage[M]:
    """Return the rows that the request's `after` asks for."""
    return list_page(queryset, order=order, after=request.GET.get("after", ""), size=size)


def words(request: HttpRequest, name: str = "q") -> str:
    """Return what the request searches for, without what no database takes."""
    return request.GET.get(name, "").replace("\0", " ").strip()[:LONGEST_SEARCH]


def choice_of(request: HttpRequest, name: str, choices: Iterable[str], default: str = "") -> str:
    """Return the request's choice of filter or order; the default if it is none of the choices."""
    wanted = request.GET.get(name, default)
    return wanted if wanted in choices else default


def both_ways(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return every order of a list: each column up, and down under its name with a minus."""
    down = {f"-{name}": [_turned(word) for word in words] for name, words in columns.items()}
    return {name: list(words) for name, words in columns.items()} | down


def _turned(word: str) -> str:
    return word.removeprefix("-") if word.startswith("-") else f"-{word}"


def _key(model: type[Model], word: str) -> Key:
    field = model._meta.get_field(word.removeprefix("-"))
    return Key(field.name, word.startswith("-"), field.null)


def _order(key: Key, *, is_backward: bool) -> OrderBy | str:
    is_descending = key.is_descending != is_backward
    if not key.is_nullable:
        return f"-{key.name}" if is_descending else key.name
    nulls = {"nulls_first": True} if is_backward else {"nulls_last": True}
    return F(key.name).desc(**nulls) if is_descending else F(key.name).asc(**nulls)


def _beyond(keys: Sequence[Key], values: Sequence[object], *, is_backward: bool) -> Q:
    """Match the rows that come after the one with these values."""
    condition, same = Q(pk__in=[]), Q()
    for key, value in zip(keys, values, strict=True):
        condition |= same & _beyond_one(key, value, is_backward=is_backward)
        same &= Q(**{f"{key.name}__isnull": True}) if value is None else Q(**{key.name: value})
    return condition


def _beyond_one(key: Key, value: object, *, is_backward: bool) -> Q:
    if value is None:
        return Q(**{f"{key.name}__isnull": False}) if is_backward else Q(pk__in=[])
    comparison = "lt" if key.is_descending != is_backward else "gt"
    condition = Q(**{f"{key.name}__{comparison}": value})
    if key.is_nullable and not is_backward:
        condition |= Q(**{f"{key.name}__isnull": True})
    return condition


def _cursor(direction: str, row: Model, keys: Sequence[Key]) -> str:
    values = [getattr(row, key.name) for key in keys]
    payload = json.dumps([direction, *values], cls=DjangoJSONEncoder, separators=(",", ":"))
    return base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=")


def _read_cursor(cursor: str, model: type[Model], keys: Sequence[Key]) -> tuple[str, list[Any]]:
    try:
        payload = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        direction, *values = payload
        read = [_value(model, key, value) for key, value in zip(keys, values, strict=True)]
    except (binascii.Error, ValueError, TypeError, ValidationError):
        raise BadCursor from None
    if direction not in {FORWARD, BACKWARD} or any(
        "\0" in value for value in read if isinstance(value, str)
    ):
        raise BadCursor
    return direction, read


def _value(model: type[Model], key: Key, value: object) -> object:
    field = model._meta.get_field(key.name)
    return None if value is None or not isinstance(field, Field) else field.to_python(value)
