"""The stream through the whole product, on a demo site with a clock that is moved, for 30 days.

The shop of the demo is served on loopback; its product pages change their price by the clock: half
never, the others in the ways and as often as the [simulated ones](stream.md). Each hour the clock
rings, the one loop that fetches visits what is due, a worker does what the chain begins, and each
record's price is held against the one that its page shows. A record is stale from the moment its
page shows another price until it is extracted, and late while it is stale for longer than the goal.
The product knows nothing of the cluster on the first day.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from benchmarks.report import markdown_table
from benchmarks.stream.best_schedules import best_intervals
from benchmarks.stream.simulated_pages import SimulatedPages
from benchmarks.stream.simulation import FixedVisits, LearntVisits, Result, simulate
from benchmarks.stream_month.prices import GOAL_HOURS, draw_changes
from monitoring.algorithms.stream.change_rates import default_shares
from monitoring.algorithms.stream.revisits import MAX_LATE_SHARE

TITLE = "A month of the stream through the product"
ROOT = Path(__file__).resolve().parents[2]
DAYS: Final = 30


def run(_data: Path | None) -> str:
    """Return the figures as a section in Markdown."""
    played = play()
    best, planned = simulated(draw_changes(played["pages"], DAYS))
    explained = str(__doc__).split("\n\n", 1)[1].strip()
    heads = [
        f"{played['pages']} pages, of which {played['changing']} change",
        "late",
        "late on the worst day",
        "requests a page",
        "against the best",
        "against each once a goal",
    ]
    product = Result(played["requests"] / played["pages"], played["late"], played["worst_day"])
    rows = [
        row(name, result, best)
        for name, result in {
            "the product": product,
            "the same visits, simulated": planned,
            "the best schedule of those that know each page's rate": best,
        }.items()
    ]
    others = (
        f"The product asked for {played['other_requests']} other pages as well: "
        "those that link to the products, once "
        "a goal, and what they newly lead to."
    )
    return f"{explained}\n\n{markdown_table(heads, rows)}\n\n{others}"


def play() -> dict[str, Any]:
    """Return what came of the days, from an installation of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.stream_month.playing", folder, str(DAYS)]
        environment = {
            **os.environ,
            "VERTEX_VAR": f"{folder}/var",
            "VERTEX_ALLOWED_NETWORKS": "127.0.0.0/8",
        }
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def simulated(pages: SimulatedPages) -> tuple[Result, Result]:
    """Return what the best schedule and ours do on the same pages, simulating only the visits."""
    best = FixedVisits(best_intervals(pages, GOAL_HOURS, MAX_LATE_SHARE))
    ours = LearntVisits(len(pages.kinds), GOAL_HOURS, default_shares())
    days = (0, DAYS)
    return simulate(pages, best, GOAL_HOURS, days), simulate(pages, ours, GOAL_HOURS, days)


def row(name: str, result: Result, best: Result) -> list[str]:
    """Return a row of the table."""
    return [
        name,
        f"{result.late_share:.3f}",
        f"{result.worst_day:.3f}",
        f"{result.requests_per_page:.1f}",
        f"{result.requests_per_page / best.requests_per_page:.2f}",
        f"{result.requests_per_page / (24 * DAYS / GOAL_HOURS):.2f}",
    ]
