"""Run every check that decides whether a change may land: `python -m tests`.

Format, lint, types, import contracts and migrations come first, then all tests on SQLite. Those
marked for both databases run beside them once more on a real PostgreSQL with Redis: they wait half
of their time. `python -m tests --changed` runs the quick part: the same checks of the source, the
house tests and the tests of what changed.

Of thousands of tests with real servers and browsers one fails once in a while for want of time
alone. A few that failed are run once more when all others are through; those that pass then are
named at the end, to be mended.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

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
PYTEST = [sys.executable, "-m", "pytest"]
# In the order of tests/conftest.py, which says of which files a worker is given all tests.
PYTEST += ["--dist", "loadscope", "--no-loadscope-reorder"]
TESTS_FAILED = 1  # pytest's status; any other one is of its own
MOST_RUN_AGAIN = 3  # more than that is a fault of the change
# One more than the cores of a small machine: tests wait for processes and browsers half of
# their time.
WORKERS, WORKERS_BESIDE = ["-n", "3"], ["-n", "2"]
IS_FULL = os.environ.get("VERTEX_FULL") == "1"
CACHE = ROOT / ".pytest_cache"
CACHE_OF_THE_SECOND_PASS = CACHE / "postgres"
IN_A_CHECK = "not slow and not browser"
console = Console(stderr=True)


@dataclass(frozen=True)
class Step:
    name: str
    command: list[str]
    is_beside: bool = False  # runs while the steps before it do, and then says what it has to say
    # Where pytest keeps which tests failed; None where a step has no tests.
    cache: Path | None = None

    def first_command(self) -> list[str]:
        """Return the command, which forgets the failed tests of earlier runs."""
        return [*self._with_cache(), "--cache-clear"] if self.cache else self.command

    def command_of_failed(self) -> list[str]:
        """Return the command that runs the failed tests again, one after the other."""
        last_failed = ["--last-failed", "--last-failed-no-failures", "none"]
        return [*self._with_cache(), "-n", "0", *last_failed]

    def failed_tests(self) -> list[str]:
        """Return the tests that failed in the last run; none where it failed before any test."""
        assert self.cache is not None
        file = self.cache / "v/cache/lastfailed"
        return list(json.loads(file.read_text())) if file.exists() else []

    def _with_cache(self) -> list[str]:
        return [*self.command, "-o", f"cache_dir={self.cache}"]


@dataclass(frozen=True)
class Beside:
    """A step that runs beside the others; what it prints is kept until its turn."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]


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
    on_postgres = [*PYTEST, *WORKERS_BESIDE, "-m", ON_BOTH_DATABASES, *arguments]
    on_postgres += files_of_the_second_pass()
    return [
        FORMAT,
        LINT,
        CONTRACTS,
        MIGRATIONS,
        Step("tests on SQLite", [*PYTEST, *WORKERS, *arguments], cache=CACHE),
        TYPES,
        Step(
            "tests on PostgreSQL with Redis",
            [*servers, *on_postgres],
            is_beside=not IS_FULL,  # measurements say nothing true beside other tests
            cache=CACHE_OF_THE_SECOND_PASS,
        ),
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
    tests = [*PYTEST, *WORKERS, "-m", IN_A_CHECK, *arguments, "tests/house", *choice.run]
    return [FORMAT, LINT, CONTRACTS, Step("tests of what changed", tests, cache=CACHE), TYPES]


def main(arguments: list[str]) -> int:
    """Run all steps, also after a failed one, and say at the end how each went."""
    is_quick = "--changed" in arguments
    arguments = [argument for argument in arguments if argument != "--changed"]
    print_missing_programs()
    steps = quick_steps(arguments) if is_quick else all_steps(arguments)
    beside = {step.name: start_beside(step) for step in steps if step.is_beside}
    statuses: dict[str, int] = {}
    seconds: dict[str, float] = {}
    for step in steps:
        console.rule(step.name)
        begun = time.monotonic()
        running = beside.get(step.name)
        statuses[step.name] = end_of(running) if running else run(step.first_command())
        seconds[step.name] = time.monotonic() - begun
    unsteady: list[str] = []
    for step in steps:
        if step.cache:
            statuses[step.name], passed_alone = run_failed_again(step, statuses[step.name])
            unsteady += passed_alone
    print_summary(statuses, seconds, unsteady)
    print_missing_programs()
    return int(any(statuses.values()))


def run_failed_again(step: Step, status: int) -> tuple[int, list[str]]:
    """Run a few failed tests again alone; return the status and the tests that passed only then."""
    if status != TESTS_FAILED:
        return status, []
    failed = step.failed_tests()
    if not 0 < len(failed) <= MOST_RUN_AGAIN:
        return status, []
    console.rule(f"{step.name}: {len(failed)} once more, alone")
    status = run(step.command_of_failed())
    return status, failed if status == 0 else []


def print_summary(statuses: dict[str, int], seconds: dict[str, float], unsteady: list[str]) -> None:
    """Say how each check went, how long its turn took, and which tests are to be mended."""
    summary = Table("check", "result", "seconds")
    for name, status in statuses.items():
        result = "[green]passed" if status == 0 else f"[red]failed ({status})"
        summary.add_row(name, result, f"{seconds[name]:.0f}")
    console.print(summary)
    for test in unsteady:
        console.print(f"[yellow]unsteady, passed only when run alone: {test}")


def run(command: list[str]) -> int:
    return subprocess.run(command, cwd=ROOT, check=False, env=environment()).returncode


def start_beside(step: Step) -> Beside:
    """Start a step; what it prints goes to a file: a pipe that nobody reads would hold it up."""
    output = tempfile.TemporaryFile()  # noqa: SIM115 - read and closed at the turn of the step
    process = subprocess.Popen(
        step.first_command(),
        cwd=ROOT,
        env=environment(),
        stdout=output,
        stderr=subprocess.STDOUT,
    )
    return Beside(process, output)


def end_of(beside: Beside) -> int:
    """Wait for a step that runs beside the others, print what it said, and return its status."""
    status = beside.process.wait()
    with beside.output:
        beside.output.seek(0)
        sys.stderr.buffer.write(beside.output.read())
        sys.stderr.flush()
    return status


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
