"""How far the probability that a value is right can be believed, on sites that its weights have not seen."""

from __future__ import annotations

from pathlib import Path

from benchmarks.confidence.left_out import INTRODUCTION, found_on_sites, left_out, report
from benchmarks.unseen_sites import swde_sites

TITLE = "Confidence in values"


def run(data: Path | None) -> str:
    """Return figures and reliability on left-out sites as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    found = list(found_on_sites(swde_sites(data / "swde")))
    return INTRODUCTION + report(found, left_out(found))
