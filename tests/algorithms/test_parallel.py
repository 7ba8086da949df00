"""Spreading pages over processes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustering.services.found_pages import FoundPage, Item, NotTaken, Skipped
from rules.algorithms.bundle import write_bundle
from rules.algorithms.parallel import BATCH, spread
from tests.algorithms.test_bundle import body, made_bundle


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_bundle(tmp_path, made_bundle())
    return tmp_path


def test_no_item_is_lost_and_the_order_stays(folder: Path) -> None:
    items = [FoundPage(f"x:{n}", f"http://s.example/p/{n}", body(n)) for n in range(3 * BATCH + 1)]
    mixed: list[Item] = [*items[:5], Skipped("not_html"), NotTaken("x:6", "bad_line", "not JSON"), *items[5:]]

    lines = list(spread(str(folder), mixed, 2))

    assert [*(item.url for item in items[:5]), None, *(item.url for item in items[5:])] == [
        line["url"] for line in lines
    ]
