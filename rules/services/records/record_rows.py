"""Read records as rows of plain values; their JSON columns are written as the database has them.

Neither objects nor JSON values are made on the way: a thousand rows through model objects would
take many times as long.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

import orjson
from django.db.models import Case, Q, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, Concat

from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from rules.models import Record, RecordQuerySet
from vertex.core.models import Site
from vertex.core.services.files.times import IsoTime
from vertex.core.texts import storable

ROWS_PER_QUERY = 500  # more are no faster
KEYS_PER_FETCH = 10_000
JSON_NAMES: Final = (
    "values",
    "raw",
    "normalized",
    "missing",
    "failed",
    "problems",
    "confidence",
    "nodes",
)


def _rule_name() -> Case:
    name = Concat(
        Cast("rule__cluster__name", TextField()),
        Value("@", output_field=TextField()),
        Cast("rule__version", TextField()),
    )
    return Case(When(rule__isnull=False, then=name), default=None, output_field=TextField())


COLUMNS: Final[dict[str, str | Combinable]] = {
    "id": "id",
    "site": "site__name",
    "url": "page__given_url",
    "normalized_url": "page__url",
    "cluster": "cluster__name",
    "vertical": "rule__vertical__name",
    "rule": _rule_name(),
    "page": "page_id",
    "snapshot": "snapshot_id",
    "key": "key",
    "index": "index",
    "details_url": "details_url",
    **{name: Cast(name, TextField()) for name in JSON_NAMES},
    "record_confidence": "record_confidence",
    "change_number": "change_number",
    "first_seen_at": IsoTime("first_seen_at"),
    "changed_at": IsoTime("changed_at"),
    "gone_at": IsoTime("gone_at"),
    "stale_since": IsoTime("stale_since"),
}
NAMES: Final = tuple(COLUMNS)


class WantedRows(NamedTuple):
    """Which records are asked for; None and blank do not narrow."""

    site: Site | None = None
    cluster: str = ""
    vertical: str = ""
    url: str = ""
    text: str = ""  # words that the address or the values contain
    changed_since: int | None = None  # a change number
    confidence: float | None = None  # that all values are right, at least
    has_problems: bool | None = None  # whether a value could not be read as its type
    has_gone: bool = False  # also those that their pages no longer have


def narrowed(records: RecordQuerySet, wanted: WantedRows) -> RecordQuerySet:
    """Return the records that are asked for."""
    filters: dict[str, Any] = {
        "site": wanted.site,
        "cluster__name": wanted.cluster or None,
        "rule__vertical__name": wanted.vertical or None,
        "change_number__gt": wanted.changed_since,
        "record_confidence__gte": wanted.confidence,
    }
    given = {name: value for name, value in filters.items() if value is not None}
    records = records.filter(**given)
    if wanted.has_problems is not None:
        without = Q(problems={})
        records = records.filter(~without if wanted.has_problems else without)
    if wanted.url:
        records = records.filter(page__url_hash=_hash_of(wanted.url))
    if wanted.text:
        records = _with_words(records, storable(wanted.text).split())
    return records if wanted.has_gone else records.there()


def _with_words(records: RecordQuerySet, words: Sequence[str]) -> RecordQuerySet:
    """Return the records that have each of the words in their address or in a value."""
    records = records.alias(values_text=Cast("values", TextField()))
    for word in words:
        escaped = json.dumps(word)[1:-1]  # as SQLite has other scripts
        in_url = Q(page__given_url__icontains=word) | Q(page__url__icontains=word)
        in_values = Q(values_text__icontains=word) | Q(values_text__icontains=escaped)
        records = records.filter(in_url | in_values)
    return records


def record_rows(
    records: RecordQuerySet,
    names: Sequence[str] = NAMES,
    *,
    read: Callable[[str], object] = orjson.Fragment,
) -> list[dict[str, Any]]:
    """Return the named fields of records; JSON values are fragments, written as they are."""
    json_names = [name for name in names if name in JSON_NAMES]
    rows = []
    for values in records.values_list(*(COLUMNS[name] for name in names)):
        row = dict(zip(names, values, strict=True))
        for name in json_names:
            row[name] = read(row[name])
        rows.append(row)
    return rows


def all_record_rows(
    records: RecordQuerySet,
    names: Sequence[str] = NAMES,
    *,
    read: Callable[[str], object] = orjson.Fragment,
) -> Iterator[list[dict[str, Any]]]:
    """Yield all rows in parts: the records there are now, each once, whatever changes meanwhile.

    Only their keys are kept in memory, 8 bytes each. Pages of the list would repeat what changes,
    and a cursor of the database would hold up its writers as long as the slowest reader takes.
    """
    in_order = records.order_by("change_number")
    keys = array("q", in_order.values_list("pk", flat=True).iterator(KEYS_PER_FETCH))
    for start in range(0, len(keys), ROWS_PER_QUERY):
        part = Record.objects.filter(pk__in=keys[start : start + ROWS_PER_QUERY].tolist())
        yield record_rows(part.order_by("change_number"), names, read=read)


def _hash_of(url: str) -> bytes | str:
    try:
        return url_hash(normalise_url(url))
    except BadAddress:
        return url_hash(url)
