"""Rules in a folder, run without a database."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import orjson
import pytest
from django.core.management import CommandError, call_command

from clustering.services.pages.stored_pages import read_pages, stored_pages
from rules.algorithms.running.record_lines import line_json
from rules.bundle.bundle import check_bundle, read_bundle
from rules.bundle.extraction import lines_of
from rules.services.records.extracting import stored_lines
from tests.apps.rules.shop_cast import extract, learnt_shop, shop

pytestmark = pytest.mark.django_db


def test_the_bundle_finds_what_the_database_holds(tmp_path: Path) -> None:
    site, rule = learnt_shop()
    extract(site)
    call_command("export_rules", site.name, output=str(tmp_path / "out"))
    bundle = read_bundle(tmp_path / "out")
    results = [
        {**line_json(line), "nodes": {}}
        for page in read_pages(stored_pages(site))
        for line in lines_of(page, bundle.rules)
    ]

    expected = [{**line, "nodes": {}} for line in stored_lines(site)]
    assert [expectation.get("raw") for expectation in expected if expectation["rule"]] == [
        result["raw"] for result in results if result["rule"]
    ]
    assert [expectation["rule"] for expectation in expected] == [
        result["rule"] for result in results
    ]
    assert [] == check_bundle(tmp_path / "out")
    assert (tmp_path / "out" / f"{rule.cluster.name}.xsl").is_file()


def test_a_second_export_replaces_the_first_and_leaves_other_files(tmp_path: Path) -> None:
    site, _ = learnt_shop()
    (tmp_path / "notes.txt").write_text("mine")
    call_command("export_rules", site.name, output=str(tmp_path))
    call_command("export_rules", site.name, output=str(tmp_path), format="scrapy")

    assert "mine" == (tmp_path / "notes.txt").read_text()
    assert {"spider.py", "page.py", "bundle.json"} <= {path.name for path in tmp_path.iterdir()}


def test_commands_go_from_a_bundle_and_a_folder_of_pages_to_lines(tmp_path: Path) -> None:
    site, _ = learnt_shop()
    call_command("export_rules", site.name, output=str(tmp_path / "out"))
    pages = tmp_path / "pages" / "p"
    pages.mkdir(parents=True)
    for number, page in enumerate(read_pages(stored_pages(site)[:3]), 1):
        (pages / f"{number}.html").write_bytes(page.body)
    output = StringIO()
    call_command("extract_bundle", str(tmp_path / "out"), str(tmp_path / "pages"), stdout=output)

    lines = [orjson.loads(line) for line in output.getvalue().splitlines()]
    assert ["Rope 1", "Rope 2", "Rope 3"] == [line["record"]["name"] for line in lines]


def test_without_a_published_rule_there_is_nothing_to_export(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no published rule"):
        call_command("export_rules", shop().name, output=str(tmp_path / "out"))
    assert [] == list(tmp_path.iterdir())


def test_a_folder_without_a_bundle_is_told(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="holds no bundle"):
        call_command("extract_bundle", str(tmp_path), str(tmp_path))
