"""Running a bundle on pages that somebody else fetched."""

from __future__ import annotations

from pathlib import Path

from rules.bundle.bundle import write_bundle
from rules.bundle.item_pages import BundleRules
from tests.algorithms.rules.bundle.test_bundle import body, made_bundle

URL = "http://s.example/p/1"


def test_a_page_has_its_records_and_another_says_why_not(tmp_path: Path) -> None:
    write_bundle(tmp_path, made_bundle())
    rules = BundleRules(tmp_path)
    (record,) = rules.records_of(URL, body(1), "text/html; charset=utf-8")
    (line,) = rules.lines_of("http://other.example/", b"<p>nothing</p>")

    assert (URL, "Oak desk") == (record["url"], record["record"]["name"])
    assert [] == rules.records_of("http://other.example/", b"<p>nothing</p>")
    assert line["rule"] is None
