"""Spreading the ranges of a source over processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rules.algorithms.running.record_lines import line_json
from rules.bundle.bundle import FileRange, extract, read_bundle, write_bundle
from rules.bundle.parallel import Part, spread
from tests.algorithms.rules.bundle.test_bundle import body, made_bundle
from vertex.core.services.files.files import UnreadableFile

BASE = "http://s.example/"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(tmp_path / "bundle", made_bundle())
    return tmp_path / "bundle"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Return a manifest with pages, lines that cannot be taken, and a file that is gone."""
    entries = []
    for n in range(9):
        (tmp_path / f"{n}.html").write_bytes(body(n))
        entries.append(json.dumps({"url": f"{BASE}p/{n}", "file": f"{n}.html"}))
    entries[4:4] = ["no JSON", json.dumps({"url": f"{BASE}p/gone", "file": "gone.html"})]
    (tmp_path / "pages.jsonl").write_text("\n".join(entries))
    return tmp_path / "pages.jsonl"


def test_no_item_is_lost_and_the_order_stays(folder: Path, source: Path) -> None:
    lines = extract(read_bundle(folder), FileRange(str(source)), base_url=BASE)
    expected = [line_json(line) for line in lines]

    assert 11 == len(expected)
    assert expected == list(spread(str(folder), str(source), 2, BASE))


def test_a_page_that_ends_its_process_is_told_and_the_rest_goes_on(
    folder: Path, source: Path
) -> None:
    part = Part(str(folder), BASE, FileRange(str(source), 7, 2))
    part.process.kill()
    part.process.join()
    crashed, last, end = part.next_lines(), part.next_lines(), part.next_lines()
    part.close()

    assert crashed is not None
    assert last is not None
    assert (f"{BASE}p/5", "crashed") == (crashed[0]["url"], crashed[0]["reason"])
    assert ([f"{BASE}p/7"], None) == ([line["url"] for line in last], end)


def test_a_source_that_cannot_be_read_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=r"none\.warc"):
        list(spread(str(folder), str(tmp_path / "none.warc"), 2, BASE))
