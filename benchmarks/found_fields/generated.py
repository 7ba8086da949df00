"""The pages about one thing of the generated sites, with what they show."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.verticals.swde import SwdeSite, Values
from clustering.algorithms.grouping import RawPage
from clustering.values.displayed import displayed

BASE_VERSION: Final = "v0"
DETAIL: Final = "detail"  # the type of the pages about one thing


def generated_sites(folder: Path) -> Iterator[SwdeSite]:
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        version = place / BASE_VERSION
        described = json.loads((version / "vertical.json").read_text("utf-8"))["attributes"]
        raw_pages: dict[str, RawPage] = {}
        trees, truth = {}, {}
        for line in (version / "manifest.jsonl").read_text("utf-8").splitlines():
            entry = json.loads(line)
            if entry["type"] != DETAIL:
                continue
            body = (version / entry["file"]).read_bytes()
            page = RawPage(entry["url"], body, entry.get("content_type", ""))
            if page.tree is not None:
                raw_pages[entry["file"]] = page
                trees[entry["file"]] = page.tree
                truth[entry["file"]] = _values(entry["truth"], described)
        multi = {entry["name"] for entry in described if entry["multi"]}
        yield GeneratedSite("generated", place.name, trees, truth, raw_pages, frozenset(multi))


@dataclass(frozen=True)
class GeneratedSite(SwdeSite):
    """A generated site says itself which of its attributes have several values."""

    of_several_values: frozenset[str] = frozenset()

    @property
    def multi(self) -> frozenset[str]:
        return self.of_several_values


def _values(truth: dict[str, Any], attributes: list[dict[str, Any]]) -> Values:
    """Return what a page shows of each attribute; nothing where its truth has none."""
    values: Values = {}
    for attribute in attributes:
        value = truth.get(attribute["name"], [])
        texts = value if isinstance(value, list) else [value]
        values[attribute["name"]] = [displayed(str(text)) for text in texts if text]
    return values
