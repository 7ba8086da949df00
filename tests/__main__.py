"""Run every check that decides whether a change may land: `python -m tests`.

Format, lint, types, import contracts and migrations come first, then all tests on SQLite, then
those marked for both databases once more on a real PostgreSQL with Redis beside it. `python -m
tests --changed` runs the quick part: the same checks of the source, the house tests and the tests
of what changed.

Of thousands of tests with real servers and browsers one fails once in a while for want of time
alone. A few that failed are run once more with the machine to themselves; those that pass then are
named at the end, to be mended.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.changed import changed_files, choose

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
# Debian's package of each program that some tests drive.
PACKAGE_BY_PROGRAM = {
    "redis-server": "redis-server",
    "xsltproc": "xsltproc",
    "chromium": "chromium",
}
# Those that need Redis only have met it in the pass on SQLite.
ON_BOTH_DATABASES = "both_databases or postgres"
MARKS_OF_THE_SECOND_PASS = ("mark.both_databases", "mark.postgres")
# One more than the cores of a small machine: tests wait for processes and browsers half of
# their time.
PYTEST = [sys.executable, "-m", "pytest", "-n", "3"]
# In the order of tests/conftest.py, which says of which files a worker is given all tests.
PYTEST += ["--dist", "loadscope", "--no-loadscope-reorder"]
TESTS_FAILED = 1  # pytest's status; any other one is of its own
MOST_RUN_AGAIN = 3  # more than that is a fault of the change
CACHE = ROOT / ".pytest_cache"
IN_A_CHECK = "not slow and not browser"
console = Console(stderr=True)


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]
    is_beside: bool = False  # runs while the steps before it do, and then says what it has to say
    has_tests: bool = False


FORMAT = Step("format", [f"{BIN}/ruff", "format", "--check", "."])
LINT = Step("lint", [f"{BIN}/ruff", "check", "."])
TYPES = Step("types", [f"{BIN}/mypy"], is_beside=True)
CONTRACTS = Step("import contracts", [f"{BIN}/lint-imports"])
MIGRATIONS = Step(
    "migrations", [sys.executable, "manage.py", "makemigrations", "--check", "--dry-run"]
)


def all_steps(arguments: list[str]) -> list[Step]:
    """Return the checks in the order in which a failure is cheapest to learn of."""
    servers = [sys.executable, "-m", "tests.servers", "--postgres", "--redis", "--"]
    on_postgres = [*PYTEST, "-m", ON_BOTH_DATABASES, *arguments, *files_of_the_second_pass()]
    return [
        FORMAT,
        LINT,
        CONTRACTS,
        MIGRATIONS,
        Step("tests on SQLite", [*PYTEST, *arguments], has_tests=True),
        TYPES,
        Step("tests on PostgreSQL with Redis", [*servers, *on_postgres], has_tests=True),
    ]


def files_of_the_second_pass() -> list[str]:
    """Return the test files where a mark asks for PostgreSQL: collecting all files takes long."""
    return [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if any(mark in path.read_text() for mark in MARKS_OF_THE_SECOND_PASS)
    ]


def quick_steps(arguments: list[str]) -> list[Step]:
    """Return the checks of the source, the house tests and the tests of what changed."""
    choice = choose(changed_files())
    for name in choice.run:
        console.print(f"tests {name}")
    for name in choice.left_out:
        console.print(f"[yellow]left to make test: {name}")
    tests = [*PYTEST, "-m", IN_A_CHECK, *arguments, "tests/house", *choice.run]
    return [FORMAT, LINT, CONTRACTS, Step("tests of what changed", tests, has_tests=True), TYPES]


def main(arguments: list[str]) -> int:
    """Run all steps, also after a failed one, and say at the end how each went."""
    is_quick = "--changed" in arguments
    arguments = [argument for argument in arguments if argument != "--changed"]
    print_missing_programs()
    summary = Table("check", "result", "seconds")
    failed = False
    unsteady: list[str] = []
    steps = quick_steps(arguments) if is_quick else all_steps(arguments)
    beside = {step.name: start_beside(step) for step in steps if step.is_beside}
    for step in steps:
        console.rule(step.name)
        begun = time.monotonic()
        if step.is_beside:
            status = end_of(beside[step.name])
        elif step.has_tests:
            status, passed_alone = run_tests(step.command)
            unsteady += passed_alone
        else:
            status = run(step.command)
        failed = failed or status != 0
        result = "[green]passed" if status == 0 else f"[red]failed ({status})"
        summary.add_row(step.name, result, f"{time.monotonic() - begun:.0f}")
    console.print(summary)
    for test in unsteady:
        console.print(f"[yellow]unsteady, passed only when run alone: {test}")
    print_missing_programs()
    return int(failed)


def run_tests(command: list[str], cache: Path = CACHE) -> tuple[int, list[str]]:
    """Run tests, and a few failed ones again alone; return the status and what passed only then."""
    command = [*command, "-o", f"cache_dir={cache}"]
    status = run([*command, "--cache-clear"])
    if status != TESTS_FAILED:
        return status, []
    failed = list(json.loads((cache / "v/cache/lastfailed").read_text()))
    if len(failed) > MOST_RUN_AGAIN:
        return status, []
    console.rule(f"{len(failed)} once more, alone")
    status = run([*command, "-n", "0", "--last-failed", "--last-failed-no-failures", "none"])
    return status, failed if status == 0 else []


def run(command: list[str]) -> int:
    return subprocess.run(command, cwd=ROOT, check=False, env=environment()).returncode


def start_beside(step: Step) -> subprocess.Popen[str]:
    """Start a step that uses one core only; what it prints is kept until its turn."""
    return subprocess.Popen(
        step.command,
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def end_of(process: subprocess.Popen[str]) -> int:
    """Wait for a step that runs beside the others, print what it said, and return its status."""
    output, _ = process.communicate()
    console.print(output, markup=False, highlight=False, end="")
    return process.returncode


def environment() -> dict[str, str]:
    """Return the environment of the checks: nothing of an installation on this machine leaks in."""
    private = {"DATABASE_URL", "BROKER_URL", "DJANGO_SETTINGS_MODULE"}
    # Without it each of the hundreds of processes that the tests start compiles the product anew.
    private.add("PYTHONDONTWRITEBYTECODE")
    remaining = ("VERTEX_TEST_", "VERTEX_FULL")
    return {
        name: value
        for name, value in os.environ.items()
        if name not in private and (name.startswith(remaining) or not name.startswith("VERTEX_"))
    }


def print_missing_programs() -> None:
    """Name each program missing on this machine, with the command that installs it on Debian."""
    for program, package in PACKAGE_BY_PROGRAM.items():
        if shutil.which(program) is None:
            console.print(
                f"[yellow]{program} is not on this machine: the tests that drive it are skipped. "
                f"To run them: apt-get install {package}"
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
