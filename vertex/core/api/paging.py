"""Lists in pages: a cursor says after which row the next page begins, so depth costs nothing."""

from __future__ import annotations

import hashlib
from typing import Any

from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.utils.urls import replace_query_param

from vertex.core.api.serializers import DEFAULT_LIMIT, RowSerializer

SIGNER = Signer(salt="vertex.core.api.paging")


def page_of(
    queryset: QuerySet[Any],
    *,
    row: type[RowSerializer],
    request: Request,
    query: dict[str, Any],
    key: str = "id",
    newest_first: bool = False,
) -> dict[str, Any]:
    """Return one page of rows and the address of the next one, or None at the end.

    `key` names a unique field, in the row as in the table. Rows added meanwhile shift nothing.
    """
    limit = query.get("limit", DEFAULT_LIMIT)
    if query.get("cursor"):
        last = read_cursor(query["cursor"], request)
        queryset = queryset.filter(**{f"{key}__{'lt' if newest_first else 'gt'}": last})
    rows = row.read(queryset.order_by(f"-{key}" if newest_first else key)[: limit + 1])
    following = None
    if len(rows) > limit:
        rows = rows[:limit]
        cursor = write_cursor(rows[-1][key], request)
        following = replace_query_param(request.build_absolute_uri(), "cursor", cursor)
    return {"results": rows, "next": following}


def write_cursor(last: int | str, request: Request) -> str:
    """Return an opaque word for the place after a row of this list."""
    return SIGNER.sign_object([_list_of(request), last])


def read_cursor(cursor: str, request: Request) -> int | str:
    """Return the last row's key; a cursor that was not made here for this list is refused."""
    try:
        made_for, last = SIGNER.unsign_object(cursor)
    except (BadSignature, ValueError):
        raise ValidationError(
            {"cursor": ["Not a cursor of this list; take the one in `next`."]}
        ) from None
    if made_for != _list_of(request):
        raise ValidationError(
            {"cursor": ["A cursor of another list or other filters; begin without one."]}
        )
    key: int | str = last
    return key


def _list_of(request: Request) -> str:
    """Name the list that a cursor belongs to: its address and its filters."""
    filters = sorted(
        (k, v) for k, v in request.query_params.items() if k not in {"cursor", "limit"}
    )
    return hashlib.sha256(repr((request.path, filters)).encode()).hexdigest()[:16]
