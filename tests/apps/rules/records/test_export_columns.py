"""Exported values have the types of their attributes, and programs reckon with them as they are."""

from __future__ import annotations

import io
import json
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from pyarrow import parquet

from rules.models import Record, Rule
from rules.services.records.export_columns import ExportedAttribute, columns_of
from rules.services.records.file_formats import CSV, JSON_LINES, PARQUET
from rules.services.records.record_exports import export_parts
from tests.apps.clustering.api_cast import caller
from tests.apps.rules.record_cast import shop_with_records
from vertex.core.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

PRICES = ("89.00", "1101.50", None)
SCHEMA = [
    {"name": "name"},
    {"name": "price", "type": "price"},
    {"name": "published", "type": "date"},
    {"name": "link", "type": "url"},
    {"name": "stars", "type": "rating"},
    {"name": "weights", "type": "number", "is_multi": True},
]


def typed_shop() -> None:
    """Store three records with values of all types; the last has a price that nobody can read."""
    rule, records = shop_with_records(3)
    Rule.objects.filter(pk=rule.pk).update(schema=SCHEMA)
    for record, amount in zip(records, PRICES, strict=True):
        record.values = {
            "name": "=Rope",
            "price": "on request" if amount is None else f"{amount} kr.",
            "published": "5. marts 2021",
            "link": "../details/t1.html",
            "stars": "4/5",
            "weights": ["12 g", "1.5 g"],
        }
        record.normalized = {
            "published": "2021-03-05T10:30:00",
            "link": "https://shop.example/details/t1.html",
            "stars": {"value": 4.0, "best": 5.0},
            "weights": [12, 1.5],
        }
        if amount is None:
            record.problems = {"price": "'on request' cannot be read as a price"}
        else:
            record.normalized["price"] = {"amount": amount, "currency": "DKK"}
        record.save()


def exported(tmp_path: Path, form: str) -> str:
    path = tmp_path / f"records.{form}"
    path.write_bytes(b"".join(export_parts(Record.objects.all(), form)))
    return str(path)


class TestPrograms:
    MEAN = (89.00 + 1101.50) / 2

    @pytest.mark.parametrize("form", [CSV, JSON_LINES, PARQUET])
    def test_duckdb_takes_the_mean_of_prices(self, form: str, tmp_path: Path) -> None:
        typed_shop()
        path = exported(tmp_path, form)
        mean, first_day, n_links = duckdb.execute(
            "SELECT avg(price), min(published), count(*) FILTER (link LIKE 'https://%') "
            f"FROM '{path}'"
        ).fetchall()[0]

        assert (pytest.approx(self.MEAN), date(2021, 3, 5), 3) == (mean, first_day, n_links)

    @pytest.mark.parametrize("form", [CSV, JSON_LINES, PARQUET])
    def test_pandas_takes_the_mean_of_prices(self, form: str, tmp_path: Path) -> None:
        typed_shop()
        path = exported(tmp_path, form)
        read: dict[str, Any] = {
            CSV: lambda: pd.read_csv(path),
            JSON_LINES: lambda: pd.read_json(path, lines=True),
            PARQUET: lambda: pd.read_parquet(path),
        }
        table = read[form]()

        assert pytest.approx(self.MEAN) == float(table["price"].mean())
        assert [4.0, 4.0, 4.0] == list(table["stars"])

    @pytest.mark.parametrize("form", [CSV, JSON_LINES, PARQUET])
    def test_polars_takes_the_mean_of_prices(self, form: str, tmp_path: Path) -> None:
        typed_shop()
        path = exported(tmp_path, form)
        read: dict[str, Any] = {
            CSV: pl.read_csv,
            JSON_LINES: pl.read_ndjson,
            PARQUET: pl.read_parquet,
        }
        table = read[form](path)

        assert pytest.approx(self.MEAN) == float(table["price"].mean())
        assert {"DKK", None} == set(table["price_currency"].to_list())


