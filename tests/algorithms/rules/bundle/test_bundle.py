"""A bundle runs without Django; any source and any number of processes give the same lines."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from annotation.algorithms.attribute_types import AttributeType
from clustering.algorithms.grouping import RawPage
from clustering.algorithms.published.shingles import shingle_vector
from clustering.services.pages.source_pages import SourcePage
from rules.algorithms.running.matching import BY_SIGNATURE, ClusterProfile, Clusters, GroupModel
from rules.algorithms.running.record_lines import SiteRules
from rules.algorithms.running.records import RunnableRule
from rules.algorithms.running.value_looks import ShownText, learn_looks
from rules.bundle.__main__ import main
from rules.bundle.bundle import (
    BadBundle,
    Bundle,
    Fixture,
    check_bundle,
    fixture_lines,
    read_bundle,
    write_bundle,
)
from rules.bundle.parallel import extract_bundle
from tests.algorithms.rules.running import test_run_rule as cast

ROOT = Path(__file__).resolve().parents[4]
TYPES = (
    AttributeType("name", is_mandatory=True),
    AttributeType("price", "price", regex=r"[\d,]+ €"),
    AttributeType("tags", is_multi=True),
)


def made_bundle() -> Bundle:
    profile = ClusterProfile(
        "products", "http://s.example/p/(.*)", f"{shingle_vector(cast.PAGE):016x}", 9.0
    )
    rules = SiteRules(Clusters((profile,), variant=BY_SIGNATURE), {"products": cast.rule(*TYPES)})
    return Bundle("shop", "http://s.example", rules)


def body(number: int) -> bytes:
    return cast.PAGE.replace(b"25,50", str(number).encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    page = RawPage("http://s.example/p/1", body(1), "text/html; charset=utf-8")
    bundle = made_bundle()
    write_bundle(tmp_path / "bundle", bundle, [Fixture(page, fixture_lines(page, bundle.rules))])
    return tmp_path / "bundle"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    pages = tmp_path / "pages" / "p"
    pages.mkdir(parents=True)
    for number in range(40):
        (pages / f"{number:02}.html").write_bytes(body(number))
    (pages / "other.html").write_bytes(b"<form><input></form>")
    return tmp_path / "pages"


def test_a_line_is_what_every_run_says(folder: Path, source: Path) -> None:
    lines = list(extract_bundle(folder, source))

    assert {
        "url": "http://s.example/p/07.html",
        "cluster": "products",
        "rule": "products@3",
        "record": {"name": "Oak desk", "price": "7 €", "tags": ["wood", "heavy"]},
        "raw": {"name": "Oak\xa0desk", "price": "7 €", "tags": ["wood", "heavy"]},
        "missing": [],
        "confidence": {"name": 0.997, "price": 0.997, "tags": 0.989},
        "normalized": {"price": {"amount": "7", "currency": "EUR"}},
    } == lines[7]
    assert (None, "no_signature") == (lines[40]["rule"], lines[40]["reason"])


def test_a_bundle_doubts_values_that_look_odd(tmp_path: Path) -> None:
    looks = learn_looks([ShownText(f"{n} €", {"amount": str(n)}) for n in range(20, 40)])
    bundle = made_bundle()
    rule = replace(bundle.rules.rules["products"], looks={"price": looks})
    bundle = replace(bundle, rules=replace(bundle.rules, rules={"products": rule}))
    write_bundle(tmp_path / "bundle", bundle)
    read = read_bundle(tmp_path / "bundle")
    pages = [SourcePage("x", "http://s.example/p/1", body(number)) for number in (25, 250_000)]
    usual, odd = (line.record for line in read.extract(pages))

    assert {"price": looks} == read.rules.rules["products"].looks
    assert usual is not None
    assert odd is not None
    assert "250000 €" == odd.values["price"]
    assert odd.confidence["price"] < usual.confidence["price"]
    assert odd.confidence["name"] == usual.confidence["name"]


def test_a_bundle_doubts_rules_of_a_poor_rank_and_one_without_ranks_is_read(tmp_path: Path) -> None:
    def confidences(folder: Path) -> dict[str, float]:
        pages = [SourcePage("x", "http://s.example/p/1", body(25))]
        (line,) = read_bundle(folder).extract(pages)
        assert line.record is not None
        return line.record.confidence

    bundle = made_bundle()
    rule = replace(bundle.rules.rules["products"], ranks={"name": -3.0, "price": 0.5})
    bundle = replace(bundle, rules=replace(bundle.rules, rules={"products": rule}))
    folder = tmp_path / "bundle"
    write_bundle(folder, bundle)
    ranked = confidences(folder)
    form = json.loads((folder / "bundle.json").read_text())
    for rule_form in form["rules"]:
        del rule_form["ranks"]
    (folder / "bundle.json").write_text(json.dumps(form))
    unranked = confidences(folder)

    assert ranked["price"] < ranked["name"] == unranked["name"] == unranked["price"]


def test_several_processes_give_the_same_lines_in_the_same_order(
    folder: Path, source: Path
) -> None:
    assert list(extract_bundle(folder, source)) == list(extract_bundle(folder, source, n_jobs=2))


def test_a_zip_and_a_manifest_are_sources_too(folder: Path, source: Path, tmp_path: Path) -> None:
    expected = list(extract_bundle(folder, source))[:5]
    with zipfile.ZipFile(tmp_path / "pages.zip", "w") as archive:
        for number in range(5):
            archive.writestr(f"p/{number:02}.html", body(number))
    manifest = source / "pages.jsonl"
    entries = [
        {"url": line["url"], "file": f"p/{number:02}.html"} for number, line in enumerate(expected)
    ]
    entries.append({"url": "http://s.example/p/x", "file": "gone.html"})
    entries.append({"url": "http://s.example/p/404", "file": "p/01.html", "status": 404})
    manifest.write_text("".join(json.dumps(entry) + "\n" for entry in entries))

    assert expected == list(extract_bundle(folder, tmp_path / "pages.zip"))
    *good, missing, error = extract_bundle(folder, manifest)
    assert expected == good
    assert ["missing_file", "http_status"] == [missing["reason"], error["reason"]]


def test_it_runs_with_django_blocked(folder: Path, source: Path) -> None:
    blocked = ["django", "rest_framework", "celery", "psycopg", "h11"]
    program = (
        f"import sys; sys.modules.update(dict.fromkeys({blocked})); "
        "from rules.bundle.__main__ import main; "
        f"sys.exit(main({[str(folder), str(source)]}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, check=False
    )

    assert (0, b"") == (done.returncode, done.stderr)
    assert list(extract_bundle(folder, source)) == [
        json.loads(line) for line in done.stdout.splitlines()
    ]


def test_its_own_fixtures_are_checked(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert [] == check_bundle(folder)
    expected = folder / "fixtures" / "page.ShopPage" / "test-1" / "output.json"
    expected.write_text(expected.read_text().replace("Oak desk", "Elm desk"))

    assert ["http://s.example/p/1"] == [url for url, _, _ in check_bundle(folder)]
    assert 1 == main([str(folder), "--check"])
    assert "Elm desk" in capfd.readouterr().err


def test_what_was_written_is_read_again(folder: Path) -> None:
    assert made_bundle() == read_bundle(folder)


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("bundle.json", '"version": 1', '"version": 9', "version 9"),
        ("bundle.json", "vertex-bundle", "x", "format"),
        ("bundle.json", '"cluster": "products"', '"cluster": "../x"', "name of a cluster"),
        ("bundle.json", '"variant"', '"other"', "variant"),
        ("bundle.json", "[\\\\d,]+", "(?=x)", "lookahead"),
        ("bundle.json", '"looks": {', '"looks": [1], "x": {', "cannot be read"),
        ("bundle.json", '"ranks": {', '"ranks": [1], "x": {', "cannot be read"),
        ("bundle.json", "{", "", "no bundle"),
        ("products.xsl", "<record>", "<record><html/>", "not allowed"),
        ("products.xsl", 'select="', 'select="document(1)|', "another file"),
    ],
)
def test_a_bundle_that_was_tampered_with_is_refused(
    folder: Path, file: str, old: str, new: str, reason: str
) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))

    with pytest.raises(BadBundle, match=reason):
        read_bundle(folder)


def test_what_cannot_be_done_is_said_in_one_line(
    folder: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert 1 == main([str(tmp_path), str(tmp_path)])
    assert 1 == main([str(folder), str(tmp_path / "none")])
    assert 2 == len(capfd.readouterr().err.splitlines())


def test_memory_stays_flat_because_pages_are_read_one_by_one(folder: Path) -> None:
    requested: list[int] = []

    def pages() -> object:
        for number in range(100):
            requested.append(number)
            yield SourcePage("x", "http://s.example/p/1", body(number))

    lines = read_bundle(folder).extract(pages())  # type: ignore[arg-type]  # a generator of pages
    next(lines)

    assert [0] == requested


def test_a_rule_without_a_stylesheet_file_is_told(folder: Path) -> None:
    (folder / "products.xsl").unlink()

    with pytest.raises(BadBundle, match=r"products\.xsl"):
        read_bundle(folder)
    assert isinstance(made_bundle().rules.rules["products"], RunnableRule)


def test_where_links_decide_the_source_may_give_the_first_one(tmp_path: Path) -> None:
    model = {
        "has_positions": True,
        "groups": [{"name": "/html/ul/li/a", "xpaths": ["/html/ul/li/a"], "fingerprints": []}],
    }
    grouping = GroupModel("uxclust", model, {"/html/ul/li/a": ["products"]})
    rules = SiteRules(
        Clusters((ClusterProfile("products"),), grouping), {"products": cast.rule(*TYPES)}
    )
    write_bundle(tmp_path / "bundle", Bundle("shop", "http://s.example", rules))
    (tmp_path / "1.html").write_bytes(body(1))
    lines = [
        {"url": "http://s.example/p/1", "file": "1.html", "inbound_xpath": "/html/ul/li/a"},
        {"url": "http://s.example/p/2", "file": "1.html"},
    ]
    manifest = tmp_path / "manifest.jsonl"
    manifest.write_text("\n".join(map(json.dumps, lines)))

    first, second = extract_bundle(tmp_path / "bundle", manifest)

    assert "1 €" == first["record"]["price"]
    assert "no_profile" == second["reason"]


def test_a_bundle_reads_values_as_in_the_country_of_its_site(tmp_path: Path) -> None:
    bundle = replace(made_bundle(), country="DK")
    write_bundle(tmp_path / "bundle", bundle)
    read = read_bundle(tmp_path / "bundle")

    assert ("DK", {"DK"}) == (read.country, {rule.country for rule in read.rules.rules.values()})
