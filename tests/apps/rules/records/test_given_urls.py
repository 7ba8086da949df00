"""An address comes out as it was handed in, with its normalised form beside it."""

from __future__ import annotations

from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.apps import apps
from django.core.management import call_command

from clustering.dom.addresses import url_hash
from clustering.models import Page
from rules.services.records.record_exports import export_parts, records_of
from tests.apps.clustering.api_cast import caller
from vertex.core.models import Role, Site

pytestmark = pytest.mark.django_db

MODELS = [
    "Accent GS",
    "Azera Limited",
    "Elantra Touring",
    "Genesis Coupe",
    "Santa Fe",
    "Veracruz 2",
]
CARS = "http://cars.example/hyundai"
CAR = (
    "<html><head><title>{name}</title></head><body><h1>{name}</h1>"
    "<dl><dt>MSRP</dt><dd class='price'>${price}</dd></dl><p>All about the {name}</p></body></html>"
)
VERTICAL = {
    "name": "car",
    "attributes": [
        {"name": "model", "type": "text", "constant": True, "mandatory": True, "multi": False},
        {"name": "price", "type": "price", "constant": False, "mandatory": True, "multi": False},
    ],
}


def as_given(model: str) -> str:
    return f"{CARS}/{model}/"


def normalised(model: str) -> str:
    return as_given(model).replace(" ", "%20")


def run(name: str, *arguments: str, **options: object) -> list[dict[str, Any]]:
    output = StringIO()
    call_command(name, *arguments, stdout=output, stderr=StringIO(), **options)
    return [orjson.loads(line) for line in output.getvalue().splitlines()]


def write_lines(path: Path, lines: list[dict[str, Any]]) -> str:
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return str(path)


def manifest_of(folder: Path, spell: Any = as_given) -> str:
    """Write the pages with a manifest that names them by their addresses."""
    lines = []
    for n, model in enumerate(MODELS):
        (folder / f"{n}.html").write_text(CAR.format(name=model, price=10_000 + n))
        lines.append({"url": spell(model), "file": f"{n}.html"})
    return write_lines(folder / "manifest.jsonl", lines)


def dealer(folder: Path) -> list[dict[str, Any]]:
    """Make a site of cars with a published rule; return what the import says."""
    (folder / "car.json").write_bytes(orjson.dumps(VERTICAL))
    run("load_vertical", str(folder / "car.json"))
    run("add_site", "dealer", url=f"{CARS}/", vertical="car")
    imported = run("import_pages", "dealer", manifest_of(folder))
    run("cluster_site", "dealer")
    annotations = []
    for n, model in enumerate(MODELS[:2]):
        annotations += [
            {"url": as_given(model), "attribute": "model", "xpath": "/html/body/h1", "text": model},
            {"url": as_given(model), "attribute": "price", "text": f"${10_000 + n}"},
        ]
    run("import_annotations", "dealer", write_lines(folder / "annotations.jsonl", annotations))
    run("learn_rules", "dealer")
    return imported


def test_every_command_says_it_so_that_a_table_can_be_joined(tmp_path: Path) -> None:
    imported = dealer(tmp_path)
    table = {as_given(model): model for model in MODELS}  # of a user, by the manifest's addresses
    samples = run("draw_samples", "dealer")
    extracted = run("extract_records", "dealer")

    assert list(table) == [line["url"] for line in imported]
    assert set(table) == {line["url"] for line in run("cluster_site", "dealer")}
    assert {line["url"] for line in samples} <= set(table)
    assert table == {line["url"]: line["record"]["model"] for line in extracted}
    assert {normalised(model) for model in MODELS} == {
        line["normalized_url"] for line in [*imported, *extracted]
    }
    exported = run("export_annotations", "dealer", format="lines")
    assert {as_given(model) for model in MODELS[:2]} == {line["url"] for line in exported}
    checked = run("run_checks", "dealer", source=manifest_of(tmp_path))[:-1]
    assert checked
    assert {line["url"] for line in checked} <= set(table)


def test_a_page_comes_under_the_spelling_by_which_it_is_asked_for(tmp_path: Path) -> None:
    dealer(tmp_path)
    urls = tmp_path / "urls.txt"
    urls.write_text(f"{normalised('Elantra Touring')}\n{as_given('Elantra Touring')}\n")
    lines = run("extract_records", "dealer", urls=str(urls))

    assert [normalised("Elantra Touring"), as_given("Elantra Touring")] == [
        line["url"] for line in lines
    ]
    assert "normalized_url" not in lines[0]
    assert {"Elantra Touring"} == {line["record"]["model"] for line in lines}


def test_a_bundle_says_it_and_goes_by_the_normalised_form(tmp_path: Path) -> None:
    dealer(tmp_path)
    stored = run("extract_records", "dealer")
    call_command("export_rules", "dealer", output=str(tmp_path / "out"), stderr=StringIO())
    lines = run("extract_bundle", str(tmp_path / "out"), manifest_of(tmp_path))

    head = ("url", "normalized_url", "cluster", "rule", "record")
    assert [{name: line[name] for name in head} for line in stored] == [
        {name: line[name] for name in head} for line in lines
    ]


def test_the_api_and_files_of_records_say_it(tmp_path: Path) -> None:
    dealer(tmp_path)
    run("extract_records", "dealer")
    ada = caller("ada", Role.VIEWER)
    (page,) = ada.get("pages/", {"url": as_given("Elantra Touring")}).json()["results"]
    (record,) = ada.get("records/", {"url": normalised("Elantra Touring")}).json()["results"]
    site = Site.objects.get(name="dealer")
    csv = b"".join(export_parts(records_of(site), "csv")).decode()

    both = (as_given("Elantra Touring"), normalised("Elantra Touring"))
    assert both == (page["url"], page["normalized_url"])
    assert both == (record["url"], record["normalized_url"])
    assert ",".join(both) in csv


def test_the_last_spelling_that_was_handed_in_counts(tmp_path: Path) -> None:
    dealer(tmp_path)
    run("import_pages", "dealer", manifest_of(tmp_path, normalised))
    lines = run("extract_records", "dealer")
    assert {normalised(model) for model in MODELS} == {line["url"] for line in lines}
    assert not any("normalized_url" in line for line in lines)
    assert len(MODELS) == Page.objects.count()


def test_installations_of_before_keep_what_was_handed_in_and_forget_what_links_wrote() -> None:
    site = Site.objects.create(name="dealer", root_url=f"{CARS}/")
    rows = [
        (as_given("Santa Fe"), 0),  # of a manifest
        (as_given("Azera Limited"), 2),  # of a link
        ("../Accent GS/#top", 1),
        ("", 0),  # where a redirect led
    ]
    for n, (written, depth) in enumerate(rows):
        url = f"{CARS}/{n}"
        Page.objects.create(
            site=site, url=url, url_hash=url_hash(url), given_url=written, depth=depth
        )
    migration = import_module("clustering.migrations.0005_given_urls")
    migration.keep_only_given(apps, None)

    assert [as_given("Santa Fe"), *(f"{CARS}/{n}" for n in (1, 2, 3))] == list(
        Page.objects.order_by("pk").values_list("given_url", flat=True)
    )
