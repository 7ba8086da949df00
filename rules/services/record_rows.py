"""Read records as rows of plain values; their JSON columns go out as the text that the database has.

Neither objects nor JSON values are made on the way: a thousand rows through model objects would take many
times as long.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson
from django.db.models import Case, Q, TextField, Value, When
from django.db.models.functions import Cast, Concat

from clustering.api.serializers import IsoTime
from clustering.dom.addresses import BadAddress, normalise_url, url_hash
from clustering.dom.texts import storable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.db.models.expressions import Combinable

    from clustering.models import Site
    from rules.models import RecordQuerySet

AT_ONCE = 2_000
JSON_NAMES: Final = ("values", "raw", "normalized", "missing", "failed", "confidence", "nodes")


def _rule_name() -> Case:
    told = Concat("rule__cluster__name", Value("@"), Cast("rule__version", TextField()))
    return Case(When(rule__isnull=False, then=told), default=None, output_field=TextField())


COLUMNS: Final[dict[str, str | Combinable]] = {
    "id": "id",
    "site": "site__name",
    "url": "page__url",
    "cluster": "cluster__name",
    "vertical": "rule__vertical__name",
    "rule": _rule_name(),
    "page": "page_id",
    "snapshot": "snapshot_id",
    "key": "key",
    "index": "index",
    **{name: Cast(name, TextField()) for name in JSON_NAMES},
    "least_confidence": "least_confidence",
    "change_number": "change_number",
    "first_seen_at": IsoTime("first_seen_at"),
    "changed_at": IsoTime("changed_at"),
    "gone_at": IsoTime("gone_at"),
}
NAMES: Final = tuple(COLUMNS)


class Wanted(NamedTuple):
    """Which records are asked for; None and blank do not narrow."""

    site: Site | None = None
    cluster: str = ""
    vertical: str = ""
    url: str = ""
    text: str = ""  # words that the address or the values contain
    changed_since: int | None = None  # a change number
    confidence: float | None = None  # of the least sure value, at least
    has_gone: bool = False  # also those that their pages no longer have


def narrowed(records: RecordQuerySet, wanted: Wanted) -> RecordQuerySet:
    """Return the records that are asked for."""
    filters: dict[str, Any] = {
        "site": wanted.site,
        "cluster__name": wanted.cluster or None,
        "rule__vertical__name": wanted.vertical or None,
        "change_number__gt": wanted.changed_since,
        "least_confidence__gte": wanted.confidence,
    }
    found = records.filter(**{name: value for name, value in filters.items() if value is not None})
    if wanted.url:
        found = found.filter(page__url_hash=_hash_of(wanted.url))
    if wanted.text:
        found = _with_words(found, storable(wanted.text).split())
    return found if wanted.has_gone else found.there()


def _with_words(records: RecordQuerySet, words: Sequence[str]) -> RecordQuerySet:
    """Return the records that have each of the words in their address or in a value."""
    found = records.alias(values_text=Cast("values", TextField()))
    for word in words:
        escaped = json.dumps(word)[1:-1]  # as SQLite has other scripts
        told = Q(page__url__icontains=word) | Q(values_text__icontains=word)
        found = found.filter(told | Q(values_text__icontains=escaped))
    return found


def record_rows(records: RecordQuerySet, names: Sequence[str] = NAMES) -> list[dict[str, Any]]:
    """Return the named fields of records; JSON values are fragments, which only `orjson` writes."""
    as_text = [name for name in names if name in JSON_NAMES]
    rows = []
    for values in records.values_list(*(COLUMNS[name] for name in names)):
        row = dict(zip(names, values, strict=True))
        for name in as_text:
            row[name] = orjson.Fragment(row[name])
        rows.append(row)
    return rows


def all_record_rows(
    records: RecordQuerySet, names: Sequence[str] = NAMES, *, at_once: int = AT_ONCE
) -> Iterator[list[dict[str, Any]]]:
    """Yield all rows in parts, each record once, whatever changes meanwhile; memory stays flat."""
    with_id = names if "id" in names else ("id", *names)
    last = 0
    while rows := record_rows(records.filter(pk__gt=last).order_by("pk")[:at_once], with_id):
        last = rows[-1]["id"]
        yield rows


def text_of(fragment: orjson.Fragment) -> str:
    """Return the JSON text of a fragment."""
    text = fragment.contents
    return text if isinstance(text, str) else text.decode()


def _hash_of(url: str) -> bytes | str:
    try:
        return url_hash(normalise_url(url))
    except BadAddress:
        return url_hash(url)
