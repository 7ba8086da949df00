"""How far to believe the probability that a value is right, on sites its weights have not seen."""

from __future__ import annotations

from pathlib import Path

from benchmarks.confidence.left_out import (
    INTRODUCTION,
    FoundValues,
    fit,
    fit_left_out,
    found_on_sites,
    left_out,
    report,
)
from benchmarks.confidence.lone_values import LoneValue, lone_values, report_lone
from benchmarks.unseen_sites import swde_sites

TITLE = "Confidence in values"


def run(data: Path | None) -> str:
    """Return figures and reliability on left-out sites as a section in Markdown."""
    if data is None or not (data / "swde").is_dir():
        return "Left out: the pages of SWDE are not in the folder."
    swde_site: list[FoundValues] = []
    lone: list[LoneValue] = []
    for site in swde_sites(data / "swde"):
        swde_site += found_on_sites([site])
        lone += lone_values(site)
    weights = fit_left_out(swde_site, lone)
    parts = [
        INTRODUCTION + report(swde_site, left_out(swde_site, weights)),
        report_lone(lone, weights),
        f"Weights fitted on all sites: {fit(swde_site, lone).as_json()}.",
    ]
    return "\n\n".join(parts)