class TestValues:
    def test_parquet_has_decimals_days_and_lists(self, tmp_path: Path) -> None:
        typed_shop()
        written = parquet.read_table(exported(tmp_path, PARQUET))
        types = {field.name: str(field.type) for field in written.schema}
        first, _, last = written.to_pylist()

        assert ("decimal128(38, 6)", "date32[day]", "double") == (
            types["price"],
            types["published"],
            types["stars"],
        )
        assert (Decimal(89), date(2021, 3, 5), [12.0, 1.5]) == (
            first["price"],
            first["published"],
            first["weights"],
        )
        assert (None, None) == (last["price"], last["price_currency"])
        assert {"price": "'on request' cannot be read as a price"} == json.loads(last["problems"])

    def test_a_csv_has_iso_days_whole_addresses_and_lists(self, tmp_path: Path) -> None:
        typed_shop()
        table = pd.read_csv(exported(tmp_path, CSV), dtype=str)
        row = table.iloc[0]

        assert ("'=Rope", "2021-03-05") == (row["name"], row["published"])
        assert "https://shop.example/details/t1.html" == row["link"]
        assert [12, 1.5] == json.loads(row["weights"])

    def test_a_day_that_is_not_told_is_a_problem(self) -> None:
        row = {"values": {"made": "March 2024"}, "normalized": {"made": "2024-03"}, "problems": {}}
        columns = {
            column.name: column
            for column in columns_of([ExportedAttribute("made", "date", is_multi=False)])
        }

        assert columns["made"].value_of(row) is None
        assert {"made": "'March 2024' tells no day"} == columns["problems"].value_of(row)

    def test_a_value_extracted_under_another_type_is_a_problem(self) -> None:
        row = {"values": {"price": "$5"}, "normalized": {}, "problems": {}}
        columns = {
            column.name: column
            for column in columns_of([ExportedAttribute("price", "price", is_multi=False)])
        }

        assert columns["price"].value_of(row) is None
        assert {"price": "'$5' was extracted before the attribute became a price"} == columns[
            "problems"
        ].value_of(row)

    def test_no_two_columns_have_one_name(self) -> None:
        attributes = [
            ExportedAttribute("price", "price", is_multi=False),
            ExportedAttribute("price_currency", "text", is_multi=False),
            ExportedAttribute("problems", "text", is_multi=False),
            ExportedAttribute("url", "text", is_multi=False),
            ExportedAttribute("values.url", "text", is_multi=False),
        ]
        names = [column.name for column in columns_of(attributes, has_raw=True)]

        assert len(names) == len(set(names))
        assert {"price_currency", "values.price_currency", "values.problems"} <= set(names)
        assert {"url", "values.url", "values.values.url"} <= set(names)

    @pytest.mark.parametrize(
        ("amount", "rounded"),
        [
            ("0.12345678", "0.123457"),
            ("12345678901234567890123.1234567", "12345678901234567890123.123457"),
        ],
    )
    def test_fine_amounts_are_rounded_to_the_decimals_of_the_column(
        self, amount: str, rounded: str
    ) -> None:
        row = {
            "values": {"price": f"${amount}"},
            "normalized": {"price": {"amount": amount, "currency": "USD"}},
            "problems": {},
        }
        columns = {
            column.name: column
            for column in columns_of([ExportedAttribute("price", "price", is_multi=False)])
        }

        assert Decimal(rounded) == columns["price"].value_of(row)


def test_where_clusters_give_an_attribute_different_types_it_is_text() -> None:
    rule, (record,) = shop_with_records(1)
    other, _ = shop_with_records(1, name="other")
    assert rule.pk != other.pk
    Rule.objects.filter(pk=other.pk).update(schema=[{"name": "price", "type": "number"}])
    rows = [
        json.loads(line)
        for line in b"".join(export_parts(Record.objects.all(), JSON_LINES)).splitlines()
    ]

    assert ["$89.00", "$89.00"] == [row["price"] for row in rows]
    assert "price_currency" not in rows[0]
    of_one = io.BytesIO(b"".join(export_parts(Record.objects.filter(pk=record.pk), JSON_LINES)))
    assert 89.0 == json.loads(of_one.readline())["price"]


class TestWhatCannotBeRead:
    def test_the_api_and_the_page_filter_by_it_and_say_it(self) -> None:
        typed_shop()
        ada = caller("ada", Role.VIEWER)
        (row,) = ada.get("records/?has_problems=true").json()["results"]
        others = ada.get("records/?has_problems=false").json()["results"]

        assert {"price": "'on request' cannot be read as a price"} == row["problems"]
        assert 2 == len(others)
