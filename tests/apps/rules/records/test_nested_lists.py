"""What an offer lacks is a gap at its place: in records, bundle, exports, API and schema."""

from __future__ import annotations

import csv
import io
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from pyarrow import parquet

from annotation.algorithms.attribute_types import AttributeType
from annotation.models import Vertical
from annotation.services.verticals.verticals import assign_vertical, save_vertical
from clustering.services.clusters.clustering_runs import cluster_site
from clustering.services.clusters.clusterings import clustering_request
from rules.bundle.parallel import extract_bundle
from rules.models import Record
from rules.services.learning.learning import learn_rule
from rules.services.records.exporting import export_rules
from rules.services.records.file_formats import CSV, JSON_LINES, PARQUET
from rules.services.records.record_exports import export_parts
from rules.services.records.record_schemas import record_schema
from rules.services.review.publishing import publish_rule
from tests.apps.clustering.api_cast import caller, site_of
from tests.apps.clustering.demo_sites import store
from tests.apps.rules.shop_cast import extract, products_of
from vertex.core.models import Role, Site
from vertex.core.services.jobs.jobs import run_job
from vertex.core.services.jobs.requests import create_here

pytestmark = pytest.mark.django_db

OFFERS: list[list[tuple[str, str | None]]] = [
    [("Red", "5 EUR"), ("Blue", "6 EUR"), ("Green", None)],
    [("Ash", "15 EUR"), ("Oak", None), ("Elm", "17 EUR")],
    [("Plain", "8 EUR")],
    [("Steel", None)],
    [("Small", "1 EUR"), ("Tall", "2 EUR")],
]


def body(n: int) -> bytes:
    rows = "".join(
        f"<tr><td class=n>{name}</td><td>{f'<b>{price}</b>' if price else 'ask us'}</td></tr>"
        for name, price in OFFERS[n]
    )
    return (
        f"<html><head><title>Tent {n}</title></head><body><h1>Tent {n}</h1><table>"
        f"<tr><th>Offer</th><th>Price</th></tr>{rows}</table><p>All <b>tents</b></p></body></html>"
    ).encode()


def shop_of_offers(tmp_path: Path) -> Site:
    """Return a site whose rule was learnt from its first page and has extracted all of them."""
    site = site_of("shop")
    store(site, [(f"p/{n}", body(n), "text/html") for n in range(len(OFFERS))])
    plans = [
        AttributeType("name"),
        AttributeType("offers.name", is_multi=True),
        AttributeType("offers.price", "price", is_multi=True),
    ]
    vertical = save_vertical(name="tent", attributes=plans, actor=None)
    assign_vertical(site=site, vertical=vertical, actor=None)
    run_job(create_here(clustering_request(site=site)).pk, cluster_site)
    url = f"{site.root_url}p/0"
    places = {
        "name": ["/html/body/h1"],
        "offers.name": [f"/html/body/table/tr[{row}]/td[1]" for row in (2, 3, 4)],
        "offers.price": [f"/html/body/table/tr[{row}]/td[2]/b" for row in (2, 3)],
    }
    lines = [
        {"url": url, "attribute": name, "xpath": xpath}
        for name, xpaths in places.items()
        for xpath in xpaths
    ]
    (tmp_path / "marks.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    call_command("import_annotations", site.name, str(tmp_path / "marks.jsonl"))
    publish_rule(rule=learn_rule(cluster=products_of(site)))
    extract(site)
    return site


def file_of(form: str) -> bytes:
    return b"".join(export_parts(Record.objects.order_by("page__url"), form))


def test_a_gap_keeps_its_place(tmp_path: Path, client: Client) -> None:
    site = shop_of_offers(tmp_path)
    export_rules(site=site, folder=tmp_path / "bundle")
    pages = tmp_path / "pages" / "p"
    pages.mkdir(parents=True)
    for n in range(len(OFFERS)):
        (pages / f"{n}.html").write_bytes(body(n))
    lines = list(extract_bundle(tmp_path / "bundle", tmp_path / "pages"))
    records = list(Record.objects.order_by("page__url"))

    # The record, and the bundle, which knows no database.
    for offers, record, line in zip(OFFERS, records, lines, strict=True):
        assert [name for name, _ in offers] == record.values["offers.name"]
        prices = [price for _, price in offers]
        assert (prices if any(prices) else None) == record.values.get("offers.price")
        assert (record.values, record.raw) == (line["record"], line["raw"])
        assert record.normalized == line["normalized"]

    # JSON Lines: a list of objects.
    first, _, _, fourth, _ = map(orjson.loads, file_of(JSON_LINES).splitlines())
    assert [
        {"name": "Red", "price": 5.0, "price_currency": "EUR"},
        {"name": "Blue", "price": 6.0, "price_currency": "EUR"},
        {"name": "Green", "price": None, "price_currency": None},
    ] == first["offers"]
    assert [{"name": "Steel", "price": None, "price_currency": None}] == fourth["offers"]
    assert None is first["problems"]

    # CSV and Parquet: aligned columns.
    row = next(csv.DictReader(io.StringIO(file_of(CSV).decode(), newline="")))
    assert ['["Red","Blue","Green"]', "[5,6,null]", '["EUR","EUR",null]'] == [
        row["offers.name"],
        row["offers.price"].replace(".000000", ""),
        row["offers.price_currency"],
    ]
    table = parquet.read_table(io.BytesIO(file_of(PARQUET))).to_pylist()
    assert [Decimal(5), Decimal(6), None] == table[0]["offers.price"]

    # The API and the schema by which programs check what they pull.
    answers: Any = caller("ada", Role.VIEWER).get("records/?site=shop").json()
    by_url = {answer["url"]: answer for answer in answers["results"]}
    assert ["5 EUR", "6 EUR", None] == by_url[f"{site.root_url}p/0"]["values"]["offers.price"]
    values = record_schema(Vertical.objects.get())["properties"]["values"]["properties"]
    assert {"type": "null"} in values["offers.price"]["items"]["anyOf"]

    # The page of a record shows a dash for it.
    client.force_login(caller("eve", Role.VIEWER).user)
    shown = client.get(reverse("record", args=[site.name, records[0].pk])).content.decode()
    assert re.search(r"<li>5 EUR</li>\s*<li>6 EUR</li>\s*<li>–</li>", shown)
