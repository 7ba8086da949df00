"""How often each cache of the product answers, and how much processor time that saves.

Run it with: python -m benchmarks.run caches --data FOLDER

Each work runs in a process of its own, which counts before the product is imported.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from benchmarks.report import markdown_table

TITLE = "Caches"
WORKS: Final = [
    "links",
    "clustering",
    "placing",
    "recognising",
    "lists",
    "suggestions",
    "learning",
    "extracting",
    "values",
    "overview",
]
NEEDS_DATA: Final = "extracting"
COUNTING: Final = f"{__name__}.counting"


def run(data: Path | None = None) -> str:
    """Return the body of this benchmark's page."""
    rows: list[list[object]] = []
    for work in WORKS:
        if work == NEEDS_DATA and data is None:
            continue
        printed = subprocess.run(
            [sys.executable, "-m", COUNTING, work, *([str(data)] if work == NEEDS_DATA else [])],
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        seconds, caches = json.loads(printed)
        caches.sort(key=lambda cache: -cache["saved"])
        rows += [_row(work, seconds, cache) for cache in caches if cache["hits"]]
    return INTRODUCTION + markdown_table(HEADER, rows)


INTRODUCTION: Final = (
    "The product's work on the demo sites, each kind of work in a process of its own, "
    "without stored pages. Saved: "
    "what the hits would have taken of a processor; share: "
    "of what the work would take without that cache.\n\n"
)
HEADER: Final = ["work and cache", "calls", "hits", "saved, ms", "share of the work"]


def _row(work: str, seconds: float, cache: dict[str, Any]) -> list[object]:
    n_calls = cache["hits"] + cache["misses"]
    return [
        f"{work}: `{cache['name']}`",
        f"{n_calls:,}",
        f"{cache['hits'] / n_calls:.1%}",
        f"{cache['saved'] * 1000:.1f}",
        f"{cache['saved'] / (seconds + cache['saved']):.1%}",
    ]
