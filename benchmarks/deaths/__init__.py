"""Deaths and cut connections in each transaction of each kind of job: what is lost or doubled.

The database is PostgreSQL.

Run it with: python -m benchmarks.run deaths, which takes the number of faults from
VERTEX_TEST_FAULTS.
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
from typing import Any, TypeAlias

from benchmarks.report import markdown_table
from tests import servers
from tests.installation import own_database

TITLE = "Deaths"
ROOT = Path(__file__).resolve().parents[2]
Outcome: TypeAlias = dict[str, Any]  # of a fault, as `injecting` prints it
KILL, CUT = "killed", "cut off"
MAX_SECONDS = float(os.environ.get("VERTEX_TEST_SECONDS") or 6 * 3600)
N_FAULTS = int(os.environ.get("VERTEX_TEST_FAULTS") or 1_000)
INTRODUCTION = """A shop of 18 pages in PostgreSQL. Each job runs once without a fault, which tells
its transactions and writes. Then the database is as before, and the process is killed (SIGKILL) or
its connection ended by the server, at one of these points, drawn evenly: before a write, before a
COMMIT, after a COMMIT. Another process goes on with the job, as a worker does that is rung for it.
At the end each table is compared with that of the run without a fault, without numbers of rows and
times. Recovery: from the fault to the end of the job; a worker of the product hears of a dead
process by the next tick, at most 5 seconds later, which is not in it.
"""


def run(data: Path | None) -> str:  # noqa: ARG001 - every benchmark takes the folder of given pages; this one makes its own
    """Inject the faults and return the figures."""
    outcomes = inject(N_FAULTS, seconds=MAX_SECONDS)
    by_kind: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        by_kind.setdefault(outcome["kind"], []).append(outcome)
    rows = [_row(kind, by_kind[kind]) for kind in by_kind]
    heads = [
        "job",
        "faults",
        "killed",
        "cut off",
        "lost",
        "doubled",
        "false gone",
        "not done",
        "p95 s",
    ]
    table = markdown_table(heads, [*rows, _row("all", outcomes)])
    problems = sorted(
        {
            "- {kind}, {fault} {point}: {problem}".format_map(outcome)
            for outcome in outcomes
            if outcome["problem"]
        }
    )
    return f"{INTRODUCTION}\n{table}\n\n" + "\n".join(problems[:20])


def _row(kind: str, outcomes: list[Outcome]) -> list[object]:
    seconds = sorted(outcome["seconds"] for outcome in outcomes)
    p95 = seconds[min(len(seconds) - 1, int(0.95 * len(seconds)))]
    by_fault = Counter(outcome["fault"] for outcome in outcomes)
    return [
        kind,
        len(outcomes),
        by_fault[KILL],
        by_fault[CUT],
        sum(outcome["lost"] for outcome in outcomes),
        sum(outcome["doubled"] for outcome in outcomes),
        sum(outcome["gone"] for outcome in outcomes),
        sum(bool(outcome["problem"]) for outcome in outcomes),
        f"{p95:.1f}",
    ]


def inject(n_faults: int, *, seconds: float, kinds: Sequence[str] = ()) -> list[Outcome]:
    """Inject so many faults into an installation of its own, and return what each came to.

    `kinds` are the jobs that suffer them, all where none is named.
    """
    with (
        tempfile.TemporaryDirectory(prefix="vertex-deaths-") as folder,
        servers.own_postgres() as server,
    ):
        address = own_database(Path(folder), server.address)
        environ = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VERTEX_", "DJANGO_"))
        }
        environ |= {"VERTEX_VAR": folder, "DATABASE_URL": address}
        arguments = f"{server.address!r}, {n_faults}, {seconds}, {list(kinds)}"
        code = f"from benchmarks.deaths.injecting import main; main({arguments})"
        child = [sys.executable, "manage.py", "shell", "--no-imports", "--verbosity=0", "-c", code]
        process = subprocess.run(child, env=environ, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    return [json.loads(line) for line in process.stdout.splitlines() if line.startswith(b'{"kind"')]
