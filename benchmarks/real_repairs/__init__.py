"""Repairs of real sites whose pages were described by hand.

About twenty pages of each site were read in all their snapshots, and what stands where was written
down: `benchmarks/real_repairs/truth` has addresses, fields, values and their places. The steps
between two snapshots after which a template is another one are played, partly (partial) or as a
whole (redesign): a rule is learnt from three annotated pages of each cluster of the older snapshot,
the newer one is checked and repaired with `heal_site --accept`, and what the rules give then is
held against what was written down. Nothing was chosen by these pages. Values change as they do in
life: a title is worded anew, a field is on fewer pages than it was.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import orjson

from benchmarks.repairs import Row, ratio, table_of_faults, total, values_of
from benchmarks.report import markdown_table

TITLE = "Repairs of real sites described by hand"
ROOT = Path(__file__).resolve().parent.parent.parent


def run(data: Path | None) -> str:
    """Return the body of this benchmark's page."""
    if data is None:
        return "Left out: the histories are not in the folder."
    repaired = repair_all(data)
    values = list(values_of(repaired))
    constant = total(row for row in values if row["is_constant"])
    changing = total(row for row in values if not row["is_constant"])
    rows: list[list[object]] = [
        ["precision after the repair", ratio(total(values), "right", "given")],
        ["recall of constant fields", ratio(constant, "right", "there")],
        ["recall of changing fields", ratio(changing, "right", "there")],
    ]
    parts = [
        str(__doc__).split("\n\n", 1)[1].strip(),
        markdown_table(["", "measured"], rows),
        "By step:",
        markdown_table(
            ["step", "kind", "verdict", "clusters called broken", "precision", "recall"],
            [_row_of_step(row) for row in repaired],
        ),
        "Fields with values that are wrong or missing after the repair:",
        markdown_table(*table_of_faults(repaired)),
    ]
    return "\n\n".join(parts)


def repair_all(data: Path, names: Sequence[str] = ()) -> list[Row]:
    """Return what came of each step, from an installation of its own."""
    with tempfile.TemporaryDirectory() as folder:
        module = "benchmarks.real_repairs.playing"
        command = [sys.executable, "-m", module, folder, str(data), *names]
        environment = {**os.environ, "VERTEX_VAR": f"{folder}/var"}
        environment.pop("DATABASE_URL", None)
        done = subprocess.run(
            command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
        )
    return [orjson.loads(line) for line in done.stdout.splitlines()]


def _row_of_step(row: Row) -> list[object]:
    values = total(values_of([row]))
    clusters = row["editions"][-1]["clusters"]
    n_broken = sum(cluster["is_broken"] for cluster in clusters)
    return [
        row["site"],
        row["group"],
        row["verdict"].replace("_", " "),
        f"{n_broken} of {len(clusters)}",
        ratio(values, "right", "given"),
        ratio(values, "right", "there"),
    ]
