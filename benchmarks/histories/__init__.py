"""Weeks of made-up sites: what checks of bellwethers say of drift, outages and redesigns.

Each history is a site of its own kind and look whose detail pages get a rule in the first week. In
the weeks after, values drift, advertisements and optional sections come and go, class names gain
tokens, pages answer with errors and walls; half of the things may be in a sale. In the last one the
template may be another one, two values may change places, or all prices may be those without tax.
What tells a sale from a tax, on which share of the pages the prices are the former ones times one
factor, was chosen on made-up sites with other seeds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.report import markdown_table

TITLE = "Checks over generated histories"
ROOT = Path(__file__).resolve().parent.parent.parent
N_HISTORIES, N_WEEKS = 40, 5  # 200 weeks of sites
WEEKS = ("quiet", "drift", "outage", "cosmetic", "sale", "redesign", "swap", "without tax")
CALM_WEEKS = ("quiet", "drift", "outage", "cosmetic", "sale")
SAID = ("changed", "suspicious", "nothing")


def run(_data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    weeks = play(N_HISTORIES, N_WEEKS)
    counts = Counter((week["kind"], said(week)) for week in weeks)
    rows = [[kind, *(counts[kind, each] for each in SAID)] for kind in WEEKS]
    table = markdown_table(
        ["what happened", "site changed", "a warning on values", "nothing"], rows
    )
    return (
        f"{__doc__.split(chr(10) * 2, 1)[1].strip()}\n\n{table}\n\n{markdown_table(*bars(weeks))}"
    )


def bars(weeks: Sequence[dict[str, Any]]) -> tuple[list[str], list[list[object]]]:
    """Return the table of the figures that have a bar."""
    of_kind = {kind: [week for week in weeks if week["kind"] == kind] for kind in WEEKS}
    # Where all values still come out, there is nothing to find.
    harmful = [week for week in of_kind["redesign"] if week["site_changed"] or week["n_failed"]]
    n_found = sum(week["site_changed"] for week in harmful)
    n_swaps = sum(week["site_changed"] or week["suspicious"] for week in of_kind["swap"])
    n_without_tax = sum(week["suspicious"] for week in of_kind["without tax"])
    calm = [week for kind in CALM_WEEKS for week in of_kind[kind]]
    n_false = sum(week["site_changed"] for week in calm)
    n_warned = sum(week["suspicious"] and not week["site_changed"] for week in calm)
    n_outages = sum(week["site_changed"] for week in of_kind["outage"])
    return ["", "bar", "measured"], [
        ["redesigns found that cost values", "0.95", share(n_found, len(harmful))],
        ["redesigns after which all values come out", "", len(of_kind["redesign"]) - len(harmful)],
        ["swapped values found", "0.90", share(n_swaps, len(of_kind["swap"]))],
        ["prices without tax found", "0.90", share(n_without_tax, len(of_kind["without tax"]))],
        ["false alarms in 100 site-weeks", "1", f"{100 * n_false / max(len(calm), 1):.2f}"],
        [
            "false warnings on values in 100 site-weeks",
            "",
            f"{100 * n_warned / max(len(calm), 1):.2f}",
        ],
        ["outages taken for redesigns", "0", n_outages],
    ]


def share(n: int, of: int) -> str:
    return f"{n / of:.3f} ({n} of {of})" if of else "none happened"


def said(week: dict[str, Any]) -> str:
    if week["site_changed"]:
        return "changed"
    return "suspicious" if week["suspicious"] else "nothing"


def play(n_histories: int, n_weeks: int, first: int = 0) -> list[dict[str, Any]]:
    """Return what happened in each week and what the check said, from an own installation."""
    with tempfile.TemporaryDirectory() as folder:
        called = [sys.executable, "-m", "benchmarks.histories.playing"]
        arguments = [folder, str(first), str(n_histories), str(n_weeks)]
        environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(
            [*called, *arguments], cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    weeks = [json.loads(line) for line in done.stdout.splitlines()]
    return [week for week in weeks if week["kind"] in WEEKS]
