"""Run a bundle on pages that somebody else fetched: a spider, a page object, one's own program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from clustering.algorithms.grouping import RawPage
from rules.algorithms.running.record_lines import line_json
from rules.bundle.bundle import read_bundle
from rules.bundle.extraction import lines_of


class BundleRules:
    """The rules of a bundle, read once."""

    def __init__(self, folder: str | Path) -> None:
        """Read a bundle's folder. Raises BadBundle."""
        self.bundle = read_bundle(Path(folder))

    def records_of(self, url: str, body: bytes, content_type: str = "") -> list[dict[str, Any]]:
        """Return the lines of a page that have a record."""
        return [line for line in self.lines_of(url, body, content_type) if line.get("record")]

    def lines_of(self, url: str, body: bytes, content_type: str = "") -> list[dict[str, Any]]:
        """Return the lines of a page: one a record, or one that says why there is none."""
        page = RawPage(url, body, content_type)
        return [line_json(line) for line in lines_of(page, self.bundle.rules, in_child=True)]
