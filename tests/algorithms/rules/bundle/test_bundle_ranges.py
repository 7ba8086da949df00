"""Ranges of a source hold each of its pages once."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.algorithms.running.record_lines import line_json
from rules.bundle.bundle import FileRange, extract, ranges_of, write_bundle
from rules.bundle.parallel import extract_bundle
from tests.algorithms.rules.bundle.test_bundle import body, made_bundle


@pytest.fixture
def source(tmp_path: Path) -> Path:
    pages = tmp_path / "pages" / "p"
    pages.mkdir(parents=True)
    for number in range(7):
        (pages / f"{number}.html").write_bytes(body(number))
    return tmp_path / "pages"


@pytest.mark.parametrize("n_parts", [1, 3, 10])
def test_ranges_together_give_each_page_once(source: Path, n_parts: int) -> None:
    ranges = ranges_of([str(source)], n_parts)
    lines = [line.url or "" for bounds in ranges for line in extract(made_bundle(), bounds)]

    assert n_parts == len(ranges)
    assert [f"http://s.example/p/{number}.html" for number in range(7)] == sorted(lines)


def test_the_whole_source_is_what_a_bundle_extracts(source: Path, tmp_path: Path) -> None:
    write_bundle(tmp_path / "bundle", made_bundle())

    lines = extract(made_bundle(), FileRange(str(source)))
    assert list(extract_bundle(tmp_path / "bundle", source)) == [line_json(line) for line in lines]
