"""Exports hold each record once, as lines or as a table, and more records take no more memory."""

from __future__ import annotations

import csv
import io
import tracemalloc
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.utils import timezone
from pyarrow import parquet

from rules.models import Record, Rule
from rules.services.records import file_formats, record_exports, record_rows
from rules.services.records.file_formats import CSV, JSON_LINES, PARQUET
from rules.services.records.record_exports import export_parts
from tests.apps.clustering.api_cast import caller, page_of
from tests.apps.rules.record_cast import record_of, shop_with_records, touched
from vertex.core.models import Job, Role
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def lines_of(parts: Any) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in b"".join(parts).splitlines()]


def table_of(parts: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(parts).decode(), newline="")))


def test_lines_hold_typed_values() -> None:
    shop_with_records(2)
    ada = caller("ada", Role.VIEWER)
    answer = ada.get("records/export/?format=jsonl&site=shop")
    first, _ = lines_of(answer.streaming_content)

    assert "application/x-ndjson" == answer["Content-Type"]
    assert 'attachment; filename="shop-records.jsonl"' == answer["Content-Disposition"]
    assert ("https://shop.example/r0", "Trail Runner") == (first["url"], first["name"])
    assert (89.0, "USD", ["41", "42"]) == (first["price"], first["price_currency"], first["sizes"])
    assert first["problems"] is None


def test_a_table_has_a_column_for_each_attribute() -> None:
    shop_with_records(1)
    answer = caller("ada", Role.VIEWER).get("records/export/?format=csv")
    (row,) = table_of(answer.streaming_content)

    assert "text/csv" == answer["Content-Type"]
    assert ["url", "normalized_url", "cluster", "rule"] == list(row)[:4]
    assert ["name", "price", "price_currency", "sizes", "problems"] == list(row)[-5:]
    assert ("Trail Runner", "89.00", "USD") == (row["name"], row["price"], row["price_currency"])
    assert '["41","42"]' == row["sizes"]


@pytest.mark.parametrize("form", [JSON_LINES, CSV, PARQUET])
def test_displayed_texts_stand_beside_the_values_where_asked_for(form: str) -> None:
    shop_with_records(1)
    answer = caller("ada", Role.VIEWER).get(f"records/export/?format={form}&raw=true")
    parts = list(answer.streaming_content)
    read = {JSON_LINES: lines_of, CSV: table_of, PARQUET: rows_of_parquet}
    (row,) = read[form](parts)

    assert "$89.00" == row["price_raw"]
    assert row["sizes"] == row["sizes_raw"]


