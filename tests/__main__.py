"""Run every check that decides whether a change may land: `python -m tests`.

Format, lint, types, import contracts and migrations come first, then the tests on SQLite, then those that need
a database once more on a real PostgreSQL with Redis beside it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# Debian's package of each program that some tests drive.
PACKAGE_BY_PROGRAM = {
    "redis-server": "redis-server",
    "xsltproc": "xsltproc",
    "chromium": "chromium",
}
DATABASE_TESTS = ["tests/apps", "tests/journeys"]
console = Console(stderr=True)


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]


def steps(arguments: list[str]) -> list[Step]:
    """Return the checks in the order in which a failure is cheapest to learn of."""
    python = sys.executable
    tests = [python, "-m", "pytest", "-n", "2", "--dist", "loadgroup", *arguments]
    servers = [python, "-m", "tests.servers", "--postgres", "--redis", "--"]
    return [
        Step("format", [f"{BIN}/ruff", "format", "--check", "."]),
        Step("lint", [f"{BIN}/ruff", "check", "."]),
        Step("types", [f"{BIN}/mypy"]),
        Step("import contracts", [f"{BIN}/lint-imports"]),
        Step("migrations", [python, "manage.py", "makemigrations", "--check", "--dry-run"]),
        Step("tests on SQLite", tests),
        Step("tests on PostgreSQL with Redis", [*servers, *tests, *DATABASE_TESTS]),
    ]


def main(arguments: list[str]) -> int:
    """Run all steps, also after a failed one, and say at the end how each went."""
    install_programs()
    summary = Table("check", "result", "seconds")
    failed = False
    for step in steps(arguments):
        console.rule(step.name)
        begun = time.monotonic()
        status = subprocess.run(step.command, cwd=ROOT, check=False, env=environment()).returncode
        failed = failed or status != 0
        result = "[green]passed" if status == 0 else f"[red]failed ({status})"
        summary.add_row(step.name, result, f"{time.monotonic() - begun:.0f}")
    console.print(summary)
    for program in missing_programs():
        console.print(
            f"[yellow]{program} is not on this machine: the tests that drive it were skipped"
        )
    return int(failed)


def environment() -> dict[str, str]:
    """Return the environment of the checks: nothing of an installation on this machine leaks in."""
    private = {"DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE"}
    kept = {name: value for name, value in os.environ.items() if name not in private}
    return {name: value for name, value in kept.items() if not name.startswith("VERTEX_")} | {
        name: value
        for name, value in kept.items()
        if name.startswith(("VERTEX_TEST_", "VERTEX_FULL"))
    }


def missing_programs() -> list[str]:
    return [program for program in PACKAGE_BY_PROGRAM if shutil.which(program) is None]


def install_programs() -> None:
    """Install what is missing where that is allowed; elsewhere the tests that need it say that they are skipped."""
    missing = missing_programs()
    if not missing or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return
    console.rule("installing " + ", ".join(missing))
    packages = [PACKAGE_BY_PROGRAM[program] for program in missing]
    quiet = {"DEBIAN_FRONTEND": "noninteractive", **os.environ}
    subprocess.run(["apt-get", "update", "-q"], check=False, env=quiet, stdout=subprocess.DEVNULL)
    install = ["apt-get", "install", "-y", "-q", "--no-install-recommends", *packages]
    subprocess.run(install, check=False, env=quiet, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
