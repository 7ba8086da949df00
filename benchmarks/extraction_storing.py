"""Costs of storing records by COPY and Django's bulk upsert, an API page, the export of a million.

Run it on PostgreSQL with: python -m tests.servers --postgres -- python -m benchmarks.run
extraction_storing All that it writes is undone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from annotation.models import Vertical
from benchmarks.report import markdown_table
from clustering.models import Cluster, Page, Snapshot
from rules.models import Record, Rule
from rules.services.records.file_formats import MEDIA_TYPES
from rules.services.records.record_exports import export_parts
from rules.services.records.record_rows import record_rows
from rules.services.records.record_upserts import upsert_by_copy
from vertex.core.api.formats import FastJSONRenderer
from vertex.core.models import Site

TITLE = "Storing records"
N_RECORDS, AT_ONCE, N_FIELDS, API_PAGE = 10_000, 1_000, 14, 1_000
N_EXPORTED = int(os.environ.get("VERTEX_EXPORTED", "1000000"))
MIB = 1024 * 1024
EARLY = 100 * MIB


class Plain(serializers.ModelSerializer[Record]):
    site = serializers.CharField(source="site.name")
    url = serializers.CharField(source="page.url")
    cluster = serializers.CharField(source="cluster.name")
    vertical = serializers.CharField(source="rule.vertical.name")

    class Meta:
        model = Record
        fields = "__all__"


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    if connection.vendor != "postgresql":
        return (
            "Left out: COPY needs PostgreSQL. Run it under `python -m tests.servers --postgres --`."
        )
    call_command("migrate", verbosity=0)
    sections = []
    with transaction.atomic():
        place = made_place()
        sections.append(upserts(place))
        fill(place, N_EXPORTED)
        sections += [api_pages(), exports()]
        transaction.set_rollback(True)
    return "\n\n".join(sections)


def made_place() -> dict[str, int]:
    """Return the columns of records that say where they come from."""
    site = Site.objects.create(name="bench", root_url="https://bench.example/")
    url, now = "https://bench.example/1", timezone.now()
    page, *_ = Page.objects.bulk_create(
        Page(site=site, url=f"{url}{n}", url_hash=n.to_bytes(16, "big"), given_url=url)
        for n in range(N_RECORDS)
    )
    times = {"fetched_at": now, "seen_at": now}
    snapshot = Snapshot.objects.create(
        page=page, body="0" * 64, n_bytes=1, requested_url=url, final_url=url, **times
    )
    cluster = Cluster.objects.create(site=site, name="products")
    vertical = Vertical.objects.create(name="bench")
    schema = [{"name": f"attribute{number}", "is_multi": False} for number in range(N_FIELDS)]
    rule = Rule.objects.create(
        cluster=cluster, version=1, vertical=vertical, schema=schema, state="published"
    )
    return {
        "site_id": site.pk,
        "page_id": page.pk,
        "cluster_id": cluster.pk,
        "rule_id": rule.pk,
        "snapshot_id": snapshot.pk,
    }


def rows_of(place: dict[str, int], numbers: range, word: str) -> list[dict[str, Any]]:
    """Return records of 14 fields."""
    sure = dict.fromkeys((f"attribute{field}" for field in range(N_FIELDS)), 1.0)
    rows = []
    for number in numbers:
        values = dict.fromkeys(sure, f"{word} of record {number}")
        empty: dict[str, Any] = {"normalized": {}, "missing": [], "failed": {}, "nodes": {}}
        empty |= {"problems": {}, "details_url": ""}
        fields = {
            "values": values,
            "raw": values,
            "confidence": sure,
            "record_confidence": 1.0,
            "index": number,
        }
        rows.append({**place, "key": str(number), **fields, **empty})
    return rows


def bulk_upsert(rows: list[dict[str, Any]], *, pages: list[int], now: Any) -> dict[str, int]:
    """Write records by Django's own upsert: no history, no comparison."""
    del pages
    last = (
        Record.objects.order_by("-change_number").values_list("change_number", flat=True).first()
        or 0
    )
    records = [
        Record(**row, change_number=last + number, first_seen_at=now, changed_at=now)
        for number, row in enumerate(rows, 1)
    ]
    written = [*rows[0].keys() - {"page_id", "key", "site_id"}, "change_number", "changed_at"]
    names = [name.removesuffix("_id") for name in written]
    Record.objects.bulk_create(
        records, update_conflicts=True, unique_fields=["page", "key"], update_fields=names
    )
    return {}