@pytest.mark.parametrize("value", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_spreadsheet_runs_a_value(value: str) -> None:
    _, (record,) = shop_with_records(1)
    touched(record, name=value)
    (row,) = table_of(export_parts(Record.objects.all(), CSV))

    assert f"'{value}" == row["name"]
    assert "89.00" == row["price"]


def test_amounts_below_zero_stay_numbers() -> None:
    _, (record,) = shop_with_records(1)
    record.normalized = {"price": {"amount": "-5.50", "currency": "USD"}}
    record.save()
    (row,) = table_of(export_parts(Record.objects.all(), CSV))

    assert "-5.50" == row["price"]


def test_a_format_that_is_not_there_is_told() -> None:
    answer = caller("ada", Role.VIEWER).get("records/export/?format=xlsx")

    assert 400 == answer.status_code
    assert "format" in answer.json()["error"]["fields"]


@pytest.mark.parametrize("form", [JSON_LINES, CSV])
def test_each_record_is_written_once_whatever_changes_meanwhile(
    form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_rows, "ROWS_PER_QUERY", 2)
    rule, records = shop_with_records(5)
    parts = export_parts(Record.objects.all(), form)
    begun = [next(parts), next(parts)]
    touched(records[0], name="Changed")
    touched(records[4], name="Late")
    record_of(rule, page_of(rule.cluster.site, "new"))
    whole = [*begun, *parts]

    lines = lines_of(whole) if form == JSON_LINES else table_of(whole)
    assert sorted(f"https://shop.example/r{n}" for n in range(5)) == sorted(
        row["url"] for row in lines
    )


@pytest.mark.bar
def test_memory_stays_flat() -> None:
    _, (record,) = shop_with_records(1)
    of_all = {
        name: getattr(record, name) for name in ("site", "page", "cluster", "rule", "snapshot")
    }
    text = {"name": "x" * 1000}

    def peak(n: int) -> int:
        Record.objects.exclude(pk=record.pk).delete()
        Record.objects.bulk_create(
            Record(**of_all, key=str(number), values=text, change_number=1000 + number)
            for number in range(n)
        )
        tracemalloc.start()
        n_written = sum(
            part.count(b"\n") for part in export_parts(Record.objects.all(), JSON_LINES)
        )
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert n + 1 == n_written
        return most

    peak(600)  # what is loaded once
    assert peak(2400) < 1.5 * peak(600)


def test_a_job_writes_a_zip_file(settings: Any, tmp_path: Path) -> None:
    settings.EXPORT_DIR = tmp_path
    rule, (record, gone) = shop_with_records(2)
    gone.gone_at = timezone.now()
    gone.save()
    job = create_here(record_exports.record_export_request(site=rule.cluster.site))
    done = run_job(job.pk, record_exports.export_records)

    assert Job.State.DONE == done.state
    assert done.result is not None
    with zipfile.ZipFile(tmp_path / done.result["file"]) as archive:
        (line,) = lines_of([archive.read("shop.jsonl")])
    assert record.page.url == line["url"]
    assert [done.result["file"]] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("form", [JSON_LINES, CSV, PARQUET])
def test_the_command_writes_what_the_download_holds(form: str, tmp_path: Path) -> None:
    shop_with_records(2)
    path = tmp_path / "records"
    call_command("export_records", "shop", f"--format={form}", f"--output={path}")

    assert b"".join(export_parts(Record.objects.all(), form)) == path.read_bytes()


def rows_of_parquet(parts: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = parquet_of(parts).read().to_pylist()
    return rows


def parquet_of(parts: Any) -> parquet.ParquetFile:
    return parquet.ParquetFile(io.BytesIO(b"".join(parts)))


def test_parquet_has_a_typed_column_for_each_attribute() -> None:
    _, (record,) = shop_with_records(1)
    answer = caller("ada", Role.VIEWER).get("records/export/?format=parquet")
    (row,) = rows_of_parquet(answer.streaming_content)

    assert "application/vnd.apache.parquet" == answer["Content-Type"]
    assert ("Trail Runner", Decimal(89), "USD", ["41", "42"]) == (
        row["name"],
        row["price"],
        row["price_currency"],
        row["sizes"],
    )
    assert (record.changed_at, None, 0.9) == (
        row["changed_at"],
        row["gone_at"],
        row["record_confidence"],
    )


def test_parquet_takes_values_that_were_one_once_and_attributes_named_like_its_columns() -> None:
    rule, (record,) = shop_with_records(1)
    Rule.objects.filter(pk=rule.pk).update(schema=[*rule.schema, {"name": "url"}])
    touched(record, sizes="41", url="/there", price=["1", "2"])
    (row,) = rows_of_parquet(export_parts(Record.objects.all(), PARQUET))

    assert (["41"], "/there") == (row["sizes"], row["values.url"])
    assert "https://shop.example/r0" == row["url"]


def test_parquet_is_written_in_groups_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_rows, "ROWS_PER_QUERY", 2)
    monkeypatch.setattr(file_formats, "ROWS_PER_GROUP", 2)
    shop_with_records(5)
    parts = list(export_parts(Record.objects.all(), PARQUET))
    written = parquet_of(parts)

    assert (3, 5) == (written.num_row_groups, written.metadata.num_rows)
    assert 3 + 1 == len(parts)


def test_without_records_parquet_still_has_its_columns() -> None:
    rule, _ = shop_with_records(1)
    assert rule.pk
    written = parquet_of(export_parts(Record.objects.none(), PARQUET))

    assert 0 == written.metadata.num_rows
    assert "url" == written.schema_arrow.names[0]


def test_columns_of_attributes_that_the_vertical_had_before_stay() -> None:
    rule, _ = shop_with_records(1)
    Rule.objects.filter(pk=rule.pk).update(schema=[*rule.schema, {"name": "colour"}])
    (row,) = table_of(export_parts(Record.objects.all(), CSV))

    assert "" == row["colour"]
