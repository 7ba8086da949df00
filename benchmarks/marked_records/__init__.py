"""How many records of the demo are marked as rather wrong, right ones and wrong ones.

The demo runs as a whole in an installation of its own; its sites know what every page says.
"""

from __future__ import annotations

import json
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from benchmarks.confidence.left_out import RATHER_WRONG
from benchmarks.report import markdown_table
from tests.installation import Installation
from vertex.demo import sites
from vertex.demo.sites.server import free_ports
from vertex.demo.sites.site import DemoPage, DemoSite

TITLE = "Marked records of the demo"
WANTED: Final = 0.02  # of the right records at most
RECORDS: Final = """
    SELECT site.name, page.url, record."values", record.record_confidence FROM rules_record record
    JOIN core_site site ON site.id = record.site_id
    JOIN clustering_page page ON page.id = record.page_id
"""


def run(data: Path | None) -> str:  # noqa: ARG001 - this one makes its own pages
    """Take the demo from its crawls to its records, and count which of these are marked."""
    with tempfile.TemporaryDirectory() as folder:
        var = Path(folder)
        more = {"VERTEX_DEMO_PORT": str(free_ports(4)), "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8"}
        Installation(var, more=more).manage("demo")
        with closing(
            sqlite3.connect(f"file:{var / 'vertex.sqlite3'}?mode=ro", uri=True)
        ) as database:
            records = database.execute(RECORDS).fetchall()
    demo_sites = {name: sites.load(name) for name in sites.NAMES}
    counted: Counter[tuple[str, bool, bool]] = Counter()
    for name, url, values, confidence in records:
        is_right = says_what_the_page_says(json.loads(values), page_at(demo_sites[name], url))
        counted[name, is_right, confidence < RATHER_WRONG] += 1
    return report(counted)


def page_at(site: DemoSite, url: str) -> DemoPage | None:
    """Return the page of a demo site that has an address."""
    parts = urlsplit(url)
    return site.page_at(parts.path + (f"?{parts.query}" if parts.query else ""))


def says_what_the_page_says(values: Mapping[str, Any], page: DemoPage | None) -> bool:
    """Return whether all values that a record has are the page's, white space aside."""
    return page is not None and all(
        texts_of(value) == texts_of(page.values.get(attribute))
        for attribute, value in values.items()
    )


def texts_of(value: object) -> list[str]:
    """Return the texts of a value without the white space that is not shown."""
    values = value if isinstance(value, list) else [value]
    return [" ".join(str(each).split()) for each in values]


def report(counted: Mapping[tuple[str, bool, bool], int]) -> str:
    """Return the figures as Markdown."""
    rows = []
    n_right = n_marked = 0
    for name in sites.NAMES:
        right, right_marked = counted[name, True, False], counted[name, True, True]
        wrong, wrong_marked = counted[name, False, False], counted[name, False, True]
        rows.append([name, right + right_marked, right_marked, wrong + wrong_marked, wrong_marked])
        n_right += right + right_marked
        n_marked += right_marked
    head = ["site", "right records", "marked", "wrong records", "marked"]
    return (
        "A record is marked where the probability that all its values are right is below "
        f"{RATHER_WRONG}. It is right "
        "if every value that it has is what the page says.\n\n"
        f"{n_marked} of {n_right} right records are marked, {n_marked / n_right:.1%} (wanted: "
        f"at most {WANTED:.0%}).\n\n" + markdown_table(head, rows)
    )