def upserts(place: dict[str, int]) -> str:
    """Return records a second of each way: for new, for changed and for unchanged records."""
    ways = {"COPY": upsert_by_copy, "Django's bulk upsert": bulk_upsert}
    speeds: dict[str, list[float]] = {}
    for name, upsert in ways.items():
        with transaction.atomic():
            speeds[name] = [speed(upsert, place, word) for word in ("New", "Changed", "Changed")]
            transaction.set_rollback(True)
    ours = speeds["COPY"]
    rows = [
        [name, *(f"{n:,.0f} ({ours[kind] / n:.1f} x slower)" if name != "COPY" else f"{n:,.0f}"
                 for kind, n in enumerate(told))]
        for name, told in speeds.items()
    ]  # fmt: skip
    result = (
        f"Records of {N_FIELDS} fields a second, {AT_ONCE:,} in a statement, {N_RECORDS:,} in all."
    )
    return f"{result}\n\n" + markdown_table(["way", "new", "changed", "the same"], rows)


def speed(upsert: Callable[..., Any], place: dict[str, int], word: str) -> float:
    seconds = 0.0
    for start in range(0, N_RECORDS, AT_ONCE):
        rows = rows_of(place, range(start, start + AT_ONCE), word)
        for row in rows:
            row["page_id"] += row["index"]  # a page each, as on most sites
        pages = [row["page_id"] for row in rows]
        began = time.perf_counter()
        upsert(rows, pages=pages, now=timezone.now())
        seconds += time.perf_counter() - began
    return N_RECORDS / seconds


def fill(place: dict[str, int], n: int) -> None:
    for start in range(0, n, 10_000):
        upsert_by_copy(
            rows_of(place, range(start, min(n, start + 10_000)), "Value"),
            pages=[],
            now=timezone.now(),
        )
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE rules_record")


def api_pages() -> str:
    """Return what the first and last page of the API cost, beside those of a plain serializer."""
    last = Record.objects.order_by("-change_number").values_list("change_number", flat=True)[
        API_PAGE
    ]

    def plain(after: int) -> bytes:
        joined = Record.objects.select_related("site", "page", "cluster", "rule__vertical")
        result = Plain(joined.changed_since(after)[:API_PAGE], many=True).data
        rendered: bytes = JSONRenderer().render(result)
        return rendered

    def ours(after: int) -> bytes:
        return FastJSONRenderer().render(
            record_rows(Record.objects.changed_since(after)[:API_PAGE])
        )

    rows = []
    for name, after in (("the first page", 0), ("the last page", last)):
        times = [best(partial(read, after)) for read in (ours, plain)]
        rows.append(
            [name, *(f"{1000 * time:.1f} ms" for time in times), f"{times[1] / times[0]:.1f}"]
        )
    told = f"A page of {API_PAGE:,} of {Record.objects.count():,} records."
    return f"{told}\n\n" + markdown_table(
        ["page", "ours", "a plain ModelSerializer", "ratio"], rows
    )


def best(work: Callable[[], bytes]) -> float:
    seconds = []
    for _ in range(5):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def exports() -> str:
    """Return the speed of the export of all records, and the memory that it takes."""
    rows = []
    for form in MEDIA_TYPES:
        list(export_parts(Record.objects.filter(key__in=["1", "2"]), form))  # what is loaded once
        began = time.perf_counter()
        n_bytes, memory = drained(export_parts(Record.objects.all(), form))
        seconds = time.perf_counter() - began
        sizes = [f"{each / MIB:,.0f} MiB" for each in (n_bytes, memory[0], memory[1])]
        rows.append([form, f"{N_EXPORTED / seconds:,.0f}", *sizes])
    header = [
        "form",
        "records a second",
        "file",
        "most memory in the first 100 MiB",
        "most memory in all",
    ]
    result = f"Export of {N_EXPORTED:,} records; memory above that before the export."
    return f"{result}\n\n" + markdown_table(header, rows)


def drained(parts: Iterator[bytes]) -> tuple[int, tuple[int, int]]:
    """Return the bytes of all parts, and the most memory of the first of them and of all."""
    process, n_bytes = psutil.Process(), 0
    before = process.memory_info().rss
    early = most = 0
    for part in parts:
        n_bytes += len(part)
        most = max(most, process.memory_info().rss - before)
        if n_bytes < EARLY:
            early = most
    return n_bytes, (early, most)
